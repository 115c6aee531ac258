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
"""The columns by which intervals tell what is not independent (X-07)."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column that says what a row is about.

    ``column`` is that of the frame, ``header`` that of the table where it is named
    otherwise. ``total`` stands in rows that take all its values together. ``values``
    are the only ones wanted, in their order; without them rows come in the order of
    the frame, or of their values where ``ascending``.
    """

    column: str
    header: str = ""
    total: str = ""
    values: tuple[object, ...] = ()
    ascending: bool = False

    @property
    def name(self) -> str:
        """What stands above it in the table."""
        return self.header or self.column


@dataclass(frozen=True, slots=True)
class Cell:
    """One or more columns of numbers, all given by one estimator.

    ``names`` are the columns' headers, ``of`` the columns of the frame that the
    estimator reads. It sees the rows of the table's row that ``where`` takes. With
    ``against`` it also sees those of another row: the same but for these keys, of
    which None stands for all values. ``frame`` names a frame to take whole, where the
    table's own rows will not do. ``blank`` is a key whose total rows leave it empty,
    ``total`` the estimator of rows that show a key's total, where it is another.
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
HIGHEST, LOWEST = "highest", "lowest"
"""Which number of a column is the best."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of a page: one of the table's, and the ``header`` above it.

    A number that is not whole is printed in ``form``, ``scale`` times as large and with
    its ``unit``. ``counts`` are the columns of two whole numbers that follow it;
    ``also`` is a column that is printed like it after ``between``, such as the other
    end of an interval, and ``change`` one that follows as an arrow and its size.
    ``words`` stand for values, ``none`` where there is none and in rows that ``but``
    takes, ``group`` above neighbours. A ``published`` column is a paper's. The ``best``
    number, the highest or the lowest, is bold and the second best underlined.
    """

    column: str
    header: str
    form: str = "z.2f"
    scale: int = 1
    unit: str = ""
    counts: tuple[str, ...] = ()
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
    """Among which rows the best number is looked for.

    Rows with different values of ``apart`` are not compared, rows that ``but`` takes
    with none.
    """

    apart: tuple[str, ...] = ()
    but: Where = field(default_factory=dict)


ALL_ROWS: Final = Ranking()
"""Every row with every other."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of its own for some cells of a group.

    ``told`` are columns and what stands in them, such as the name of what is measured.
    It is left out of a group without a row that has what it ``needs``.
    """

    told: tuple[tuple[str, object], ...]
    cells: tuple[Cell, ...]
    needs: Where = field(default_factory=dict)


@dataclass(frozen=True)
class TableSpec:
    """A table whose rows are groups of a frame's rows.

    A group has one row, of all ``cells``, or one for each of ``lines``, under the
    columns of all lines. Where a cell gives lists, such as the points of a curve, there
    is a row for each of their places.

    ``outer`` names keys whose combinations have rows one after the other, those that
    the frame does not have too where ``every`` is set. Within each, ``sets`` name the
    other keys that tell rows apart, one set after the other; keys of no set show their
    total. A set that tells only a key of ``only_several`` apart is left out where there
    is one value of it, and the whole table where there is one value of
    ``needs_several``. ``below`` are a paper's own rows, each of which begins with its
    name; they follow as they are if there is any above them. A column of which
    ``where`` takes one value is part of what a row is about, as a key would be.
    ``shown`` are the columns of a page, without it all of the table, ``printed`` the
    table's rows that it has, of which ``ranking`` compares some.
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
        """The sets, or all keys that are not outer ones as the only set."""
        rest = tuple(k.column for k in self.keys if k.column not in self.outer)
        return self.sets or (rest,)


@dataclass(frozen=True)
class ListSpec:
    """A table that lists rows of a frame as they are.

    Without ``columns`` all of them; ``shown`` are the columns of a page, ``printed``
    the rows that it has, of which ``ranking`` compares some; it has at ``most`` so
    many.
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
