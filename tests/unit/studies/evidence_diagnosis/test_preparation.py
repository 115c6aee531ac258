import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.evidence_cases import reply
from viewer.domain.answer import Status, Unparsed
from viewer.studies.evidence_diagnosis.preparation import (
    Chunk,
    Distractors,
    Extraction,
    ask_distractors,
    ask_extraction,
    ask_summaries,
    read_distractors,
    read_extraction,
    read_summaries,
)
from viewer.studies.evidence_diagnosis.templates import (
    DDX_JUDGE,
    DISTRACTORS,
    EXTRACTION,
    FDX_JUDGE,
    SUMMARIES,
    template,
)
from viewer.studies.evidence_diagnosis.validation import revalidated

BACKGROUND = "A man has had a cough.\nCalcium was 2.9 mmol/L."
CAPTION = "Figure 1. CT of the chest\nshows large nodes."
GOOD = {
    "Case ID": "c1",
    "Modality": "CT, Pathology",
    "Patient Background": "A man has had a cough.",
    "Laboratory Findings": "Calcium was 2.9  mmol/L.",
    "CT Findings": "CT of the chest shows large nodes. (Figure 1 caption)",
}
DDX = ("Tuberculosis", "Lymphoma", "Histoplasmosis", "Sarcoidosis", "Gout")


def as_json(**changed: object) -> str:
    return json.dumps({k: v for k, v in {**GOOD, **changed}.items() if v is not None})


@pytest.mark.statement("E004-03")
@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        (EXTRACTION, "You are an clinical information extraction assistant.", "..."),
        (SUMMARIES, "You are an expert medical summarization assistant.", "..."),
        (
            DISTRACTORS,
            "You are an expert clinician and adversarial exam-writer.",
            "...",
        ),
        (DDX_JUDGE, "You are an expert clinician and expert exam-grader.", "..."),
        (FDX_JUDGE, "You are an expert clinician and expert exam-grader.", "..."),
    ],
)
def test_that_the_papers_prompts_are_there(name: str, first: str, last: str) -> None:
    lines = template(name).splitlines()
    assert lines[0].startswith(first)
    assert lines[-1] == last


@pytest.mark.statement("E004-03")
def test_that_an_extraction_is_looked_up_word_for_word() -> None:
    found = read_extraction(reply(as_json()), BACKGROUND, CAPTION)
    assert isinstance(found, Extraction)
    assert found.modalities == ("CT", "Pathology")
    assert found.invented == ()
    nodes = "CT of the chest shows large nodes."
    assert found.chunks[-1] == Chunk("CT Findings", nodes, "Figure 1 caption", True)
    assert found.section("Patient Background") == "A man has had a cough."
    assert found.section("Medications") == ""


@pytest.mark.statement("E004-03")
def test_that_what_stands_nowhere_in_the_report_is_told() -> None:
    made_up = "Calcium was 2.9 mmol/L.\n\nPhosphate was low. (Dr. Roe)"
    text = as_json(**{"Laboratory Findings": made_up})
    found = read_extraction(reply(text), BACKGROUND, CAPTION)
    assert isinstance(found, Extraction)
    lost = Chunk("Laboratory Findings", "Phosphate was low.", "Dr. Roe", False)
    assert found.invented == (lost,)


@pytest.mark.parametrize("text", ["```json\n{}\n```", "<think>a</think>\n{}"])
def test_that_a_fence_and_reasoning_around_json_are_no_prose(text: str) -> None:
    found = read_extraction(reply(text.replace("{}", as_json())), BACKGROUND, CAPTION)
    assert isinstance(found, Extraction)


@given(st.text(min_size=1, max_size=80).filter(lambda t: t.split()))
@pytest.mark.statement("E004-03")
def test_that_blanks_alone_make_nothing_invented(text: str) -> None:
    chunk = " ".join(text.split())
    written = as_json(**{"Patient Background": chunk})
    found = read_extraction(reply(written), f"x {'  '.join(text.split())} y", "")
    if isinstance(found, Extraction):
        background = [c for c in found.chunks if c.key == "Patient Background"]
        assert all(c.verbatim for c in background)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Here it is: {}", "no_json"),
        ("[]", "not_of_the_schema"),
        (as_json(**{"CT Findings": ["x"]}), "not_of_the_schema"),
        (as_json(**{"Case ID": None}), "no Case ID"),
        (as_json(Age="41"), "unknown_key"),
        (as_json(Modality="CT, Tarot"), "unknown_modality"),
    ],
)
@pytest.mark.statement("E004-03")
def test_that_json_of_another_shape_is_no_extraction(text: str, reason: str) -> None:
    found = read_extraction(reply(text), BACKGROUND, CAPTION)
    assert found == Unparsed(Status.UNPARSED, reason)


