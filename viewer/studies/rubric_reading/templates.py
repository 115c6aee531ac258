"""The texts of every question (E001-08, App. C.2).

The paper prints no prompt of its runs: the task is sent as it is, and the sentence that
asks for boxes is the one of its Figure 4. The three prompts of its supplement are
paraphrased; a study file can replace them by the official texts.
"""

from typing import Final

from viewer.studies.prompts import (
    OURS,
    OwnPrompts,
    Prompt,
    Prompts,
    packaged,
    with_system,
)

SYSTEM: Final = "system"
GENERATION, SCORING, TAGGING = "generation", "scoring", "tagging"
TASK_PLACES: Final = ("task", "question")
"""What the placeholder of a task is called: in ours, and in the supplement's files."""
_STUDY_PLACES: Final = ("views", "prior", "indication", "findings", "number")
_SUPPLEMENT: Final = f"{OURS}, after the supplement of Banerjee 2025"


def _packaged(
    name: str,
    use: str,
    source: str = OURS,
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> Prompt:
    groups = (required,) if required else ()
    read = packaged(__package__, name)
    return Prompt(name, read, use, source, groups, optional)


PROMPTS: Final = Prompts.of(
    _packaged(SYSTEM, "the system message before a task"),
    _packaged(
        "task",
        "a task, after its images",
        required=TASK_PLACES,
        optional=("images", "boxes"),
    ),
    _packaged(
        "boxes",
        "fills {boxes} for models that are asked for boxes",
        "its first sentence in Banerjee 2025, Figure 4",
    ),
    _packaged(
        GENERATION,
        "curation: asks for tasks from a report",
        _SUPPLEMENT,
        _STUDY_PLACES,
    ),
    _packaged(SCORING, "curation: rates a task", _SUPPLEMENT, TASK_PLACES),
    _packaged(TAGGING, "curation: tags a task", _SUPPLEMENT, TASK_PLACES),
)


def template(prompts: OwnPrompts, *, boxes: bool) -> str:
    """Return the text of a task with its placeholders, with or without boxes."""
    asked = PROMPTS.text("boxes", prompts) if boxes else ""
    return PROMPTS.text("task", prompts).replace("{boxes}", asked)


def whole_template(prompts: OwnPrompts, *, boxes: bool) -> str:
    """Return the same below the system text."""
    return with_system(PROMPTS.text(SYSTEM, prompts), template(prompts, boxes=boxes))
