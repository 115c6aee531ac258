"""Predictions in a comma-separated table whose columns the user names.

Every row is one location: a cell by its name, a point x and y, a box by two corners or
by a corner and its size, a mask as COCO's run-length code, or a map as in exported
answers. A row without a location may give the reason as its status.
"""

import csv
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from viewer.domain.answer import UNREADABLE, HeatMapAnswer, Status, Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.errors import OverreadError, UnreadableInputError, WrongUseError
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.prediction import Coordinates, Prediction, Written
from viewer.readers.datasets.csv_tables import CsvRow, corner_and_size, corners, rows_of
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.segmentations import read_mask

FIELDS: Final = (
    "image",
    "patient",
    "finding",
    "condition",
    "repeat",
    "model",
    "status",
    "reason",
    "coordinates",
    "cell",
    "x",
    "y",
    "width",
    "height",
    "x1",
    "y1",
    "x2",
    "y2",
    "mask_rows",
    "mask_columns",
    "mask_rle",
    "map",
    "score",
)
"""What a column may be; one that has such a name needs no mapping."""
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "cell": ("cell",),
    "box": ("x1", "y1", "x2", "y2"),
    "corner and size": ("x", "y", "width", "height"),
    "point": ("x", "y"),
    "mask": ("mask_rows", "mask_columns", "mask_rle"),
    "map": ("map",),
}
_ANSWERLESS: Final = UNREADABLE | {Status.REFUSED, Status.PROVIDER_ERROR}
_SCORED: Final = frozenset({Status.SCORED_CORRECT, Status.SCORED_WRONG})
"""Verdicts that a denial may get, where the finding is absent."""


def read_table(
    path: Path, columns: Mapping[str, str], finding: str = ""
) -> tuple[Prediction, ...]:
    """Return the predictions of a table.

    Parameters
    ----------
    path : Path
        A CSV file in UTF-8 with a header.
    columns : Mapping
        The meaning of columns, one of ``FIELDS`` each, "" for an unused one; other
        columns mean what their name says.
    finding : str
        The finding of a table without a column for it.

    Raises
    ------
    UnreadableInputError
        If the file has another form, or a row cannot be read; the message names its
        line.
    WrongUseError
        For an unknown column or field, or a table without images or findings.
    """
    csv.field_size_limit(sys.maxsize)  # one mask or map may be longer than 128 KiB
    rows = list(rows_of(path))
    if not rows:
        raise UnreadableInputError(
            f"The table '{path.name}' has no rows.",
            "Name a table with a header and a row for each prediction.",
        )
    named = _named(path, rows, columns)
    return tuple(_predictions(path, rows, named, display_name(finding)))


def first_row(path: Path) -> Mapping[str, str]:
    """Return a table's columns with the values of its first row, if it has one."""
    csv.field_size_limit(sys.maxsize)
    row = next(iter(rows_of(path)), None)
    return {} if row is None else row.cells


def _named(
    path: Path, rows: list[CsvRow], columns: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the column of each field."""
    there = list(rows[0].cells)
    for column, field in columns.items():
        if field not in {"", *FIELDS}:
            raise WrongUseError(
                f"No column can be mapped to '{field}'.",
                f"Choose one of {', '.join(FIELDS)}.",
            )
        if column not in there:
            raise WrongUseError(
                f"'{path.name}' has no column '{column}'.",
                f"Its columns are {', '.join(there)}.",
            )
    own = {name.lower(): name for name in there if name.lower() in FIELDS}
    named = {field: name for field, name in own.items() if name not in columns}
    for column, field in columns.items():
        if field in named:
            raise WrongUseError(
                f"The columns '{named[field]}' and '{column}' are both {field}.",
                "Map only one of them.",
            )
        if field:
            named[field] = column
    return named


def _predictions(
    path: Path, rows: list[CsvRow], named: Mapping[str, str], finding: str
) -> Iterator[Prediction]:
    if "image" not in named and "patient" not in named:
        raise _no_field(path, "an image or patient", "image_id=image")
    if "finding" not in named and not finding:
        raise _no_field(path, "a finding", "label=finding")
    for row in rows:
        cells = {f: row.cells.get(column, "") for f, column in named.items()}
        try:
            yield _prediction(cells, finding)
        except (ValueError, KeyError, OverreadError) as error:
            why = error.what if isinstance(error, OverreadError) else str(error)
            raise UnreadableInputError(
                f"Line {row.line} of '{path.name}' cannot be read: {why.rstrip('.')}.",
                "Correct the line, or map its columns with --map column=field.",
            ) from error


def _no_field(path: Path, what: str, example: str) -> WrongUseError:
    return WrongUseError(
        f"No column of '{path.name}' is mapped to {what}.",
        f"Map one, such as --map {example}.",
    )


def _prediction(cells: Mapping[str, str], finding: str) -> Prediction:
    coordinates = cells.get("coordinates", "")
    return Prediction(
        image=cells.get("image", ""),
        finding=display_name(cells.get("finding", "")) or finding,
        place=_place(cells),
        patient=cells.get("patient", ""),
        condition=cells.get("condition", ""),
        repeat=cells.get("repeat", ""),
        score=_number(cells["score"], "score") if cells.get("score") else None,
        coordinates=Coordinates(coordinates) if coordinates else None,
        model=cells.get("model", ""),
    )


def _place(cells: Mapping[str, str]) -> Written | None:
    kinds = [kind for kind, needed in _KINDS.items() if all(map(cells.get, needed))]
    if "corner and size" in kinds:
        # A corner with a size has x and y as well.
        kinds.remove("point")
    if len(kinds) > 1:
        raise ValueError(f"it has a {' and a '.join(kinds)}")
    if not kinds and any(cells.get(f) for needed in _KINDS.values() for f in needed):
        raise ValueError("its location is incomplete")
    return _of_kind(kinds[0], cells) if kinds else _answerless(cells)


def _answerless(cells: Mapping[str, str]) -> Unparsed | None:
    """Return why there is no location; a verdict's reason is then the status."""
    status = Status(cells["status"]) if cells.get("status") else None
    reason = cells.get("reason", "")
    if status in _SCORED and reason in _ANSWERLESS:
        return Unparsed(Status(reason), "")
    if status is None or status not in _ANSWERLESS:
        return None
    return Unparsed(status, reason)


def _of_kind(kind: str, cells: Mapping[str, str]) -> Written:
    values = [cells[field] for field in _KINDS[kind]]
    if kind == "cell":
        return values[0]
    if kind == "point":
        return PointPx(_number(values[0], "x"), _number(values[1], "y"))
    if kind == "mask":
        size = [int(values[0]), int(values[1])]
        return read_mask({"size": size, "counts": values[2]})[0]
    if kind == "map":
        return _map(values[0])
    return _box(kind, values)


def _box(kind: str, values: list[str]) -> BoxPx:
    box = corners(*values) if kind == "box" else corner_and_size(*values)
    if box is None:
        raise ValueError("its box has no area, or a value that is not a number")
    return box


def _map(text: str) -> HeatMapAnswer:
    answer = answer_of_json(text)
    if isinstance(answer, HeatMapAnswer):
        return answer
    raise ValueError("its map is not a heat map")


def _number(text: str, field: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"its {field} is not a finite number")
    return number
