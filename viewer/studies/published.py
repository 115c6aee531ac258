"""Numbers that papers print, as reference rows that no run edits (X-05).

A study's ``published.py`` lists them. Every row that claims a number of trials is
checked against it: a percentage that no whole number of them gives is flagged, whoever
printed it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from viewer.metrics.printed import counts_that_print
from viewer.results.page import Printed


class Badge(StrEnum):
    """Whether a printed value is consistent."""

    CONSISTENT = "consistent"
    """Some whole number of the trials claimed prints as it, or its parts give it."""
    NOT_OF_N = "not of this n"
    """No whole number of the trials claimed prints as it, but something else does.

    One of slightly fewer trials, or the rates of its parts, pooled.
    """
    INCONSISTENT = "inconsistent"
    """No whole number of the trials claimed prints as it, or its parts do not."""
    UNCHECKED = "not checkable"
    """No trials are claimed, or any value could be printed."""


class Unit(StrEnum):
    """What a printed number counts."""

    PERCENT = "%"
    FRACTION = "0-1"
    SCORE = "score"
    """A mean, a deviation, a coefficient, a p value: no share of anything."""


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A printed number.

    ``measure`` is what it measures, ``subject`` on what (a finding, a data set, a
    subset) and ``who`` for whom. ``n_claimed`` is the denominator that the paper
    states, None if it does not; ``n_derived`` is True if we derived it from other
    printed numbers.
    """

    source: str
    table: str
    measure: str
    subject: str
    who: str
    value: float
    decimals: int = 1
    n_claimed: int | None = None
    unit: Unit = Unit.PERCENT
    note: str = ""
    n_derived: bool = False

    @property
    def counts(self) -> tuple[int, ...]:
        """Every k that prints as the value out of the trials claimed."""
        if self.n_claimed is None or self.unit is Unit.SCORE:
            return ()
        if self.unit is Unit.PERCENT:
            return counts_that_print(self.value, self.decimals, self.n_claimed)
        return counts_that_print(100 * self.value, self.decimals - 2, self.n_claimed)

    @property
    def badge(self) -> Badge:
        """What the check of the row alone found."""
        if self.n_claimed is None or self.unit is Unit.SCORE:
            return Badge.UNCHECKED
        return Badge.CONSISTENT if self.counts else Badge.INCONSISTENT

    @property
    def printed(self) -> str:
        """The value with its decimals."""
        return f"{self.value:.{self.decimals}f}"

    @property
    def check(self) -> str:
        """The check of the row alone in words, such as ``275 / 298``."""
        if self.n_claimed is not None and self.unit is not Unit.SCORE:
            return _counted(self.counts, self.n_claimed, self.note)
        return self.unchecked

    @property
    def unchecked(self) -> str:
        """Why the row alone cannot be checked."""
        return self.note or "no number of trials is given"


def _counted(counts: tuple[int, ...], n: int, note: str) -> str:
    why = f" ({note})" if note else ""
    if not counts:
        return f"no k / {n} rounds to it{why}"
    if len(counts) == 1:
        return f"{counts[0]} / {n}{why}"
    return f"{counts[0]} to {counts[-1]} of {n}{why}"


Place = Callable[[PublishedValue], tuple[Mapping[str, str], str]]
"""Tells what the row of a page is about that a value stands in, and its column."""


def printed_table(
    table: str, values: Iterable[PublishedValue], place: Place
) -> Printed:
    """Return values of one paper as rows of a page; those of one row together."""
    rows: dict[tuple[tuple[str, str], ...], dict[str, object]] = {}
    source = ""
    for value in values:
        source = value.source
        about, column = place(value)
        rows.setdefault(tuple(about.items()), {**about})[column] = value.printed
    return Printed(source, table, tuple(rows.values()))
