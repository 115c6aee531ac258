"""Readers' grades of outputs, from a CSV or a JSON file (README of rubric_reading).

CSV in UTF-8, one row for each text that a reader graded and one for each annotated
image: ``reader``, ``model``, ``item``, ``image`` (empty for the text, else 1, 2 …), the
dimensions (those of the text or of the image; the others empty), and optionally
``repeat`` (as ``items.csv`` counts; empty for 0, the first), ``codes`` and ``concerns``
(several separated by ;), ``abstained`` and ``withdrawn`` (yes or no) and
``comment_<dimension>``.

JSON: ``{"grades": [{"reader": …, "model": …, "item": …, "repeat": 0, "image": null,
"scores": {"process": 5, …}, "codes": […], "concerns": […], "comments": {…},
"abstained": true}], "withdrawn": ["reader", …]}``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.domain.rubric import (
    LEVELS,
    NO_GRADES,
    Dimension,
    FailureCode,
    Grade,
    Grades,
    dimensions_of,
    missing_dimensions,
)
from viewer.readers.datasets.csv_tables import CsvRow, header_of, rows_of
from viewer.readers.files.json_files import with_list
from viewer.readers.rubric_text import rubric_below

COLUMNS: Final = ("reader", "model", "item", "image", *Dimension)
"""The columns that a CSV file of grades must have."""
_YES: Final = dict.fromkeys(("yes", "true", "1"), True)
_NO: Final = dict.fromkeys(("no", "false", "0"), False)
_TRUTHS: Final[Mapping[str, bool | None]] = {**_YES, **_NO, "": None}
_COMMENT: Final = "comment_"
"""Before a dimension, the column of a reader's words about it."""
_HOW: Final = "Correct it in the file and import it again."


@dataclass(frozen=True)
class _Entry:
    """A grade as in the file, with every value as text; ``where`` is its location."""

    where: str
    cells: Mapping[str, str]
    codes: Sequence[str]
    concerns: Sequence[str]

    def bad(self, what: str) -> UnreadableInputError:
        """Return the error for an invalid grade."""
        return UnreadableInputError(f"{self.where}, {what}.", _HOW)


FILES: Final = ("grades.csv", "grades.json")
"""What a file of grades is called in a data set's folder."""


def grades_below(root: Path) -> Grades:
    """Return the grades in a data set's folder, none if there is no file.

    They include the rubric's text if it lies beside them. Two files of grades, or a
    broken one, raise.
    """
    rubric = rubric_below(root)
    found = [root / name for name in FILES if (root / name).is_file()]
    if len(found) > 1:
        raise UnreadableInputError(
            f"The folder contains both {FILES[0]} and {FILES[1]}.", "Keep one of them."
        )
    return replace(read_grades(found[0]) if found else NO_GRADES, rubric=rubric)


def read_grades(path: Path) -> Grades:
    """Read a file of grades; JSON by its suffix, else CSV.

    Raises
    ------
    UnreadableInputError
        If the file has another form, a grade lacks a dimension, a score is not 1 to 5,
        a code is unknown, a comment is on a dimension that the output does not have, or
        a reader graded an output twice; the message names the line or entry.
    """
    read = _of_json if path.suffix.lower() == ".json" else _of_csv
    entries, withdrawn = read(path)
    grades: dict[tuple[str, tuple[str, str, int], int | None], Grade] = {}
    for entry in entries:
        grade = _grade(entry)
        key = grade.reader, grade.output, grade.image
        if key in grades:
            raise entry.bad(
                f"'{grade.reader}' grades the same output of '{grade.item}' twice"
            )
        grades[key] = grade
    counted = tuple(g for g in grades.values() if g.reader not in withdrawn)
    return Grades(counted, tuple(sorted(withdrawn)))


def _of_csv(path: Path) -> tuple[list[_Entry], set[str]]:
    rows = list(rows_of(path))
    if not rows:
        raise UnreadableInputError(
            f"The table '{path.name}' has no grade.",
            "Name a table with a header and a row for each graded output.",
        )
    header = header_of(path)
    for column in COLUMNS:
        if column not in header:
            raise UnreadableInputError(
                f"The table '{path.name}' has no column '{column}'.",
                f"Give it the columns {', '.join(COLUMNS)}.",
            )
    entries = [_entry_of_row(path, row) for row in rows]
    withdrawn = {e.cells["reader"] for e in entries if _truth(e, "withdrawn")}
    return entries, withdrawn


