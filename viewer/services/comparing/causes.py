"""Why two verdicts on an item can differ."""

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

    ``because`` are the causes that undo the flip on their own; if none does,
    ``together`` is True and they are all that ``changed``. ``recomputed`` is False if
    hashes and versions leave only one cause, so that nothing had to be computed.
    """

    because: tuple[Cause, ...]
    changed: tuple[Cause, ...]
    detail: str
    together: bool = False
    recomputed: bool = True

    def __str__(self) -> str:
        joined = (" with " if self.together else " or ").join(self.because)
        return f"{joined}: {self.detail}" if self.detail else joined
