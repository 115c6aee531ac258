"""RSNA Pneumonia Detection Challenge 2018: radiographs with boxes (Shih et al. 2019).

``stage_2_train_labels.csv`` has a row for each box: ``patientId``, ``x``, ``y``,
``width`` and ``height`` of the upper left corner in native pixels, and ``Target``, 1
where there is evidence of pneumonia; with 0 the numbers are empty. Images are
``<patientId>.dcm``.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from viewer.domain.case import Dataset, Notice, ReferenceBox, View
from viewer.readers.datasets.annotated import (
    Annotated,
    Collection,
    assembled,
    without_repeats,
)
from viewer.readers.datasets.csv_tables import (
    CsvRow,
    corner_and_size,
    required_tables,
    rows_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.image_files import root_of

COLUMNS = ("patientId", "x", "y", "width", "height", "Target")
FINDING = "Pneumonia"
_NUMBERS = COLUMNS[1:5]
_TARGETS = {"0": False, "0.0": False, "1": True, "1.0": True}


@dataclass
class _Rows:
    """The rows of one image."""

    boxes: list[ReferenceBox] = field(default_factory=list)
    targets: set[bool] = field(default_factory=set)
    problem: str = ""


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such tables."""
    return bool(tables_below(path, COLUMNS))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the tables below a folder, or one of them, with the images they name.

    Parameters
    ----------
    root : Path
        The folder, or one label table.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images that do not say it; default: frontal, like the collection.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        No table has the columns, or one cannot be read at all.
    """
    folder = root_of(root)
    images: dict[str, _Rows] = defaultdict(_Rows)
    notices: list[Notice] = []
    for table in required_tables(root, COLUMNS):
        for row in rows_of(table):
            notices += _take(row, images, table)
    entries: list[Annotated] = []
    for key, rows in images.items():
        entry, about = _entry(key, rows)
        entries.append(entry)
        notices += about
    collection = Collection(name, "rsna", folder, view or View.FRONTAL)
    return assembled(collection, entries, notices, progress)


def _take(row: CsvRow, images: Mapping[str, _Rows], table: Path) -> list[Notice]:
    key = row.cells.get("patientId", "")
    target = _TARGETS.get(row.cells.get("Target", ""))
    if not key or target is None:
        text = f"Line {row.line} names no image, or a Target that is not 0 or 1."
        return [Notice("odd_row", table.name, text)]
    rows, where = images[key], f"line {row.line} of {table.name}"
    rows.targets.add(target)
    numbers = [row.cells.get(column, "") for column in _NUMBERS]
    box = corner_and_size(*numbers)
    if target and box is None:
        rows.problem = f"{where} has no box"
    elif target and box is not None:
        rows.boxes.append(ReferenceBox(box))
    elif any(numbers):
        rows.problem = f"{where} has a box, but Target 0"
    return []


def _entry(key: str, rows: _Rows) -> tuple[Annotated, list[Notice]]:
    problem = rows.problem
    if len(rows.targets) > 1:
        problem = problem or "its rows have Target 0 and 1"
    boxes, notices = without_repeats(key, {FINDING: rows.boxes} if rows.boxes else {})
    entry = Annotated(
        key=key,
        file=key,
        labels={FINDING: True in rows.targets},
        boxes={} if problem else boxes,
        broken={FINDING: problem} if problem else {},
    )
    return entry, notices
