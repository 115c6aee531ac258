"""Small tables beside a data set's own: a CSV, or a list of JSON objects."""

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.escapes import unguarded
from viewer.domain.map_texts import with_texts
from viewer.readers.files.text_files import whole_text

Row = Mapping[str, str]


def rows_beside(
    folder: Path, names: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[str, int, Row]]:
    """Yield every row of the existing files: file name, row number from 1, cells.

    Parameters
    ----------
    folder : Path
        The folder of the data set's table.
    names : sequence of str
        File names, ``.csv`` or ``.json``; any of them may be missing.
    columns : sequence of str
        Required columns; their cells are stripped, other columns dropped.

    Raises
    ------
    UnreadableInputError
        A file exists but has another form.
    """
    for name in names:
        path = folder / name
        if path.is_file():
            rows = _of_csv(path) if path.suffix == ".csv" else _of_json(path, columns)
            for place, row in enumerate(rows, start=1):
                yield name, place, _checked(row, name, columns)


def unrelated(names: Sequence[str], keys: Collection[str]) -> bool:
    """Tell whether there are rows and none of them names an item of ``keys``.

    Such a table is about other questions on the same images.
    """
    return bool(names) and not any(name in keys for name in names)


def about_others(rows: int) -> str:
    """Return the notice for a table about other questions."""
    what = "is" if rows == 1 else "are"
    return f"Its {counted(rows, 'row')} {what} about other questions; none is used."


def _of_csv(path: Path) -> Iterable[Mapping[str, object]]:
    rows = csv.DictReader(io.StringIO(whole_text(path)))
    return (with_texts(row, unguarded) for row in rows)


def _of_json(path: Path, columns: Sequence[str]) -> Iterable[Mapping[str, object]]:
    try:
        document = read_json(whole_text(path))
    except ValueError as error:
        raise UnreadableInputError(
            f"{path.name} is not JSON.", "Write a list of objects."
        ) from error
    if not isinstance(document, list) or not all(isinstance(o, dict) for o in document):
        raise _odd(path.name, columns)
    return document


def _checked(row: Mapping[str, object], name: str, columns: Sequence[str]) -> Row:
    if any(row.get(column) is None for column in columns):
        raise _odd(name, columns)
    return {column: str(row[column]).strip() for column in columns}


def _odd(name: str, columns: Sequence[str]) -> UnreadableInputError:
    return UnreadableInputError(
        f"{name} lacks one of {', '.join(columns)}.",
        "Give every row all of these.",
    )
