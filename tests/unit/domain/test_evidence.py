import json
from dataclasses import replace

import pytest

from viewer.domain.evidence import (
    Evidence,
    EvidenceCase,
    EvidenceType,
    Language,
    evidence_type,
    with_images_named,
)
from viewer.domain.item import Item
from viewer.domain.specialties import (
    GROUPS,
    SPECIALTIES,
    group_of,
    specialty_named,
)
from viewer.domain.styles import DARK, LIGHT, STYLES, Ground, contrast, rgb_of

CASE = EvidenceCase(
    "case-1",
    Language.ENGLISH,
    "Rheumatology",
    "A man with fever.",
    "A rash.",
    (
        Evidence("e1", EvidenceType.CT, ("a", "b"), "Nodes.", "day 3"),
        Evidence("e2", EvidenceType.MICROSCOPY, ("c",), "Granulomas."),
        Evidence("e3", EvidenceType.CT, ("d",), "No nodes.", "day 30"),
    ),
    ("Sarcoidosis", "Tuberculosis", "Lymphoma", "Histoplasmosis"),
    0,
    "Sarcoidosis",
)


@pytest.mark.statement("E004-01")
def test_that_a_case_comes_back_from_its_item_as_it_was() -> None:
    item = CASE.item("patient 7")
    again = Item(
        item.key,
        item.patient,
        item.kind,
        item.images,
        json.loads(json.dumps(dict(item.facts))),
        json.loads(json.dumps(dict(item.reference))),
    )
    assert EvidenceCase.of_item(again) == CASE
    assert (item.patient, item.kind) == ("patient 7", "Rheumatology")
    assert item.images == ("a", "b", "c", "d")
    assert CASE.item().patient == "case-1"


def test_that_the_truth_is_in_the_reference_alone() -> None:
    item = CASE.item()
    assert set(item.reference) == {"answer", "diagnosis"}
    assert not {"answer", "diagnosis"} & set(item.facts)
    blind = EvidenceCase.of_item(replace(item, reference={}))
    assert blind == replace(CASE, answer=-1, diagnosis="")


@pytest.mark.statement("E004-01")
def test_that_evidence_knows_its_type_and_time() -> None:
    assert CASE.types == (EvidenceType.CT, EvidenceType.MICROSCOPY)
    assert [one.title for one in CASE.evidence] == [
        "CT (day 3)",
        "Microscopy",
        "CT (day 30)",
    ]


@pytest.mark.statement("E004-01")
@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("Pathology", EvidenceType.MICROSCOPY),
        ("microscopy", EvidenceType.MICROSCOPY),
        (" x-ray ", EvidenceType.X_RAY),
        ("Laboratory  findings", EvidenceType.LABORATORY),
        ("EEG", EvidenceType.OTHER),
        ("tarot", None),
    ],
)
def test_that_both_names_of_a_type_are_one(name: str, of: EvidenceType | None) -> None:
    assert evidence_type(name) is of


KINDS = {name: STYLES[name] for name in (*map(str, EvidenceType), "text")}


@pytest.mark.statement("E004-24")
def test_that_each_type_has_a_sign_and_a_marker_of_its_own() -> None:
    assert len({style.sign for style in KINDS.values()}) == len(KINDS)
    assert len({style.marker for style in KINDS.values()}) == len(KINDS)


@pytest.mark.statement("E004-24")
@pytest.mark.parametrize("ground", [LIGHT, DARK], ids=lambda ground: ground.name)
def test_that_the_name_of_each_type_is_read_in_a_colour_of_its_own(
    ground: Ground,
) -> None:
    colours = [style.colour_on(ground) for style in KINDS.values()]
    assert len(set(colours)) == len(KINDS)
    assert min(contrast(colour, ground.paper) for colour in colours) >= 4.5
    grey = rgb_of(KINDS["text"].colour_on(ground))
    assert max(grey) - min(grey) < 24


@pytest.mark.statement("E004-12")
def test_that_every_specialty_is_in_one_group() -> None:
    assert (len(SPECIALTIES), len(GROUPS)) == (17, 8)
    assert sorted(s for of in GROUPS.values() for s in of) == list(SPECIALTIES)
    assert group_of("Neurology") == "Neurology & Psychiatry"
    with pytest.raises(KeyError):
        group_of("Dentistry")


@pytest.mark.parametrize(
    ("name", "specialty"),
    [
        ("cardiology", "Cardiology"),
        ("Internal medicine", "General (internal) medicine"),
        ("Obstetrics & gynecology", "Obstetrics and gynaecology"),
        ("dentistry", None),
    ],
)
def test_that_common_spellings_of_a_specialty_are_read(
    name: str, specialty: str | None
) -> None:
    assert specialty_named(name) == specialty


def test_that_a_case_is_written_as_its_folder_has_it() -> None:
    nested = replace(CASE.evidence[0], images=("case-1/a.png", "case-2/b.png"))
    document = replace(CASE, evidence=(nested, CASE.evidence[1])).document()
    assert (document["id"], document["language"]) == ("case-1", "en")
    assert document["options"] == list(CASE.options)
    assert document["diagnosis"] == "Sarcoidosis"
    assert document["evidence"] == [
        {
            "type": "CT",
            "images": ["a.png", "case-2/b.png"],
            "finding": "Nodes.",
            "when": "day 3",
        },
        {"type": "Microscopy", "images": ["c"], "finding": "Granulomas."},
    ]


def test_that_images_of_evidence_are_renamed_and_nothing_else_is() -> None:
    facts = CASE.item().facts
    renamed = with_images_named(facts, {"a": "x", "c": "y"})
    again = EvidenceCase.of_item(replace(CASE.item(), facts=renamed))
    assert again.images == ("x", "b", "y", "d")
    assert with_images_named(renamed, {"x": "a", "y": "c"}) == facts
    other = {"question": "a", "images": ["a"]}
    assert with_images_named(other, {"a": "x"}) == other
