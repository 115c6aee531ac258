"""Baselines that look at no image: chance, and the other patients' references."""

import hashlib
import json

import numpy as np

from viewer.domain.exchange import Facts
from viewer.domain.grid import Cell
from viewer.models.baseline import Baseline


class Uniform(Baseline):
    """Answers with a random cell, seeded by run seed, item and repeat."""

    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the cell whose row-major index is SHA-256 of the seeds mod cells."""
        seeds = json.dumps([facts.seed, facts.item, facts.repeat]).encode()
        number = int.from_bytes(hashlib.sha256(seeds).digest(), "big")
        row, column = divmod(number % (facts.rows * facts.columns), facts.columns)
        return Cell(row, column), "A cell drawn at random."


class FrequentCell(Baseline):
    """Answers with the cell that most often qualifies among the other patients."""

    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the most frequent cell, ties row-major; the middle one without any."""
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
