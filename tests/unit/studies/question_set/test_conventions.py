"""Points and boxes in the convention of the model that answers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.item_datasets import question_set_dataset
from tests.helpers.small_datasets import write_picture
from tests.helpers.tiny_study import prepare_trial
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile, TextPart
from viewer.domain.result import Score
from viewer.domain.run import RunSpec, Trial
from viewer.models.reading import plain_reply
from viewer.readers.datasets.question_set import read
from viewer.services.configuring.study_file import make_spec
from viewer.services.trials.run_context import RunContext
from viewer.store.trials import TrialReply
from viewer.studies.question_set.params import Arm

# the right box is 10, 10 to 30, 40 and the right point 20, 30 of 80 × 60 pixels
BOXES = {
    "grid": '{"box": [125, 166.7, 375, 666.7]}',
    "qwen2_5_vl": '```json\n[{"bbox_2d": [10, 10, 30, 40], "label": "x"}]\n```',
    "qwen3_vl": '[{"bbox_2d": [125, 167, 375, 667], "label": "x"}]',
    "gemini": '[{"box_2d": [167, 125, 667, 375], "label": "x"}]',
    "claude": '{"box": [10, 10, 30, 40]}',
    "xyxy_1000": '{"box": [125, 167, 375, 667]}',
    "internvl": "<ref>x</ref><box>[[125, 167, 375, 667]]</box>",
    "paligemma": "<loc0171><loc0128><loc0683><loc0384> x",
}
POINTS = {
    "grid": '{"point": [250, 500]}',
    "qwen2_5_vl": '[{"point_2d": [20, 30]}]',
    "qwen3_vl": '[{"point_2d": [250, 500]}]',
    "gemini": '[{"point": [500, 250]}]',
    "claude": '{"point": [20, 30]}',
    "molmo": '<point x="25.0" y="50.0" alt="x">x</point>',
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return question_set_dataset(tmp_path_factory.mktemp("d"))


def a_spec(convention: str, **settings: object) -> RunSpec:
    said = {"answer": "", "convention": convention, **settings}
    judge = ModelProfile("judge", "scripted", {"answer": "Yes"})
    return make_spec(
        study="question_set",
        dataset="questions",
        preset="controls",
        seed=3,
        repeats=1,
        models=[ModelProfile("m", "scripted", said)],
        overrides={"judge": "judge"},
        known={"judge": judge},
    )


def context_of(dataset: Dataset, convention: str, **settings: object) -> RunContext:
    return RunContext(a_spec(convention, **settings), dataset)


def trial_of(context: RunContext, kind: str, arm: Arm = Arm.IMAGE) -> Trial:
    planned = context.study.plan(context.dataset, context.spec)
    return next(t for t in planned if (t.view, t.condition.name) == (kind, arm))


def scored(
    context: RunContext, kind: str, text: str, arm: Arm = Arm.IMAGE
) -> tuple[Score, dict[str, float]]:
    turn = context.turn(trial_of(context, kind, arm), [TrialReply(plain_reply(text))])
    score = context.score(turn, context.answer(turn))
    return score, dict(score.numbers)


@pytest.mark.parametrize("convention", BOXES)
def test_that_a_box_is_right_in_the_convention_of_its_model(
    dataset: Dataset, convention: str
) -> None:
    context, text = context_of(dataset, convention), BOXES[convention]
    score, numbers = scored(context, "box", text)
    assert score.status is Status.SCORED_CORRECT
    assert numbers["iou"] == pytest.approx(1, abs=0.03)
    missed, _ = scored(context, "boxes", text)
    assert missed.status is Status.SCORED_WRONG


@pytest.mark.parametrize("convention", POINTS)
def test_that_a_point_is_right_in_the_convention_of_its_model(
    dataset: Dataset, convention: str
) -> None:
    context = context_of(dataset, convention)
    score, numbers = scored(context, "point", POINTS[convention])
    assert score.status is Status.SCORED_CORRECT
    assert numbers["distance_px"] == pytest.approx(0, abs=0.1)


def test_that_pixels_count_on_the_image_as_the_model_saw_it(dataset: Dataset) -> None:
    context = context_of(dataset, "qwen2_5_vl", provider_view="qwen2_5")
    # 80 × 60 is enlarged to 84 × 56, multiples of 28
    score, numbers = scored(
        context, "box", '[{"bbox_2d": [10.5, 9.33, 31.5, 37.33], "label": "x"}]'
    )
    assert score.status is Status.SCORED_CORRECT
    assert numbers["iou"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "text", "status", "reason"),
    [
        ("box", "[]", Status.UNPARSED, "no_box"),
        ("point", "[]", Status.UNPARSED, "no_point"),
        ("point", BOXES["qwen3_vl"], Status.UNPARSED, "no_point"),
        ("box", POINTS["qwen3_vl"], Status.UNPARSED, "no_box"),
        (
            "box",
            '[{"bbox_2d": [1, 1, 3, 4]}, {"bbox_2d": [5, 5, 9, 9]}]',
            Status.AMBIGUOUS,
            "several",
        ),
    ],
)
def test_that_another_place_than_was_asked_for_is_no_answer(
    dataset: Dataset, kind: str, text: str, status: Status, reason: str
) -> None:
    score, _ = scored(context_of(dataset, "qwen3_vl"), kind, text)
    assert (score.status, score.reason) == (status, reason)


def test_that_no_box_answers_a_question_for_boxes(dataset: Dataset) -> None:
    score, numbers = scored(context_of(dataset, "qwen3_vl"), "boxes", "[]")
    assert score.answer == "none"
    assert (numbers["boxes_found"], numbers["boxes_missed"]) == (0, 2)


def test_that_a_model_is_told_to_write_in_its_convention(dataset: Dataset) -> None:
    words = {
        "grid": 'Answer with one box as JSON: {"box": [x0, y0, x1, y1]}, its upper',
        "qwen2_5_vl": '[{"bbox_2d": [x1, y1, x2, y2]}], in pixels of the image.',
        "gemini": '[{"box_2d": [ymin, xmin, ymax, xmax]}], in thousandths of the',
        "paligemma": "What is asked for as box, 4?",
    }
    for convention, wanted in words.items():
        context = context_of(dataset, convention)
        prepared = prepare_trial(context, trial_of(context, "box"))
        (message,) = prepared.request.messages
        text = "".join(p.text for p in message.parts if isinstance(p, TextPart))
        assert wanted in text
        assert text == text.strip()
        hashes = {template for _, template in context.prompts()}
        assert any(wanted in one.replace("{question}", text) for one in hashes)


def test_that_words_of_the_data_set_come_before_those_of_the_model(
    dataset: Dataset,
) -> None:
    items = [
        replace(one, facts={**one.facts, "prompt": "detect {question}"})
        for one in dataset.items
    ]
    context = context_of(replace(dataset, items=tuple(items)), "paligemma")
    prepared = prepare_trial(context, trial_of(context, "box"))
    (message,) = prepared.request.messages
    text = "".join(p.text for p in message.parts if isinstance(p, TextPart))
    assert text.startswith("detect What is asked for")
    assert "box_of_the_data_set" in dict(context.prompts())


def test_that_pixels_of_another_patients_image_count_on_that_image(
    tmp_path: Path,
) -> None:
    pixels = np.zeros((60, 80), dtype=np.uint8)
    write_picture(tmp_path / "a.png", pixels)
    write_picture(tmp_path / "b.png", np.zeros((120, 40), dtype=np.uint8))
    (tmp_path / "q.csv").write_text(
        "item,patient,image,question,answer\n"
        'a,1,a.png,Where?,"[10, 10, 30, 40]"\nb,2,b.png,Where?,"[5, 20, 15, 80]"\n'
    )
    (tmp_path / "question_set.toml").write_text(
        '[columns]\nitem = "item"\npatient = "patient"\nimage = "image"\n'
        'question = "question"\nanswer = "answer"\n[answer]\nkind = "box"\n'
    )
    context = context_of(read(tmp_path, "questions"), "claude")
    # the same parts of the 40 × 120 pixels that were shown
    score, numbers = scored(context, "box", '{"box": [5, 20, 15, 80]}', Arm.OTHER_IMAGE)
    assert score.status is Status.SCORED_CORRECT
    assert numbers["iou"] == pytest.approx(1)
