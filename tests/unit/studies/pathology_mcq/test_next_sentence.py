import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.studies.pathology_mcq.small import item
from viewer.domain.answer import ChoiceAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.domain.interpretability import Measured, Spelled
from viewer.domain.run import Condition, Step, Trial
from viewer.studies.pathology_mcq.params import Params
from viewer.studies.pathology_mcq.study import STUDY, likeliest, next_sentence
from viewer.studies.steps import StepReply, Turn


@pytest.mark.statement("E003-10")
@given(st.lists(st.floats(0, 1), min_size=2, max_size=10, unique=True))
def test_that_the_likeliest_next_sentence_is_chosen(chances: list[float]) -> None:
    assert likeliest(chances) == ChoiceAnswer(int(np.argmax(chances)), "next_sentence")


@pytest.mark.statement("E003-10")
def test_that_neither_a_tie_nor_a_number_that_is_none_is_guessed_at() -> None:
    assert likeliest([0.5, 0.5, 0.1]) == Unparsed(Status.AMBIGUOUS, "equally_likely")
    for chances in ([], [0.5, float("nan")]):
        assert likeliest(chances) == Unparsed(Status.UNPARSED, "no_probability")


def told(*chances: float, first: str = "text 0") -> ModelReply:
    """Return the reply of a model that tells how likely each option follows."""
    texts = (first, *(f"text {i}" for i in range(1, len(chances))))
    pairs = zip(texts, chances, strict=True)
    options = tuple((Spelled(text, 2, chance),) for text, chance in pairs)
    return ModelReply("A", measured=Measured(options))


@pytest.mark.statement("E003-10")
def test_that_the_study_reads_the_likeliest_option_off_such_a_reply() -> None:
    one = item("PubMed-test-1")
    trial = Trial(one.key, "", "", "test", "PubMed", Condition("text_only"), 0, "m")
    read = [
        STUDY.parse(Turn(trial, one, (StepReply(Step("answer"), reply),)), Params())
        for reply in (
            told(-3.0, -0.5, -2.0, -9.0),
            told(-0.5, -0.5, -2.0, -9.0),
            ModelReply("(C)"),
        )
    ]
    assert read == [
        ChoiceAnswer(1, "next_sentence"),
        Unparsed(Status.AMBIGUOUS, "equally_likely"),
        ChoiceAnswer(2, "letter"),
    ]
    options = [f"text {i}" for i in range(4)]
    assert next_sentence(told(-1.0, -2.0, -3.0, -4.0, first="else"), options) is None
    assert next_sentence(ModelReply("A"), options) is None
