"""How a page shows the tables of trials, in the order of the page."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.report import Table
from viewer.domain.result import IOU_THRESHOLD
from viewer.domain.study_words import NO_COUNTS
from viewer.results.spec import Shown, Spec, TableSpec, Where
from viewer.studies.grid_localization.ablation import ablation_specs
from viewer.studies.grid_localization.asked import MACRO, Asked, spoken
from viewer.studies.grid_localization.frames import AREAS
from viewer.studies.grid_localization.tables import (
    ABSENT_TABLE,
    MASK_MODES,
    RULES,
    agreement_spec,
    area_spec,
    models_by_rule,
    rates_spec,
    recommended_spec,
    threshold_spec,
)
from viewer.studies.tables import ALL_VIEWS, MICRO

N: Final = Shown("n", "n")
NAMES: Final[dict[object, str]] = {
    MACRO: "Mean of findings",
    MICRO: "All trials pooled",
}
FINDING: Final = Shown("finding", "Finding", words=NAMES)
ALL: Final = {"view": (ALL_VIEWS,)}
_POINTS: Final = "+z.1f"
EXACT: Final = "95 % (Clopper-Pearson)"
OF_GAIN: Final = "Gain 95 % (jackknife)"
_OF_RULES: Final[dict[object, str]] = {"cell": "cells", "pointing": "points"}
_NAMED: Final = 30
"""So many items are named on the page; the table names all."""
_RESULTS: Final = (
    "Rates in per cent, gains in percentage points. Every planned trial that was not "
    "excluded counts; a refusal, a failure or a reply without a cell is a miss."
)


def percent(column: str, header: str, *, also: str = "", group: str = "") -> Shown:
    """Return a column of rates in per cent, up to ``also`` if they are limits."""
    return Shown(column, header, ".1f", 100, also=also, group=group)


def of_n(column: str, header: str, n: str = "n", group: str = "") -> Shown:
    """Return a column of counts out of ``n``."""
    return Shown(column, header, also=n, between=" / ", group=group)


def k_of_n(k: str = "k", n: str = "n", group: str = "") -> Shown:
    """Return a column of hits out of ``n``, blank for means over findings."""
    return of_no_mean(of_n(k, "k / n", n, group))


def of_no_mean(counts: Shown) -> Shown:
    """Return a column of counts that is blank for means over findings."""
    return replace(counts, but={"finding": (MACRO,)}, none=NO_COUNTS)


def interval(name: str, header: str = EXACT, group: str = "") -> Shown:
    """Return a column of intervals by patient in per cent."""
    ends = percent(f"{name}_low", header, also=f"{name}_high", group=group)
    return over_patients(ends)


def over_patients(ends: Shown) -> Shown:
    """Return a column of intervals over patients, blank for a single patient."""
    return replace(ends, none="not estimable")


def points(column: str, header: str, *, also: str = "", group: str = "") -> Shown:
    """Return a column of differences of rates in percentage points, signed."""
    return Shown(column, header, _POINTS, 100, also=also, group=group)


def results_pages(of: Asked, *, all_views: bool) -> Iterator[Spec]:
    """Yield the results under each grid: of all views together, or of each view.

    They show a table that also has ``n`` and ``answered_only`` (see ``rates``).
    """
    views = ALL if all_views else {"view": of.views[:-1]}
    title = "Results" if all_views else "By view"
    for condition in of.own:
        yield replace(
            rates_spec(of),
            title=f"{title}, {spoken(condition)}",
            text=_RESULTS,
            shown=(
                FINDING,
                *(() if all_views else ("view",)),
                "model",
                *_RATES,
            ),
            printed={"condition": (condition,), **views},
        )


_STATUSES: Final = (
    *("planned", "scored", "failed", "refused", "unparsed", "excluded", "pending"),
)
_PAPER, _TRIALS, _OURS = "Paper mode", "Trials", "Recommended"
_RATES: Final = (
    k_of_n(group=_PAPER),
    percent("hit_rate", "Hit rate %", group=_PAPER),
    percent("bootstrap_sd", "± SD", group=_PAPER),
    percent("random_baseline", "Random %", group=_PAPER),
    *(Shown(f"n_{name}", name.capitalize(), group=_TRIALS) for name in _STATUSES),
    interval("ci", group=_OURS),
    percent("location_prior", "Location prior %", group=_OURS),
    points("gain", "Gain over location prior", group=_OURS),
    over_patients(points("gain_low", OF_GAIN, also="gain_high", group=_OURS)),
    percent("answered_only", "Answered only %", group=_OURS),
)


def front(of: Asked) -> Iterator[Spec]:
    """Yield what follows the results on a page, before its figures."""
    grid = Shown("condition", "Grid", words=of.grids)
    yield _recommended(of, grid)
    yield _replicates(of, grid)
    yield _absent(of, grid)
    yield _rules(of, grid)
    title = "Hit rates under the rules of cells and points"
    yield replace(by_rule(models_by_rule(of), title, of.grids), printed=_own(of))
    yield _areas(of, grid)
    yield from ablation_specs(of.params)


def _own(of: Asked) -> Where:
    """Return the rows on a page: those whose grid an ablation does not vary."""
    return {"condition": of.own} if of.own != of.conditions else {}


def _recommended(of: Asked, grid: Shown) -> Spec:
    return replace(
        recommended_spec(of),
        title="Hit rates with intervals over patients",
        text=(
            "Intervals are exact (Clopper and Pearson), for as many independent trials "
            "as vary like the patients do, because trials of one patient tell less "
            "than those of several. For the SD, patients are resampled "
            f"{of.params.replicates:,} times with replacement, each with all their "
            "images and findings. Neither can be estimated from one patient. The "
            "paper's SD over items is in the table above and in no column of this one."
        ),
        shown=(
            *(FINDING, grid, "model", k_of_n(), "patients"),
            percent("hit_rate", "Hit rate %", group=_OURS),
            percent("patient_sd", "SD over patients", group=_OURS),
            interval("ci", group=_OURS),
        ),
        printed={**ALL, **_own(of)},
    )


def _replicates(of: Asked, grid: Shown) -> Spec:
    return replace(
        agreement_spec(of),
        title="Replicates",
        text="Every item counts once, with the mean of its replicates. Intervals are "
        "by patient. Entropy is that of an item's answers: 0 if all are the same "
        "cell.",
        shown=(
            *(grid, "model", "items"),
            Shown("mean_entropy_bits", "Mean entropy, bits"),
            of_n("items_unanimous", "Unanimous items", "items"),
            percent("pairs_agreeing", "Pairs that agree %"),
            Shown("icc", "ICC"),
            percent("macro_hit_rate", "Mean of findings %"),
            interval("macro"),
            percent("pooled_hit_rate", "Pooled %"),
            interval("pooled"),
        ),
        printed=_own(of),
    )


def _absent(of: Asked, grid: Shown) -> Spec:
    return replace(
        ABSENT_TABLE,
        title="Absent findings",
        text="The same words, which say that the finding is present, for images whose "
        "label says that it is absent. A model that names a cell capitulates; "
        "one that denies the finding is right. A model that always answers "
        "capitulates in 100 %, one that always knows in 0 %.",
        shown=(
            *(FINDING, grid, "model"),
            of_no_mean(Shown("n_capitulated", "Capitulated", group="Finding absent")),
            percent("capitulation_rate", "Capitulation %", group="Finding absent"),
            interval("ci", group="Finding absent"),
            percent("hit_rate", "Hit rate %", group="Finding present"),
            *(
                Shown(f"n_{name}", name.capitalize(), group=_TRIALS)
                for name in ("planned", "denied", *_STATUSES[2:])
            ),
        ),
        printed={**ALL, **_own(of)},
    )


def _rules(of: Asked, grid: Shown) -> Spec:
    return replace(
        RULES,
        title="The same rules for all",
        text="Hits under three rules that fit every kind of answer, each as k / n over "
        "the settled trials. A trial without an answer is a miss under all of them. "
        "Answer and reference are both cropped to the part of the image that was sent.",
        shown=(
            *(FINDING, grid, "model", Shown("kinds", "Answers"), N),
            of_n("k_cell", "Cell"),
            of_n("k_pointing", "Pointing"),
            of_n("k_iou", f"IoU ≥ {IOU_THRESHOLD:g}", "n_iou"),
            *(Shown("median_iou", "Median IoU"), Shown("median_dice", "Median Dice")),
            Shown("median_iou_uncropped", "Median IoU uncropped"),
            Shown("median_distance_px", "Median distance px", ".1f"),
        ),
        printed=_own(of),
    )


_NO_GRIDS: Final[Mapping[object, str]] = {}


def by_rule(
    spec: TableSpec, title: str, grids: Mapping[object, str] = _NO_GRIDS
) -> TableSpec:
    """Return the page of a table of hit rates under both rules.

    ``grids`` are what narrow columns call the conditions.
    """
    grid = Shown("condition", "Grid", words=grids)
    who = ("model",) if any(key.column == "model" for key in spec.keys) else ()
    return replace(
        spec,
        title=title,
        text="Rule of cells: the cell that holds the answer's point is a hit cell. "
        "Rule of points: the point lies on the mask. A cell's point is its centre.",
        shown=(
            *(FINDING, grid, *who, Shown("rule", "Rule of", words=_OF_RULES)),
            *(k_of_n(), percent("hit_rate", "Hit rate %"), interval("ci")),
        ),
    )


def _areas(of: Asked, grid: Shown) -> Spec:
    edges = "; ".join(AREAS)
    return replace(
        area_spec(of),
        title="Hit rates by area of the mask",
        text="All findings and views. The area is the share of the square sent that "
        f"the mask covers: {edges}; a share on an edge is in the group above it. A "
        "random cell hits large masks more often. "
        "mask_areas.csv also has single findings.",
        shown=(
            *(Shown("area", "Area of the mask"), grid, "model", k_of_n(), "patients"),
            percent("hit_rate", "Hit rate %"),
            interval("ci"),
            percent("random_baseline", "Random %"),
        ),
        printed={"finding": (MICRO,), **_own(of)},
    )


def thresholds(of: Asked) -> Spec:
    """Return the rates at each threshold of coverage, means over findings."""
    return replace(
        threshold_spec(of),
        title="Hit rates by threshold of coverage",
        text="Mean of findings, all views, if a cell were a hit from another coverage "
        "on: the same answers, scored again. Fallback: no cell of the mask reaches the "
        "threshold, so every cell that it touches is a hit. coverage_thresholds.csv "
        "also has single findings.",
        shown=(
            Shown("threshold", "Coverage of a hit, at least %"),
            Shown("condition", "Grid", words=of.grids),
            "model",
            percent("hit_rate", "Mean of findings %"),
            interval("ci"),
            percent("random_baseline", "Random %"),
            percent("fallback_rate", "Fallback %"),
        ),
        printed={"finding": (MACRO,), **_own(of)},
    )


def mask_modes(of: Asked, changed: Table) -> TableSpec:
    """Return both mask modes side by side; ``changed`` counts differing trials."""
    items = sorted({row["item"] for row in changed.records()})
    more = len(items) - _NAMED
    rest = f" and {more} more, listed in {changed.name}.csv" if more > 0 else ""
    words = (item.replace("|", ", ") for item in items[:_NAMED])
    named = f": {'; '.join(words)}{rest}." if items else "."
    return replace(
        MASK_MODES,
        title="Hit rates with paper and exact masks",
        text="The same answers scored with the mask as resized to the size sent "
        "(paper) and with its native area (exact); the run chose one of the two. "
        f"The verdict differs for {counted(len(items), 'item')}{named}",
        shown=(
            *(
                FINDING,
                Shown("condition", "Grid", words=of.grids),
                "model",
                of_no_mean(N),
            ),
            *(
                one
                for mode in ("paper", "exact")
                for one in (
                    of_no_mean(Shown(f"k_{mode}", "k", group=mode.title())),
                    percent(f"hit_rate_{mode}", "Hit rate %", group=mode.title()),
                )
            ),
            Shown("n_verdict_differs", "Verdict differs"),
        ),
        printed={**ALL, **_own(of)},
    )
