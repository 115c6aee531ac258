"""VinDr-CXR: frontal radiographs with boxes of several readers (Nguyen et al. 2022).

``annotations_{train,test}.csv`` have a row for each box: ``image_id``, ``class_name``
and ``x_min``, ``y_min``, ``x_max``, ``y_max`` in native pixels, empty in a row of
``No finding``; ``rad_id`` names the reader (in training three of seventeen read each
image, the test split is a consensus without names). The Kaggle edition's ``train.csv``
has a ``class_id`` besides. Images are ``<image_id>.dicom``, or PNG of the same size.
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
    corners,
    required_tables,
    rows_of,
    split_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import root_of

COLUMNS = ("image_id", "class_name", "x_min", "y_min", "x_max", "y_max")
_CORNERS = COLUMNS[2:]
_NO_FINDING = "no finding"
_OF_IMAGES = ("image_id", "No finding")
"""Columns of ``image_labels_{train,test}.csv``, which have labels without places."""


@dataclass
class _Rows:
    """The rows of one image."""

    boxes: dict[str, list[ReferenceBox]] = field(
        default_factory=lambda: defaultdict(list)
    )
    readers: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)
    denied_by: set[str] = field(default_factory=set)


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
        The folder, or one annotation table to read its split alone.
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
    tables = required_tables(root, COLUMNS)
    images: dict[str, _Rows] = defaultdict(_Rows)
    notices = [_not_read(p) for p in tables_below(root, _OF_IMAGES) if p not in tables]
    for table in tables:
        for row in rows_of(table):
            notices += _take(row, images, table)
    findings = sorted({name for rows in images.values() for name in _marked(rows)})
    entries: list[Annotated] = []
    for key, rows in images.items():
        entry, about = _entry(key, rows, findings)
        entries.append(entry)
        notices += about
    collection = Collection(
        name, "vindr", folder, view or View.FRONTAL, split_of(tables)
    )
    return assembled(collection, entries, notices, progress)


def _take(row: CsvRow, images: Mapping[str, _Rows], table: Path) -> list[Notice]:
    key, reader = row.cells.get("image_id", ""), row.cells.get("rad_id", "")
    written = row.cells.get("class_name", "")
    if not key or not written:
        text = f"Line {row.line} names no image or no finding and is not used."
        return [Notice("odd_row", table.name, text)]
    rows = images[key]
    rows.readers |= {reader} - {""}
    if written.casefold() == _NO_FINDING:
        rows.denied_by.add(reader)
        return []
    finding = display_name(written)
    box = corners(*(row.cells.get(column, "") for column in _CORNERS))
    if box is None:
        rows.broken[finding] = f"line {row.line} of {table.name} has no box"
    else:
        rows.boxes[finding].append(ReferenceBox(box, reader))
    return []


def _not_read(table: Path) -> Notice:
    text = "It has labels for whole images without locations, and is not read."
    return Notice("table_not_read", table.name, text)


def _marked(rows: _Rows) -> set[str]:
    return {*rows.boxes, *rows.broken}


def _entry(
    key: str, rows: _Rows, findings: list[str]
) -> tuple[Annotated, list[Notice]]:
    boxes, notices = without_repeats(key, rows.boxes)
    marked_by = {box.reader for of in boxes.values() for box in of}
    if torn := rows.denied_by & marked_by:
        who = f"Reader {min(torn)}" if min(torn) else "The table"
        text = f"{who} says 'No finding' but draws a box; the box is used."
        notices.append(Notice("contradiction", key, text))
    entry = Annotated(
        key=key,
        file=key,
        labels={name: name in _marked(rows) for name in findings},
        boxes={name: of for name, of in boxes.items() if name not in rows.broken},
        readers=tuple(sorted(rows.readers)),
        broken=rows.broken,
    )
    return entry, notices
