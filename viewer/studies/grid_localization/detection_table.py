"""Boxes and masks against reference boxes and masks (issue: other answers).

All of this is part of a report only where a run has an answer that is a box or a mask.
Boxes on images where the finding is absent are false positives of the free-response
curve and of average precision; they are known where such images were asked (E000-32).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from viewer.domain.geometry import BoxPx
from viewer.metrics.boxes import ImageBoxes, best_iou, image_boxes
from viewer.metrics.detection import COCO_THRESHOLDS as _COCO
from viewer.metrics.detection import (
    FROC_RATES,
    Froc,
    average_precision,
    froc,
    hits_at,
    tells_apart,
)
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import NOT_COUNTED
from viewer.results.spec import Cell, Key, ListSpec, Shown, TableSpec
from viewer.studies.grid_localization.asked import Asked
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.shown import FINDING, of_n
from viewer.studies.protocol import ABSENT_SUFFIX
from viewer.studies.tables import MICRO

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75)
"""Overlaps from .1 to .75: VinDr asks for .4, RSNA for .4 to .75."""
BY_RULE = "(by rule)"
"""Stands where the reference is that of the run's rule of readers."""
_FROC_IOU = 0.5
_NONE_ASKED = "none asked"
_NO_ORDER: Final = "none: all boxes are equally sure or have no confidence"
_WITH_ONLY = "only items with the finding"
DETECTION: Final = "detection"
FROC: Final = "froc"
DETECTED: Final = "detected"
_KEY: Final = ("finding", "condition", "model", "reader")
_HEADER: Final = (
    *(*_KEY, "metric", "at", "k", "n", "value", "low", "high", "method"),
    *("n_with_finding", "n_without_finding"),
)
_CURVE: Final = (
    *(*_KEY, "false_positives_per_item", "sensitivity"),
    *("n_with_finding", "n_without_finding"),
)
_PRINTED_IOU: Final = (0.1, 0.3, 0.5, 0.75)
_WIDE: Final = (
    *(*_KEY, "having", "without", "boxes", "to_find"),
    *(f"k_{at:g}" for at in _PRINTED_IOU),
    *("mean_iou", "mean_dice", "mean_iou_uncropped", "ap", "froc", "median_mm"),
)
_AREAS: Final = ("iou", "dice", "iou_uncropped", "dice_uncropped")
"""Measures of pixels whose means are told."""


