"""Reports of studies about items: their own tables, trials, and rates."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.report import ReportData, Table
from viewer.domain.result import TrialResult
from viewer.domain.study_words import StudyWords
from viewer.results.evaluate import evaluate, evaluate_all
from viewer.results.frame import Frame, Frames
from viewer.results.item_columns import ASKED, ITEM_COLUMNS, ITEM_KINDS
from viewer.results.page import PrintedTables, sections
from viewer.results.records import numbers_in
from viewer.results.spec import ITEMS, OF_WHOM, Cell, Key, ListSpec, Spec, TableSpec

MICRO: Final = "(micro)"
"""The finding of rows that count trials of all findings."""
ALL_VIEWS: Final = "all"
"""The view of rows that count trials of all views."""
STATUSES: Final[Mapping[str, tuple[Status, ...]]] = {
    "n_scored": (Status.SCORED_CORRECT, Status.SCORED_WRONG),
    "n_failed": (Status.PROVIDER_ERROR,),
    "n_refused": (Status.REFUSED,),
    "n_unparsed": tuple(sorted(UNREADABLE)),
    "n_excluded": (Status.EXCLUDED,),
    "n_pending": (Status.PENDING,),
}
"""The statuses that each column counts."""
COUNTS: Final = ("n_planned", *STATUSES)
INTERVAL: Final = ("ci_low", "ci_high", "ci_method")
CI_DEFINITION: Final = (
    "exact 95 % Clopper-Pearson interval, by patient if any has several trials: for as "
    "many independent trials as vary like the patients do, at most one per item; "
    "ci_method names it"
)
CI_CAPTION: Final = "Clopper-Pearson by patient, 95 %"
RATE: Final = (
    Cell(
        "rate",
        ("k", "n", "hit_rate", *INTERVAL),
        ("correct", *OF_WHOM),
        {"counted": (True,)},
    ),
    Cell("share", ("answered_rate",), ("correct",), {"answered": (True,)}),
    Cell("chance level", ("chance",), ("chance",), {"counted": (True,)}),
)
"""The primary rate, of all settled trials, that of those with an answer, and chance."""

_ALWAYS: Final = ("results",)
_NOTHING: Final[PrintedTables] = {}


def reported(
    results: Sequence[TrialResult],
    specs: Sequence[Spec],
    frames: Frames,
    definitions: Mapping[str, str],
    *,
    always: Collection[str] = _ALWAYS,
    only_printed: Sequence[Spec] = (),
    paper: PrintedTables = _NOTHING,
) -> ReportData:
    """Return the tables of specifications, and what a page shows of them.

    Empty tables are left out except those in ``always``; those in ``only_printed`` are
    only on the page. The rows of a ``paper`` are on the page of a complete run.
    """
    tables = evaluate_all(specs, frames)
    full = tuple(table for table in tables if table.rows or table.name in always)
    beside = evaluate_all(only_printed, frames)
    incomplete = any(one.score.status is Status.PENDING for one in results)
    shown = _NOTHING if incomplete else paper
    return ReportData(
        tables=full,
        figures=(),
        metric_definitions=definitions,
        incomplete=incomplete,
        sections=(
            *sections(specs, full, shown),
            *sections(only_printed, beside, shown),
        ),
        specs=tuple(specs),
    )


def counts(
    names: Sequence[str] = COUNTS,
    prefix: str = "",
    where: dict[str, tuple[object, ...]] | None = None,
) -> tuple[Cell, ...]:
    """Return cells that count trials by how they ended (X-01)."""
    where = where or {}
    return tuple(
        Cell(
            "size",
            (f"{prefix}{name}",),
            where={**where, **({"status": _values(name)} if name in STATUSES else {})},
        )
        for name in names
    )


def _values(name: str) -> tuple[str, ...]:
    return tuple(status.value for status in STATUSES[name])


Sets = tuple[tuple[str, ...], ...]
"""What rows of one table are about, each a set of its columns."""
OF_ALL: Final[Sets] = ((), ("finding",), ("view",))


def results_spec(
    numbers: Sequence[str], *, means: bool = True, sets: Sets = OF_ALL
) -> TableSpec:
    """Return the table ``results`` of trials whose verdicts have some named numbers.

    It has hit rates by finding, view, condition and model: each condition and model has
    a row for all its trials, one for each finding, and, where there are several views,
    one for each of those; other ``sets`` where trials of several tasks may not be
    counted as one. The primary rate counts every settled trial that is not right as
    wrong. Without ``means`` it tells no mean of the numbers.
    """
    # a single view's row would say what the row of all views says, where there is one
    is_said = all(tuple(n for n in one if n != "view") in sets for one in sets)
    of_numbers = (Cell("mean", (f"mean_{name}",), (name,)) for name in numbers)
    return TableSpec(
        "results",
        (
            *(Key("finding", total=MICRO), Key("view", total=ALL_VIEWS)),
            *(Key("condition"), Key("model")),
        ),
        (*counts(), *RATE, *(of_numbers if means else ())),
        outer=("condition", "model"),
        every=True,
        sets=sets,
        only_several=("view",) if is_said else (),
    )


def items_spec(words: StudyWords, numbers: Sequence[str]) -> ListSpec:
    """Return the table that lists every trial of a study, in the order planned.

    ``correct`` is empty where a trial is in no rate.
    """
    columns = (one for one in ITEM_COLUMNS if words.places or not one.of_places)
    named = (*ASKED, *words.columns, *(one.name for one in columns), *numbers)
    return ListSpec(ITEMS, tuple(dict.fromkeys(named)), frame=ITEMS)


def items_table(words: StudyWords, trials: Frame) -> tuple[ListSpec, Table]:
    """Return the table ``items`` of a frame of trials, with its specification."""
    numbers = numbers_in(trials)
    spec = items_spec(words, numbers)
    found = zip(trials["correct"], trials["counted"], strict=True)
    listed = trials.having(correct=[right if n else None for right, n in found])
    kinds = {**ITEM_KINDS, **dict.fromkeys(numbers, float)}
    kinds_of = {name: kinds.get(name, str) for name in spec.columns}
    return spec, replace(evaluate(spec, {ITEMS: listed}), kinds=kinds_of)
