"""The verifier reads plain words as the program does, and alarms at no true reading."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.bundled_run import alarms, record
from tests.unit.studies.grounded_vqa.test_parse import LABELS, NO, YES
from tests.unit.studies.pathology_mcq.golden_replies import ALL, OPTIONS
from viewer.domain.answer import (
    ChoiceAnswer,
    LabelsAnswer,
    RankedAnswer,
    Unparsed,
    YesNoAnswer,
)
from viewer.domain.choice import letter_of
from viewer.domain.exchange import ModelReply
from viewer.studies.choices import read_choice
from viewer.studies.evidence_diagnosis.parse import (
    DDX_LEVELS,
    Judged,
    read_differential,
    read_judgement,
)
from viewer.studies.evidence_diagnosis.score import first_match
from viewer.studies.grounded_vqa.parse import read_labels, read_yes_no
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING
from viewer.studies.pathology_mcq.official import official_code
from viewer.writers.verify.replies import ReadReply
from viewer.writers.verify.wording import (
    first_in_words,
    has_words,
    official_reading,
    plain_labels,
    plain_letter,
    plain_score,
    plain_yes,
)

GOLDEN = Path(__file__).parents[2] / "studies/evidence_diagnosis"
SHORT = st.text(alphabet="aAbBcCdDeE12().,:;*\"'{}\n yesnoYESNO", max_size=14)


def said(text: str) -> ReadReply:
    return ReadReply(text, "stop", "")


def chosen(text: str, options: Sequence[str]) -> list[str]:
    """Return what is wrong with the program's own reading of a choice."""
    read = read_choice(text, options)
    truth = {
        "options": list(options),
        "order": list(range(len(options))),
        "right": 0,
    }
    more: dict[str, Any] = {}
    if isinstance(read, ChoiceAnswer):
        status = "scored_wrong" if read.option else "scored_correct"
        more = {"answer": letter_of(read.option), "status": status}
    return alarms(record(text, read, truth, **more))


def test_that_no_golden_reading_of_a_choice_is_alarmed_at() -> None:
    for text, _ in ALL:
        assert chosen(text, OPTIONS) == [], text


@pytest.mark.parametrize(
    "text", ["A or B", "Either A or B.", '{"answer": "Both (A) and (B)"}', "**B & A**"]
)
def test_that_a_choice_read_off_two_letters_is_alarmed_at(text: str) -> None:
    right = {"options": list(OPTIONS), "order": [0, 1, 2, 3], "right": 0}
    read = ChoiceAnswer(1, "mentioned")
    stored = record(text, read, right, answer="B", status="scored_wrong")
    assert any("names two options" in one for one in alarms(stored))
    assert chosen(text, OPTIONS) == []
    assert chosen(text, ("x", text)) == []


@given(SHORT, st.lists(SHORT, min_size=2, max_size=5))
def test_that_no_reading_of_a_choice_is_alarmed_at(
    text: str, options: list[str]
) -> None:
    assert chosen(text, options) == []


@given(SHORT)
def test_that_a_plain_letter_is_the_program_s(text: str) -> None:
    place, read = plain_letter(said(text), OPTIONS), read_choice(text, OPTIONS)
    if place is not None and place < len(OPTIONS):
        assert isinstance(read, ChoiceAnswer)
        assert read.option == place
    elif place is not None:
        assert isinstance(read, Unparsed)


@pytest.mark.parametrize(("texts", "yes"), [(YES, True), (NO, False)])
def test_that_no_golden_yes_or_no_is_alarmed_at(
    texts: Sequence[str], *, yes: bool
) -> None:
    for text in texts:
        read = read_yes_no(text, "Pneumonia")
        word, status = ("Yes" if yes else "No"), "scored_correct"
        kept = record(text, read, {"yes": yes}, answer=word, status=status)
        assert alarms(kept) == [], text


@given(SHORT)
def test_that_a_plain_yes_is_the_program_s(text: str) -> None:
    plain, read = plain_yes(said(text)), read_yes_no(text, "Pneumonia")
    if plain is not None:
        assert isinstance(read, YesNoAnswer)
        assert read.yes == plain


@given(
    st.lists(st.sampled_from([*LABELS, NO_FINDING]), min_size=1, max_size=4),
    st.sampled_from([", ", ",", " , ", " and ", "\n"]),
    st.sampled_from(["", "."]),
)
def test_that_a_plain_list_of_labels_is_the_program_s(
    names: list[str], between: str, end: str
) -> None:
    text = between.join(names) + end
    plain, read = (
        plain_labels(said(text), LABELS, NO_FINDING),
        read_labels(text, LABELS),
    )
    if plain is not None and isinstance(read, LabelsAnswer):
        assert set(read.labels) == plain
    if between.strip() == "," and NO_FINDING not in names:
        assert plain is not None


def test_that_no_golden_differential_is_alarmed_at() -> None:
    truth = {
        "diagnosis": "sarcoïdosis",
        "covered_from": None,
        "levels": [5, 4, 3, 2, 0],
    }
    for line in (GOLDEN / "golden_differentials.jsonl").read_text().splitlines():
        text = json.loads(line)["reply"]
        read = read_differential(ModelReply(text))
        more: dict[str, Any] = {}
        if isinstance(read, RankedAnswer):
            answer = "; ".join(read.entries)
            more = {"answer": answer, "status": "excluded", "reason": "not_judged"}
        assert alarms(record(text, read, truth, **more)) == [], text


@given(st.text(alphabet="Score: 0123456\nRationale: wel.*", max_size=40))
def test_that_a_plain_score_is_the_program_s(text: str) -> None:
    for one in (text, f"Score: {text[:2]}\nRationale: {text[2:]}"):
        plain, read = (
            plain_score(said(one)),
            read_judgement(ModelReply(one), DDX_LEVELS),
        )
        if plain is not None:
            assert isinstance(read, Judged)
            assert read.score == plain


@given(st.lists(SHORT, min_size=1, max_size=4), SHORT)
def test_that_the_rank_of_a_diagnosis_is_the_program_s(
    entries: list[str], diagnosis: str
) -> None:
    assert first_in_words(entries, diagnosis) == first_match(entries, diagnosis)


@given(
    st.text(alphabet="ABCab(). ,'", max_size=24),
    st.lists(st.text(alphabet="ABab) x", max_size=8), min_size=1, max_size=4),
    st.sampled_from(["A", "b", "C", "Z", "A) x", ""]),
)
def test_that_the_authors_reading_is_the_program_s(
    text: str, written: list[str], letter: str
) -> None:
    assert official_reading(text, written, letter) == official_code(
        text, written, letter
    )


def test_that_words_are_found_in_any_order_and_nothing_is_said_of_escapes() -> None:
    assert has_words(["Large hilar nodes,", "no necrosis"], "Necrosis: NODES")
    assert not has_words(["Large hilar nodes"], "small nodes")
    assert has_words(['{"list": ["fi\\u00e8vre"]}'], "fièvre")
