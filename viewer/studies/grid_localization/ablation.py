"""What the look of the grid is worth: every combination of it, asked of the same items.

The paper leaves open which way the letters run and where names are written (E000-09). A
main effect is the mean change of one part over all combinations of the others; each
trial is compared with the trial of the same item, repeat and model that differs in this
part alone, where it is as the run's settings have it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from viewer.domain.grid import grids_in_words
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import comparable
from viewer.results.spec import P_VALUE, Cell, Key, Shown, TableSpec
from viewer.studies.grid_localization.params import Params
from viewer.studies.grid_localization.plan import (
    conditions,
    levels_of,
)

EFFECTS: Final = "ablation"
COMBINATIONS: Final = "ablation_conditions"
_COLUMNS: Final = ("item", "patient", "repeat", "model")
_CHANGE: Final = ("right", "before", "gained", "lost")
_PAIRED: Final = (
    *("n_pairs", "hit_rate", "baseline_rate", "difference"),
    *("difference_low", "difference_high", "difference_p", "method"),
)
_Pair = tuple[object, ...]


def ablation_frames(trials: Frame, params: Params) -> dict[str, Frame]:
    """Return the pairs of trials of main effects, and of whole combinations.

    ``right`` is 1 or 0, and ``before`` the same under the condition compared with; only
    trials that are comparable under both are there.
    """
    order = {one.name: i for i, one in enumerate(conditions(params))}
    settled = _settled(trials) if params.ablation else ()
    told = dict(sorted(settled, key=lambda one: order[str(one[0][-1])]))
    header = (*_COLUMNS, *_CHANGE)
    return {
        EFFECTS: frame_of_rows(("factor", "level", *header), _effects(told, params)),
        COMBINATIONS: frame_of_rows(
            ("condition", *header), _combinations(told, params)
        ),
    }


def _settled(trials: Frame) -> Iterator[tuple[_Pair, tuple[str, int]]]:
    """Yield each comparable trial by whose it is and its condition, and its verdict."""
    compared = comparable(trials, "model", "condition")
    settled = compared.where({"comparable": (True,)})
    wanted = ("item", "repeat", "model", "condition", "patient", "correct")
    for *key, patient, correct in settled.each(*wanted):
        yield tuple(key), (patient, int(correct))


def _effects(
    told: Mapping[_Pair, tuple[str, int]], params: Params
) -> Iterator[tuple[object, ...]]:
    own = {name: str(getattr(params, name)) for name in params.ablation}
    base = {"grid": params.grids[0], **own}
    levels = {one.name: levels_of(one.name, params) for one in conditions(params)}
    named = {tuple(of.items()): name for name, of in levels.items()}
    for (item, repeat, model, condition), (patient, right) in told.items():
        of = levels[str(condition)]
        for factor, level in of.items():
            other = named.get(tuple({**of, factor: base[factor]}.items()))
            before = told.get((item, repeat, model, other))
            if level != base[factor] and before is not None:
                about = (factor, level, item, patient, repeat, model)
                yield (*about, *_changed(right, before[1]))


def _combinations(
    told: Mapping[_Pair, tuple[str, int]], params: Params
) -> Iterator[tuple[object, ...]]:
    first = conditions(params)[0].name
    for (item, repeat, model, condition), (patient, right) in told.items():
        before = told.get((item, repeat, model, first))
        if condition != first and before is not None:
            about = (condition, item, patient, repeat, model)
            yield (*about, *_changed(right, before[1]))


def _changed(right: int, before: int) -> tuple[float, float, int, int]:
    return float(right), float(before), int(right > before), int(right < before)


_LEVEL_WORDS: Final[Mapping[object, str]] = {
    "row": "rows",
    "column": "columns",
    "cell": "in every cell",
    "margin": "along the margin",
    "both": "cells and margin",
    "1": "none",
    "2": "2 times",
    "4": "4 times",
}
_CELLS: Final = (
    Cell("sum", ("gained",), ("gained",)),
    Cell("sum", ("lost",), ("lost",)),
    Cell(
        "paired difference",
        _PAIRED,
        ("right", "before"),
        options={"cluster": "patient"},
    ),
)
_OF_PAIRS: Final = (
    Shown("n_pairs", "Pairs"),
    Shown("baseline_rate", "Before %", ".1f", 100),
    Shown("hit_rate", "So %", ".1f", 100),
    Shown("difference", "Change, points", "+z.1f", 100),
    Shown("difference_low", "95 %", "+z.1f", 100, also="difference_high"),
    *("gained", "lost"),
    Shown("difference_p", "p", P_VALUE),
)
_HOW: Final = (
    "Gained and lost are pairs that became hits and misses; interval and exact "
    "sign-flip test by patient. The p-values are not corrected for their number."
)
EFFECTS_TABLE: Final = TableSpec(
    EFFECTS,
    (Key("factor"), Key("level"), Key("model")),
    _CELLS,
    "What the look of the grid changes",
    "Each trial beside the one that differs in this part alone, where it is as in the "
    f"baseline, over all combinations of the other parts. {_HOW}",
    EFFECTS,
    shown=(
        Shown(
            "factor",
            "Varied",
            words={
                "grid": "Grid size",
                "letters": "Axis of the letters",
                "labels": "Place of the names",
                "render_scale": "Enlargement",
            },
        ),
        Shown("level", "To", words=_LEVEL_WORDS),
        "model",
        *_OF_PAIRS,
    ),
)
"""Main effects of the parts of the grid."""


def combinations_spec(params: Params) -> TableSpec:
    """Return the table of every combination beside the baseline."""
    names = tuple(one.name for one in conditions(params))
    words: dict[object, str] = {name: grids_in_words(name) for name in names}
    return TableSpec(
        COMBINATIONS,
        (Key("condition"), Key("model")),
        _CELLS,
        "Every look of the grid beside the baseline",
        f"The baseline: {words[names[0]]}, as in the run's settings. {_HOW}",
        COMBINATIONS,
        shown=(Shown("condition", "Grid", words=words), "model", *_OF_PAIRS),
    )


def ablation_specs(params: Params) -> tuple[TableSpec, ...]:
    """Return the tables of a run that varies its grid, none of any other."""
    return (EFFECTS_TABLE, combinations_spec(params)) if params.ablation else ()
