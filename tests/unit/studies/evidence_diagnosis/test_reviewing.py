"""Which case a person's decisions leave of a prepared report."""

import pytest

from viewer.studies.evidence_diagnosis.reviewing import (
    Decided,
    PreparedCase,
    PreparedField,
    Verdict,
    case_document,
    undecided,
    with_images,
)

ACCEPT, REJECT = Decided(Verdict.ACCEPT), Decided(Verdict.REJECT)
CASE = PreparedCase(
    "r1",
    "en",
    tuple(
        PreparedField(name, proposed)
        for name, proposed in (
            ("specialty", ""),
            ("history", "Fever."),
            ("examination", ""),
            ("CT finding", "Nodes."),
            ("CT images", "a.png; b.png"),
            ("X-ray finding", "Wide."),
            ("X-ray images", ""),
            ("diagnosis", "Sarcoidosis"),
            ("distractor 1", "Lymphoma"),
            ("distractor 2", "Tuberculosis"),
            ("distractor 3", "Histoplasmosis"),
        )
    ),
)
EVERY = {one.name: ACCEPT for one in CASE.fields} | {
    "specialty": Decided(Verdict.EDIT, "Haematology"),
    "X-ray images": Decided(Verdict.EDIT, "c.png"),
}


@pytest.mark.statement("E004-03")
def test_that_what_is_accepted_and_edited_makes_the_case() -> None:
    assert case_document(CASE, EVERY) == {
        "id": "r1",
        "language": "en",
        "specialty": "Haematology",
        "history": "Fever.",
        "evidence": [
            {"type": "CT", "images": ["a.png", "b.png"], "finding": "Nodes."},
            {"type": "X-ray", "images": ["c.png"], "finding": "Wide."},
        ],
        "options": ["Histoplasmosis", "Lymphoma", "Sarcoidosis", "Tuberculosis"],
        "diagnosis": "Sarcoidosis",
    }


@pytest.mark.parametrize("field", ["X-ray finding", "X-ray images"])
def test_that_evidence_is_left_out_if_its_finding_or_its_images_are_rejected(
    field: str,
) -> None:
    evidence = case_document(CASE, {**EVERY, field: REJECT})["evidence"]
    assert isinstance(evidence, list)
    assert [one["type"] for one in evidence] == ["CT"]


def test_that_a_rejected_distractor_leaves_fewer_options() -> None:
    document = case_document(CASE, {**EVERY, "distractor 2": REJECT})
    assert document["options"] == ["Histoplasmosis", "Lymphoma", "Sarcoidosis"]


def test_that_only_an_empty_examination_needs_no_decision() -> None:
    assert undecided(CASE, {}) == len(CASE.fields) - 1
    assert undecided(CASE, {k: v for k, v in EVERY.items() if k != "examination"}) == 0


def test_that_images_are_proposed_by_the_type_in_their_names() -> None:
    names = ["e1_ct_1.png", "e1_CT_2.png", "xray.png", "ct_xray.png", "photo.png"]
    found = {one.name: one.proposed for one in with_images(CASE, names).fields}
    assert found["CT images"] == "e1_ct_1.png; e1_CT_2.png"
    assert found["X-ray images"] == "xray.png"
