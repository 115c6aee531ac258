"""A paper's published values, with checks of them (X-05, M-09)."""

from dataclasses import dataclass

from viewer.domain.report import Table
from viewer.studies.consistency import (
    Check,
    flagged,
    published_table,
)
from viewer.studies.published import PublishedValue


@dataclass(frozen=True)
class Benchmark:
    """The published rows of one study's paper, and every check of them.

    ``models`` are the paper's models that one of a run can be said to be, under any
    name at its server (the setting ``paper_model``).
    """

    study: str
    rows: tuple[PublishedValue, ...]
    checks: tuple[Check, ...]
    models: tuple[str, ...] = ()

    @property
    def flagged(self) -> tuple[Check, ...]:
        """The checks that found a problem."""
        return tuple(flagged(self.checks))

    @property
    def table(self) -> Table:
        """Every row with its badge, reason and tolerance."""
        return published_table(self.rows, self.checks)
