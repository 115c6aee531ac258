"""Boxes and masks against reference boxes and masks (issue: other answers).

All of this is part of a report only where a run has an answer that is a box or a mask.
Boxes on images where the finding is absent are false positives of the free-response
curve and of average precision; they are known where such images were asked (E000-32).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from viewer.domain.box_reference import BY_RULE
from viewer.metrics.boxes import best_iou, image_boxes
from viewer.metrics.detection import COCO_THRESHOLDS, FROC_RATES
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import NOT_COUNTED
from viewer.results.spec import OF_WHOM, Cell, Key, Line, Shown, TableSpec, Where
from viewer.studies.grid_localization.asked import Asked
from viewer.studies.grid_localization.placed import PlacedTrial
from viewer.studies.grid_localization.shown import FINDING, of_n
from viewer.studies.protocol import ABSENT_SUFFIX
from viewer.studies.tables import MICRO

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75)
"""Overlaps from .1 to .75: VinDr asks for .4, RSNA for .4 to .75."""
BOXES: Final = "boxes"
DETECTION: Final = "detection"
FROC: Final = "froc"
_FROC_IOU = 0.5
_NONE_ASKED = "none asked"
_PRINTED_IOU: Final = (0.1, 0.3, 0.5, 0.75)
_AREAS: Final = ("iou", "dice", "iou_uncropped", "dice_uncropped")
"""Pixel measures whose means are reported."""
_OF_BOXES: Final = ("predicted", "confidence", "reference")
_HEADER: Final = (
    *("finding", "condition", "model", "reader", "item", "patient", "having"),
    *(*_OF_BOXES, "n_predicted", "n_reference", *_AREAS, "distance_mm", "calibrated"),
    *(f"{name}_{at:g}" for name in ("box_hit", "area_hit") for at in THRESHOLDS),
)
_KEYS: Final = (
    Key("finding", total=MICRO, ascending=True),
    *(Key(name, ascending=True) for name in ("condition", "model", "reader")),
)
_ARM: Final = ("condition", "model")
_SETS: Final = ((*_ARM, "finding", "reader"), (*_ARM, "reader"))
_EVERY: Final[Where] = {}
_HAVING: Final[Where] = {"having": (True,)}
_BY_PIXELS: Final[Where] = {**_HAVING, "reader": (BY_RULE,)}
_N: Final = Cell("size", ("n",))
_WITH: Final = Cell("size", ("n_with_finding",), where=_HAVING)
_WITHOUT: Final = Cell("size", ("n_without_finding",), where={"having": (False,)})
_ALL: Final = (_N, _WITH, _WITHOUT)
_RATE: Final = ("k", "n", "value", "low", "high", "method")
_VALUE: Final = ("value", "method")


def box_frame(results: Sequence[PlacedTrial]) -> Frame:
    """Return each item with its boxes and those to find, by the rule and per reader.

    ``results`` are those of the absent-finding arm as well; those of models that drew
    no box are not in it. Hits are known of items ``having`` a box to find. What
    compares pixels with the whole reference is known of the rule alone, 0 without an
    answer; so is the distance of the answer's point, where it is ``calibrated``.
    """
    boxed = {_arm(r) for r in results if (d := r.placed.detection) and d.predicted}
    rows = (
        row
        for one in results
        if _arm(one) in boxed and one.score.status not in NOT_COUNTED
        for row in _rows(one)
    )
    return frame_of_rows(_HEADER, rows)


def _arm(result: PlacedTrial) -> tuple[str, str]:
    """Return an answer's condition, whether the finding is there or not, and model."""
    return result.condition.removesuffix(ABSENT_SUFFIX), result.model


def _rows(one: PlacedTrial) -> Iterator[tuple[object, ...]]:
    detection = one.placed.detection
    is_absent = one.condition.endswith(ABSENT_SUFFIX)
    if detection is None or not (detection.reference or is_absent):
        return
    for reader, reference in ((BY_RULE, detection.reference), *detection.by_reader):
        having, by_rule = bool(reference), reader == BY_RULE
        overlap = best_iou(image_boxes(detection.predicted, reference))
        measures = one.placed.measures if having and by_rule else None
        areas = [(getattr(measures, name, None) or 0.0) for name in _AREAS]
        mm = measures and measures.distance_mm
        yield (
            *(one.finding, *_arm(one), reader, one.item, one.patient, having),
            *(detection.predicted, detection.confidence, reference),
            *(len(detection.predicted), len(reference), *areas, mm, mm is not None),
            *(value >= at for value in (overlap, areas[0]) for at in THRESHOLDS),
        )


