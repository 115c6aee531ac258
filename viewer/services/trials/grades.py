"""Readers' grades of outputs, stored with a data set and changeable at any time."""

from pathlib import Path

from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.report_study import is_study
from viewer.domain.rubric import NO_GRADES, Grades
from viewer.readers.grades import FILES, grades_below

Stamp = tuple[tuple[str, int, int], ...]


def grades_of(dataset: Dataset) -> Grades:
    """Return the readers' grades; for an unreadable file only its problem."""
    if not any(is_study(item) for item in dataset.items):
        return NO_GRADES
    try:
        return grades_below(dataset.root)
    except UnreadableInputError as error:
        return Grades((), problem=error.what)


def stamp_below(root: Path) -> Stamp:
    """Return a stamp that changes with the grades in a data set's folder.

    Name, time in nanoseconds and size in bytes of each file.
    """
    files = [root / name for name in FILES]
    known = [(path.name, path.stat()) for path in files if path.is_file()]
    return tuple((name, told.st_mtime_ns, told.st_size) for name, told in known)
