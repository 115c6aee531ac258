import json
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests.unit.studies.pathology_mcq.small import MODEL, dataset, spec
from tests.unit.studies.pathology_mcq.test_building import entry, reply
from tests.unit.studies.pathology_mcq.test_request import Pictures
from viewer.domain.answer import ChoiceAnswer, ReportAnswer, Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ImagePart, ModelReply, TextPart
from viewer.domain.item import Item
from viewer.domain.result import TrialResult
from viewer.domain.run import Step
from viewer.readers.datasets.catalog import read_dataset
from viewer.studies.pathology_mcq.making import as_data_json
from viewer.studies.pathology_mcq.params import read_params
from viewer.studies.pathology_mcq.study import STUDY
from viewer.studies.steps import Question, Sources, StepReply, Turn

BUILDING = {"work": "building"}
PARAMS = read_params("pathmmu2024", BUILDING)
THREE = reply(entry(), entry(answer="A"), entry(answer="D"))


def captioned(key: str, subset: str = "Atlas", split: str = "train") -> Item:
    facts = {"caption": f"Glands of {key}.", "subset": subset, "split": split}
    return Item(key, key, subset, (key,), facts)


ITEMS = (captioned("a.png"), captioned("b.png"), captioned("c.png", "PubMed", "val"))


def turn(*said: str | ModelReply, item: Item = ITEMS[0]) -> Turn:
    """Return the trial of an item after replies."""
    trials = STUDY.plan(dataset(ITEMS), spec(settings=BUILDING))
    trial = next(t for t in trials if t.item == item.key)
    so_far: list[StepReply] = []
    for name, text in zip(("describe", "ask_three"), said, strict=False):
        found = text if isinstance(text, ModelReply) else ModelReply(text)
        so_far.append(StepReply(Step(name), found))
    return Turn(trial, item, tuple(so_far))


def question(*said: str) -> Question:
    """Return what is asked after replies."""
    pictures = cast("Sources", Pictures(dataset(ITEMS)))
    asked = turn(*said)
    step = STUDY.next_step(asked, PARAMS)
    assert step is not None
    return STUDY.question(asked, step, pictures, PARAMS)


def result(item: Item, *said: str, model: str = "m") -> TrialResult:
    asked = turn(*said, item=item)
    answer = STUDY.parse(asked, PARAMS)
    return TrialResult(
        item=item.key,
        patient=item.patient,
        image=item.images[0],
        view=str(item.facts["split"]),
        finding=item.kind,
        condition="building",
        repeat=0,
        model=model,
        score=STUDY.score(asked, answer, PARAMS),
        said=None if isinstance(answer, Unparsed) else answer,
    )


@pytest.mark.statement("E003-15")
def test_that_a_trial_of_each_captioned_image_is_planned_whatever_its_split() -> None:
    trials = STUDY.plan(dataset(ITEMS, missing=["b.png"]), spec(settings=BUILDING))
    assert [(t.item, t.finding, t.view, t.exclusion) for t in trials] == [
        ("a.png", "Atlas", "train", ""),
        ("b.png", "Atlas", "train", "missing_file"),
        ("c.png", "PubMed", "val", ""),
    ]
    assert {t.condition for t in trials} == set(STUDY.conditions(PARAMS))
    both = [MODEL, replace(MODEL, name="n")]
    few = STUDY.plan(dataset(ITEMS), spec(both, 2, 1, BUILDING))
    assert len(few) == 4
    some = STUDY.plan(dataset(ITEMS), spec(settings={**BUILDING, "subsets": "PubMed"}))
    assert [t.item for t in some] == ["c.png"]


@pytest.mark.statement("E003-15")
def test_that_without_captions_a_sentence_says_what_to_import() -> None:
    bare = replace(ITEMS[0], facts={"options": ["x", "y"]})
    with pytest.raises(WrongUseError, match="no image with a caption"):
        STUDY.plan(dataset([bare]), spec(settings=BUILDING))


@pytest.mark.statement("E003-15")
def test_that_an_image_is_described_with_its_caption_then_asked_about() -> None:
    first, second = question(), question("<think>hm</think>Crowded glands.")
    for asked, words in (
        (first, "Caption: Glands of a.png."),
        (second, "Description: Crowded glands.\n"),
    ):
        (message,) = asked.messages
        picture, text = message.parts
        assert isinstance(picture, ImagePart)
        assert isinstance(text, TextPart)
        assert words in text.text
    assert (first.prompt, second.prompt) == ("describe", "ask_three")
    assert dict(STUDY.prompts(PARAMS)) == {
        asked.prompt: asked.template for asked in (first, second)
    }
    assert STUDY.next_step(turn("Glands.", THREE), PARAMS) is None


