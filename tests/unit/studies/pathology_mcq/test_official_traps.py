"""Each documented trap of the authors' script, by its name (E003-05)."""

from random import Random

import pytest

from tests.helpers.official_script import official_run
from viewer.domain.answer import ChoiceAnswer, Status
from viewer.studies.choices import read_choice
from viewer.studies.pathology_mcq.official import (
    OfficialReading,
    OfficialSample,
    official_options,
)
from viewer.studies.pathology_mcq.score import score

pytestmark = pytest.mark.statement("E003-05")
FOUR = ("A) Necrosis", "B) Fibrosis", "C) Lymphoma", "D) Mucin")
TEXTS = ("Necrosis", "Fibrosis", "Lymphoma", "Mucin")


def read(
    response: str | None, options: tuple[str, ...] = FOUR, answer: int = 1
) -> OfficialReading:
    """Return what the script makes of one reply."""
    sample = OfficialSample("1", options, options[answer], response)
    return official_run([sample]).readings[0]


def test_trap_an_option_ends_at_its_second_closing_bracket() -> None:
    brackets = ("A) CD3(+) CD20(-)", "B) CD3(+) CD20(+)")
    assert official_options(brackets) == ("CD3(+", "CD3(+")
    assert read("(B)", brackets, answer=0).correct
    assert score(ChoiceAnswer(1), 0).status is Status.SCORED_WRONG


def test_trap_an_option_without_a_bracket_drops_its_item() -> None:
    assert read("B", ("A. Necrosis", "B) Fibrosis")).dropped == "options_or_answer"
    assert read_choice("B", ("Necrosis", "Fibrosis")) == ChoiceAnswer(1, "letter")


def test_trap_a_request_that_failed_is_in_no_denominator() -> None:
    samples = [
        OfficialSample(str(i), FOUR, FOUR[1], response)
        for i, response in enumerate(("B", "B", None, "C"))
    ]
    result = official_run(samples)
    assert (result.k, result.n) == (2, 3)


@pytest.mark.parametrize(
    ("response", "read_as"),
    [("B.", 1), (",.!?;:'B", 1), ("'B.'", None), ("B'.", 1), ("B.'", None)],
)
def test_trap_marks_are_stripped_one_kind_after_another(
    response: str, read_as: int | None
) -> None:
    found = read(response)
    assert found.at_random == (read_as is None)
    assert read_as is None or found.predicted == TEXTS[read_as]
    assert read_choice(response, TEXTS) == ChoiceAnswer(1, "letter")


@pytest.mark.parametrize("response", ["b", "(b)", "B)", "**B**", "Answer:B"])
def test_trap_a_letter_counts_between_brackets_or_blanks_in_capitals_only(
    response: str,
) -> None:
    assert read(response).at_random
    typed = read_choice(response, TEXTS)
    assert isinstance(typed, ChoiceAnswer)
    assert typed.option == 1


def test_trap_the_article_of_a_biopsy_is_the_answer_a() -> None:
    found = read("A biopsy shows lymphoma")
    assert (found.predicted, found.at_random) == ("Necrosis", False)
    assert read_choice("A biopsy shows lymphoma", TEXTS) != ChoiceAnswer(0, "letter")


@pytest.mark.parametrize(
    ("response", "predicted"),
    [
        ("(C), or rather not (A)", "Necrosis"),
        ("It is B and not C .", "Lymphoma"),
        ("First necrosis and later on some fibrosis", "Fibrosis"),
    ],
)
def test_trap_the_last_candidate_wins_denied_or_not(
    response: str, predicted: str
) -> None:
    assert read(response).predicted == predicted


def test_trap_brackets_go_before_blanks_and_blanks_before_words() -> None:
    assert read("(A) but surely B and lymphoma too").predicted == "Necrosis"
    assert read("surely B and lymphoma it is then").predicted == "Fibrosis"


def test_trap_words_are_looked_for_in_replies_of_more_than_five_words_only() -> None:
    assert read("this may well be lymphoma").at_random
    found = read("this may very well be lymphoma")
    assert (found.predicted, found.at_random) == ("Lymphoma", False)


def test_trap_a_short_option_is_found_within_another_word() -> None:
    options = ("A) Fat", "B) Bone")
    assert read("one sees a fatal course of disease", options).predicted == "Fat"


def test_trap_what_is_left_is_answered_at_random_by_the_same_numbers() -> None:
    chance = Random(42)
    samples = [OfficialSample(str(i), FOUR, FOUR[1], "?") for i in range(200)]
    result = official_run(samples)
    drawn = [TEXTS[chance.choice(range(4))] for _ in samples]
    assert [one.predicted for one in result.readings] == drawn
    assert result.at_random == 200
    assert result.k == drawn.count("Fibrosis") > 0
    assert read_choice("?", TEXTS) != ChoiceAnswer(1, "letter")


def test_trap_an_item_that_is_dropped_draws_no_number() -> None:
    asked = [OfficialSample("1", FOUR, FOUR[1], "?")]
    before = [OfficialSample("0", FOUR, FOUR[1], None), *asked]
    assert official_run(before).readings[1] == official_run(asked).readings[0]


def test_trap_the_words_of_the_right_option_alone_are_right_but_draw_a_number() -> None:
    found = read("Fibrosis")
    assert (found.correct, found.at_random) == (True, True)
    chance = Random(42)
    chance.choice(range(4))
    both = [
        OfficialSample("0", FOUR, FOUR[1], "Fibrosis"),
        OfficialSample("1", FOUR, FOUR[1], "?"),
    ]
    second = official_run(both).readings[1]
    assert second.predicted == TEXTS[chance.choice(range(4))]
