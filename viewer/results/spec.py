"""Table specifications as data: frames and a specification determine a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

Where = Mapping[str, tuple[object, ...]]
"""Which rows of a frame count: by column, the values that are taken."""
TRIALS: Final = "trials"
"""The frame with a row for each trial."""
ITEMS: Final = "items"
"""The frame and the table that list every trial with all that is known of it."""
OF_WHOM: Final = ("patient", "item")
"""The columns of the clusters that intervals allow for (X-07)."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column that identifies rows.

    ``column`` is the frame's column, ``header`` the table's if it differs. ``total`` is
    shown in rows that pool all its values. ``values`` are the only ones wanted, in
    order; without them rows come in the order of the frame, or of their values if
    ``ascending``.
    """

    column: str
    header: str = ""
    total: str = ""
    values: tuple[object, ...] = ()
    ascending: bool = False

    @property
    def name(self) -> str:
        """Its header in the table."""
        return self.header or self.column


@dataclass(frozen=True, slots=True)
class Cell:
    """One or more columns of numbers, all computed by one estimator.

    ``names`` are the columns' headers, ``of`` the columns of the frame that the
    estimator reads. It sees the group's rows that match ``where``. With ``against`` it
    also sees those of another group, which differs in these keys; None stands for all
    values. ``frame`` names another frame to use as a whole. ``blank`` is a key whose
    total rows leave the cell empty, ``total`` the estimator of total rows, if it
    differs.
    """

    estimator: str
    names: tuple[str, ...]
    of: tuple[str, ...] = ()
    where: Where = field(default_factory=dict)
    against: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    frame: str = ""
    blank: str = ""
    total: str = ""


P_VALUE: Final = "p"
"""The form of p-values: two decimals, and one that would print as 0 as less."""
PERCENT: Final = "per cent"
"""The form of rates 0-1 in per cent: one decimal, ties to even (X-06)."""
TIME: Final = "time"
"""The form of times that are stored as UTC, ISO 8601."""
HIGHEST, LOWEST = "highest", "lowest"
"""Which number of a column is the best."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of a page: one of the table's, and the ``header`` above it.

    A number that is not whole is printed in ``form``, ``scale`` times as large and with
    its ``unit``. ``counts`` are the columns of two whole numbers that follow it, and
    ``limits`` those of its interval, in brackets; ``also`` is a column that is printed
    like it after ``between``, such as the other end of an interval, and ``change`` one
    that follows as an arrow and its size.
    ``words`` replace values, ``none`` is shown for missing values and in rows that
    match ``but``, ``group`` is a header above adjacent columns. A ``published`` column
    is a paper's. The ``best`` number, the highest or the lowest, is bold and the second
    best underlined.
    """

    column: str
    header: str
    form: str = "z.2f"
    scale: int = 1
    unit: str = ""
    counts: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    also: str = ""
    between: str = " to "
    words: Mapping[object, str] = field(default_factory=dict)
    group: str = ""
    change: str = ""
    none: str = "-"
    but: Where = field(default_factory=dict)
    best: str = ""
    published: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which rows compete for the best number.

    Rows with different values of ``apart`` are not compared, rows that match ``but``
    not at all.
    """

    apart: tuple[str, ...] = ()
    but: Where = field(default_factory=dict)


ALL_ROWS: Final = Ranking()
"""Every row with every other."""


@dataclass(frozen=True, slots=True)
class Line:
    """A separate row for some cells of a group.

    ``told`` are columns with fixed content, such as the name of the measure. The line
    is left out for groups without a row that has what it ``needs``.
    """

    told: tuple[tuple[str, object], ...]
    cells: tuple[Cell, ...]
    needs: Where = field(default_factory=dict)


@dataclass(frozen=True)
class TableSpec:
    """A table whose rows are groups of a frame's rows.

    A group has one row, of all ``cells``, or one for each of ``lines``, under the
    columns of all lines. If a cell returns lists, such as the points of a curve, there
    is a row for each index.

    ``outer`` names keys whose combinations are listed one after the other, with
    ``every`` also those that the frame does not have. Within each, ``sets`` name the
    other keys that distinguish rows, one set after the other; keys in no set show their
    total. A set that only distinguishes a key of ``only_several`` is left out if that
    has a single value, and the whole table if ``needs_several`` has. ``below`` are a
    paper's rows, each beginning with its name; they follow unchanged if there is any
    row above them. A column restricted to one value by ``where`` identifies rows like a
    key. ``shown`` are the columns on a page, by default all, ``printed`` the rows on a
    page, of which ``ranking`` compares some.
    """

    name: str
    keys: tuple[Key, ...]
    cells: tuple[Cell, ...] = ()
    title: str = ""
    text: str = ""
    frame: str = TRIALS
    where: Where = field(default_factory=dict)
    outer: tuple[str, ...] = ()
    every: bool = False
    sets: tuple[tuple[str, ...], ...] = ()
    only_several: tuple[str, ...] = ()
    needs_several: str = ""
    below: tuple[tuple[object, ...], ...] = ()
    shown: tuple[str | Shown, ...] = ()
    printed: Where = field(default_factory=dict)
    ranking: Ranking = ALL_ROWS
    lines: tuple[Line, ...] = ()

    @property
    def header(self) -> tuple[str, ...]:
        """The columns, keys first."""
        return (*(key.name for key in self.keys), *self.numbers)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns after the keys."""
        named = (
            (*dict(line.told), *chain.from_iterable(cell.names for cell in line.cells))
            for line in self.each_line
        )
        return tuple(dict.fromkeys(chain.from_iterable(named)))

    @property
    def each_line(self) -> tuple[Line, ...]:
        """The lines, or all cells as the only one."""
        return self.lines or (Line((), self.cells),)

    @property
    def each_cell(self) -> tuple[Cell, ...]:
        """The cells of all lines."""
        return tuple(chain.from_iterable(line.cells for line in self.each_line))

    @property
    def inner(self) -> tuple[tuple[str, ...], ...]:
        """The sets, by default a single one with all keys that are not outer."""
        rest = tuple(k.column for k in self.keys if k.column not in self.outer)
        return self.sets or (rest,)


@dataclass(frozen=True)
class ListSpec:
    """A table that lists rows of a frame unchanged.

    ``columns`` defaults to all; ``shown`` are the columns on a page, ``printed`` the
    rows on it, of which ``ranking`` compares some; it has ``most`` rows at most.
    """

    name: str
    columns: tuple[str, ...] = ()
    title: str = ""
    text: str = ""
    frame: str = TRIALS
    where: Where = field(default_factory=dict)
    shown: tuple[str | Shown, ...] = ()
    printed: Where = field(default_factory=dict)
    ranking: Ranking = ALL_ROWS
    most: int = 100


Spec = TableSpec | ListSpec
