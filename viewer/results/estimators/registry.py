"""Registration of estimators by name, and their input."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Final, TypeVar

from viewer.results.frame import Frame, has_value

COLUMN_OPTIONS: Final = ("by", "cluster", "pair", "family")
"""Options that name a column, or several, of the rows that an estimator sees."""
_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class Seen:
    """The input of an estimator.

    ``rows`` are those of the cell, ``others`` those it is compared with, None without
    any; ``of`` names the columns to read, ``options`` are the specification's;
    ``memory`` is a cache for all cells of a table.
    """

    rows: Frame
    others: Frame | None
    of: tuple[str, ...]
    options: Mapping[str, Any]
    memory: dict[Hashable, Any] = field(default_factory=dict)

    def values(self, place: int = 0) -> list[Any]:
        """Return a column's values, without missing ones."""
        return self.rows.values_in(self.of[place])

    def once(self, what: Hashable, work: Callable[[], _Made]) -> _Made:
        """Return a value shared by several cells of a table, computed only once."""
        if what not in self.memory:
            self.memory[what] = work()
        made: _Made = self.memory[what]
        return made


Estimator = Callable[[Seen], Sequence[object]]


@dataclass(frozen=True, slots=True)
class Metric:
    """Another package's estimator, with its name in specifications.

    ``interface`` is the version of this module that it was written for.
    """

    name: str
    interface: int
    estimate: Estimator


ESTIMATORS: Final[dict[str, Estimator]] = {}


def estimator(name: str) -> Callable[[Estimator], Estimator]:
    """Register an estimator under its name in specifications."""

    def keep(function: Estimator) -> Estimator:
        ESTIMATORS[name] = function
        return function

    return keep


def columns_named(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns named in options."""
    for name in COLUMN_OPTIONS:
        columns = options.get(name, ())
        yield from (columns,) if isinstance(columns, str) else columns


def or_none(rows: Frame, column: str) -> list[Any]:
    """Return a column's values, None if there is none."""
    return [value if has_value(value) else None for value in rows[column]]


def ratio(above: float, below: float) -> float:
    """Return a quotient, NaN if the divisor is 0."""
    return above / below if below else nan


def mean_of(values: Sequence[float]) -> float:
    """Return the mean of values, NaN without any."""
    return ratio(sum(values), len(values))


def share_of(rows: Frame, column: str) -> float:
    """Return the share of rows whose column is true."""
    return ratio(sum(rows.values_in(column)), len(rows))
