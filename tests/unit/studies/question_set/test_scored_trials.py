"""The score from 0 to 1 of answers that are more than right or wrong, or judged."""

import json
from math import isnan

import pytest

from viewer.domain.answer import Status
from viewer.domain.result import Score, TrialResult
from viewer.studies.image_dependence import scores_figure
from viewer.studies.question_set.frames import scored_trials

JUDGED = json.dumps({"text": "Pleura", "match": "judged"})
RIGHT, WRONG, UNREAD = Status.SCORED_CORRECT, Status.SCORED_WRONG, Status.UNPARSED


def trial(
    kind: str,
    status: Status = RIGHT,
    numbers: tuple[tuple[str, float], ...] = (),
    reason: str = "",
    gold: str = "",
    patient: str = "p",
    condition: str = "image",
) -> TrialResult:
    return TrialResult(
        item=f"{patient}-{kind}",
        patient=patient,
        image="i",
        finding="",
        view=kind,
        condition=condition,
        repeat=0,
        model="m",
        score=Score(status, reason, numbers=numbers),
        gold=gold,
        request_sha256="",
    )


def scores(*trials: TrialResult) -> list[float | None]:
    found = scored_trials(trials)["score"]
    return [None if score is None or isnan(score) else score for score in found]


def test_that_a_box_scores_its_overlap_and_an_unreadable_one_nothing() -> None:
    read = trial("box", WRONG, (("iou", 0.4),))
    assert scores(read, trial("box", UNREAD)) == [0.4, 0.0]


def test_that_boxes_score_the_f1_of_those_found() -> None:
    counts = (("boxes_found", 2.0), ("boxes_extra", 1.0), ("boxes_missed", 0.0))
    none = tuple((name, 0.0) for name, _ in counts)
    rows = (trial("boxes", WRONG, counts), trial("boxes", RIGHT, none))
    assert scores(*rows) == [pytest.approx(4 / 5), 1.0]


def test_that_words_score_only_where_a_judge_has_a_verdict() -> None:
    rows = (
        trial("text", RIGHT, gold=JUDGED),
        trial("text", WRONG, gold=JUDGED),
        trial("text", UNREAD, reason="judge_unparsed", gold=JUDGED),
        trial("text", RIGHT, gold=json.dumps({"text": "Pleura", "match": "exact"})),
    )
    assert scores(*rows) == [1.0, 0.0, None, None]


def test_that_a_kind_that_is_not_measured_has_no_score() -> None:
    assert scores(trial("box"), trial("choice"), trial("yes_no", WRONG)) == [None] * 3


def test_that_a_figure_has_the_mean_of_each_condition_with_its_interval() -> None:
    given = {"image": (0.9, 0.8, 0.7, 1.0), "no_image": (0.0, 0.1, 0.0, 0.1)}
    rows = [
        trial("box", WRONG, (("iou", iou),), patient=f"p{i}", condition=condition)
        for condition, values in given.items()
        for i, iou in enumerate(values)
    ]
    tasks = {"text": "Words", "box": "Box"}
    figure = scores_figure(
        scored_trials(rows), ("image", "no_image", "noise"), str, tasks
    )
    assert figure
    (panel,) = figure.panels
    (bars,) = panel.series
    assert (panel.title, panel.groups) == ("Box", ("image", "no_image"))
    assert list(bars.values) == pytest.approx([0.85, 0.05])
    assert bars.counts == (4, 4)
    for rate, interval in zip(bars.values, bars.limits, strict=True):
        assert rate is not None
        assert interval is not None
        assert 0 <= interval[0] < rate < interval[1] <= 1


def test_that_one_condition_alone_makes_no_figure() -> None:
    rows = [trial("box", WRONG, (("iou", 0.5),))]
    assert scores_figure(scored_trials(rows), ("image", "noise"), str, {}) is None
