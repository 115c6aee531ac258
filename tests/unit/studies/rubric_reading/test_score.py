"""Verdicts on outputs, from readers' grades alone."""

import pytest

from viewer.domain.answer import ReportAnswer, Status, Unparsed
from viewer.domain.rubric import Grade, dimensions_of
from viewer.studies.rubric_reading.final import FinalScores, final_scores
from viewer.studies.rubric_reading.params import ContentOrder
from viewer.studies.rubric_reading.score import UNGRADED, score

ANSWER = ReportAnswer("text")


def final(*given: tuple[int, ...]) -> FinalScores:
    """Return the scores of a text that readers graded."""
    grades = (
        Grade(name, "o3", "s1", None, dict(zip(dimensions_of(None), of, strict=True)))
        for name, of in zip("AB", given, strict=False)
    )
    (found,) = final_scores(grades)
    return found


@pytest.mark.statement("E001-13")
def test_that_only_a_content_of_exactly_five_is_correct() -> None:
    whole, half = final((5, 5, 5, 1)), final((5, 5, 5, 5), (5, 4, 5, 5))
    right, wrong = score(ANSWER, whole), score(ANSWER, half)
    assert (right.status, wrong.status) == (
        Status.SCORED_CORRECT,
        Status.SCORED_WRONG,
    )
    assert wrong.number("content") == 4.5
    assert wrong.number("image_style") is None
    lowest = score(ANSWER, half, ContentOrder.MINIMUM_FIRST)
    assert lowest.number("content") == 4.5


def test_that_an_output_is_ungraded_until_somebody_graded_it() -> None:
    found = score(ANSWER)
    assert (found.status, found.reason) == (Status.EXCLUDED, UNGRADED)
    assert (found.answer, found.numbers) == ("1 word, 0 boxes", (("boxes", 0.0),))


def test_that_what_could_not_be_read_keeps_its_reason_though_it_was_graded() -> None:
    found = score(Unparsed(Status.TRUNCATED, "token_limit"), final((5, 5, 5, 5)))
    assert (found.status, found.reason) == (Status.TRUNCATED, "token_limit")
