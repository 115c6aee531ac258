import pytest

from viewer.domain.aid import (
    Aid,
    Arm,
    advised,
    aided_form,
    first_values,
    latest_values,
)
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Part
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.form_json import form_as_json, form_of_json
from viewer.domain.form_values import Values
from viewer.domain.grid import Cell

FIRST, SECOND = CellAnswer(Cell(0, 0)), CellAnswer(Cell(1, 1))
BOTH: Values = {PLACE: FIRST, CONFIDENCE: 2, "place_again": SECOND}


def test_that_questions_are_asked_again_once_the_first_answer_is_locked() -> None:
    form = aided_form(READER_TASK, Arm.AFTER)
    assert [[q.id for q in stage] for stage in form.stages] == [
        ["place", "confidence", "problem"],
        ["place_again", "confidence_again"],
    ]
    assert Part.ANSWER in form.shown
    assert form_of_json(form_as_json(form)) == form


def test_that_from_the_start_the_questions_are_asked_once() -> None:
    form = aided_form(READER_TASK, Arm.FROM_START)
    assert form.questions == READER_TASK.questions
    assert Part.ANSWER in form.shown
    assert form.name != READER_TASK.name


def test_that_the_second_answer_counts_and_the_first_is_kept() -> None:
    assert first_values(BOTH) == {PLACE: FIRST, CONFIDENCE: 2}
    assert latest_values(BOTH) == {PLACE: SECOND, CONFIDENCE: 2}
    assert advised(Arm.AFTER, {PLACE: SECOND}) == {"place_again": SECOND}
    assert advised(Arm.FROM_START, {PLACE: SECOND}) == {PLACE: SECOND}


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_that_an_impossible_share_is_refused(share: float) -> None:
    assert Aid(1, "m", Arm.AFTER, 1.0).wrong == 1
    with pytest.raises(WrongUseError, match="Choose 0 to 1"):
        Aid(1, "m", Arm.AFTER, share)
