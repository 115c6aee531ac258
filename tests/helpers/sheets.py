"""Tables that were written to a folder, and which of their cells somebody checked."""

import csv
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

EXACT = 1e-12


class Sheet:
    """One CSV file; every cell is to be compared with what it should be."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8", newline="") as stream:
            self.header, *rows = list(csv.reader(stream))
        self.rows = [dict(zip(self.header, row, strict=True)) for row in rows]
        self._seen: set[tuple[int, str]] = set()

    def keyed(self, *names: str) -> dict[tuple[str, ...], int]:
        """Return the number of each row by some of its cells, which must tell it."""
        found = {
            tuple(row[name] for name in names): i for i, row in enumerate(self.rows)
        }
        assert len(found) == len(self.rows)
        return found

    def check(self, row: int, wanted: Mapping[str, object]) -> None:
        """Compare cells of a row with what they should be, and note them as checked."""
        for name, value in wanted.items():
            got = self.rows[row][name]
            assert is_same(got, value), (row, name, got, value, self.rows[row])
            self._seen.add((row, name))

    def pair(self, rows: Mapping[tuple[str, ...], Mapping[str, object]]) -> None:
        """Compare rows by their first cells; there are no others."""
        width = len(next(iter(rows)))
        names = tuple(self.header[:width])
        found = self.keyed(*names)
        assert set(found) == set(rows), set(found) ^ set(rows)
        for key, wanted in rows.items():
            self.check(found[key], {**dict(zip(names, key, strict=True)), **wanted})

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return len(self.rows) * len(self.header)

    @property
    def unchecked(self) -> Iterator[tuple[int, str]]:
        """Yield the row and name of every cell that nobody compared."""
        for i in range(len(self.rows)):
            for name in self.header:
                if (i, name) not in self._seen:
                    yield i, name


def sheets_below(folder: Path) -> dict[str, Sheet]:
    """Return every CSV file below a folder, by its path in it."""
    files = sorted(folder.rglob("*.csv"))
    return {path.relative_to(folder).as_posix(): Sheet(path) for path in files}


def is_same(cell: str, wanted: object) -> bool:
    """Tell whether a cell is as wanted; numbers to 1e-12, None is an empty cell."""
    if wanted is None:
        return cell == ""
    if isinstance(wanted, float | Fraction):
        return cell != "" and abs(float(cell) - wanted) <= EXACT
    return cell == str(wanted)
