"""The data set's explanation of a question's right answer."""

from dataclasses import replace

import pytest

from tests.unit.studies.pathology_mcq.small import item
from viewer.domain.item import Item
from viewer.studies.pathology_mcq.arms import BUILDING, PLAIN
from viewer.studies.pathology_mcq.params import Arm
from viewer.studies.pathology_mcq.questions import asked_of
from viewer.studies.pathology_mcq.words import explained

WHY = "Glands are lined by two layers."


def explaining(**reasons: object) -> Item:
    one = item("PubMed-test-1")
    return replace(one, reference={**one.reference, "option": 1, **reasons})


@pytest.mark.statement("E003-12")
def test_that_the_right_option_is_explained_however_the_question_was_asked() -> None:
    one = explaining(explanation=f"  {WHY}\n")
    right = asked_of(one).options[1]
    for condition in (PLAIN, Arm.TEXT_ONLY, Arm.NOISE, "jpeg-3"):
        assert explained(one, condition) == ((f"(B) {right}: right", WHY),)
    assert explained(explaining(explanation=""), PLAIN) == ()


@pytest.mark.statement("E003-12")
def test_that_each_option_has_its_own_explanation_once() -> None:
    options = asked_of(explaining()).options
    reasons = [f"reason {i}" for i in range(len(options))]
    found = explained(explaining(explanation="reason 1", explanations=reasons), PLAIN)
    assert found[0] == (f"(B) {options[1]}: right", "reason 1")
    assert found[1] == (f"(A) {options[0]}: wrong", "reason 0")
    assert len(found) == len(options)


@pytest.mark.statement("E003-12")
def test_that_what_explains_another_question_is_not_shown() -> None:
    assert explained(explaining(explanation=WHY), Arm.MISMATCH) == ()
    assert explained(Item("made", "p", "tile", ("a",), {}, {}), BUILDING.name) == ()
