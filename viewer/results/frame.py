"""Rows of named columns, the input of tables."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from viewer.results.spec import Where


@dataclass(frozen=True, eq=False)
class Frame:
    """Rows of named columns.

    ``shared`` are columns that a frame has in common with its subsets, ``places`` the
    indices of its own rows in them.
    """

    shared: Mapping[str, Sequence[Any]]
    places: Sequence[int]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names, in their order."""
        return tuple(self.shared)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.places)

    def __getitem__(self, column: str) -> Sequence[Any]:
        """Return a column's values, one per row.

        Raises
        ------
        KeyError
            There is no such column.
        """
        shared = self.shared[column]
        # Only a whole frame has a range: its columns need no selection.
        if isinstance(self.places, range):
            return shared
        return [shared[place] for place in self.places]

    def has_rows_of(self, other: "Frame") -> bool:
        """Tell whether another frame has the same rows of the same columns."""
        same = self.shared is other.shared
        return same and [*self.places] == [*other.places]

    def values_in(self, column: str) -> list[Any]:
        """Return a column's values, without missing ones."""
        return [value for value in self[column] if has_value(value)]

    def each(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Yield some columns of each row."""
        return zip(*(self[name] for name in columns), strict=True)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row as a dict by column."""
        for values in self.each(*self.columns):
            yield dict(zip(self.columns, values, strict=True))

    def take(self, rows: Iterable[int]) -> "Frame":
        """Return some rows, by their numbers from 0."""
        return Frame(self.shared, [self.places[row] for row in rows])

    def where(self, where: Where) -> "Frame":
        """Return the rows whose columns have one of the wanted values each."""
        taken = self
        for column, wanted in where.items():
            values = taken[column]
            taken = taken.take(i for i, one in enumerate(values) if one in wanted)
        return taken

    def complete(self, *columns: str) -> "Frame":
        """Return the rows without missing values in some columns."""
        rows = enumerate(self.each(*columns))
        return self.take(row for row, values in rows if all(map(has_value, values)))

    def groups(self, *columns: str) -> dict[tuple[Any, ...], "Frame"]:
        """Return the rows by the values of some columns, in order of first occurrence.

        Without columns all rows are one group, even if there are none.
        """
        if not columns:
            return {(): self}
        places: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for place, key in zip(self.places, self.each(*columns), strict=True):
            places[key].append(place)
        return {key: Frame(self.shared, of) for key, of in places.items()}

    def having(self, **columns: Sequence[object]) -> "Frame":
        """Return the frame with additional or replaced columns."""
        return frame_of({**{name: self[name] for name in self.shared}, **columns})


Frames = Mapping[str, Frame]
"""Frames by name."""


def frame_of(columns: Mapping[str, Sequence[object]]) -> Frame:
    """Return columns of the same length as a frame.

    None becomes NaN in a column whose other values are all floats.
    """
    sizes = {len(values) for values in columns.values()} or {0}
    (size,) = sizes
    return Frame({name: _column(of) for name, of in columns.items()}, range(size))


def frame_of_rows(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Frame:
    """Return rows under a header as a frame; without rows it still has the columns."""
    columns = tuple(zip(*rows, strict=True)) or ((),) * len(header)
    return frame_of(dict(zip(header, columns, strict=True)))


def has_value(value: object) -> bool:
    """Tell whether a value is present: neither None nor NaN."""
    # Only NaN differs from itself; isnan() would refuse text.
    return value is not None and value == value


def _column(values: Sequence[object]) -> Sequence[object]:
    # Tells a column of text at once, without looking at all its values.
    may = values and isinstance(values[0], float | None)
    if may and set(map(type, values)) == {float, type(None)}:
        return [nan if value is None else value for value in values]
    return values
