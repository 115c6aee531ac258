"""The texts of a question, verbatim from Gosai 2025 (E000-12, -13)."""

from typing import Final

from viewer.domain.case import View
from viewer.studies.prompts import OwnPrompts, Prompt, Prompts, packaged

EXAMPLE: Final = "example"
EXAMPLE_ANSWER: Final = "example_answer"
CELL: Final = "cell"
_RADIOGRAPH: Final = "gosai2025"
_OTHER: Final = "any_image"
"""The same task in words that fit what is not a radiograph of a chest."""
_FINDING: Final = ("condition", "finding")
"""What the paper calls the finding's placeholder, and what we do."""
_PAPER: Final = "Gosai 2025, appendix"
_ADAPTED: Final = "Gosai 2025, appendix, without its words on chest radiographs"


def _packaged(
    name: str, use: str, source: str, required: bool, *optional: str
) -> Prompt:
    read = packaged(__package__, name)
    groups = (_FINDING,) if required else ()
    others = optional if required else (*_FINDING, *optional)
    return Prompt(name, read, use, source, groups, others)


PROMPTS: Final = Prompts.of(
    _packaged("gosai2025_system", "the system message", _PAPER, False, "view"),
    _packaged("gosai2025_user", "the task, after the image", _PAPER, True, "view"),
    _packaged(
        "any_image_system",
        "the system message, if the view is other",
        _ADAPTED,
        False,
    ),
    _packaged("any_image_user", "the task, if the view is other", _ADAPTED, True),
    Prompt(
        EXAMPLE,
        lambda: "{task}",
        "the question of each solved example, after its image",
        optional=("task", *_FINDING, "view"),
    ),
    Prompt(
        EXAMPLE_ANSWER,
        lambda: f"{{{CELL}}}",
        "the answer of each solved example",
        required=((CELL,),),
        optional=(*_FINDING, "view"),
    ),
)


def prompt_name(view: str) -> str:
    """Return a prompt's name: that of radiographs, unless the view is other."""
    return _OTHER if view == View.OTHER else _RADIOGRAPH


def template(role: str, view: str, prompts: OwnPrompts) -> str:
    """Return the prompt of a role with its placeholders {view} and {condition}."""
    return PROMPTS.text(f"{prompt_name(view)}_{role}", prompts)


def prompt_text(view: str, prompts: OwnPrompts) -> str:
    """Return all templates with their placeholders, each under its role.

    Those of examples are included if they are custom.
    """
    roles = {role: template(role, view, prompts) for role in ("system", "user")}
    texts = {
        **roles,
        **{n: prompts[n] for n in (EXAMPLE, EXAMPLE_ANSWER) if n in prompts},
    }
    return "\n\n".join(f"{name}:\n{text}" for name, text in texts.items() if text)
