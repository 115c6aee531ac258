"""The study's tables as specifications; paper and recommended never mix (X-02)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.results.spec import (
    OF_WHOM,
    Cell,
    Key,
    Line,
    ListSpec,
    Shown,
    Spec,
    TableSpec,
    Where,
)
from viewer.studies.grid_localization.ablation import ablation_specs
from viewer.studies.grid_localization.asked import MACRO, Asked
from viewer.studies.grid_localization.estimators import (
    AGREEMENT,
    ANSWERS,
    GAIN,
    ITEM_SD,
    OF_ITEMS,
    PATIENT_SD,
    RANDOM_CELL,
)
from viewer.studies.grid_localization.frames import (
    ABSENT,
    AREAS,
    ASKED,
    AT_THRESHOLDS,
    EVERY,
    ITEM,
    MEASURED,
    MODEL,
    REFERENCES,
)
from viewer.studies.tables import COUNTS, INTERVAL, MICRO, STATUSES

AREA_TABLE: Final = "mask_areas"
THRESHOLD_TABLE: Final = "coverage_thresholds"
_COUNTED: Final[Where] = {"counted": (True,)}
_KEYS: Final = (Key("finding"), Key("view"), Key("condition"), Key("model"))
"""Rows come as their frame has them: single findings, their means, all pooled."""
"""Rows that are no mean over findings."""
MASK_MODE_ITEMS: Final = ListSpec(
    "mask_mode_items",
    ("item", "condition", "repeat", "model", "answer", "hit_paper", "hit_exact"),
    where={"in_both_modes": (True,), "differs": (True,)},
)
GEOMETRY: Final = ListSpec(
    "geometry",
    (
        *("item", "condition", "repeat", "model", "kind", "point_x", "point_y"),
        *("cell", "cell_hit", "pointing_hit", "iou_hit", "iou", "dice"),
        *("iou_uncropped", "dice_uncropped"),
        *("distance_px", "distance_mm", "mm_meaning"),
    ),
    frame=MEASURED,
    where={"measured": (True,)},
)


def rates_spec(of: Asked) -> TableSpec:
    """Return the paper's rates, intervals by patient, and gain (X-04)."""
    items = {"replicates": of.params.paper_replicates, "seed": of.seed}
    gain = ("location_prior", "gain", "gain_low", "gain_high")
    keys = (
        Key("finding", values=(*of.findings, MACRO, MICRO)),
        Key("view", values=of.views),
        *_arm(of),
    )
    return TableSpec(
        "results",
        keys,
        (
            *_counts(),
            Cell("sum", ("k",), ("correct",)),
            _mean_rate("hit_rate", "correct"),
            Cell(ITEM_SD, ("bootstrap_sd",), where=_COUNTED, options=items),
            _interval("correct"),
            Cell(RANDOM_CELL, ("random_baseline",), where=_COUNTED),
            Cell(GAIN, gain, where=_COUNTED),
            Cell("sum", ("partial",), ("partial",)),
        ),
        frame=ASKED,
    )


def _counts(names: Sequence[str] = COUNTS) -> Iterator[Cell]:
    for name in names:
        counted = Cell("size", (name,)), Cell("sum", (name,), (name,))
        yield counted[name in STATUSES]


def _mean_rate(name: str, column: str) -> Cell:
    """Return the mean of a rate over a row's parts: pooled, or findings (E000-21)."""
    by = {"by": ("part",)}
    return Cell("nested mean of rates", (name,), (column,), _COUNTED, options=by)


def _interval(column: str) -> Cell:
    by = {"by": "part"}
    return Cell("interval", INTERVAL, (column, *OF_WHOM), _COUNTED, options=by)


def _arm(of: Asked) -> tuple[Key, Key]:
    """Return the grid and model that rows are about."""
    return Key("condition", values=of.conditions), Key("model", values=of.models)


def recommended_spec(of: Asked) -> TableSpec:
    """Return rates, SD and interval by patient, apart from the paper's (E000-20)."""
    whole: dict[str, object] = {"finding": MACRO}
    return TableSpec(
        "recommended",
        _KEYS,
        (
            Cell("size", ("n",)),
            Cell("distinct", ("patients",), ("patient",)),
            Cell("sum", ("k",), ("correct",)),
            _mean_rate("hit_rate", "correct"),
            Cell(PATIENT_SD, ("patient_sd",), against=whole, options=of.draws),
            _interval("correct"),
            Cell(RANDOM_CELL, ("random_baseline",)),
        ),
        frame=ASKED,
        where=_COUNTED,
    )


