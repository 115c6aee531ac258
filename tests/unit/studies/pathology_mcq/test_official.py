import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from tests.helpers.official_script import official_run
from tests.unit.studies.pathology_mcq.small import item, result
from viewer.domain.answer import ChoiceAnswer, Status
from viewer.domain.item import Item
from viewer.domain.result import Score, TrialResult
from viewer.results.evaluate import evaluate, evaluate_all
from viewer.results.frame import frame_of_rows
from viewer.studies.choices import read_choice
from viewer.studies.pathology_mcq.frames import OFFICIAL
from viewer.studies.pathology_mcq.official import (
    OfficialResult,
    OfficialSample,
    official_choice,
    official_code,
    official_options,
)
from viewer.studies.pathology_mcq.official_report import differing_rows
from viewer.studies.pathology_mcq.params import read_params
from viewer.studies.pathology_mcq.questions import mcq_of
from viewer.studies.pathology_mcq.score import score, score_beside
from viewer.studies.pathology_mcq.tables import OFFICIAL_ITEMS, OFFICIAL_TABLE

FOUR = ("A) Necrosis", "B) Fibrosis", "C) Lymphoma", "D) Fibrosis (old)")
TEXTS = ("Necrosis", "Fibrosis", "Lymphoma", "Fibrosis (old")
WORDS = (
    *("A", "B", "C", "D", "(A)", "(B)", "(C)", "A.", "b", "Necrosis", "necrosis"),
    *("fibrosis", "mild", "(focal)", "the", "answer", "is", "not", "tumour", "'", "E"),
    *("CD20(+)", "", ".", "biopsy"),
)
OF_THE_SCRIPT = "70d0a615be694788736382067fe58d918e868e886f5faaab5efa5122ff4abd03"
"""SHA-256 of what the authors' script made of :func:`samples`, once run beside it."""


def samples(count: int) -> Iterator[OfficialSample]:
    """Yield samples of every kind, among them the broken ones."""
    chance = Random(1)
    for number in range(count):
        options = [
            f"{chr(65 + i)}) "
            + " ".join(chance.choice(WORDS[9:]) for _ in range(chance.randint(1, 3)))
            for i in range(chance.randint(2, 6))
        ]
        if chance.random() < 0.03:
            options[0] = options[0].replace(")", "")
        answer = "Z) none" if chance.random() < 0.02 else chance.choice(options)
        said = [chance.choice(WORDS) for _ in range(chance.randint(0, 9))]
        ends = chance.choice(("", ",", ". ")), chance.choice(("", ".", "!'", "'."))
        text = chance.choice(options).split(")")[-1].strip()
        if chance.random() < 0.9:
            text = ends[0] + " ".join(said) + ends[1]
        response = None if chance.random() < 0.02 else text
        yield OfficialSample(str(number), tuple(options), answer, response)


def one(response: str, answer: str = "B) Fibrosis") -> OfficialResult:
    """Return what the script makes of one reply to the four options."""
    return official_run([OfficialSample("1", FOUR, answer, response)])


@pytest.mark.statement("E003-05")
def test_that_thousands_of_replies_are_read_as_the_authors_script_read_them() -> None:
    readings = official_run(tuple(samples(5000))).readings
    lines = [[r.name, r.predicted, r.correct, bool(r.dropped)] for r in readings]
    digest = hashlib.sha256(json.dumps(lines).encode()).hexdigest()
    assert digest == OF_THE_SCRIPT


@pytest.mark.statement("E003-05")
@pytest.mark.parametrize(
    ("response", "option"),
    [
        ("(B)", 1),
        ("B", 1),
        ("The answer is B .", 1),
        ("(A) is wrong, so (C)", 2),
        ("(C), or rather not (A)", 0),
        ("A biopsy shows lymphoma", 0),
        ("It is surely a case of lymphoma here", 2),
        ("First necrosis and later on some fibrosis", 1),
    ],
)
def test_that_the_last_candidate_of_the_first_rule_wins(
    response: str, option: int
) -> None:
    assert official_choice(response, TEXTS) == option


