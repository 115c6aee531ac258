"""Detection performance of boxes: FROC and average precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from viewer.metrics.boxes import ImageBoxes, Matching, by_confidence, matched

_Floats = npt.NDArray[np.float64]
_Bools = npt.NDArray[np.bool_]
FROC_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""False positives per image at which LUNA16 asks for the sensitivity."""
COCO_THRESHOLDS = tuple(0.5 + 0.05 * i for i in range(10))
_RECALLS = np.linspace(0, 1, 101)
_COCO_MOST = 100
"""Predictions of an image that COCO looks at."""
_NO_BOX: _Bools = np.zeros(0, dtype=np.bool_)
_ALMOST_ONE = 1 - 1e-10
"""COCO's greatest threshold, so that equal boxes match whatever the rounding."""


@dataclass(frozen=True, slots=True)
class Froc:
    """Sensitivity against false positives per image, from the highest confidence on.

    One point for each distinct confidence, after (0, 0). Sensitivities are NaN without
    a reference box; without an image there are no points.
    """

    false_positives: tuple[float, ...]
    sensitivity: tuple[float, ...]
    method: str

    def at(self, rates: Sequence[float]) -> tuple[float, ...]:
        """Return the highest sensitivity at or below each rate of false positives."""
        points = [*zip(self.false_positives, self.sensitivity, strict=True)]
        return tuple(max((y for x, y in points if x <= r), default=nan) for r in rates)


@dataclass(frozen=True, slots=True)
class AveragePrecision:
    """The mean over thresholds, and the value at each; NaN without a reference box."""

    value: float
    thresholds: tuple[float, ...]
    at_thresholds: tuple[float, ...]
    method: str


def froc(
    images: Sequence[ImageBoxes],
    threshold: float = 0.5,
    matching: Matching = Matching.ONE_TO_ONE,
) -> Froc:
    """Return the free-response curve over images, including those without references.

    A false positive overlaps no reference enough; another box on a reference already
    found is ignored (as in LUNA16 and CAMELYON16).
    """
    method = f"FROC, IoU ≥ {threshold:g}, {matching}, steps, n = {len(images)}"
    references = sum(len(image.reference) for image in images)
    if not images:
        return Froc((), (), method)
    confidence, hit, stray = _pooled(images, threshold, matching, most=None)
    last = _last_of_ties(confidence)
    false = np.append(0, np.cumsum(stray)[last]) / len(images)
    found = np.append(0, np.cumsum(hit)[last])
    sensitivity = found / references if references else np.full(found.shape, nan)
    return Froc(tuple(false.tolist()), tuple(sensitivity.tolist()), method)


def average_precision(
    images: Sequence[ImageBoxes], thresholds: Sequence[float] = COCO_THRESHOLDS
) -> AveragePrecision:
    """Return average precision as COCO's evaluation does: 101 recalls, one class.

    Only the 100 most confident boxes of an image count. Boxes of equal confidence count
    together, independent of the order of the images.
    """
    at = tuple(_average_precision(images, threshold) for threshold in thresholds)
    method = f"COCO average precision, {len(_RECALLS)} recalls, one to one, ties as one"
    value = float(np.mean(at)) if at else nan
    return AveragePrecision(value, tuple(thresholds), at, method)


def _average_precision(images: Sequence[ImageBoxes], threshold: float) -> float:
    references = sum(len(image.reference) for image in images)
    if not references:
        return nan
    threshold = min(threshold, _ALMOST_ONE)
    sure, hit, _ = _pooled(images, threshold, Matching.ONE_TO_ONE, most=_COCO_MOST)
    last = _last_of_ties(sure)
    true = np.cumsum(hit)[last]
    precision = true / (last + 1)
    # COCO takes at each recall the best precision at it or at any higher one.
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    reached = np.searchsorted(true / references, _RECALLS, side="left")
    # Recalls that are never reached count with a precision of 0.
    at_recalls = np.append(envelope, 0.0)[np.minimum(reached, last.size)]
    return float(at_recalls.mean())


def tells_apart(images: Sequence[ImageBoxes]) -> bool:
    """Tell whether any two predicted boxes differ in confidence."""
    return len({sure for image in images for sure in image.confidence.tolist()}) > 1


def _last_of_ties(confidence: _Floats) -> npt.NDArray[np.intp]:
    """Return the last index of each confidence in a sorted array."""
    ends = np.append(np.diff(confidence) != 0, True)
    return np.flatnonzero(ends[: confidence.size])


def _pooled(
    images: Sequence[ImageBoxes], threshold: float, matching: Matching, most: int | None
) -> tuple[_Floats, _Bools, _Bools]:
    """Return all images' boxes by descending confidence, with hits and false positives.

    A false positive is a box that overlaps no reference enough.
    """
    confidence, hit, stray = [np.zeros(0)], [_NO_BOX], [_NO_BOX]
    for image in images:
        order = by_confidence(image.confidence)[:most]
        confidence.append(image.confidence[order])
        hit.append(matched(image, threshold, matching)[order] >= 0)
        stray.append(~np.any(image.iou >= threshold, axis=1)[order])
    pooled = np.concatenate(confidence)
    order = by_confidence(pooled)
    return pooled[order], np.concatenate(hit)[order], np.concatenate(stray)[order]
