"""Causes of a difference between two verdicts on an item."""

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """A cause of different verdicts."""

    ANSWER = "answer"
    """The reply says another thing."""
    PARSER = "parser"
    """A reply was read by another version of the parser, with another result."""
    REFERENCE = "reference"
    """The reference mask, or the rule by which its cells qualify, is another."""
    TRANSFORM = "transform"
    """Another image or grid was sent, or it lies elsewhere on the native image."""
    SCORER = "scorer"
    """The same answer and reference were scored by another version."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a verdict flipped.

    ``because`` are the causes of which each alone undoes the flip; where none does
    alone, ``together`` is True and they are all that ``changed``. ``recomputed`` is
    False where hashes and versions leave one cause only, and nothing was computed.
    """

    because: tuple[Cause, ...]
    changed: tuple[Cause, ...]
    detail: str
    together: bool = False
    recomputed: bool = True

    def __str__(self) -> str:
        joined = (" with " if self.together else " or ").join(self.because)
        return f"{joined}: {self.detail}" if self.detail else joined
