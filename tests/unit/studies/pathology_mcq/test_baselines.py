from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from tests.unit.studies.pathology_mcq.small import item
from viewer.domain.choice import letter_of
from viewer.results.evaluate import evaluate
from viewer.results.spec import TRIALS
from viewer.studies.pathology_mcq.baselines import frequent_option, random_rate
from viewer.studies.pathology_mcq.frames import asked_frame
from viewer.studies.pathology_mcq.params import FrequentFrom, read_params
from viewer.studies.pathology_mcq.questions import Mcq, mcq_of
from viewer.studies.pathology_mcq.scopes import OVERALL
from viewer.studies.pathology_mcq.tables import baselines

VAL, SAME = FrequentFrom.VAL, FrequentFrom.SAME_SPLIT
sizes = st.lists(st.integers(2, 10), min_size=1, max_size=40)


def questions(correct: list[int], options: int = 10, split: str = "val") -> list[Mcq]:
    return [mcq_of(item(f"P-{split}-{i}", c, options)) for i, c in enumerate(correct)]


def told(
    mcqs: list[Mcq], validation: list[Mcq], source: FrequentFrom
) -> tuple[object, ...]:
    """Return chance, the rate of the frequent letter and the letter, over the test."""
    params = read_params("pathmmu2024", {"frequent_from": source.value})
    spec = baselines(params, (*mcqs, *validation))
    rows = evaluate(spec, {TRIALS: asked_frame(mcqs)}).rows
    overall = [row[2:] for row in rows if row[1] == OVERALL]
    return overall[0] if overall else ()


@pytest.mark.statement("E003-03")
@given(sizes)
def test_that_chance_is_the_exact_mean_of_one_over_the_options(
    options: list[int],
) -> None:
    mcqs = [mcq_of(item(f"P-val-{i}", 0, k)) for i, k in enumerate(options)]
    exact = sum((Fraction(1, k) for k in options), Fraction(0)) / len(options)
    found = random_rate(mcqs)
    assert found is not None
    assert abs(found - exact) <= 1e-15


@pytest.mark.statement("E003-03")
@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_that_the_frequent_letter_is_that_of_scikit_learns_dummy(
    correct: list[int],
) -> None:
    dummy = DummyClassifier(strategy="most_frequent")
    blank = np.zeros((len(correct), 1))
    dummy.fit(blank, correct)
    _, rate, letter = told(questions(correct), [], SAME)
    assert letter == letter_of(int(dummy.predict(blank[:1])[0]))
    assert rate == pytest.approx(dummy.score(blank, correct), abs=1e-12)


@pytest.mark.statement("E003-03")
def test_that_the_letter_comes_from_the_validation_split_unless_said_otherwise() -> (
    None
):
    test = questions([0, 0, 0, 1], split="test")
    validation = questions([1, 1, 0])
    assert told(test, validation, VAL)[1:] == (1 / 4, "B")
    assert told(test, validation, SAME)[1:] == (3 / 4, "A")


@pytest.mark.statement("E003-03")
def test_that_without_items_or_validation_there_is_no_rate() -> None:
    assert random_rate([]) is None
    assert frequent_option([]) is None
    assert told(questions([0], split="test"), [], VAL)[1:] == (None, "")
    assert told([], questions([0]), VAL) == ()
    assert frequent_option(questions([2, 1, 2, 1])) == 1
