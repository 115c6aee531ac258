"""Question templates: those printed in HEAL-MedVQA, and our own."""

from typing import Final

from viewer.studies.prompts import OURS, Prompt, Prompts, packaged

SYSTEM: Final = "system"
LOCATE: Final = "locate"
LABELS, YES_NO = "extract_labels", "extract_yes_no"
_PAPER: Final = "HEAL-MedVQA 2025"


def templates(kind: str) -> tuple[str, ...]:
    """Return the templates of a kind, ``closed`` or ``open``, with places open."""
    return tuple(packaged(__package__, kind)().splitlines())


def _asking(kind: str, number: int, section: str, *required: str) -> Prompt:
    return Prompt(
        name_of(kind, number),
        lambda: templates(kind)[number],
        f"asks {kind} questions",
        f"{_PAPER}, {section}",
        tuple((one,) for one in required),
    )


def name_of(kind: str, number: int) -> str:
    """Return the name of a template of a kind, which are counted from 0."""
    return f"{kind}_{number + 1}"


def _ours(name: str, use: str, required: str, *optional: str) -> Prompt:
    read = packaged(__package__, name)
    return Prompt(name, read, use, OURS, ((required,),), optional)


PROMPTS: Final = Prompts.of(
    *(_asking("closed", i, "3.1 and 3.2", "anatomy", "disease") for i in range(3)),
    *(_asking("open", i, "3.2", "anatomy") for i in range(3)),
    Prompt(SYSTEM, str, "the system message; empty, so none is sent"),
    _ours(LOCATE, "asks for an anatomy's box, where a region is located", "anatomy"),
    _ours(
        LABELS,
        "asks the extractor which findings a reply names",
        "reply",
        "question",
        "labels",
    ),
    _ours(
        YES_NO,
        "asks the extractor whether a reply means yes or no",
        "reply",
        "question",
    ),
)