def _entry_of_row(path: Path, row: CsvRow) -> _Entry:
    where = f"In line {row.line} of '{path.name}'"
    several = {name: row.cells.get(name, "").split(";") for name in _SEVERAL}
    parts = {name: [p.strip() for p in of if p.strip()] for name, of in several.items()}
    entry = _Entry(where, row.cells, parts["codes"], parts["concerns"])
    if row.overlong:
        raise entry.bad("there are more cells than columns")
    return entry


_SEVERAL: Final = ("codes", "concerns")


def _of_json(path: Path) -> tuple[list[_Entry], set[str]]:
    found, written = with_list(path, "grades")
    entries = [
        _entry_of_json(f"In grade {number} of '{path.name}'", one)
        for number, one in enumerate(written, 1)
    ]
    return entries, {str(name) for name in _list(found, "withdrawn")}


def _entry_of_json(where: str, one: object) -> _Entry:
    if not isinstance(one, dict):
        raise UnreadableInputError(f"{where}, there is no grade.", _HOW)
    scores, comments = one.get("scores"), one.get("comments")
    cells = {
        **{str(k): _plain(v) for k, v in one.items() if k not in _NESTED},
        **{str(k): _plain(v) for k, v in _dict(scores).items()},
        **{f"{_COMMENT}{k}": _plain(v) for k, v in _dict(comments).items()},
    }
    return _Entry(where, cells, _list(one, "codes"), _list(one, "concerns"))


_NESTED: Final = ("scores", "comments", *_SEVERAL)


def _dict(value: object) -> Mapping[object, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object, name: str) -> list[str]:
    found = _dict(value).get(name)
    return [str(one) for one in found] if isinstance(found, list) else []


def _plain(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value).strip()


def _grade(entry: _Entry) -> Grade:
    reader, model, item = (_name(entry, name) for name in COLUMNS[:3])
    image = _image(entry)
    what = f"the text of '{item}'" if image is None else f"image {image} of '{item}'"
    scores = dict(_scores(entry, reader))
    for dimension in missing_dimensions(image, scores):
        raise entry.bad(f"the grade of '{reader}' of {what} has no {dimension}")
    for dimension in set(scores).difference(dimensions_of(image)):
        raise entry.bad(f"{dimension} is given for {what}, which has none")
    return Grade(
        reader,
        model,
        item,
        image,
        scores,
        tuple(_codes(entry)),
        tuple(entry.concerns),
        dict(_comments(entry, image)),
        _truth(entry, "abstained"),
        _repeat(entry),
    )


def _name(entry: _Entry, name: str) -> str:
    value = entry.cells.get(name, "")
    if not value:
        raise entry.bad(f"the grade names no {name}")
    return value


def _image(entry: _Entry) -> int | None:
    return _whole(entry, "image", "the number of an image from 1", lambda n: n >= 1)


def _repeat(entry: _Entry) -> int:
    words = "the number of a repeat, 0 for the first as in items.csv"
    return _whole(entry, "repeat", words, lambda n: n >= 0) or 0


def _scores(entry: _Entry, reader: str) -> Iterator[tuple[Dimension, int]]:
    for dimension in Dimension:
        words = f"a score from 1 to 5 by '{reader}'"
        score = _whole(entry, dimension, words, lambda n: n in LEVELS)
        if score is not None:
            yield dimension, score


def _whole(
    entry: _Entry, name: str, words: str, fits: Callable[[int], bool]
) -> int | None:
    """Return an integer, None if the cell is empty."""
    written = entry.cells.get(name, "")
    if not written:
        return None
    if not written.isascii() or not written.isdecimal() or not fits(int(written)):
        raise entry.bad(f"'{written}' as {name} is not {words}")
    return int(written)


def _codes(entry: _Entry) -> Iterator[FailureCode]:
    for code in entry.codes:
        if code not in set(FailureCode):
            raise entry.bad(
                f"'{code}' is not one of the codes {', '.join(FailureCode)}"
            )
        yield FailureCode(code)


def _comments(entry: _Entry, image: int | None) -> Iterator[tuple[Dimension, str]]:
    graded = {f"{_COMMENT}{dimension}": dimension for dimension in dimensions_of(image)}
    for name, words in entry.cells.items():
        if words and name.startswith(_COMMENT):
            if name not in graded:
                raise entry.bad(f"{name} is about a dimension that is not graded there")
            yield graded[name], words


def _truth(entry: _Entry, name: str) -> bool | None:
    written = entry.cells.get(name, "").casefold()
    if written not in _TRUTHS:
        raise entry.bad(f"'{written}' as {name} is not yes or no")
    return _TRUTHS[written]
