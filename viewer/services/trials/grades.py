"""Readers' grades of outputs: of a file beside the data set, and of sessions here."""

from dataclasses import replace
from pathlib import Path

from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.report_study import is_study
from viewer.domain.rubric import NO_GRADES, Grade, Grades, grades_in

Stamp = tuple[tuple[str, int, int], ...]


def grades_of(dataset: Dataset) -> Grades:
    """Return the readers' grades; for an unreadable file only its problem."""
    if not any(is_study(item) for item in dataset.items):
        return NO_GRADES
    from viewer.readers.grades import grades_below  # with tables, for a study's reports

    here = tuple(grade for item in dataset.items for grade in grades_in(item))
    try:
        filed = grades_below(dataset.root)
    except UnreadableInputError as error:
        return Grades(here, problem=error.what)
    return _together(filed, here)


def _together(filed: Grades, here: tuple[Grade, ...]) -> Grades:
    """Return the grades of a file and of sessions; what was graded twice is left out.

    Which of the two counts cannot be known: the problem names the first.
    """
    known = {(one.reader, one.output, one.image) for one in filed.grades}
    twice = [one for one in here if (one.reader, one.output, one.image) in known]
    added = [one for one in here if one not in twice]
    problem = filed.problem
    if twice and not problem:
        problem = (
            f"'{twice[0].reader}' graded '{twice[0].item}' in a session and in a file; "
            "the file counts."
        )
    together = sorted((*filed.grades, *added), key=_order)
    return replace(filed, grades=tuple(together), problem=problem)


def _order(grade: Grade) -> tuple[object, ...]:
    """Return what grades are in order of, whoever brought them."""
    return grade.reader, grade.item, grade.model, grade.repeat, grade.image or 0


def stamp_below(root: Path) -> Stamp:
    """Return a stamp that changes with the grades in a data set's folder.

    Name, time in nanoseconds and size in bytes of each file.
    """
    from viewer.readers.grades import FILES

    files = [root / name for name in FILES]
    known = [(path.name, path.stat()) for path in files if path.is_file()]
    return tuple((name, told.st_mtime_ns, told.st_size) for name, told in known)
