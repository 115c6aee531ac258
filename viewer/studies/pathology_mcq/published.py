"""What Sun 2024 prints, as reference rows that no run edits (X-05, App. B.4).

The numbers lie in ``printed/``, one file for each table of the paper; our copy of it is
scanned. How many trials a rate is of is not claimed: the authors' script leaves out
what fails, so that its denominators differ from run to run.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from viewer.studies.pathology_mcq.scopes import ALL, OVERALL, TINY, VAL, Scope
from viewer.studies.published import PublishedValue

SOURCE: Final = "Sun 2024, PathMMU"
ACCURACY: Final = "accuracy"
NOISE: Final = "accuracy with noise for images"
CHANGE: Final = "change under corruption"
CORRUPTED: Final = "accuracy under corruption"
EXPERTS: Final = "Expert performance"
RANDOM, FREQUENT = "Random Choice", "Frequent Choice"
NOTE: Final = "the denominator is not claimed; what failed is in none"

_SHORT: Final = {
    "PubMed": "PubMed",
    "Social": "SocialPath",
    "Edu": "EduContent",
    "Atlas": "Atlas",
    "CLS": "PathCLS",
}
_PARTS: Final = {"t": TINY, "a": ALL}
Rows = Mapping[str, Mapping[Scope, PublishedValue]]
"""The values of a table by model and column."""


@lru_cache(maxsize=4)
def rows_of(number: int) -> Rows:
    """Return a table laid out as Table 1: 1, 3 or 4."""
    measure = NOISE if number == 3 else ACCURACY
    lines = _lines(number)
    columns = [_scope(name) for name in next(lines)[1:]]
    return {
        model: {
            scope: _row(f"Table {number}", measure, subject_of(scope), model, value)
            for scope, value in zip(columns, values, strict=True)
            if value
        }
        for model, *values in lines
    }


@lru_cache(maxsize=1)
def corruption_rows() -> Mapping[str, Mapping[str, tuple[PublishedValue, ...]]]:
    """Return Table 2: by model and kind the accuracy and the signed change."""
    lines = _lines(2)
    kinds = next(lines)[1:]
    return {
        model: {
            kind: tuple(
                _row("Table 2", measure, kind, model, value)
                for measure, value in zip(
                    (CORRUPTED, CHANGE), cell.split(), strict=True
                )
            )
            for kind, cell in zip(kinds, cells, strict=True)
        }
        for model, *cells in lines
    }


def every_row() -> tuple[PublishedValue, ...]:
    """Return every printed value, in the order of the tables."""
    return (
        *_cells(rows_of(1)),
        *(
            row
            for of in corruption_rows().values()
            for two in of.values()
            for row in two
        ),
        *_cells(rows_of(3)),
        *_cells(rows_of(4)),
    )


def _cells(rows: Rows) -> Iterator[PublishedValue]:
    return (row for of in rows.values() for row in of.values())


def _lines(number: int) -> Iterator[list[str]]:
    folder = files("viewer.studies.pathology_mcq") / "printed"
    text = (folder / f"table{number}.txt").read_text(encoding="utf-8")
    return (line.split(";") for line in text.splitlines())


def _scope(column: str) -> Scope:
    subset, _, part = column.partition("_")
    if not part:
        return Scope(column, OVERALL)
    return Scope(_PARTS[part], _SHORT[subset])


def subject_of(scope: Scope) -> str:
    """Return the name of a column in published rows."""
    part = {VAL: "validation", TINY: "tiny test", ALL: "test"}[scope.part]
    return f"{scope.subset}, {part}"


def _row(
    table: str, measure: str, subject: str, who: str, value: str
) -> PublishedValue:
    return PublishedValue(SOURCE, table, measure, subject, who, float(value), note=NOTE)
