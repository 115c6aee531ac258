"""Which grades of a file count in a run, and a sentence for each that does not.

A file may grade what another run delivered. A grade counts for the one output that it
was given for: a model's answer to a task in one repeat, and never for another repeat.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from viewer.domain.answer import ReportAnswer
from viewer.domain.counting import counted
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Grade, Grades
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.plan import Asked

_NAMED = 5
"""Of the names that a sentence has; of more it says how many."""


class Unused(Enum):
    """Why a grade counts nowhere, as a sentence about it ends."""

    MODEL = "of a model that this run did not ask"
    TASK = "of a task that the data set does not have"
    OUTPUT = "of an output that this run does not have"
    IMAGE = "of an image that the model was not shown"


@dataclass(frozen=True)
class Used:
    """The grades that count, and sentences about those that do not."""

    grades: Grades
    sentences: tuple[str, ...]


def used_grades(
    grades: Grades,
    results: Sequence[TrialResult],
    tasks: Iterable[Asked],
    params: Params,
) -> Used:
    """Return the grades of outputs that a run has; ``tasks`` are the data set's."""
    asked = {one.name: one for one in tasks}
    there = {_output(r) for r in results if isinstance(r.said, ReportAnswer)}
    models = {result.model for result in results}
    why = [_why(grade, models, there, asked, params) for grade in grades.grades]
    pairs = tuple(zip(grades.grades, why, strict=True))
    kept = tuple(grade for grade, reason in pairs if reason is None)
    sentences = (
        sentence
        for reason in Unused
        for sentence in _sentence(reason, [g for g, r in pairs if r is reason])
    )
    return Used(replace(grades, grades=kept), tuple(sentences))


def ungraded(results: Sequence[TrialResult], grades: Grades) -> str:
    """Return a sentence about the delivered outputs without a grade, "" for none."""
    outputs = [_output(r) for r in results if isinstance(r.said, ReportAnswer)]
    graded = {grade.output for grade in grades.grades if grade.image is None}
    n = sum(output not in graded for output in outputs)
    if not n:
        return ""
    all_of = counted(len(outputs), "delivered output")
    again = any(repeat for _, _, repeat in outputs)
    never = "; a grade of one repeat counts for no other" if again else ""
    return f"{n} of {all_of} without a grade: excluded as ungraded{never}."


def _output(result: TrialResult) -> tuple[str, str, int]:
    return result.model, result.item, result.repeat


def _why(
    grade: Grade,
    models: set[str],
    there: set[tuple[str, str, int]],
    asked: Mapping[str, Asked],
    params: Params,
) -> Unused | None:
    if grade.model not in models:
        return Unused.MODEL
    if asked and grade.item not in asked:
        return Unused.TASK
    if grade.output not in there:
        return Unused.OUTPUT
    if asked and grade.image is not None:
        shown = asked[grade.item].shown_to(grade.model, params).images
        return Unused.IMAGE if grade.image > len(shown) else None
    return None


def _sentence(reason: Unused, grades: Sequence[Grade]) -> Iterator[str]:
    """Yield the sentence about the grades of a reason; none where there are none."""
    if grades:
        names = tuple(dict.fromkeys(_name(reason, grade) for grade in grades))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        listed = f"{', '.join(names[:_NAMED])}{more}"
        yield f"{counted(len(grades), 'grade')} {reason.value}, not used: {listed}."


def _name(reason: Unused, grade: Grade) -> str:
    """Return what of a grade is unknown."""
    if reason is Unused.MODEL:
        return f"'{grade.model}'"
    if reason is Unused.TASK:
        return f"'{grade.item}'"
    repeat = f", repeat {grade.repeat}" if grade.repeat else ""
    image = f", image {grade.image}" if reason is Unused.IMAGE else ""
    return f"'{grade.item}' by '{grade.model}'{repeat}{image}"