def _lines() -> Iterator[Line]:
    for name, where in (("box_hit", _HAVING), ("area_hit", _BY_PIXELS)):
        for at in THRESHOLDS:
            rate = Cell("rate", _RATE, (f"{name}_{at:g}", *OF_WHOM))
            yield _line(name, rate, _WITH, where=where, at=at)
    for name in _AREAS:
        mean = _mean("value", name), _N, _WITH
        yield _line(f"mean_{name}", *mean, where=_BY_PIXELS, method="mean")
    for at in FROC_RATES:
        yield _line("sensitivity_at_fp", *_ALL, _froc((at,), *_VALUE), at=at)
    by_overlap, names = "average precision by overlap", ("at", *_VALUE)
    precisions = Cell(by_overlap, names, _OF_BOXES, options={"overlaps": THRESHOLDS})
    yield _line("ap_at_iou", *_ALL, precisions)
    yield _line("ap", *_ALL, _precision(*_VALUE))
    yield _line("froc_score", *_ALL, _froc(FROC_RATES, *_VALUE))
    middle = Cell("median", ("value",), ("distance_mm",)), _N, _WITH
    in_mm: Where = {"calibrated": (True,)}
    yield _line("median_distance_mm", *middle, where=in_mm, method="median")


def _line(metric: str, *cells: Cell, where: Where = _EVERY, **told: object) -> Line:
    """Return a line of some of the group's rows."""
    own = (replace(cell, where={**where, **cell.where}) for cell in cells)
    return Line((("metric", metric), *told.items()), tuple(own), where)


def _mean(name: str, column: str, where: Where = _EVERY) -> Cell:
    """Return the mean of a column, exactly rounded."""
    options = {"by": ()}
    return Cell("nested mean of rates", (name,), (column,), where, options=options)


def _precision(*names: str) -> Cell:
    options = {"overlaps": COCO_THRESHOLDS}
    return Cell("average precision", names, _OF_BOXES, options=options)


def _froc(rates: Sequence[float], *names: str) -> Cell:
    options = {"overlap": _FROC_IOU, "rates": tuple(rates)}
    return Cell("froc", names, _OF_BOXES, options=options)


_POINTS: Final = Cell(
    "froc curve",
    ("false_positives_per_item", "sensitivity"),
    _OF_BOXES,
    options={"overlap": _FROC_IOU},
)
DETECTION_TABLES: Final = (
    TableSpec(DETECTION, _KEYS, frame=BOXES, sets=_SETS, lines=tuple(_lines())),
    TableSpec(FROC, _KEYS, (_POINTS, _WITH, _WITHOUT), frame=BOXES, sets=_SETS),
)


def detected_spec(of: Asked) -> TableSpec:
    """Return a row for each model, finding and reader, as a page has them."""
    return TableSpec(
        "detected",
        _KEYS,
        (
            *(replace(_WITH, names=("having",)), replace(_WITHOUT, names=("without",))),
            Cell("sum", ("boxes",), ("n_predicted",)),
            Cell("sum", ("to_find",), ("n_reference",)),
            *(
                Cell("sum", (f"k_{at:g}",), (f"box_hit_{at:g}",), _HAVING)
                for at in _PRINTED_IOU
            ),
            *(_mean(f"mean_{name}", name, _BY_PIXELS) for name in _AREAS[:3]),
            *(_precision("ap"), _froc(FROC_RATES, "froc")),
            Cell("median", ("median_mm",), ("distance_mm",)),
        ),
        title="Boxes and masks against the reference's",
        text="Every settled item counts; one without an answer has no box. Answers and "
        "references are both cropped to the part of the image sent. IoU is the "
        "best overlap of two boxes, AP the mean over IoU .5 to .95, FROC the mean "
        f"sensitivity at {FROC_RATES[0]:g} to {FROC_RATES[-1]:g} false positives per "
        f"item at IoU ≥ {_FROC_IOU:g}. In AP, boxes with equal confidence are one "
        "group; a dash means that all confidences are equal, so boxes cannot be "
        "ranked. AP and FROC also count boxes on items without the finding; "
        f"'{_NONE_ASKED}' means that there were no such items, so both flatter a "
        "model that draws boxes on any image.",
        frame=BOXES,
        sets=_SETS,
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
