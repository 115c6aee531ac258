"""Baselines that need no model: what chance and the other patients alone would say."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

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
        """Return the rule's name and revision; the facts join the key beside it."""
        endpoint = {"kind": self._name, "api": "local"}
        return ModelIdentity(endpoint, self._name, self.revision, local=self.versions())

    def versions(self) -> Mapping[str, str]:
        """Return versions of libraries that shape an answer."""
        return {}

    def generate(self, request: ModelRequest) -> RawReply:
        """Answer with a cell's label and a note on how it was found."""
        facts = request.facts
        grid = Grid(facts.rows, facts.columns, LetterAxis(facts.letters))
        cell, note = self.choose(facts)
        return plain_reply(grid.label(cell), note)

    def read(self, raw: RawReply) -> ModelReply:
        """Read a stored reply."""
        return read_reply(raw)

    @abstractmethod
    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the cell and a sentence for people."""


class Uniform(Baseline):
    """Every cell with the same chance, seeded by run seed, item and repeat."""

    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the cell numbered, row-major, SHA-256 of the seeds modulo cells."""
        seeds = json.dumps([facts.seed, facts.item, facts.repeat]).encode()
        number = int.from_bytes(hashlib.sha256(seeds).digest(), "big")
        row, column = divmod(number % (facts.rows * facts.columns), facts.columns)
        return Cell(row, column), "A cell drawn at random."


class Prior(Baseline):
    """The cell that most often qualifies among the other patients."""

    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the most frequent cell, ties row-major; the middle without any."""
        counts = np.array(facts.reference_counts or ((0,),))
        if not counts.any():
            middle = Cell(facts.rows // 2, facts.columns // 2)
            return middle, (
                "No other patient has this finding in this view: the middle cell."
            )
        # the first maximum of a C-ordered array is the first in row-major order
        row, column = divmod(int(counts.argmax()), facts.columns)
        times = int(counts.max())
        return Cell(row, column), (
            f"The most frequent reference cell of the other patients ({times} times)."
        )
