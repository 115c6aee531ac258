"""What a sealed file holds, and what is said of one that was written."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.reading import Consent, SessionKind
from viewer.services.sessions.seal import SealedAct
from viewer.store.readings import PlannedTask

PLAN: Final = "session.json"
"""The member with questions, order and materials."""


@dataclass(frozen=True, slots=True)
class SealedImage:
    """An image in the file: its key there, its member, and its size in pixels."""

    key: str
    file: str
    rows: int
    columns: int


@dataclass(frozen=True)
class SealedPlan:
    """What a sealed file says of a session; ``form`` and ``spec`` are JSON.

    Cases and images are numbered in the reader's order, under no name of their own.
    ``consents`` and ``acts`` are what the reader decided and did before, in the parts
    that were merged.
    """

    kind: SessionKind
    form: str
    spec: str
    tasks: tuple[PlannedTask, ...]
    images: tuple[SealedImage, ...]
    consents: tuple[Consent, ...]
    acts: tuple[SealedAct, ...]


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A sealed file that was written, for whom, and how much it holds."""

    path: Path
    cases: int
    images: int
    reader: str
    part: int
    goes_on: bool

    @property
    def sentence(self) -> str:
        """How much it holds, and what is to be done with it, in words."""
        held = f"{counted(self.cases, 'case')}, {counted(self.images, 'image')}"
        told = f"{held} in {self.path.name}."
        if not self.goes_on:
            return told
        return (
            f"{told} Send it to {self.reader}; part {self.part + 1} begins after you "
            "merge the answers."
        )
