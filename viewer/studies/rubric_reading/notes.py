"""What is to be said of a run's grades: why tables of them are missing or not whole."""

from collections.abc import Iterator, Sequence

from viewer.domain.report import Section, Table
from viewer.studies.protocol import ReportContext
from viewer.studies.rubric_reading.graded import Graded

Note = tuple[str, str]
"""What a sentence is about, and the sentence."""


def notes(
    context: ReportContext, given: Graded | None, sentences: Sequence[str]
) -> tuple[Note, ...]:
    """Return every note; ``sentences`` are those about grades that do not count."""
    return (
        *_whole(context, given),
        *(("Grades", sentence) for sentence in sentences if sentence),
        *(
            ("Withdrawn", f"{reader} has withdrawn; none of the grades is used.")
            for reader in context.grades.withdrawn
        ),
    )


def note_sections(lines: Sequence[Note]) -> tuple[Section, ...]:
    """Return the section that has the notes, none without any."""
    table = Table("notes", ("About", "What"), tuple(lines))
    text = "Read from the data set's folder."
    return (Section("Grades", text, table),) if lines else ()


def _whole(context: ReportContext, given: Graded | None) -> Iterator[Note]:
    if context.grades_problem:
        yield "Grades", context.grades_problem
    elif given is None:
        yield "Grades", "No reader has graded an output of this run's models."
    elif given.second is None:
        alone = f"{given.main} graded alone: there is no agreement to tell."
        yield "Readers", alone
