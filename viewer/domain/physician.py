"""Physicians' answers to cases, and the validation of the evidence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CONSENSUS: Final = "consensus"
"""The reader of an answer that several physicians gave together."""


def is_consensus(reader: str) -> bool:
    """Tell whether a reader's name stands for several who answered together."""
    return reader.strip().casefold() == CONSENSUS


@dataclass(frozen=True, slots=True)
class Physician:
    """A reader's profile (Chen 2026, appendix C.1).

    ``board`` is the country of certification, ``years`` the clinical experience, None
    if unknown; ``language`` that of instruction.
    """

    name: str
    board: str = ""
    years: int | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class PhysicianAnswer:
    """One answer to a case, by one physician or by several together.

    ``differential`` is ranked, likeliest first; ``option`` the index of the chosen
    diagnosis among the case's options, None if none was chosen. ``version`` counts from
    1: the differential is locked once the options are seen, later changes are new
    versions, and the first one counts.
    """

    reader: str
    case: str
    differential: tuple[str, ...]
    option: int | None
    flagged: bool = False
    explanation: str = ""
    version: int = 1


@dataclass(frozen=True, slots=True)
class PhysicianAnswers:
    """The content of a file: the answers that count, all versions, and profiles.

    ``withdrawn`` are readers whose answers are left out at their request.
    """

    answers: tuple[PhysicianAnswer, ...]
    versions: tuple[PhysicianAnswer, ...]
    physicians: tuple[Physician, ...] = ()
    withdrawn: tuple[str, ...] = ()


class Alignment(StrEnum):
    """How well evidence agrees with its expert text (Chen 2026, Task A3)."""

    OK = "ok"
    MISALIGNED = "misaligned"
    UNSUPPORTED = "unsupported"
    NOT_GROUNDED = "not_grounded"
