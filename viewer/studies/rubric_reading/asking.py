"""The words of every question, and how two of them differ (E001-08, App. C.2).

The paper prints no prompt of its runs: the task is sent as it is, and the sentence that
asks for boxes is the one of its Figure 4. The three prompts of its supplement are
written in our own words; an official text takes their place where it is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from functools import cache
from importlib.resources import files
from typing import Final

from viewer.domain.report_study import StudyImage
from viewer.studies.rubric_reading.params import PLACE, TASK_PLACES, Params

PROMPTS: Final = ("system", "task", "boxes", "generation", "scoring", "tagging")
"""Every text of the study, by name."""
BOX_SENTENCE: Final = "Box and label each feature on the image(s)."
"""What the paper asks for (Banerjee 2025, Fig. 4)."""
_NONE: Final = "none"


@cache
def text_of(name: str) -> str:
    """Return a text as it is kept, without the line break at its end."""
    path = files("viewer.studies.rubric_reading") / "prompts" / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")


def template(*, boxes: bool) -> str:
    """Return the text of a task with its open places, with or without the boxes."""
    return text_of("task").replace("{boxes}", text_of("boxes") if boxes else "")


def task_text(task: str, images: Sequence[StudyImage], *, boxes: bool) -> str:
    """Return what a model is asked; ``images`` in the order they are sent."""
    values = {"images": described(images), "task": task.strip()}
    return _filled(template(boxes=boxes), values)


def described(images: Sequence[StudyImage]) -> str:
    """Return a line for each image: its number, its view and whose it is."""
    return "\n".join(
        f"Image {number}: {image.view or 'view not known'}"
        f"{', prior study' if image.prior else ''}"
        for number, image in enumerate(images, 1)
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """What stands in one prompt only, word for word."""

    only_with: str
    only_without: str


def box_difference() -> Difference:
    """Return what the prompts with and without boxes differ in, for the manifest."""
    words = [template(boxes=boxes).split(" ") for boxes in (False, True)]
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
    return _filled(
        params.generation_prompt or text_of("generation"),
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
    return _filled(params.scoring_prompt or text_of("scoring"), _named(task))


def tagging_text(task: str, params: Params) -> str:
    """Return the question that tags a task."""
    return _filled(params.tagging_prompt or text_of("tagging"), _named(task))


def _named(task: str) -> dict[str, str]:
    """Return a task by its place in our prompts and in the paper's supplement."""
    return dict.fromkeys(TASK_PLACES, task)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in places; other braces, such as JSON's, stay."""
    return PLACE.sub(lambda place: values.get(place[1], place[0]), text)
