"""Cells named by their row and column in words."""

import re
from dataclasses import dataclass

from viewer.domain.grid import LetterAxis

_NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"),
)
_VALUE = (
    rf"[\"'(]*(?P<value>[A-Za-z]|\d{{1,2}}|{'|'.join(_NUMBERS)})"
    r"(?![A-Za-z0-9])(?!'[a-z])"
)
_AXIS = re.compile(
    r"\b(?P<axis>row|column|col)s?\b[\s\"'.]*(?:(?:is|number|no\.|letter|[:=#])\s*)?"
    rf"{_VALUE}"
    rf"(?P<more>\s*(?:-|/|&|,|or|and|to)\s*(?:[A-Z]|\d{{1,2}})(?![A-Za-z0-9]))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A cell's name; ``swapped`` where the letter was not given for its own axis."""

    text: str
    swapped: bool


def row_column_names(text: str, letters: LetterAxis) -> tuple[RowColumn, ...]:
    """Return every cell formed by the rows and columns named in a text.

    One row and one column give one cell; several give one for each pair. A row and a
    column both as letters or both as numbers name no cell.
    """
    found: dict[str, list[str]] = {"row": [], "col": []}
    for match in _AXIS.finditer(text):
        values = found[match["axis"][:3].lower()]
        values.append(_plain(match["value"]))
        if match["more"]:
            values.append(_plain(re.findall(r"\w+", match["more"])[-1]))
    pairs = [(row, column) for row in found["row"] for column in found["col"]]
    names = [_named(row, column, letters) for row, column in pairs]
    return tuple(dict.fromkeys(name for name in names if name))


def _named(row: str, column: str, letters: LetterAxis) -> RowColumn | None:
    if row.isdecimal() == column.isdecimal():
        return None
    letter, number = (column, row) if row.isdecimal() else (row, column)
    letters_on_rows = not row.isdecimal()
    return RowColumn(
        f"{letter}{number}", letters_on_rows is not (letters is LetterAxis.ROW)
    )


def _plain(value: str) -> str:
    """Return a letter in upper case, a number in digits without leading zeros."""
    if value.lower() in _NUMBERS:
        return str(_NUMBERS.index(value.lower()) + 1)
    return str(int(value)) if value.isdecimal() else value.upper()