_Found = tuple[PlacedTrial, tuple[BoxPx, ...]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Whose answers about what are compared with whose boxes."""

    finding: str
    condition: str
    model: str
    reader: str


@dataclass(frozen=True)
class DetectionRow:
    """How well one model's boxes find those of a reader or of the rule.

    ``images`` are items with a box to find and, from the absent-finding arm or of a
    reader who drew none, items without; ``whose`` are patient and item of each that has
    one to find, in the same order. ``areas`` has what compares pixels with the
    whole reference by the measure's name; it is known for the rule alone, an item
    without an answer having 0. ``mm`` are distances of the answers' points where
    calibrated.
    """

    key: Compared
    images: tuple[ImageBoxes, ...]
    whose: tuple[tuple[str, str], ...]
    areas: Mapping[str, tuple[float, ...]]
    mm: tuple[float, ...]

    @property
    def overlaps(self) -> tuple[float, ...]:
        """The best overlap of two boxes on each item that has one to find."""
        return tuple(best_iou(i) for i in self.images if len(i.reference))

    @property
    def items(self) -> tuple[int, int]:
        """How many items have a box to find, and how many none."""
        having = sum(len(image.reference) > 0 for image in self.images)
        return having, len(self.images) - having

    @property
    def counts(self) -> tuple[int, int]:
        """How many boxes were predicted, and how many there are to find."""
        predicted = sum(len(image.predicted) for image in self.images)
        return predicted, sum(len(image.reference) for image in self.images)


def detection_frames(results: Sequence[PlacedTrial]) -> dict[str, Frame]:
    """Return every number of boxes, the points of the curves, and a row a model.

    ``results`` are those of the absent-finding arm as well.
    """
    rows = detection_rows(results)
    return {
        DETECTION: frame_of_rows(_HEADER, (c for row in rows for c in _cells(row))),
        FROC: frame_of_rows(_CURVE, (c for row in rows for c in _curve(row))),
        DETECTED: frame_of_rows(_WIDE, map(_wide, rows)),
    }


DETECTION_TABLES: Final = (
    ListSpec(DETECTION, frame=DETECTION),
    ListSpec(FROC, frame=FROC),
)


def detected_spec(of: Asked) -> TableSpec:
    """Return a row for each model, finding and reader, as a page has them."""
    return TableSpec(
        DETECTED,
        tuple(map(Key, _KEY)),
        (Cell("first", _WIDE[len(_KEY) :], _WIDE[len(_KEY) :]),),
        title="Boxes and masks against the reference's",
        text="Every settled item counts; one without an answer has no box. Answers and "
        "references are both cropped to the part of the image sent. IoU is the "
        "best overlap of two boxes, AP the mean over IoU .5 to .95, FROC the mean "
        f"sensitivity at {FROC_RATES[0]:g} to {FROC_RATES[-1]:g} false positives an "
        f"item at IoU ≥ {_FROC_IOU:g}. In AP, boxes with equal confidence are one "
        "group; a dash means that no differing confidences rank the boxes. AP and "
        "FROC also count boxes on items without the finding; "
        f"'{_NONE_ASKED}' means that there were no such items, so that "
        "both flatter a model that draws boxes on any image.",
        frame=DETECTED,
        shown=(
            *(FINDING, Shown("condition", "Grid", words=of.grids), "model"),
            Shown("reader", "Reference", words={BY_RULE: "by rule"}),
            Shown("having", "Items with"),
            Shown("without", "Items without", words={0: _NONE_ASKED}),
            *("boxes", "to_find"),
            *(of_n(f"k_{at:g}", f"IoU ≥ {at:g}", "having") for at in _PRINTED_IOU),
            *(Shown("mean_iou", "Mean IoU"), Shown("mean_dice", "Mean Dice")),
            Shown("mean_iou_uncropped", "Mean IoU uncropped"),
            *(Shown("ap", "AP", ".3f"), Shown("froc", "FROC", ".3f")),
            Shown("median_mm", "Median mm", ".1f"),
        ),
    )


def detection_rows(results: Sequence[PlacedTrial]) -> tuple[DetectionRow, ...]:
    """Return a row for each finding, condition, model and reader, then all pooled."""
    found = ((r, r.placed.detection) for r in results)
    boxed = {_arm(result) for result, boxes in found if boxes and boxes.predicted}
    groups: dict[Compared, list[_Found]] = defaultdict(list)
    for result in results:
        if _arm(result) in boxed and result.score.status not in NOT_COUNTED:
            for finding in (result.finding, MICRO):
                for reader, reference in _references(result):
                    key = Compared(finding, *_arm(result), reader)
                    groups[key].append((result, reference))
    return tuple(_row(key, groups[key]) for key in sorted(groups, key=_order))


def _arm(result: PlacedTrial) -> tuple[str, str]:
    """Return an answer's condition, whether the finding is there or not, and model."""
    return result.condition.removesuffix(ABSENT_SUFFIX), result.model


def _references(result: PlacedTrial) -> Iterator[tuple[str, tuple[BoxPx, ...]]]:
    absent = result.condition.endswith(ABSENT_SUFFIX)
    found = result.placed.detection
    if found is not None and (absent or found.reference):
        yield BY_RULE, found.reference
        yield from found.by_reader


def _order(key: Compared) -> tuple[bool, str, str, str, bool, str]:
    pooled, by_reader = key.finding == MICRO, key.reader != BY_RULE
    return (pooled, key.condition, key.model, key.finding, by_reader, key.reader)


def _row(key: Compared, items: Sequence[_Found]) -> DetectionRow:
    images = tuple(_boxes(result, reference) for result, reference in items)
    whose = tuple((r.patient, r.item) for r, reference in items if reference)
    if key.reader != BY_RULE:
        return DetectionRow(key, images, whose, {}, ())
    found = [result.placed.measures for result, reference in items if reference]
    return DetectionRow(
        key,
        images,
        whose,
        areas={
            name: tuple((m and getattr(m, name)) or 0.0 for m in found)
            for name in (_AREAS if found else ())
        },
        mm=tuple(m.distance_mm for m in found if m and m.distance_mm is not None),
    )


def _boxes(result: PlacedTrial, reference: Sequence[BoxPx]) -> ImageBoxes:
    found = result.placed.detection
    predicted = found.predicted if found else ()
    confidence = found.confidence if found else ()
    return image_boxes(predicted, reference, confidence or None)


def _cells(row: DetectionRow) -> Iterator[tuple[object, ...]]:
    key = (row.key.finding, row.key.condition, row.key.model, row.key.reader)
    for name, overlaps in (
        ("box_hit", row.overlaps),
        ("area_hit", row.areas.get("iou", ())),
    ):
        for at in hits_at(overlaps, row.whose, THRESHOLDS) if overlaps else ():
            rate = at.rate
            yield (
                *(*key, name, at.threshold, at.hits, at.items),
                *(rate.value, rate.interval.low),
                *(rate.interval.high, rate.method, at.items, None),
            )
    for name, values in row.areas.items():
        mean = (None, len(values), fmean(values), None, None, "mean")
        yield (*key, f"mean_{name}", None, *mean, len(values), None)
    yield from ((*key, *cells, *row.items) for cells in _detection_cells(row))
    if row.mm:
        value, n = median(row.mm), len(row.mm)
        middle = (None, n, value, None, None, "median", n, None)
        yield (*key, "median_distance_mm", None, *middle)


def _detection_cells(row: DetectionRow) -> Iterator[tuple[object, ...]]:
    curve = froc(row.images, _FROC_IOU)
    n, which = len(row.images), "" if row.items[1] else f", {_WITH_ONLY}"
    at_rates = zip(FROC_RATES, curve.at_rates, strict=True)
    for name, at, value, method in (
        *(("sensitivity_at_fp", *one, curve.method) for one in at_rates),
        *_precisions(row),
        ("froc_score", None, curve.score, curve.method),
    ):
        yield (name, at, None, n, value, None, None, method + which)


def _precisions(
    row: DetectionRow,
) -> Iterator[tuple[str, float | None, float | None, str]]:
    """Yield average precision at each overlap and over COCO's, with the method.

    There is none where all boxes are equally sure: nothing puts them in an order.
    """
    if not tells_apart(row.images):
        yield "ap", None, None, _NO_ORDER
        return
    low, precision = (average_precision(row.images, of) for of in (THRESHOLDS, _COCO))
    for at, value in zip(low.thresholds, low.at_thresholds, strict=True):
        yield "ap_at_iou", at, value, low.method
    method = f"{precision.method}, IoU {_COCO[0]:g} to {_COCO[-1]:g}"
    yield "ap", None, precision.value, method


def _curve(row: DetectionRow) -> Iterator[tuple[object, ...]]:
    key = (row.key.finding, row.key.condition, row.key.model, row.key.reader)
    curve: Froc = froc(row.images, _FROC_IOU)
    for false, found in zip(curve.false_positives, curve.sensitivity, strict=True):
        yield (*key, false, found, *row.items)


def _wide(row: DetectionRow) -> tuple[object, ...]:
    key, found = row.key, hits_at(row.overlaps, row.whose, THRESHOLDS)
    at = {one.threshold: one for one in found}
    return (
        *(key.finding, key.condition, key.model, key.reader, *row.items, *row.counts),
        *(at[threshold].hits for threshold in _PRINTED_IOU),
        *(fmean(row.areas[of]) if row.areas else None for of in _AREAS[:3]),
        average_precision(row.images).value if tells_apart(row.images) else None,
        froc(row.images, _FROC_IOU).score,
        median(row.mm) if row.mm else None,
    )
