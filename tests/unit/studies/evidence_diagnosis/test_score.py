import pytest

from tests.helpers.evidence_cases import ENGLISH
from viewer.domain.answer import ChoiceAnswer, RankedAnswer, Status, Unparsed
from viewer.studies.evidence_diagnosis.parse import Judged
from viewer.studies.evidence_diagnosis.score import (
    first_match,
    not_judged,
    score_choice,
    score_ranked,
    with_numbers,
)

ORDER = (2, 0, 3, 1)
DDX = RankedAnswer(("Tuberculosis", "SARCOIDOSIS!", "Lymphoma"))


@pytest.mark.statement("E004-07")
def test_that_the_right_option_is_right_wherever_it_stands() -> None:
    right = score_choice(ChoiceAnswer(0), ENGLISH, ORDER)
    assert (right.status, right.answer) == (Status.SCORED_CORRECT, "B. Sarcoidosis")
    assert right.number("gold_place") == 1.0
    wrong = score_choice(ChoiceAnswer(1), ENGLISH, ORDER)
    assert (wrong.status, wrong.answer) == (Status.SCORED_WRONG, "D. Tuberculosis")
    none = score_choice(Unparsed(Status.AMBIGUOUS, "several"), ENGLISH, ORDER)
    assert (none.status, none.reason) == (Status.AMBIGUOUS, "several")
    assert none.number("gold_place") == 1.0


@pytest.mark.statement("E004-06")
@pytest.mark.parametrize(
    ("score", "status"),
    [
        (5, Status.SCORED_CORRECT),
        (4, Status.SCORED_CORRECT),
        (3, Status.SCORED_WRONG),
        (0, Status.SCORED_WRONG),
    ],
)
def test_that_a_differential_holds_the_diagnosis_from_four_on(
    score: int, status: Status
) -> None:
    found = score_ranked(DDX, Judged(score, "Why."), "Sarcoidosis", 4)
    assert found.status is status
    assert (found.number("judge"), found.number("first_match")) == (score, 2.0)
    assert found.answer == "Tuberculosis; SARCOIDOSIS!; Lymphoma"


@pytest.mark.statement("E004-06")
def test_that_a_score_outside_the_rubric_is_kept_flagged_and_below_four() -> None:
    found = score_ranked(DDX, Judged(1, "Why.", off_rubric=True), "Asthma", 4)
    assert (found.status, found.reason) == (Status.SCORED_WRONG, "off_rubric")
    assert (found.number("judge"), found.number("off_rubric")) == (1.0, 1.0)
    assert found.number("first_match") is None


@pytest.mark.statement("E004-09")
def test_that_what_the_judge_did_not_score_is_not_dropped() -> None:
    unparsed = Unparsed(Status.UNPARSED, "judge_unparsed")
    found = score_ranked(DDX, unparsed, "Sarcoidosis", 4)
    assert (found.status, found.reason) == (Status.UNPARSED, "judge_unparsed")
    assert found.number("first_match") == 2.0
    assert found.number("judge") is None


def test_that_a_refused_differential_keeps_its_status() -> None:
    refused = Unparsed(Status.REFUSED, "declined")
    found = score_ranked(refused, Judged(0, "Nothing."), "Sarcoidosis", 4)
    assert (found.status, found.reason) == (Status.REFUSED, "declined")


@pytest.mark.parametrize(
    ("entries", "diagnosis", "rank"),
    [
        (("Behcet disease",), "Behçet disease", 1),
        (("A", "B", "a"), "a", 1),
        (("Non Hodgkin lymphoma",), "Non-Hodgkin lymphoma", 1),
        (("Lymphoma",), "Non-Hodgkin lymphoma", None),
        ((), "Lymphoma", None),
    ],
)
def test_that_the_first_match_is_one_of_words(
    entries: tuple[str, ...], diagnosis: str, rank: int | None
) -> None:
    assert first_match(entries, diagnosis) == rank


@pytest.mark.statement("E004-06")
def test_that_without_a_judge_a_differential_is_neither_right_nor_wrong() -> None:
    found = not_judged(DDX, "Sarcoidosis")
    assert (found.status, found.reason) == (Status.EXCLUDED, "not_judged")
    assert found.answer == "Tuberculosis; SARCOIDOSIS!; Lymphoma"
    assert found.numbers == (("first_match", 2.0),)
    assert not_judged(DDX, "Asthma").numbers == ()
    refused = not_judged(Unparsed(Status.REFUSED, "declined"), "Asthma")
    assert (refused.status, refused.reason) == (Status.REFUSED, "declined")


def test_that_further_numbers_follow_a_verdicts_own() -> None:
    judged = not_judged(DDX, "Sarcoidosis")
    more = with_numbers(judged, (("seconds", 2.5),))
    assert more.numbers == (("first_match", 2.0), ("seconds", 2.5))
    assert with_numbers(more, ()) == more
