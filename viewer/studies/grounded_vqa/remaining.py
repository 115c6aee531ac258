"""How much of a finding a pasted region leaves in sight (E002-10)."""

from functools import lru_cache
from typing import Final

import numpy as np

from viewer.domain.case import DatasetImage
from viewer.domain.geometry import BoxPx
from viewer.domain.reference import Mask
from viewer.imaging.blending import pasted_pixels
from viewer.metrics.regions import mask_of_boxes
from viewer.studies.grounded_vqa.arms import IMAGE_ARMS, change_of, perturbation_of
from viewer.studies.grounded_vqa.questions import Question
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.steps import Turn

OUTSIDE: Final = "outside_paste"


def remaining_numbers(turn: Turn, asked: Question) -> tuple[tuple[str, float], ...]:
    """Return the share of the finding's boxes that a donor's region does not cover.

    Of boxes that reach the anatomy, in native pixels and without the feathered edge;
    nothing of other trials, and where boxes or masks are not known.
    """
    condition = turn.trial.condition.name
    donor = turn.images.get(change_of(turn.trial.item, condition).donor)
    if IMAGE_ARMS.get(perturbation_of(condition)) is not Arm.DONOR or donor is None:
        return ()
    own, given = turn.images[asked.image], donor.anatomy.get(asked.anatomy)
    mask = own.anatomy.get(asked.anatomy)
    if mask is None or given is None or mask.is_empty or given.is_empty:
        return ()
    left = _left(mask, given, _boxes(own, asked.finding))
    return () if left is None else ((OUTSIDE, left),)


def _boxes(image: DatasetImage, finding: str) -> tuple[BoxPx, ...]:
    return tuple(one.box for one in image.boxes.get(finding, ()))


@lru_cache(maxsize=4096)
def _left(mask: Mask, given: Mask, boxes: tuple[BoxPx, ...]) -> float | None:
    """Return the share of boxes outside the paste, None if none reaches the mask."""
    target = mask.array()
    each = [mask_of_boxes((box,), mask.size) for box in boxes]
    inside = [of for of in each if (of & target).any()]
    if not inside:
        return None
    whole = np.logical_or.reduce(inside)
    pasted = pasted_pixels(target, given.array())
    return float(np.count_nonzero(whole & ~pasted) / np.count_nonzero(whole))
