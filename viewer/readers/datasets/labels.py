"""CheXpert's label tables: a ``Path`` column and one column per finding.

Values: 1.0 positive, 0.0 negative, -1.0 uncertain, empty not mentioned (Irvin et al.
2019). Only 1.0 counts as positive; an uncertain label is neither, and is listed.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from viewer.domain.case import Notice
from viewer.domain.errors import UnreadableInputError
from viewer.domain.escapes import unguarded
from viewer.domain.map_texts import with_texts
from viewer.readers.datasets.chexpert_layout import image_id
from viewer.readers.datasets.findings import display_name
from viewer.readers.files.text_files import check_text

_NOT_FINDINGS = frozenset(
    # "": an index column of pandas; None: where csv keeps cells beyond the header.
    {"Path", "Study", "Sex", "Age", "Frontal/Lateral", "AP/PA", "", None}
)
_VALUES = {1.0: True, 0.0: False}
_UNCERTAIN = -1.0


@dataclass(frozen=True)
class LabelTable:
    """Every image's labels by image id and display name, and irregularities."""

    rows: Mapping[str, Mapping[str, bool]]
    notices: tuple[Notice, ...]


def read_labels(path: Path) -> LabelTable:
    """Read a label table; raises if it has no ``Path`` column."""
    rows: dict[str, Mapping[str, bool]] = {}
    notices: list[Notice] = []
    for number, row in _rows(path):
        key = image_id(PurePosixPath((row["Path"] or "").replace("\\", "/")))
        if key is None:
            notices.append(_odd_path(path, number))
        elif key in rows:
            notices.append(_repeated(path, number, key))
        else:
            rows[key], odd = _labels_of(key, row)
            notices.extend(odd)
    return LabelTable(rows, tuple(notices))


def _rows(path: Path) -> list[tuple[int, dict[str, str | None]]]:
    try:
        check_text(path)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = [(reader.line_num, with_texts(row, unguarded)) for row in reader]
            header = reader.fieldnames or ()
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableInputError(
            f"The label table '{path.name}' cannot be read as comma-separated text.",
            "Save it as CSV in UTF-8.",
        ) from error
    if "Path" not in header:
        raise UnreadableInputError(
            f"The label table '{path.name}' has no column 'Path'.",
            "Use CheXpert's own table, or remove it from the folder.",
        )
    return rows


def _labels_of(
    key: str, row: Mapping[str, str | None]
) -> tuple[Mapping[str, bool], list[Notice]]:
    labels: dict[str, bool] = {}
    notices: list[Notice] = []
    for column, text in row.items():
        if column in _NOT_FINDINGS or not isinstance(text, str) or not text.strip():
            continue
        finding, value = display_name(column), _number(text)
        if value in _VALUES:
            labels[finding] = _VALUES[value]
        elif value == _UNCERTAIN:
            notices.append(_uncertain(key, finding))
        else:
            notices.append(_odd_value(key, finding))
    return labels, notices


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _uncertain(key: str, finding: str) -> Notice:
    text = (
        f"{finding} is marked uncertain (-1) and counts as neither present nor absent."
    )
    return Notice("uncertain_label", key, text)


def _odd_value(key: str, finding: str) -> Notice:
    text = f"The label of {finding} is not 1, 0, -1 or empty, and is not used."
    return Notice("odd_label", key, text)


def _odd_path(path: Path, number: int) -> Notice:
    text = f"The path in line {number} names no patient; the row is not used."
    return Notice("odd_label_row", path.name, text)


def _repeated(path: Path, number: int, key: str) -> Notice:
    text = f"Line {number} of {path.name} labels it again; the first row is used."
    return Notice("repeated_label_row", key, text)
