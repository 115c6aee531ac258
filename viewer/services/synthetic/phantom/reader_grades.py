"""Grades of two readers with known means, shares and agreements.

Output i has scores that repeat every ten outputs, so that every table over a multiple
of ten outputs has a closed form. The grades are invented to test the arithmetic.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from viewer.domain.rubric import Dimension, FailureCode, Grade

FIRST, SECOND = "Reader A", "Reader B"
KNOWING: Final = "knows"
"""The model that is right about everything, and is graded so."""
BOXING, PLAIN = "draws", "writes"
"""The model that draws boxes, and the one that is not asked to."""
MODELS: Final = (KNOWING, BOXING, PLAIN)
COMMENT: Final = "One sign is described on the wrong side."
"""The comment on each text whose Execution is 2."""
_BEST: Final = 5
PERIOD: Final = 10
"""After as many outputs everything repeats."""
_CROSSED: Final = 2
"""Of ten outputs the one on which readers differ in what is worst."""
_CUT: Final = 4
"""Of five outputs of the plain model this one was cut short."""


@dataclass(frozen=True, slots=True)
class Output:
    """An output: how many images it marks, and whether it is cut off or abstains."""

    images: int
    cut: bool = False
    abstains: bool = False


def output_of(model: str, i: int, *, answerable: bool = True) -> Output:
    """Return a model's output number ``i``, from 0.

    The plain model never abstains if a task is unanswerable; the others do.
    """
    if model == PLAIN:
        return Output(0, cut=i % 5 == _CUT)
    if not answerable:
        return Output(0, abstains=True)
    if model == KNOWING:
        return Output(1)
    return Output(2 if i % 5 == 0 else int(i % 5 < 3))


def grades_of(item: str, i: int, *, answerable: bool = True) -> Iterator[Grade]:
    """Yield every grade of output ``i`` of each model, called ``item``."""
    yield from _knowing(item, i, output_of(KNOWING, i, answerable=answerable))
    yield from _boxing(item, i, output_of(BOXING, i, answerable=answerable))
    if not output_of(PLAIN, i).cut:
        scores = (4, 1 + (i + 1) % 5, 3 + i % 2, 5)
        yield _text(FIRST, PLAIN, item, scores)
        if i % 2 == 0:
            yield _text(SECOND, PLAIN, item, scores)


def _knowing(item: str, i: int, output: Output) -> Iterator[Grade]:
    best = (_BEST,) * 4
    for reader in (FIRST, SECOND)[: 2 - i % 2]:
        yield _text(reader, KNOWING, item, best, abstained=output.abstains)
        for number in range(1, output.images + 1):
            yield _image(reader, KNOWING, item, number, (_BEST, _BEST))


def _boxing(item: str, i: int, output: Output) -> Iterator[Grade]:
    scores, gone = (5 - i % 2, 1 + i % 5, 4, 4 + i % 2), output.abstains
    yield _text(FIRST, BOXING, item, scores, abstained=gone)
    both = i % 2 == 0
    if both:
        process, execution, synthesis, language = scores
        other = (process, min(5, execution + 1), synthesis, language - (i % 5 == 0))
        if i % PERIOD == _CROSSED:
            other = (2, 5, synthesis, language)
        yield _text(SECOND, BOXING, item, other, abstained=gone)
    for number in range(1, output.images + 1):
        content, style = 1 + 2 * (i % 3), 5 - number + 1
        yield _image(FIRST, BOXING, item, number, (content, style))
        if both:
            second = (max(1, content - 1), style)
            yield _image(SECOND, BOXING, item, number, second)


def _text(
    reader: str,
    model: str,
    item: str,
    scores: tuple[int, ...],
    *,
    abstained: bool = False,
) -> Grade:
    of = dict(zip(tuple(Dimension)[:4], scores, strict=True))
    wrong = of[Dimension.EXECUTION] == 1 and reader == FIRST
    codes = (FailureCode.HALLUCINATED_CHECKLIST,) if wrong else ()
    concerns = ("Signs are claimed that are not there.",) if wrong else ()
    comments = {Dimension.EXECUTION: COMMENT} if of[Dimension.EXECUTION] == 2 else {}
    return Grade(reader, model, item, None, of, codes, concerns, comments, abstained)


def _image(
    reader: str, model: str, item: str, number: int, scores: tuple[int, int]
) -> Grade:
    content, style = scores
    of = {Dimension.IMAGE_CONTENT: content, Dimension.IMAGE_STYLE: style}
    codes = (FailureCode.BOX_TOO_LARGE,) if content == 1 else ()
    return Grade(reader, model, item, number, of, codes)