def replicates_spec(of: Asked) -> TableSpec:
    """Return the table of the answers to repeated questions (E000-14)."""
    spread = ("replicates", "mode", "mode_share", "tied", "entropy_bits")
    return TableSpec(
        "replicates",
        (Key("item"), Key("patient"), Key("view"), Key("finding"), *_arm(of)),
        (
            Cell(ANSWERS, spread, ("said",)),
            Cell("sum", ("hits",), ("correct",)),
            Cell("share", ("mean_hit",), ("correct",)),
        ),
        where=_COUNTED,
        outer=("condition", "model"),
    )


def agreement_spec(of: Asked) -> TableSpec:
    """Return the agreement of replicates, and rates averaged over them (E000-14)."""
    agreement = ("mean_entropy_bits", "items_unanimous", "pairs_agreeing", "icc")
    rates = (
        *("macro_hit_rate", "macro_low", "macro_high", "macro_method"),
        *("pooled_hit_rate", "pooled_low", "pooled_high", "pooled_method"),
    )
    return TableSpec(
        "replicate_agreement",
        _arm(of),
        (
            Cell("distinct", ("items",), ("item",)),
            Cell("distinct", ("patients",), ("patient",)),
            Cell(AGREEMENT, agreement),
            Cell(OF_ITEMS, rates),
        ),
        where=_COUNTED,
    )


ABSENT_TABLE: Final = TableSpec(
    "absent",
    _KEYS,
    (
        *_counts(("n_planned", "n_excluded", "n_pending")),
        *_counts(("n_failed", "n_refused", "n_unparsed")),
        Cell("sum", ("n_denied",), ("correct",)),
        Cell("sum", ("n_capitulated",), ("capitulated",)),
        _mean_rate("capitulation_rate", "capitulated"),
        _interval("capitulated"),
        replace(_mean_rate("hit_rate", "correct"), frame=ASKED),
    ),
    frame=ABSENT,
)
"""How often models capitulate, beside their hit rates (E000-32)."""


def _number(estimator: str, name: str, column: str) -> Cell:
    return Cell(estimator, (name,), (column,))


_ONE_RULE: Final = ("condition", "model")
RULES: Final = TableSpec(
    "rules",
    (
        Key("finding", total=MICRO, ascending=True),
        Key("condition", ascending=True),
        Key("model", ascending=True),
    ),
    (
        _number("listed", "kinds", "kind"),
        Cell("size", ("n",)),
        _number("sum", "k_cell", "cell_hit"),
        _number("sum", "k_pointing", "pointing_hit"),
        _number("sum", "n_iou", "has_area"),
        _number("sum", "k_iou", "iou_hit"),
        *(
            _number("median", f"median_{name}", name)
            for name in ("iou", "dice", "iou_uncropped", "distance_px")
        ),
    ),
    frame=MEASURED,
    where=_COUNTED,
    sets=((*_ONE_RULE, "finding"), _ONE_RULE),
)
"""Cells, points, boxes, masks and heat maps under the same rules (X-03, M-08)."""


BY_RULE_TABLE: Final = "hit_rates_by_rule"
_BOTH_RULES: Final = {"cell": "correct", "pointing": "pointed"}


def by_rule_spec(name: str, keys: Sequence[Key], frame: str) -> TableSpec:
    """Return hit rates under the rules of cells and of points, with intervals (X-03).

    Rows without a finding are the mean of findings.
    """
    by = {"by": ("finding",)}
    arm = tuple(key.column for key in keys)
    return TableSpec(
        name,
        (Key("finding", total=MACRO), *keys),
        frame=frame,
        where=_COUNTED,
        sets=(("finding", *arm), arm),
        lines=tuple(
            Line(
                (("rule", rule),),
                (
                    Cell("sum", ("k",), (column,)),
                    Cell("size", ("n",)),
                    Cell("nested mean of rates", ("hit_rate",), (column,), options=by),
                    Cell(
                        "interval",
                        INTERVAL,
                        (column, *OF_WHOM),
                        options={"by": "finding"},
                    ),
                ),
            )
            for rule, column in _BOTH_RULES.items()
        ),
    )


def models_by_rule(of: Asked) -> TableSpec:
    """Return the hit rates of a run's models under both rules."""
    return by_rule_spec(BY_RULE_TABLE, _arm(of), MEASURED)


MASK_MODES: Final = TableSpec(
    "mask_modes",
    _KEYS,
    (
        Cell("size", ("n",)),
        *(
            cell
            for mode in ("paper", "exact")
            for cell in (
                Cell("sum", (f"k_{mode}",), (f"hit_{mode}",)),
                _mean_rate(f"hit_rate_{mode}", f"hit_{mode}"),
            )
        ),
        Cell("sum", ("n_verdict_differs",), ("differs",)),
    ),
    frame=ASKED,
    where={**_COUNTED, "in_both_modes": (True,)},
)
"""Rates in both mask modes, whichever was chosen (E000-17)."""