@pytest.mark.statement("E004-03")
def test_that_the_questions_hold_the_report_and_nothing_is_a_place() -> None:
    asked = ask_extraction("c1", "{caption}", CAPTION)
    assert "- Background: {caption}" in asked
    assert f"- Caption: {CAPTION}" in asked
    assert asked.endswith("return JSON only.")
    summaries = ask_summaries(
        "c1", ("CT", "MRI"), BACKGROUND, {"CT Findings": "nodes", "Labs": "{case_id}"}
    )
    assert "- CT Findings: nodes\n- Labs: {case_id}\nOutputs" in summaries
    assert "- Modality: CT, MRI (comma-separated" in summaries
    assert "{modality_or_section_name} Findings" in summaries
    wrong = ask_distractors("h", "i", "l", "Sarcoidosis", DDX)
    assert "(comma-separated): Tuberculosis, Lymphoma" in wrong
    assert '"distractors": ["<string>", "<string>", "<string>"]' in wrong


@pytest.mark.statement("E004-03")
def test_that_every_section_has_its_summary() -> None:
    text = '{"CT Findings Summary": " Nodes. ", "Patient Background Summary": "A man."}'
    found = read_summaries(reply(text), ["CT Findings"])
    assert found == {"CT Findings": "Nodes.", "Patient Background": "A man."}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no_json"),
        ("{}", "no CT Findings Summary"),
        ('{"MRI Findings Summary": "x"}', "unknown_or_empty_section"),
        ('{"CT Findings Summary": " "}', "unknown_or_empty_section"),
    ],
)
def test_that_a_missing_or_foreign_summary_is_no_answer(text: str, reason: str) -> None:
    found = read_summaries(reply(text), ["CT Findings"])
    assert found == Unparsed(Status.UNPARSED, reason)


@pytest.mark.statement("E004-03", "E004-23")
@pytest.mark.parametrize(
    ("distractors", "reason"),
    [
        (["Tuberculosis", "lymphoma", "Gout"], ""),
        (["Tuberculosis", "Lymphoma"], "not_three_different"),
        (["Gout", "gout", "Lymphoma"], "not_three_different"),
        (["sarcoidosis.", "Gout", "Lymphoma"], "the_diagnosis_itself"),
        (["Asthma", "Gout", "Lymphoma"], "not_of_the_differential"),
        (["Gout", 3, "Lymphoma"], "not_of_the_schema"),
        ("Gout", "not_of_the_schema"),
    ],
)
def test_that_distractors_are_three_of_the_differential(
    distractors: object, reason: str
) -> None:
    text = json.dumps({"ground_truth": "Sarcoidosis", "distractors": distractors})
    found = read_distractors(reply(text), "Sarcoidosis", DDX)
    if reason:
        assert found == Unparsed(Status.UNPARSED, reason)
    else:
        expected = ("Tuberculosis", "lymphoma", "Gout")
        assert found == Distractors("Sarcoidosis", expected)


def test_that_distractors_without_their_diagnosis_are_no_answer() -> None:
    schema = Unparsed(Status.UNPARSED, "not_of_the_schema")
    assert read_distractors(reply('{"distractors": []}'), "x", DDX) == schema
    no_json = Unparsed(Status.UNPARSED, "no_json")
    assert read_distractors(reply("none"), "x", DDX) == no_json


@pytest.mark.statement("E004-04")
def test_that_a_fifth_is_validated_again_the_same_one_for_a_seed() -> None:
    cases = [f"c{i}" for i in range(51)]
    drawn = revalidated(cases, 3)
    assert len(drawn) == 11
    assert drawn == revalidated(cases, 3) != revalidated(cases, 4)
    assert set(drawn) <= set(cases)
    assert revalidated([], 0) == ()
