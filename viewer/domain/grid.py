"""The grid: cells named by a letter and a number."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

import msgspec

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx

MIN_CELLS, MAX_CELLS = 2, 26
_MOST_DIGITS = 9
"""Digits up to which a number of cells is reported as too large, not unreadable."""
_CONDITION = re.compile(r"\bgrid=(\d+)(?:x(\d+))?")
_VARIED = re.compile(r" (letters|labels|render_scale)=(\w+)")
_WORDS: Mapping[str, Mapping[str, str]] = {
    "letters": {"row": "letters are rows", "column": "letters are columns"},
    "labels": {
        "cell": "names in every cell",
        "margin": "names along the margin",
        "both": "names in cells and margin",
    },
    "render_scale": {"1": "not enlarged"}
    | {scale: f"sent {scale} times as large" for scale in ("2", "4")},
}


class LetterAxis(StrEnum):
    """Which axis the letters run along; Gosai 2025 leaves it open (E000-09)."""

    ROW = "row"
    COLUMN = "column"


class Cell(
    msgspec.Struct, frozen=True, order=True, array_like=True, forbid_unknown_fields=True
):
    """A cell by its 0-based row (top to bottom) and column (left to right)."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Grid:
    """``rows`` × ``columns`` cells over an image; names depend on ``letters``.

    With letters along rows (the default) D4 is the fourth row, fourth column.
    """

    rows: int
    columns: int
    letters: LetterAxis = LetterAxis.ROW

    def __post_init__(self) -> None:
        for what, n in (("rows", self.rows), ("columns", self.columns)):
            if not MIN_CELLS <= n <= MAX_CELLS:
                raise WrongUseError(
                    f"A grid of {n} {what} cannot be named with letters A to Z.",
                    f"Choose {MIN_CELLS} to {MAX_CELLS}.",
                )

    @property
    def name(self) -> str:
        """``8`` for a square grid, else ``8x10`` (rows × columns)."""
        if self.rows == self.columns:
            return str(self.rows)
        return f"{self.rows}x{self.columns}"

    def label(self, cell: Cell) -> str:
        """Return the cell's name, such as ``D4``."""
        if self.letters is LetterAxis.ROW:
            return f"{ascii_uppercase[cell.row]}{cell.column + 1}"
        return f"{ascii_uppercase[cell.column]}{cell.row + 1}"

    def cell(self, label: str) -> Cell | None:
        """Return the cell named ``label`` (``D4``, ``d04``), None if out of range."""
        letter, number = ascii_uppercase.find(label[0].upper()), int(label[1:]) - 1
        row, column = (
            (letter, number) if self.letters is LetterAxis.ROW else (number, letter)
        )
        inside = 0 <= row < self.rows and 0 <= column < self.columns
        return Cell(row, column) if inside else None

    def index(self, cell: Cell) -> int:
        """Return the cell's row-major index."""
        return cell.row * self.columns + cell.column

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell in row-major order."""
        return tuple(Cell(r, c) for r in range(self.rows) for c in range(self.columns))

    def box(self, cell: Cell, size: SizePx) -> BoxPx:
        """Return the cell's rectangle on an image of ``size``, in fractional pixels."""
        height, width = size.rows / self.rows, size.columns / self.columns
        return BoxPx(
            cell.column * width,
            cell.row * height,
            (cell.column + 1) * width,
            (cell.row + 1) * height,
        )

    def edges(self, size: SizePx) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return whole-pixel row and column edges: edge i at ⌊i·n/cells⌋."""
        return (
            tuple(i * size.rows // self.rows for i in range(self.rows + 1)),
            tuple(i * size.columns // self.columns for i in range(self.columns + 1)),
        )


def _is_count(text: str) -> bool:
    # isdigit() also accepts "²", which int() refuses.
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def grids_in_words(condition: str) -> str:
    """Return ``8 × 8 grid`` for ``grid=8``, keeping the rest of a condition's name.

    What else of the grid was varied follows in words.
    """
    said = _CONDITION.sub(lambda m: f"{m[1]} × {m[2] or m[1]} grid", condition)
    return _VARIED.sub(lambda m: f", {_WORDS[m[1]].get(m[2], m[2])}", said)


def grid_of_name(name: str, letters: LetterAxis = LetterAxis.ROW) -> Grid:
    """Parse ``8`` or ``8x10`` (rows × columns)."""
    parts = name.lower().split("x")
    if not 1 <= len(parts) <= 2 or not all(map(_is_count, parts)):
        raise WrongUseError(
            f"The grid '{name}' cannot be read.",
            "Write 8 for 8 × 8 or 8x10 for 8 rows and 10 columns.",
        )
    return Grid(int(parts[0]), int(parts[-1]), letters)
