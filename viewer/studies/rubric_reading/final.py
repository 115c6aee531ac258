"""The final scores of an output, of one reader or of several (E001-11, -12)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.rubric import CONTENT, Dimension, Grade, Grades, dimensions_of
from viewer.studies.rubric_reading.params import ContentOrder

Output = tuple[str, str, int, int | None]
"""A model, an item, a repeat, and an image of the answer from 1, None for the text."""


class Measure(StrEnum):
    """What tables are about: the dimensions, and the Content of a text."""

    CONTENT = "content"
    LANGUAGE = "language"
    PROCESS = "process"
    EXECUTION = "execution"
    SYNTHESIS = "synthesis"
    IMAGE_CONTENT = "image_content"
    IMAGE_STYLE = "image_style"

    @property
    def words(self) -> str:
        """Its display name."""
        return self.value.replace("_", " ").title()


TESTED: Final = tuple(Measure)[:5]
"""The declared family of five tests (Banerjee 2025, 3.4)."""
OF_IMAGES: Final = tuple(Measure)[5:]


@dataclass(frozen=True)
class FinalScores:
    """An output's scores, averaged over its readers.

    ``content`` maps both orders of averaging to a text's Content; it is empty for an
    image.
    """

    model: str
    item: str
    repeat: int
    image: int | None
    scores: Mapping[Dimension, float]
    content: Mapping[ContentOrder, float]

    @property
    def output(self) -> tuple[str, str, int]:
        """The model, item and repeat that it is of."""
        return self.model, self.item, self.repeat

    def value(self, measure: Measure, order: ContentOrder) -> float | None:
        """Return a measure, None if an output of this kind has none."""
        if measure is Measure.CONTENT:
            return self.content.get(order)
        return self.scores.get(Dimension(measure))


def final_scores(grades: Iterable[Grade]) -> tuple[FinalScores, ...]:
    """Return the scores of every output that somebody graded, in the order met."""
    of: dict[Output, list[Grade]] = defaultdict(list)
    for grade in grades:
        of[_key(grade)].append(grade)
    return tuple(_final(given) for given in of.values())


def main_and_second(grades: Grades, main: str = "") -> tuple[str, str | None]:
    """Return the main reader, and the other one with most grades; None without any.

    ``main`` is a reader's name, "" for the one with most grades; raises for a reader
    without grades.
    """
    readers = list(grades.readers)
    if not readers:
        raise WrongUseError("Nobody has graded anything.", "Import a file of grades.")
    if main and main not in readers:
        raise WrongUseError(
            f"The main reader '{main}' has graded nothing.",
            f"Name one of {', '.join(readers)}, or none.",
        )
    first = main or readers[0]
    readers.remove(first)
    return first, readers[0] if readers else None


def pairs(grades: Grades, first: str, second: str) -> tuple[tuple[Grade, Grade], ...]:
    """Return the grades of outputs that both readers graded, in the first's order."""
    other = {_key(g): g for g in grades.grades if g.reader == second}
    return tuple(
        (grade, other[_key(grade)])
        for grade in grades.grades
        if grade.reader == first and _key(grade) in other
    )


def _key(grade: Grade) -> Output:
    return *grade.output, grade.image


def _final(given: Sequence[Grade]) -> FinalScores:
    """Return the scores of one output from all its grades."""
    own = _key(given[0])
    scores = {
        dimension: _mean([grade.scores[dimension] for grade in given])
        for dimension in dimensions_of(given[0].image)
    }
    if given[0].image is not None:
        return FinalScores(*own, scores, {})
    content = {
        ContentOrder.AVERAGE_FIRST: min(scores[dimension] for dimension in CONTENT),
        ContentOrder.MINIMUM_FIRST: _mean([_least(grade) for grade in given]),
    }
    return FinalScores(*own, scores, content)


def _least(grade: Grade) -> int:
    return min(grade.scores[dimension] for dimension in CONTENT)


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
