"""Matching of predicted boxes to reference boxes by intersection over union."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class Matching(StrEnum):
    """How boxes are matched; predictions come in order of confidence.

    ``ONE_TO_ONE``: the best reference still free (COCO). ``GREEDY``: the best reference
    of all; if it is taken, the prediction is a false positive (VOC).
    """

    ONE_TO_ONE = "one to one"
    GREEDY = "greedy"


@dataclass(frozen=True, eq=False)
class ImageBoxes:
    """One image: (d, 4) predicted and (r, 4) reference boxes x0, y0, x1, y1.

    ``confidence`` (d,) is on any scale; ties keep their order.
    """

    predicted: _Floats
    confidence: _Floats
    reference: _Floats

    @cached_property
    def iou(self) -> _Floats:
        """The (d, r) intersections over unions of its boxes."""
        return iou_matrix(self.predicted, self.reference)


def image_boxes(
    predicted: Sequence[BoxPx],
    reference: Sequence[BoxPx],
    confidence: Sequence[float] | None = None,
) -> ImageBoxes:
    """Return one image's boxes; without confidences they are all equal.

    Raises
    ------
    ValueError
        If there is not one finite confidence per predicted box.
    """
    sure = np.ones(len(predicted)) if confidence is None else np.asarray(confidence)
    if sure.shape != (len(predicted),) or not np.isfinite(sure).all():
        raise ValueError("every predicted box needs one finite confidence")
    return ImageBoxes(_array(predicted), sure.astype(np.float64), _array(reference))


def cut_to(box: BoxPx, field: BoxPx) -> BoxPx | None:
    """Return the part of a box inside another one, None if they do not overlap."""
    if not (box.x0 < field.x1 and box.x1 > field.x0):
        return None
    if not (box.y0 < field.y1 and box.y1 > field.y0):
        return None
    return BoxPx(
        max(box.x0, field.x0),
        max(box.y0, field.y0),
        min(box.x1, field.x1),
        min(box.y1, field.y1),
    )


def iou_matrix(one: _Floats, other: _Floats) -> _Floats:
    """Return (n, m) intersections over unions of (n, 4) and (m, 4) boxes.

    Two boxes without area have 0.
    """
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(axis=2)
    union = _areas(one)[:, None] + _areas(other) - both
    iou = np.zeros_like(union)
    np.divide(both, union, out=iou, where=union > 0)
    return np.asarray(iou)


def matched(image: ImageBoxes, threshold: float, matching: Matching) -> _Ints:
    """Return each prediction's reference index, -1 without a match.

    A match needs an intersection over union of at least ``threshold``. Among equally
    good references, one-to-one matching takes the last, as COCO does, else the first.
    """
    iou = image.iou
    found = np.full(len(iou), -1)
    if not iou.size:
        return found
    free = np.ones(iou.shape[1], dtype=np.bool_)
    for i in by_confidence(image.confidence):
        if matching is Matching.ONE_TO_ONE:
            # Below every overlap, so that a taken reference loses even against 0.
            open_to = np.where(free, iou[i], -1.0)
            best = iou.shape[1] - 1 - int(np.argmax(open_to[::-1]))
        else:
            best = int(np.argmax(iou[i]))
        if free[best] and iou[i, best] >= threshold:
            found[i], free[best] = best, False
    return found


def by_confidence(confidence: _Floats) -> npt.NDArray[np.intp]:
    """Return the order by descending confidence; ties keep their order."""
    return np.argsort(-confidence, kind="stable")


def best_iou(image: ImageBoxes) -> float:
    """Return the best overlap of any prediction with any reference, 0 without any."""
    return float(image.iou.max()) if image.iou.size else 0.0


def _array(boxes: Sequence[BoxPx]) -> _Floats:
    corners = [(box.x0, box.y0, box.x1, box.y1) for box in boxes]
    return np.array(corners, dtype=np.float64).reshape(-1, 4)


def _areas(boxes: _Floats) -> _Floats:
    return np.asarray((boxes[:, 2:] - boxes[:, :2]).prod(axis=1))