@pytest.mark.statement("E003-05")
@pytest.mark.parametrize("response", ["b", "B)", "A.'", "lymphoma", "", "Option E"])
def test_that_what_the_script_cannot_read_is_answered_by_chance(response: str) -> None:
    reading = one(response).readings[0]
    assert reading.at_random
    assert one(response) == one(response)
    drawn = Random(42).choice(range(4))
    assert reading.predicted == TEXTS[drawn]


@pytest.mark.statement("E003-05")
def test_that_a_bracket_in_an_option_cuts_it_and_a_missing_one_drops_it() -> None:
    assert official_options(FOUR) == TEXTS
    assert official_options(["A) CD3(+) CD20(-)", "B) CD3(+) CD20(+)"]) == (
        "CD3(+",
        "CD3(+",
    )
    no_bracket = OfficialSample("1", ("A. Necrosis", "B) x"), "B) x", "B")
    beyond = OfficialSample("2", FOUR, "Z) none", "B")
    failed = OfficialSample("3", FOUR, "B) Fibrosis", None)
    empty = OfficialSample("4", FOUR, "", "B")
    result = official_run([no_bracket, beyond, failed, empty])
    assert [reading.dropped for reading in result.readings] == [
        *("options_or_answer", "options_or_answer", "no_reply", "options_or_answer")
    ]
    assert (result.n, result.k, result.at_random) == (0, 0, 0)


@pytest.mark.statement("E003-01", "E003-05")
def test_that_the_script_compares_texts_so_that_options_alike_are_both_right() -> None:
    alike = ("A) CD3(+) CD20(-)", "B) CD3(+) CD20(+)")
    wrong = OfficialSample("1", alike, alike[0], "(B)")
    assert official_run([wrong]).k == 1
    assert score(ChoiceAnswer(1), 0).status is Status.SCORED_WRONG


@pytest.mark.statement("E003-05")
def test_that_a_reply_of_exactly_the_right_words_is_right_however_few() -> None:
    assert one("Fibrosis").k == 1
    assert one("Fibrosis").readings[0].predicted == "Fibrosis"


@pytest.mark.statement("E003-05")
def test_that_the_difference_is_shown_item_by_item() -> None:
    replies = {"a": "(B)", "b": "b", "c": None, "d": "not (B)", "e": "(C)"}
    mcqs, results = {}, []
    for name, text in replies.items():
        asked = item(f"PubMed-test-{name}", 1)
        mcqs[asked.key] = replace(
            mcq_of(asked), options=TEXTS, written=FOUR, answer=FOUR[1]
        )
        results.append(with_score(asked, text))
    params = read_params("pathmmu2024", {})
    frame = frame_of_rows(*differing_rows(results, mcqs, params))
    both, items = evaluate_all([OFFICIAL_TABLE, OFFICIAL_ITEMS], {OFFICIAL: frame})
    row = dict(zip(both.header, both.rows[0], strict=True))
    assert (row["typed_k"], row["typed_n"]) == (2, 5)
    assert (row["official_k"], row["official_n"]) == (2, 4)
    assert (row["official_at_random"], row["official_dropped"]) == (1, 1)
    assert row["difference_points"] == pytest.approx(10)
    assert row["differing"] == 3
    assert [(str(of[2])[-1], *of[4:]) for of in items.rows] == [
        ("b", "wrong", "at random"),
        ("c", "dropped", "no_reply"),
        ("d", "correct", "read otherwise"),
    ]


def test_that_what_the_script_drops_whole_has_no_difference() -> None:
    asked = item("PubMed-test-1", 1)
    rows = differing_rows(
        [with_score(asked, None)],
        {asked.key: mcq_of(asked)},
        read_params("pathmmu2024", {}),
    )
    (row,) = evaluate(OFFICIAL_TABLE, {OFFICIAL: frame_of_rows(*rows)}).rows
    assert (
        dict(zip(OFFICIAL_TABLE.header, row, strict=True))["difference_points"] is None
    )


def with_score(asked: Item, text: str | None) -> TrialResult:
    """Return a trial with both readings of its reply, without a reply a failed one."""
    score_ = Score(Status.PROVIDER_ERROR)
    if text is not None:
        code = official_code(text, FOUR, FOUR[1])
        score_ = score_beside(read_choice(text, TEXTS), 1, code)
    return replace(result(asked, score_.status), score=score_)
