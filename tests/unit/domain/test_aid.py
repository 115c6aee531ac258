from dataclasses import replace

import pytest

from viewer.domain.aid import (
    Aid,
    Arm,
    advised_values,
    aided_form,
    asked_in,
    first_values,
    latest_values,
    prefilled,
    stages_alone,
)
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import (
    Form,
    LikertQuestion,
    Part,
    RankedTextQuestion,
    RevealedChoiceQuestion,
)
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.form_json import form_as_json, form_of_json
from viewer.domain.form_values import Values
from viewer.domain.grid import Cell

FIRST, SECOND = CellAnswer(Cell(0, 0)), CellAnswer(Cell(1, 1))
AFTER = Aid(1, "m", Arm.AFTER)
BOTH: Values = {PLACE: FIRST, CONFIDENCE: 2, "place_again": SECOND}


def test_that_questions_are_asked_again_once_the_first_answer_is_locked() -> None:
    form = aided_form(READER_TASK, AFTER)
    assert [[q.id for q in stage] for stage in form.stages] == [
        ["place", "confidence", "problem"],
        ["place_again", "confidence_again"],
    ]
    assert Part.ANSWER in form.shown
    assert form_of_json(form_as_json(form)) == form


def test_that_from_the_start_the_questions_are_asked_once() -> None:
    form = aided_form(READER_TASK, Aid(1, "m", Arm.FROM_START))
    assert form.questions == READER_TASK.questions
    assert Part.ANSWER in form.shown
    assert form.name != READER_TASK.name


def test_that_the_second_answer_counts_and_the_first_is_kept() -> None:
    assert first_values(BOTH) == {PLACE: FIRST, CONFIDENCE: 2}
    assert latest_values(BOTH) == {PLACE: SECOND, CONFIDENCE: 2}
    assert advised_values({PLACE: SECOND}, ["place_again"]) == {"place_again": SECOND}
    assert advised_values({PLACE: SECOND}, [PLACE]) == {PLACE: SECOND}


def test_that_the_first_answer_is_filled_in_where_it_is_asked_again() -> None:
    first: Values = {PLACE: FIRST, CONFIDENCE: 2}
    assert prefilled(first, ["place_again", "confidence_again"]) == {
        **first,
        "place_again": FIRST,
        "confidence_again": 2,
    }
    assert prefilled(BOTH, ["place_again"])["place_again"] == SECOND
    assert prefilled(first, [PLACE, "choice_again"]) == first


def test_that_only_what_is_advised_is_asked_again_after_every_other_stage() -> None:
    form = Form(
        "f",
        "1",
        "F",
        (
            RankedTextQuestion("list", "List?"),
            RevealedChoiceQuestion("choice", "Which?"),
            LikertQuestion("sure", "Sure?", ("no", "yes")),
        ),
    )
    aided = aided_form(form, AFTER, ["choice"])
    assert [[q.id for q in stage] for stage in aided.stages] == [
        ["list"],
        ["choice", "sure"],
        ["choice_again"],
    ]
    assert stages_alone(aided) == 2
    assert asked_in(aided, (), Arm.FROM_START) == ("list", "choice", "sure")
    assert asked_in(aided, ("choice",), Arm.AFTER) == ("choice", "choice_again")


@pytest.mark.parametrize("arm", Arm)
def test_that_readers_are_told_that_answers_may_be_wrong_and_agree(arm: Arm) -> None:
    honest = aided_form(READER_TASK, Aid(1, "m", arm))
    assert honest.briefing.endswith("The model's answers may be wrong.")
    assert not honest.consent
    made_wrong = aided_form(READER_TASK, Aid(1, "m", arm, 0.1))
    assert "wrong on purpose" in made_wrong.briefing
    assert "wrong on purpose" in made_wrong.consent
    briefed = aided_form(replace(READER_TASK, briefing="Read this."), AFTER)
    assert briefed.briefing.startswith("Read this.\n\n")


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_that_an_impossible_share_is_refused(share: float) -> None:
    assert Aid(1, "m", Arm.AFTER, 1.0).wrong == 1
    with pytest.raises(WrongUseError, match="Choose 0 to 1"):
        Aid(1, "m", Arm.AFTER, share)
