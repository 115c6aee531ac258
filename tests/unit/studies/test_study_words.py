"""Every study says in people's words what its results are grouped by."""

import pytest

from viewer.domain.evidence import EvidenceType
from viewer.studies.catalog import OURS, study_named
from viewer.studies.evidence_diagnosis.params import TASKS, Arm
from viewer.studies.evidence_diagnosis.showing import Modality, Showing, showing_of
from viewer.studies.evidence_diagnosis.words import WORDS as EVIDENCE
from viewer.studies.grounded_vqa.words import WORDS as GROUNDED
from viewer.studies.pathology_mcq.arms import conditions
from viewer.studies.pathology_mcq.params import Arm as PathologyArm
from viewer.studies.pathology_mcq.params import read_params
from viewer.studies.pathology_mcq.words import WORDS as PATHOLOGY
from viewer.studies.rubric_reading.words import WORDS as READING


@pytest.mark.parametrize("name", OURS)
def test_that_words_are_lower_case_and_none_is_missing(name: str) -> None:
    words = study_named(name).words
    for word in (words.finding, words.findings, words.view, words.views, words.rate):
        assert word
    assert words.finding == words.finding.lower()


def test_that_every_showing_of_a_case_has_words_of_its_own() -> None:
    showings = [showing_of(arm) for arm in Arm]
    showings.append(Showing(Modality.TEXT, refined=True))
    showings += [one.but(EvidenceType.CT) for one in tuple(showings)]
    showings += [Showing().but(EvidenceType.CT, Modality.TEXT), Showing().turned(2)]
    said = [EVIDENCE.condition(one.name) for one in showings]
    assert len({*said}) == len(said)
    assert not any("_" in words for words in said)
    assert EVIDENCE.condition("refined expert without CT") == (
        "expert text, refined prompt, without CT"
    )
    assert EVIDENCE.condition("raw with CT as text turned 2") == (
        "raw images, with CT as text, options turned by 2"
    )
    assert EVIDENCE.condition("plain_case") == "plain case"


def test_that_every_task_about_a_case_has_a_name() -> None:
    assert {*TASKS} <= {*EVIDENCE.names}


def test_that_every_arm_of_pathology_has_words() -> None:
    params = read_params("pathmmu2024", {"arms": [arm.value for arm in PathologyArm]})
    said = [PATHOLOGY.condition(one.name) for one in conditions(params)]
    assert len({*said}) == len(said) == 44
    assert not any("_" in words or "-" in words for words in said)
    assert PATHOLOGY.condition("jpeg-3") == "JPEG compression, level 3"
    assert PATHOLOGY.condition("hue-1") == "hue, level 1"
    assert PATHOLOGY.condition("what-ever") == "what-ever"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("plain", "as asked"),
        ("vpt", "healthy donor pasted"),
        ("vpt-sham-own/crop", "own region pasted (sham), region enlarged"),
        ("loba-2.0", "region highlighted, weight 2.0"),
        ("tpt-anatomy", "a different anatomy"),
        ("something_else", "something else"),
    ],
)
def test_that_perturbations_and_ways_to_ask_have_words(
    condition: str, words: str
) -> None:
    assert GROUNDED.condition(condition) == words


def test_that_graded_tasks_say_how_grades_come_in() -> None:
    assert "grades.csv" in READING.ungraded
    assert READING.condition("plain") == "as asked"
    assert READING.condition("something_new") == "something new"
