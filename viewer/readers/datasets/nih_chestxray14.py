"""NIH ChestX-ray14: frontal radiographs, some with boxes (Wang et al. 2017).

``Data_Entry_2017.csv`` (or ``…_v2020.csv``) has a row for each image: ``Image Index``
(its file), ``Finding Labels`` (joined by ``|``, or ``No Finding``), ``Patient ID`` and
``View Position`` (PA or AP). ``BBox_List_2017.csv`` has a row for each box: ``Image
Index``, ``Finding Label``, and x, y of the upper left corner, width and height under
the header ``Bbox [x,y,w,h]``, whose commas make four columns of it. Images are PNG in
``images`` or ``images_001/images`` and so on; a file is named after its patient and the
number of the examination. Written from the published layout, not tested on the
original.

Boxes are in pixels of the published images, which are 1024 × 1024;
``OriginalImage[Width,Height]`` is the size before they were reduced. The box list uses
``Infiltrate``, the labels ``Infiltration``: both are kept.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, Notice, ReferenceBox, View
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
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
    rows_of,
    tables_below,
)
from viewer.readers.datasets.files import Progress, files_below
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import root_of, stem_of

FORMAT: Final = "nih-chestxray14"
ENTRIES: Final = ("Image Index", "Finding Labels", "Patient ID", "View Position")
BOXES: Final = ("Image Index", "Finding Label", "Bbox [x", "y", "w", "h]")
SIDE: Final = 1024
_NUMBERS: Final = BOXES[2:]
_NO_FINDING: Final = "no finding"
_CONTRADICTION: Final = (
    "Its labels do not name {finding}, but a box does; the box is used."
)


@dataclass
class _Rows:
    """The rows of one image; ``findings`` is None if there are no labels."""

    file: str
    findings: tuple[str, ...] | None = None
    patient: str = ""
    view: str = ""
    boxes: dict[str, list[ReferenceBox]] = field(
        default_factory=lambda: defaultdict(list)
    )
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def placed(self) -> set[str]:
        """The findings of the image in the box list."""
        return {*self.boxes, *self.broken}


def looks(path: Path) -> bool:
    """Tell whether a folder or file contains such tables."""
    return any(tables_below(path, columns) for columns in (BOXES, ENTRIES))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read both tables with the images they name.

    Parameters
    ----------
    root : Path
        The folder, or one of the tables.
    name : str
        The name the data set is registered under.
    view : View, optional
        View of images without one in a table; default: frontal, like the collection.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        Neither table exists, or one cannot be read at all.
    """
    if not looks(root):
        raise UnreadableInputError(
            f"'{root.name}' is not a table of NIH ChestX-ray14 and contains none.",
            "Name the folder with BBox_List_2017.csv and Data_Entry_2017.csv.",
        )
    folder = root_of(root)
    images: dict[str, _Rows] = {}
    notices = [*_labelled(folder, images), *_boxed(folder, images)]
    notices += _absent(folder, images)
    findings = sorted({f for rows in images.values() for f in rows.findings or ()})
    entries: list[Annotated] = []
    for key, rows in images.items():
        entry, about = _entry(key, rows, findings)
        entries.append(entry)
        notices += about
    collection = Collection(name, FORMAT, folder, view or View.FRONTAL)
    return assembled(collection, entries, notices, progress)


def _labelled(folder: Path, images: dict[str, _Rows]) -> Iterator[Notice]:
    """Add the tables of labels, patients and views."""
    tables = tables_below(folder, ENTRIES)
    for table in tables:
        yield from columns_not_read(table, ENTRIES)
        again = 0
        for row in rows_of(table):
            file, labels = row.cells.get(ENTRIES[0], ""), row.cells.get(ENTRIES[1], "")
            if not file or not labels:
                text = f"Line {row.line} names no image or no label and is not used."
                yield Notice("odd_row", table.name, text)
            elif stem_of(file) in images:
                again += 1
            else:
                images[stem_of(file)] = _labels_of(row, file, labels)
        if again:
            name = "names" if again == 1 else "name"
            text = f"{counted(again, 'row')} {name} an image again; the first is used."
            yield Notice("repeated_label_row", table.name, text)
    if not tables:
        text = "There is no Data_Entry_2017.csv; patients are taken from file names."
        yield Notice("no_label_table", folder.name, text)


def _labels_of(row: CsvRow, file: str, labels: str) -> _Rows:
    written = [label.strip() for label in labels.split("|")]
    named = [n for n in written if n and n.casefold() != _NO_FINDING]
    patient, view = (row.cells.get(column, "") for column in ENTRIES[2:])
    return _Rows(file, tuple(map(display_name, named)), patient, view)


def _boxed(folder: Path, images: dict[str, _Rows]) -> Iterator[Notice]:
    """Add the lists of boxes."""
    tables = tables_below(folder, BOXES)
    for table in tables:
        yield from columns_not_read(table, BOXES)
        for row in rows_of(table):
            file, finding = (row.cells.get(column, "") for column in BOXES[:2])
            if not file or not finding:
                text = f"Line {row.line} names no image or no finding and is not used."
                yield Notice("odd_row", table.name, text)
                continue
            rows = images.setdefault(stem_of(file), _Rows(file))
            _place(row, rows, display_name(finding), table)
    if not tables:
        text = "There is no BBox_List_2017.csv; labels are read, but no locations."
        yield Notice("no_boxes", folder.name, text)


def _place(row: CsvRow, rows: _Rows, finding: str, table: Path) -> None:
    box = corner_and_size(*(row.cells.get(column, "") for column in _NUMBERS))
    if box is None:
        rows.broken[finding] = f"line {row.line} of {table.name} has no box"
    else:
        rows.boxes[finding].append(ReferenceBox(box))


def _absent(folder: Path, images: dict[str, _Rows]) -> list[Notice]:
    """Drop images with neither a file nor a box, and count them in a notice.

    The tables name all of the 112,120 images of the collection.
    """
    there = {stem_of(path.name) for path in files_below(folder)}
    absent = [k for k, rows in images.items() if k not in there and not rows.placed]
    for key in absent:
        del images[key]
    if not absent:
        return []
    text = (
        "Without a file in the folder and without a box, so not imported: "
        f"{counted(len(absent), 'image')} of the tables, such as {absent[0]}."
    )
    return [Notice("files_not_there", "", text)]


def _entry(
    key: str, rows: _Rows, findings: Sequence[str]
) -> tuple[Annotated, list[Notice]]:
    boxes, notices = without_repeats(key, rows.boxes)
    labelled = findings if rows.findings is None else rows.findings
    denied = rows.placed & set(findings) - set(labelled)
    notices += [
        Notice("contradiction", key, _CONTRADICTION.format(finding=n))
        for n in sorted(denied)
    ]
    entry = Annotated(
        key=key,
        file=rows.file,
        size=SizePx(SIDE, SIDE),
        labels=_labels(rows, findings),
        boxes={n: of for n, of in boxes.items() if n not in rows.broken},
        broken=rows.broken,
        patient=rows.patient or _patient_of(key),
        view=rows.view,
    )
    return entry, notices


def _labels(rows: _Rows, findings: Sequence[str]) -> Mapping[str, bool]:
    labelled = () if rows.findings is None else findings
    labels = {name: name in (rows.findings or ()) for name in labelled}
    return labels | dict.fromkeys(sorted(rows.placed), True)


def _patient_of(key: str) -> str:
    """Return the patient number in a file name, in the tables' format."""
    number = key.partition("_")[0]
    return str(int(number)) if number.isdecimal() else ""
