"""Base class of the baselines: one cell, computed from the request's facts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from viewer.domain.exchange import (
    Facts,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.models.reading import plain_reply, read_reply


class Baseline(ABC):
    """A model that answers with one cell computed from the request's facts.

    ``revision`` names the rule; it changes whenever an answer could.
    """

    revision = "1"

    def __init__(self, profile: ModelProfile) -> None:
        self._name = profile.adapter

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return the rule's name and revision; the key also covers the facts."""
        endpoint = {"kind": self._name, "api": "local"}
        return ModelIdentity(endpoint, self._name, self.revision, local=self.versions())

    def versions(self) -> Mapping[str, str]:
        """Return the versions of libraries that affect an answer."""
        return {}

    def generate(self, request: ModelRequest) -> RawReply:
        """Answer with a cell's label and a note on how it was found."""
        facts = request.facts
        grid = Grid(facts.rows, facts.columns, LetterAxis(facts.letters))
        cell, note = self.choose(facts)
        return plain_reply(grid.label(cell), note)

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    @abstractmethod
    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the cell, and a sentence on how it was found."""
