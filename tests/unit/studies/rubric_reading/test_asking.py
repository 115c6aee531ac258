import re

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.report_study import StudyImage
from viewer.domain.task_selection import TAGS
from viewer.studies.prompts import BUILT_IN
from viewer.studies.rubric_reading.asking import (
    BOX_SENTENCE,
    box_difference,
    described,
    generation_text,
    scoring_text,
    tagging_text,
    task_text,
)
from viewer.studies.rubric_reading.params import read_params
from viewer.studies.rubric_reading.templates import PROMPTS, template

IMAGES = (StudyImage("a", "PA"), StudyImage("b", "", prior=True))
PAPER = read_params("rexecution2025", {})


@pytest.mark.statement("E001-08")
def test_that_prompts_differ_in_the_box_instruction_only() -> None:
    asked, plain = (task_text("Find it.", IMAGES, boxes=b) for b in (True, False))
    difference = box_difference()
    assert difference.only_without == ""
    assert difference.only_with == PROMPTS.known["boxes"].text.strip()
    assert difference.only_with.startswith(BOX_SENTENCE)
    assert asked.replace(f" {difference.only_with}", "") == plain
    assert template(BUILT_IN, boxes=False).count("{") == 2


def test_that_images_are_named_by_number_view_and_study() -> None:
    assert described(IMAGES) == "Image 1: PA\nImage 2: view not known, prior study"
    assert task_text("Use {task}.", IMAGES, boxes=False).count("Use {task}.") == 1


@pytest.mark.statement("E001-02")
def test_that_tasks_are_proposed_from_indication_and_findings() -> None:
    report = {"indication": "Cough {findings}.", "findings": "Effusion."}
    text = generation_text(report, IMAGES, PAPER)
    assert "Indication: Cough {findings}.\nFindings: Effusion.\n" in text
    assert "views: PA\nPrior study: yes" in text
    assert "Propose 5 tasks" in text
    assert '{"category": "high_level_diagnostic_reasoning"' in text
    bare = generation_text({}, (), PAPER)
    assert "views: none\nPrior study: none\nIndication: none" in bare


def test_that_an_official_text_takes_the_place_of_ours() -> None:
    official = {
        "generation": "G {findings}",
        "scoring": "S {task}",
        "tagging": "T {task}",
    }
    params = read_params("rexecution2025", {"prompts": official})
    assert generation_text({"findings": "F"}, (), params) == "G F"
    assert scoring_text("Q", params) == "S Q"
    assert tagging_text("Q", params) == "T Q"
    assert scoring_text("Q", PAPER).count("Task: Q") == 1


def test_that_the_supplement_s_name_of_the_task_s_place_is_filled() -> None:
    given = {"scoring": "S {question}", "tagging": 'T {question} {"a": 1}'}
    params = read_params("rexecution2025", {"prompts": given})
    assert scoring_text("Q", params) == "S Q"
    assert tagging_text("Q", params) == 'T Q {"a": 1}'


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("scoring", "Score {item}", "has the unknown placeholder {item}"),
        ("scoring", "Score it", "lacks the placeholder {task} or {question}"),
        ("tagging", "Tag {task} {rubric}", "has the unknown placeholder {rubric}"),
        ("generation", "Write {question}", "has the unknown placeholder {question}"),
    ],
)
def test_that_a_prompt_that_cannot_be_filled_is_refused(
    name: str, text: str, said: str
) -> None:
    with pytest.raises(WrongUseError, match=re.escape(said)):
        read_params("rexecution2025", {"prompts": {name: text}})


@pytest.mark.statement("E001-04")
def test_that_every_tag_is_asked_for_and_every_text_is_there() -> None:
    text = tagging_text("Q", PAPER)
    assert all(f"\n{tag}:" in text for tag in TAGS)
    assert all(prompt.text.strip() for prompt in PROMPTS.known.values())
