"""The visual perturbation test: another image's anatomy in the place of one's own.

HEAL-MedVQA 3.1 and E002-10: the region asked about is covered by the same anatomy of an
image without the diagnosis; a grounded model then says No. This module decides what is
edited and with which donor; ``imaging.blending`` makes the pixels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.case import DatasetImage
from viewer.domain.errors import WrongUseError
from viewer.domain.image import Raster
from viewer.imaging.blending import (
    Composite,
    Pasting,
    Region,
    composite,
)
from viewer.imaging.resample import shrunk_mask, squared
from viewer.imaging.seams import shifted_sham
from viewer.metrics.seeding import generator
from viewer.studies.grounded_vqa.params import DonorRule, Params
from viewer.studies.grounded_vqa.questions import Benchmark, Question
from viewer.studies.grounded_vqa.relations import Chart, Charted


class Arm(StrEnum):
    """What is pasted (E002-10, E002-11)."""

    DONOR = "vpt"
    """The anatomy of an image without the finding: the test itself."""
    OWN = "vpt-sham-own"
    """The image's own anatomy, its grey values shifted until its seam shows as much."""
    SAME = "vpt-sham-same"
    """The anatomy of another image with the same finding in it."""


SHAMS = (Arm.OWN, Arm.SAME)
"""The edits after which the finding is still there."""


@dataclass(frozen=True, slots=True)
class ImageEdit:
    """An edited image to be asked about in the words of the question it came from.

    ``donor`` is the image whose region is pasted, of the sham with its own region the
    one whose seam that is given.
    """

    of: str
    arm: Arm
    image: str
    anatomy: str
    finding: str
    donor: str


@dataclass(frozen=True)
class ImagePlan:
    """Edits of true positives, and which of them have no donor for an arm."""

    edits: tuple[ImageEdit, ...]
    without_donor: tuple[tuple[str, Arm], ...]


def donors(
    question: Question, arm: Arm, chart: Chart, rule: DonorRule
) -> tuple[str, ...]:
    """Return the images whose region may be pasted, in the chart's order.

    They are of another patient, in the same view and with a mask of the anatomy.
    """
    own = chart.image(question.image)
    return tuple(
        image.image
        for image in _candidates(question, arm, chart, rule)
        if image.patient != own.patient
        and image.view == own.view
        and question.anatomy in image.outlined
    )


def plan_image_edits(
    true_positives: Iterable[Question], benchmark: Benchmark, params: Params, seed: int
) -> ImagePlan:
    """Return the perturbed images of a model's true positives, and their shams."""
    edits: list[ImageEdit] = []
    without: list[tuple[str, Arm]] = []
    for question in true_positives:
        healthy = donors(question, Arm.DONOR, benchmark.chart, params.donor)
        if not healthy:
            without.append((question.key, Arm.DONOR))
            continue
        donor = _drawn(healthy, question, Arm.DONOR, seed)
        edits.append(_edit(question, Arm.DONOR, donor))
        if params.sham:
            edits.append(_edit(question, Arm.OWN, donor))
            same = donors(question, Arm.SAME, benchmark.chart, params.donor)
            if same:
                chosen = _drawn(same, question, Arm.SAME, seed)
                edits.append(_edit(question, Arm.SAME, chosen))
            else:
                without.append((question.key, Arm.SAME))
    return ImagePlan(tuple(edits), tuple(without))


def edited(arm: Arm, target: Region, donor: Region, params: Params) -> Composite:
    """Return the image of an edit from its own and its donor's region."""
    how = Pasting(params.blend, params.feather, params.match_histogram)
    make = shifted_sham if arm is Arm.OWN else composite
    return make(target, donor, how)


def region_of(image: DatasetImage, raster: Raster, anatomy: str) -> Region:
    """Return an anatomy's mask on the displayed image, with square pixels.

    Raises
    ------
    WrongUseError
        The image has no mask of the anatomy, or an empty one.
    """
    mask = image.anatomy.get(anatomy)
    if mask is None or mask.is_empty:
        what = "no mask" if mask is None else "an empty mask"
        raise WrongUseError(
            f"The image {image.key} has {what} of '{anatomy}'.",
            "Ask about an anatomy that is marked in it.",
        )
    native, shown = Region(raster, mask.array()), squared(raster)
    return Region(shown, shrunk_mask(native.mask, shown.size))


def _candidates(
    question: Question, arm: Arm, chart: Chart, rule: DonorRule
) -> Sequence[Charted]:
    pair = question.pair
    if arm is Arm.SAME:
        return chart.present_in.get(pair, ())
    if rule is DonorRule.HEALTHY:
        return chart.healthy.get(question.anatomy, ())
    has_it = {image.image for image in chart.present_in.get(pair, ())}
    return [
        image
        for image in chart.images
        if image.image not in has_it and pair not in chart.unclear(image.image)
    ]


def _drawn(found: Sequence[str], question: Question, arm: Arm, seed: int) -> str:
    rng = generator(seed, "visual perturbation", question.key, arm)
    return found[int(rng.integers(len(found)))]


def _edit(question: Question, arm: Arm, donor: str) -> ImageEdit:
    return ImageEdit(question.key, arm, question.image, *question.pair, donor)
