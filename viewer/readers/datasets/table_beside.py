"""A table beside the images of a plain folder: patients, views and labels.

A CSV file in the folder itself with the column ``image`` (a file's name or path, with
or without suffix) says more about them: ``patient``, ``view`` (PA, AP, frontal,
lateral, other), and in every column that holds only 0, 1 or nothing whether the finding
named above it is present. These three have other names too (`_NAMES`), in any case,
with or without spaces, ``_`` and ``-``. Tables of boxes, with a column ``finding``, are
the format csv-boxes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, DatasetImage, Notice, View
from viewer.domain.counting import counted
from viewer.readers.datasets.csv_tables import CsvRow, header_of, is_table, rows_of
from viewer.readers.datasets.files import content_sha256, without_tables
from viewer.readers.datasets.findings import display_name
from viewer.readers.datasets.image_files import by_name, stem_of
from viewer.readers.datasets.naming import patient_key, written_view

_IMAGE: Final = "image"
_NAMES: Final = {
    _IMAGE: ("image", "file", "filename", "imagefile", "imagename", "imagepath",
             "path", "imageid", "imageindex"),
    "patient": ("patient", "patientid", "subject", "subjectid"),
    "view": ("view", "viewposition"),
}  # fmt: skip
"""What each column may be called; of several in a table, the first here is read."""
_SAID: Final = {"0": False, "1": True}


def with_table(dataset: Dataset) -> Dataset:
    """Return a data set with what the tables in its folder say of its images.

    Headers, file names and masks win over a table; what contradicts them is noticed. A
    table that is not text raises UnreadableInputError.
    """
    tables = [path for path in sorted(dataset.root.iterdir()) if _is_about_images(path)]
    if not tables:
        return dataset
    known, rows, lost = by_name(dataset), dict[str, CsvRow](), list[Notice]()
    for table in tables:
        named = _columns(table)
        renamed = (_renamed(row, named) for row in rows_of(table))
        found = [(_key(row, known), row) for row in renamed]
        rows.update((key, row) for key, row in reversed(found) if key)
        lost += _unmatched(table, sum(not key for key, _ in found))
    findings = _findings(rows)
    images = tuple(
        _told(image, rows[image.key], findings) if image.key in rows else image
        for image in dataset.images
    )
    notices = [*without_tables(dataset, tables), *lost]
    for before, image in zip(dataset.images, images, strict=True):
        notices += _contradictions(before, rows.get(image.key), findings)
    settled = {image.key for image in images if image.view is not View.UNKNOWN}
    known_patients = any(image.patient != image.key for image in images)
    return replace(
        dataset,
        images=images,
        notices=tuple(
            notice
            for notice in notices
            if not (notice.kind == "unknown_view" and notice.subject in settled)
            and not (notice.kind == "unknown_patient" and known_patients)
        ),
        root_sha256=content_sha256(images, dataset.items),
    )


def _is_about_images(path: Path) -> bool:
    if not path.is_file() or not is_table(path):
        return False
    columns = _columns(path)
    return _IMAGE in columns.values() and "finding" not in columns


def _columns(table: Path) -> Mapping[str, str]:
    """Return what the columns of a table are, by name; "" for one that is not read."""
    columns = header_of(table)
    folded = {column: re.sub(r"[ _-]", "", column).lower() for column in columns}
    named = {column: column for column in columns}
    for field, names in _NAMES.items():
        found = [c for name in names for c in columns if folded[c] == name]
        named |= dict.fromkeys(found, "") | dict.fromkeys(found[:1], field)
    return named


def _renamed(row: CsvRow, named: Mapping[str, str]) -> CsvRow:
    cells = {named.get(column, column): cell for column, cell in row.cells.items()}
    return replace(row, cells={c: cell for c, cell in cells.items() if c})


def _key(row: CsvRow, known: Mapping[str, str]) -> str:
    """Return the key of the image that a row names, "" if there is none."""
    written = stem_of(row.cells.get(_IMAGE, "").replace("\\", "/"))
    return known.get(written) or known.get(written.rpartition("/")[2], "")


def _findings(rows: Mapping[str, CsvRow]) -> Mapping[str, str]:
    """Return the display names of the columns that hold only 0, 1 or nothing."""
    cells = [row.cells for row in rows.values()]
    columns = {column for one in cells for column in one} - _NAMES.keys()
    return {
        column: display_name(column)
        for column in sorted(columns)
        if {one.get(column, "") for one in cells} - {""} <= _SAID.keys()
        and any(one.get(column) for one in cells)
    }


def _told(
    image: DatasetImage, row: CsvRow, findings: Mapping[str, str]
) -> DatasetImage:
    said = row.cells
    named = patient_key(said.get("patient", ""), image.key)
    alone = image.patient == image.key
    labels = {
        name: _SAID[said[column]]
        for column, name in findings.items()
        if said.get(column) and name not in image.masks
    }
    unknown = image.view is View.UNKNOWN
    return replace(
        image,
        patient=named if alone else image.patient,
        study=named if alone else image.study,
        view=written_view(said.get("view", "")) if unknown else image.view,
        labels={**labels, **image.labels},
    )


def _contradictions(
    image: DatasetImage, row: CsvRow | None, findings: Mapping[str, str]
) -> Iterator[Notice]:
    said = row.cells if row is not None else {}
    view = written_view(said.get("view", ""))
    if View.UNKNOWN not in {view, image.view} and view is not image.view:
        text = f"The table gives another view than its file; {image.view} is used."
        yield Notice("view_disagrees", image.key, text)
    for column, name in findings.items():
        if said.get(column) == "0" and name in image.masks:
            text = (
                f"The table says that {name} is absent, but it has a mask, used here."
            )
            yield Notice("contradiction", image.key, text)


def _unmatched(table: Path, rows: int) -> Iterator[Notice]:
    if rows:
        verb = "names" if rows == 1 else "name"
        text = f"{counted(rows, 'row')} of it {verb} no image of the folder."
        yield Notice("odd_row", table.name, text)
