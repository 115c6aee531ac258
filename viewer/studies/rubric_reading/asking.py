"""The values of every question's placeholders, and how two prompts differ (E001-08)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from typing import Final

from viewer.domain.report_study import StudyImage
from viewer.studies.prompts import BUILT_IN, OwnPrompts, fill
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.templates import (
    GENERATION,
    PROMPTS,
    SCORING,
    TAGGING,
    TASK_PLACES,
    template,
)

BOX_SENTENCE: Final = "Box and label each feature on the image(s)."
"""What the paper asks for (Banerjee 2025, Fig. 4)."""
_NONE: Final = "none"


def task_text(
    task: str,
    images: Sequence[StudyImage],
    prompts: OwnPrompts = BUILT_IN,
    *,
    boxes: bool,
) -> str:
    """Return the task's prompt; ``images`` in the order they are sent."""
    values = {"images": described(images), **_named(task.strip())}
    return fill(template(prompts, boxes=boxes), values)


def described(images: Sequence[StudyImage]) -> str:
    """Return a line for each image: its number, its view and whose it is."""
    return "\n".join(
        f"Image {number}: {image.view or 'view not known'}"
        f"{', prior study' if image.prior else ''}"
        for number, image in enumerate(images, 1)
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """Text that is in only one of two prompts, word for word."""

    only_with: str
    only_without: str


def box_difference(prompts: OwnPrompts = BUILT_IN) -> Difference:
    """Return the difference between the prompts with and without boxes."""
    words = [template(prompts, boxes=boxes).split(" ") for boxes in (False, True)]
    lines = list(ndiff(words[0], words[1]))
    return Difference(
        " ".join(line[2:] for line in lines if line.startswith("+ ")),
        " ".join(line[2:] for line in lines if line.startswith("- ")),
    )


def generation_text(
    facts: Mapping[str, str], images: Sequence[StudyImage], params: Params
) -> str:
    """Return the question that proposes tasks; ``facts`` has indication, findings."""
    views = [image.view for image in images if not image.prior]
    return fill(
        PROMPTS.text(GENERATION, params.prompts),
        {
            "views": ", ".join(views) or _NONE,
            "prior": "yes" if any(image.prior for image in images) else _NONE,
            "indication": facts.get("indication", "") or _NONE,
            "findings": facts.get("findings", "") or _NONE,
            "number": str(params.candidates),
        },
    )


def scoring_text(task: str, params: Params) -> str:
    """Return the question that scores a task."""
    return fill(PROMPTS.text(SCORING, params.prompts), _named(task))


def tagging_text(task: str, params: Params) -> str:
    """Return the question that tags a task."""
    return fill(PROMPTS.text(TAGGING, params.prompts), _named(task))


def _named(task: str) -> dict[str, str]:
    """Return a task by its place in our prompts and in the paper's supplement."""
    return dict.fromkeys(TASK_PLACES, task)
