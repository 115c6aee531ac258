"""Detection performance of boxes: average precision and the free-response curve.

The columns are an item's predicted boxes, their confidences (empty if unknown) and the
boxes to find, all in pixels of one image.
"""

from collections.abc import Sequence
from math import nan
from typing import Final

import numpy as np

from viewer.metrics.boxes import ImageBoxes, image_boxes
from viewer.metrics.detection import Froc, average_precision, froc, tells_apart
from viewer.results.estimators.registry import Seen, estimator

_NO_ORDER: Final = "none: all boxes have equal or no confidence"
_WITH_ONLY: Final = ", only items with the finding"


@estimator("average precision")
def precision(seen: Seen) -> Sequence[object]:
    """Return the mean of COCO's average precision at ``overlaps``, and its name.

    It is undefined if all boxes have the same confidence, because they have no order.
    """
    if not tells_apart(_images(seen)):
        return nan, _NO_ORDER + _which(seen)
    overlaps = seen.options["overlaps"]
    average = average_precision(_images(seen), overlaps)
    name = f"{average.method}, IoU {overlaps[0]:g} to {overlaps[-1]:g}"
    return average.value, name + _which(seen)


@estimator("average precision by overlap")
def precision_by_overlap(seen: Seen) -> Sequence[object]:
    """Return ``overlaps``, COCO's average precision at each, and its name.

    The lists are empty if all boxes have the same confidence.
    """
    overlaps = seen.options["overlaps"] if tells_apart(_images(seen)) else ()
    average = average_precision(_images(seen), overlaps)
    return [*overlaps], [*average.at_thresholds], average.method + _which(seen)


@estimator("froc")
def sensitivity(seen: Seen) -> Sequence[object]:
    """Return the mean sensitivity at ``rates`` of false positives per item, and a name.

    A box is found from an ``overlap`` on.
    """
    froc_curve = _curve(seen)
    value = float(np.mean(froc_curve.at(seen.options["rates"])))
    return value, froc_curve.method + _which(seen)


@estimator("froc curve")
def curve(seen: Seen) -> Sequence[object]:
    """Return false positives per item and sensitivity at each point of the curve."""
    froc_curve = _curve(seen)
    return [*froc_curve.false_positives], [*froc_curve.sensitivity]


def _curve(seen: Seen) -> Froc:
    overlap = seen.options["overlap"]
    which = ("froc", overlap, tuple(seen.rows.places))
    return seen.once(which, lambda: froc(_images(seen), overlap))


def _images(seen: Seen) -> Sequence[ImageBoxes]:
    return seen.once(
        ("boxes", tuple(seen.rows.places)),
        lambda: [
            image_boxes(predicted, reference, sure or None)
            for predicted, sure, reference in seen.rows.each(*seen.of)
        ],
    )


def _which(seen: Seen) -> str:
    """Return a note for numbers that exclude items without a box to find."""
    return _WITH_ONLY if all(seen.rows[seen.of[-1]]) else ""