@pytest.mark.statement("E003-15")
def test_that_three_questions_are_made_and_neither_right_nor_wrong() -> None:
    made = result(ITEMS[0], "Glands.", THREE)
    assert isinstance(made.said, ReportAnswer)
    assert [one["correct"] for one in json.loads(made.said.text)] == [1, 0, 3]
    assert (made.score.status, made.score.reason) == (Status.EXCLUDED, "built")
    assert made.score.number("questions") == 3
    report = STUDY.report([made, result(ITEMS[1], "")], spec(settings=BUILDING))
    tables = {table.name: table for table in report.tables}
    assert tables["built"].rows == (("m", 2, 1, 3, 1),)
    rows = tables["built_questions"].rows
    assert [row[4] for row in rows] == [1, 2, 3]
    assert rows[0][-3:] == (
        "Necrosis | Fibrosis (old) | Mucin | Fat",
        "B",
        "yes, for its bands",
    )
    assert [one.title for one in report.sections] == ["Questions made"]


CUT = ModelReply("Glands", finish_reason="length")
WITHHELD = ModelReply("", finish_reason="content_filter")
DECLINED = "I'm sorry, but I cannot help with that."


@pytest.mark.statement("E003-15")
@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        ((), "unparsed", "nothing_described"),
        (("",), "unparsed", "no_description"),
        ((CUT,), "truncated", "length"),
        ((WITHHELD,), "refused", "content_filter"),
        ((ModelReply("", refusal="No."),), "refused", "refusal_field"),
        ((DECLINED,), "refused", "declined"),
        (("Glands.",), "unparsed", "nothing_asked"),
        (("Glands.", CUT), "truncated", "length"),
        (("Glands.", DECLINED), "refused", "declined"),
        (("Glands.", "Three: none."), "unparsed", "no_json_list"),
        (("Glands.", reply(entry())), "unparsed", "not_three_questions"),
    ],
)
def test_that_what_makes_no_questions_says_why(
    said: tuple[str | ModelReply, ...], status: str, reason: str
) -> None:
    found = STUDY.parse(turn(*said), PARAMS)
    assert found == Unparsed(Status(status), reason)
    score = STUDY.score(turn(*said), found, PARAMS)
    assert (score.status, score.reason) == (Status(status), reason)
    ended = bool(said) and reason != "nothing_asked"
    assert (STUDY.next_step(turn(*said), PARAMS) is None) == ended


@pytest.mark.statement("E003-15")
def test_that_a_long_description_that_leaves_something_open_is_one() -> None:
    text = "Glands. " * 60 + "I cannot identify the stroma."
    step = STUDY.next_step(turn(text), PARAMS)
    assert step == Step("ask_three")


@pytest.mark.statement("E003-15")
def test_that_what_was_made_is_imported_as_questions(tmp_path: Path) -> None:
    made = [
        result(ITEMS[0], "Glands.", THREE),
        result(ITEMS[0], "Glands.", THREE, model="n"),
        result(ITEMS[1], "Glands.", "none"),
        result(ITEMS[2], "Glands.", "none"),
    ]
    table = as_data_json(made, {item.key: item for item in ITEMS})
    assert list(table) == ["Atlas"]
    (tmp_path / "data.json").write_text(json.dumps(table))
    found = read_dataset("pathmmu", tmp_path, "built")
    assert [one.key for one in found.items] == [
        f"Atlas-train-built-{n}" for n in range(1, 7)
    ]
    assert {one.images for one in found.items} == {("a.png",)}
    assert not [one for one in found.notices if one.kind == "rejected_item"]


@pytest.mark.statement("E003-15")
def test_that_the_price_is_of_both_questions_with_the_largest_image() -> None:
    first, second = STUDY.longest(dataset(ITEMS), PARAMS)
    assert "Glands of" in first.text
    assert len(second.text) > 4000
    assert len(first.images) == len(second.images) == 1
    (told,) = STUDY.notices(PARAMS)
    assert "overread export questions" in told


def test_that_an_option_is_no_made_question() -> None:
    score = STUDY.score(turn(), ChoiceAnswer(1), PARAMS)
    assert score.number("questions") == 0
