"""Your own table of boxes: a CSV file with named columns.

A row is a box of a finding on an image: ``image`` (a file's name or path, with or
without suffix), ``finding``, and either the corners ``x1, y1, x2, y2`` or the upper
left corner and size ``x, y, width, height``, in native pixels from the upper left of
the image; ``reader`` names who drew it, ``patient`` the patient and ``view`` the
projection (PA, AP, frontal, lateral, other). A row without numbers says that the reader
did not see the finding; without a finding either, that the reader saw none that the
table names. If no row is about a finding on an image, it is unknown.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viewer.domain.case import Dataset, Notice, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.annotated import (
    Annotated,
    Collection,
    assembled,
    without_repeats,
)
from viewer.readers.datasets.csv_tables import (
    CsvRow,
    columns_not_read,
    corner_and_size,
    corners,
    header_of,
    rows_of,
    split_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import root_of, stem_of

NAMES = ("image", "finding")
CORNERS = ("x1", "y1", "x2", "y2")
SIZES = ("x", "y", "width", "height")
_READER = "reader"
_OF_IMAGES = ("patient", "view")
_KNOWN = frozenset({*NAMES, *CORNERS, *SIZES, _READER, *_OF_IMAGES})
_WANTED = (
    "A table of boxes has the columns image, finding and x1, y1, x2, y2 or x, y, "
    "width, height, separated by commas; reader, patient and view may be there too."
)


@dataclass
class _Rows:
    """The rows of one image; ``denied`` has the readers who denied each finding.

    ``said`` has what they say about the image itself, by column, in order.
    """

    file: str
    boxes: dict[str, list[ReferenceBox]] = field(
        default_factory=lambda: defaultdict(list)
    )
    denied: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    readers: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def first(self, column: str) -> str:
        """Return the first nonempty value in a column, "" if there is none."""
        return next(iter(self.said[column]), "")


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such tables."""
    return bool(_tables(path))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the tables below a folder, or one of them, with the images they name.

    Parameters
    ----------
    root : Path
        The folder, or one table.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of images that do not say it.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        No table has the columns, one has both kinds of places or a column twice, or one
        cannot be read at all.
    """
    folder = root_of(root)
    tables = _tables(root)
    if not tables:
        raise _none_found(root)
    images: dict[str, _Rows] = {}
    notices: list[Notice] = []
    for table in tables:
        numbers = _columns_of_places(table)
        notices += columns_not_read(table, _KNOWN)
        for row in rows_of(table):
            notices += _take(row, numbers, images, table)
    findings = {n for rows in images.values() for n in (*rows.boxes, *rows.broken)}
    findings |= {n for rows in images.values() for n in rows.denied} - {""}
    entries: list[Annotated] = []
    for key, rows in images.items():
        entry, about = _entry(key, rows, sorted(findings))
        entries.append(entry)
        notices += about
    collection = Collection(
        name, "csv-boxes", folder, view or View.UNKNOWN, split_of(tables)
    )
    return assembled(collection, entries, notices, progress)


def _tables(path: Path) -> tuple[Path, ...]:
    found = {
        p for places in (CORNERS, SIZES) for p in tables_below(path, (*NAMES, *places))
    }
    return tuple(sorted(found))


def _none_found(root: Path) -> UnreadableInputError:
    if not root.is_file():
        return UnreadableInputError(
            f"There is no table of boxes below '{root}'.", _WANTED
        )
    header = header_of(root)
    named = [name for name in NAMES if name not in header]
    places = min(
        ([c for c in of if c not in header] for of in (CORNERS, SIZES)), key=len
    )
    lacking = ", ".join([*named, *places])
    return UnreadableInputError(
        f"'{root.name}' does not have the columns it needs: {lacking} is missing.",
        _WANTED,
    )


def _columns_of_places(table: Path) -> tuple[str, ...]:
    header = header_of(table)
    twice = sorted(c for c in _KNOWN if header.count(c) > 1)
    if twice:
        raise UnreadableInputError(
            f"'{table.name}' has the column {twice[0]} more than once.",
            "Remove one of them, or rename it.",
        )
    if {*CORNERS, *SIZES} <= set(header):
        raise UnreadableInputError(
            f"'{table.name}' has both corners and sizes, and it is not clear which to "
            "use.",
            "Keep either x1, y1, x2, y2 or x, y, width, height.",
        )
    return CORNERS if set(CORNERS) <= set(header) else SIZES


def _take(
    row: CsvRow, numbers: tuple[str, ...], images: dict[str, _Rows], table: Path
) -> list[Notice]:
    cells = row.cells
    file, finding = cells.get("image", ""), display_name(cells.get("finding", ""))
    reader = cells.get(_READER, "")
    # A cell too many has moved the others, so an empty number proves nothing.
    placed = row.overlong or any(cells.get(c) for c in numbers)
    if not file or (placed and not finding):
        what = "finding" if file else "image"
        text = f"Line {row.line} names no {what} and is not used."
        return [Notice("odd_row", table.name, text)]
    rows = images.setdefault(stem_of(file), _Rows(file))
    rows.readers |= {reader} - {""}
    for column in _OF_IMAGES:
        if (said := cells.get(column, "")) and said not in rows.said[column]:
            rows.said[column].append(said)
    if not placed:
        rows.denied[finding].add(reader)
        return []
    box, why = _box(row, numbers)
    if _is_another(file, rows.file):
        box, why = (
            None,
            f"calls its file {file}, but an earlier line calls it {rows.file}",
        )
    if box is None:
        rows.broken.setdefault(finding, f"line {row.line} of {table.name} {why}")
    else:
        rows.boxes[finding].append(ReferenceBox(box, reader))
    return []


def _is_another(file: str, known: str) -> bool:
    """Tell whether two names with the same stem have different suffixes."""
    stem = stem_of(known)
    return file != known and stem not in {file, known}


def _box(row: CsvRow, numbers: Sequence[str]) -> tuple[BoxPx | None, str]:
    """Return a row's box, or None and the reason why there is none."""
    written = [row.cells.get(column, "") for column in numbers]
    if row.overlong:
        return None, "has more cells than columns (a comma in a number?)"
    for column, text in zip(numbers, written, strict=True):
        if not text:
            return None, f"has no {column}"
        if not _is_number(text):
            return None, f"has '{text}' as {column}, which is not a number"
    make = corners if tuple(numbers) == CORNERS else corner_and_size
    return make(*written), "has a box without area"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _entry(
    key: str, rows: _Rows, findings: Sequence[str]
) -> tuple[Annotated, list[Notice]]:
    boxes, notices = without_repeats(key, rows.boxes)
    drawn = {*boxes, *rows.broken}
    nothing = rows.denied.get("", set())
    for finding in sorted(boxes):
        by = {box.reader for box in boxes[finding]}
        if torn := by & (rows.denied.get(finding, set()) | nothing):
            who = f"Reader {min(torn)}" if min(torn) else "The table"
            text = (
                f"{who} says that {finding} is absent but draws a box; the box is used."
            )
            notices.append(Notice("contradiction", key, text))
    notices += [
        Notice(
            "contradiction", key, f"Its rows disagree about its {c}; the first is used."
        )
        for c, said in rows.said.items()
        if len(said) > 1
    ]
    denied = findings if nothing else [n for n in findings if n in rows.denied]
    entry = Annotated(
        key=key,
        file=rows.file,
        labels={n: n in drawn for n in findings if n in drawn or n in denied},
        boxes={n: of for n, of in boxes.items() if n not in rows.broken},
        readers=tuple(sorted(rows.readers)),
        broken=rows.broken,
        patient=rows.first("patient"),
        view=rows.first("view"),
    )
    return entry, notices
