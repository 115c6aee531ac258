"""Cells, points, boxes, masks and heat maps under the same rules (X-03, M-08).

All of this is part of a report only where a run has an answer that is no cell.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

from viewer.domain.report import Section, Table
from viewer.domain.result import IOU_THRESHOLD, Measures, TrialResult
from viewer.studies.grid_localization.estimates import MICRO
from viewer.studies.grid_localization.tally import is_settled

_GEOMETRY_HEADER = (
    *("item", "condition", "repeat", "model", "kind", "point_x", "point_y", "cell"),
    *("cell_hit", "pointing_hit", "iou_hit", "iou", "dice"),
    *("distance_px", "distance_mm", "mm_meaning"),
)
_RULES_HEADER = (
    *("finding", "condition", "model", "kinds", "n", "k_cell", "k_pointing"),
    *("n_iou", "k_iou", "median_iou", "median_dice", "median_distance_px"),
)
_PRINTED = (
    *("Finding", "Grid", "Model", "Answers", "n", "Cell", "Pointing"),
    *(f"IoU ≥ {IOU_THRESHOLD:g}", "Median IoU", "Median Dice", "Median distance px"),
)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """How one model's answers about one finding fare under each rule.

    ``n`` counts settled trials: one without an answer is a miss under every rule.
    ``n_iou`` leaves out points, which cover nothing.
    """

    finding: str
    condition: str
    model: str
    kinds: str
    n: int
    k_cell: int
    k_pointing: int
    n_iou: int
    k_iou: int
    median_iou: float | None
    median_dice: float | None
    median_distance_px: float | None


def tables(results: Sequence[TrialResult]) -> tuple[Table, ...]:
    """Return geometry.csv, a row an answer, and rules.csv, a row a model."""
    if not _has_measures(results):
        return ()
    ordered = sorted(results, key=lambda r: (r.item, r.condition, r.repeat, r.model))
    measured = tuple(_geometry_row(r, r.measures) for r in ordered if r.measures)
    rows = tuple(
        tuple(getattr(row, name) for name in _RULES_HEADER)
        for row in rule_rows(results)
    )
    geometry = Table("geometry", _GEOMETRY_HEADER, measured)
    return geometry, Table("rules", _RULES_HEADER, rows)


def sections(results: Sequence[TrialResult]) -> tuple[Section, ...]:
    """Return the printed table of every model under every rule."""
    if not _has_measures(results):
        return ()
    rows = tuple(_printed(row) for row in rule_rows(results))
    text = (
        "Hits under three rules that fit every kind of answer, each as k / n over the "
        "settled trials. A trial without an answer is a miss under all of them."
    )
    return (Section("The same rules for all", text, Table("rules", _PRINTED, rows)),)


def definitions(results: Sequence[TrialResult]) -> Mapping[str, str]:
    """Return what the rules and distances mean."""
    if not _has_measures(results):
        return {}
    return {
        "point of an answer": "A cell's centre, a point itself, the centre of the "
        "largest box, a mask's deepest interior point (greatest Euclidean distance to "
        "the outside, first in row-major order), a heat map's greatest element.",
        "cell rule": "The cell that holds the answer's point qualifies as a hit cell.",
        "pointing rule": "The answer's point lies on the reference mask.",
        "IoU rule": "Intersection over union of the answer's native pixels and the "
        f"reference's is at least {IOU_THRESHOLD:g}. A cell or box covers the pixels "
        "whose centres it holds, a heat map those above its own Otsu threshold. Points "
        "cover nothing and are left out.",
        "distance": "From the answer's point to the nearest edge of the reference, in "
        "native pixels and, where the file has a pixel spacing, in millimetres; 0 on "
        "the reference. A radiograph's millimetres are those at the detector.",
        "sent part": "All of it against the part of the reference that was sent.",
    }


def rule_rows(results: Sequence[TrialResult]) -> tuple[RuleRow, ...]:
    """Return a row for each finding, condition and model, then all findings pooled."""
    groups: dict[tuple[str, str, str], list[TrialResult]] = defaultdict(list)
    pooled: dict[tuple[str, str, str], list[TrialResult]] = defaultdict(list)
    for result in filter(is_settled, results):
        groups[result.condition, result.model, result.finding].append(result)
        pooled[result.condition, result.model, MICRO].append(result)
    return tuple(
        _row(key, of_key)
        for by_key in (groups, pooled)
        for key, of_key in sorted(by_key.items(), key=itemgetter(0))
    )


def _row(key: tuple[str, str, str], results: Sequence[TrialResult]) -> RuleRow:
    condition, model, finding = key
    found = [r.measures for r in results if r.measures]
    areas = [m for m in found if m.iou is not None]
    points = sum(m.iou is None for m in found)
    return RuleRow(
        finding=finding,
        condition=condition,
        model=model,
        kinds=";".join(sorted({m.kind for m in found})),
        n=len(results),
        k_cell=sum(m.cell_hit for m in found),
        k_pointing=sum(m.pointing_hit for m in found),
        n_iou=len(results) - points,
        k_iou=sum(bool(m.iou_hit) for m in areas),
        median_iou=_median([m.iou for m in areas if m.iou is not None]),
        median_dice=_median([m.dice for m in areas if m.dice is not None]),
        median_distance_px=_median([m.distance_px for m in found]),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _has_measures(results: Sequence[TrialResult]) -> bool:
    return any(result.measures for result in results)


def _geometry_row(result: TrialResult, found: Measures) -> tuple[object, ...]:
    return (
        *(result.item, result.condition, result.repeat, result.model),
        *(found.kind, found.point.x, found.point.y, result.score.answer),
        *(found.cell_hit, found.pointing_hit, found.iou_hit),
        *(found.iou, found.dice, found.distance_px, found.distance_mm),
        None if found.mm_meaning is None else found.mm_meaning.value,
    )


def _printed(row: RuleRow) -> tuple[str, ...]:
    return (
        "All trials pooled" if row.finding == MICRO else row.finding,
        row.condition.removeprefix("grid="),
        row.model,
        row.kinds.replace("_", " ").replace(";", ", ") or "none",
        str(row.n),
        f"{row.k_cell} / {row.n}",
        f"{row.k_pointing} / {row.n}",
        f"{row.k_iou} / {row.n_iou}" if row.n_iou else "-",
        *(_number(v, 2) for v in (row.median_iou, row.median_dice)),
        _number(row.median_distance_px, 1),
    )


def _number(value: float | None, decimals: int) -> str:
    return "-" if value is None else f"{value:.{decimals}f}"