def area_spec(of: Asked) -> TableSpec:
    """Return the rates of masks of similar area, smallest first."""
    arm = ("condition", "model")
    return TableSpec(
        AREA_TABLE,
        (Key("finding", total=MICRO), Key("area", values=AREAS), *_arm(of)),
        (
            Cell("distinct", ("patients",), ("patient",)),
            Cell("rate", ("k", "n", "hit_rate", *INTERVAL), ("correct", *OF_WHOM)),
            _number("mean", "random_baseline", "random"),
            _number("mean", "mean_area", "share"),
        ),
        where=_COUNTED,
        sets=(("area", *arm), ("finding", "area", *arm)),
    )


def threshold_spec(of: Asked) -> TableSpec:
    """Return the rates at each threshold of coverage, from the same answers."""
    arm, by = ("condition", "model"), {"by": ("finding",)}
    means = {"hit_rate": "correct", "random_baseline": "random"}
    return TableSpec(
        THRESHOLD_TABLE,
        (
            Key("finding", total=MACRO),
            Key("threshold", ascending=True),
            *_arm(of),
        ),
        (
            _number("sum", "k", "correct"),
            Cell("size", ("n",)),
            *(
                Cell("nested mean of rates", (name,), (column,), options=by)
                for name, column in means.items()
            ),
            Cell(
                "interval",
                INTERVAL,
                ("correct", *OF_WHOM),
                options={"by": "finding"},
            ),
            Cell("nested mean of rates", ("fallback_rate",), ("fallback",), options=by),
        ),
        frame=AT_THRESHOLDS,
        sets=(("threshold", *arm), ("finding", "threshold", *arm)),
    )


EXCLUDED: Final = TableSpec(
    "excluded",
    tuple(Key(name, ascending=True) for name in ("item", "reason", "meaning")),
    (Cell("size", ("trials",)),),
    "Excluded",
    "Planned, but in no rate: these items cannot be scored.",
    frame=EVERY,
    where={"left_out": (ITEM,)},
    shown=("item", "reason", "meaning", "trials"),
)
NOT_LEARNED: Final = TableSpec(
    "not_learned",
    (Key("model", ascending=True), Key("finding", ascending=True)),
    (Cell("size", ("trials",)),),
    "Findings a model was not trained on",
    "Planned, but in no rate of these models, which were not trained on them. Their "
    "means are over the other findings; compare findings one by one.",
    frame=EVERY,
    where={"left_out": (MODEL,)},
    shown=("model", "finding", "trials"),
)


def _met(name: str) -> tuple[Cell, Cell]:
    return Cell("sum", (f"n_{name}",), (name,)), Cell("mean", (name,), (name,))


def _share(column: str, header: str, of: str = "items") -> Shown:
    return Shown(column, header, ".1f", 100, counts=(f"n_{column}", of))


REFERENCES_TABLE: Final = TableSpec(
    "references",
    (Key("words"),),
    (
        Cell("size", ("items",)),
        Cell("distinct", ("patients",), ("patient",)),
        *_met("told_fallback"),
        Cell(
            "rate of distinct",
            ("n_fallback_images", "images", "fallback_images"),
            ("image", "told_fallback"),
        ),
        *(*_met("differs"), *_met("cropped")),
    ),
    "References seen through the grids",
    "Fallback: no cell reaches the threshold, so any cell that touches the mask is a "
    "hit. The two mask modes count pixels at the size sent (paper) and integrate "
    "native area (exact); if their hit sets differ, a verdict may depend on it.",
    frame=REFERENCES,
    where={"asked": (True,)},
    shown=(
        *(Shown("words", "Grid"), "items", "images", "patients"),
        _share("told_fallback", "Fallback items %"),
        _share("fallback_images", "Fallback images %", "images"),
        _share("differs", "Hit set differs in the other mask mode %"),
        _share("cropped", "Over 10 % of the mask cropped %"),
    ),
)
"""What the references look like through each grid (E000-08, -16, -17)."""
LEFT_OUT: Final = (EXCLUDED, NOT_LEARNED, REFERENCES_TABLE)


def trial_specs(of: Asked) -> tuple[Spec, ...]:
    """Return the tables of a run's trials."""
    return (
        rates_spec(of),
        recommended_spec(of),
        *((replicates_spec(of), agreement_spec(of)) if of.often else ()),
        ABSENT_TABLE,
        *((GEOMETRY, RULES, models_by_rule(of)) if of.measured else ()),
        MASK_MODES,
        MASK_MODE_ITEMS,
        area_spec(of),
        threshold_spec(of),
        *ablation_specs(of.params),
    )
