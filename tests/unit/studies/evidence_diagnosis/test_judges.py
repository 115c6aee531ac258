"""Several judges of one answer: their scores, which counts, and how they agree."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.evidence_cases import random_rows, reply
from tests.unit.studies.evidence_diagnosis.turns import asking, turn_of
from viewer.domain.answer import Status, Unparsed
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.run import Step
from viewer.results.evaluate import evaluate
from viewer.studies.evidence_diagnosis.frames import judge_frames
from viewer.studies.evidence_diagnosis.judge_tables import (
    AGREEMENT_OF_JUDGES,
    BY_JUDGE,
    judge_spec,
)
from viewer.studies.evidence_diagnosis.params import (
    Decision,
    Params,
    Task,
    read_params,
)
from viewer.studies.evidence_diagnosis.parse import DDX_LEVELS, Judged, majority
from viewer.studies.evidence_diagnosis.rows import Row
from viewer.studies.evidence_diagnosis.study import STUDY

RNG = np.random.default_rng(19)
LIST = reply("1. Lymphoma\n2. Sarcoidosis")
DDX = Step("differential")
TWO = Params(tasks=("ddx",), judge="a", second_judge="b")
THREE = replace(TWO, third_judge="c", decided_by=Decision.MAJORITY)
FIRST, SECOND, THIRD = (
    Step(role, role) for role in ("judge", "second_judge", "third_judge")
)


def scored(score: int) -> ModelReply:
    return reply(f"Score: {score}\nRationale: Near.")


def test_that_one_judge_is_asked_after_the_other_and_asked_again_alone() -> None:
    odd, again = reply("Fine."), replace(SECOND, again=1)
    sofar = [(DDX, LIST), (FIRST, scored(4))]
    steps = [
        asking(Task.DDX, TWO, replies).next_step()
        for replies in (
            sofar[:1],
            sofar,
            [*sofar, (SECOND, odd)],
            [*sofar, (SECOND, odd), (again, odd)],
            [*sofar, (SECOND, scored(0))],
        )
    ]
    assert steps == [FIRST, SECOND, again, None, None]


@pytest.mark.parametrize(
    ("scores", "decision", "counts"),
    [
        ((5, 0, 0), Decision.FIRST, 5),
        ((5, 0, 0), Decision.MAJORITY, 0),
        ((5, 4, 0), Decision.MAJORITY, 4),
        ((2, 5, 5), Decision.MAJORITY, 5),
    ],
)
def test_that_the_first_judge_or_more_than_half_of_them_decide(
    scores: Sequence[int], decision: Decision, counts: int
) -> None:
    params = replace(THREE, decided_by=decision)
    said = zip((FIRST, SECOND, THIRD), map(scored, scores), strict=True)
    turn = turn_of(Task.DDX, [(DDX, LIST), *said])
    score = STUDY.score(turn, STUDY.parse(turn, params), params)
    assert score.number("judge") == counts
    assert [score.number(f"judge_{n}") for n in (1, 2, 3)] == [*scores]
    right = score.status is Status.SCORED_CORRECT
    assert right == (counts >= 4)


def test_that_of_two_judges_a_majority_is_both() -> None:
    both = [Judged(5, "Yes."), Judged(3, "Near.")]
    assert majority(both, DDX_LEVELS) == Judged(3, "")
    unread = Unparsed(Status.UNPARSED, "no_score_and_rationale")
    assert isinstance(majority([both[0], unread], DDX_LEVELS), Unparsed)
    assert majority([both[0], unread, both[1]], DDX_LEVELS) == Judged(3, "")


def test_that_a_single_judge_leaves_its_numbers_as_they_were() -> None:
    turn = turn_of(Task.DDX, [(DDX, LIST), (FIRST, scored(4))])
    params = replace(TWO, second_judge="")
    score = STUDY.score(turn, STUDY.parse(turn, params), params)
    assert [name for name, _ in score.numbers if name.startswith("judge")] == ["judge"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"second_judge": "b"}, "'b' is to judge besides a first judge"),
        ({"judge": "b", "third_judge": "b"}, "named as judge twice"),
    ],
)
def test_that_judges_are_different_and_begin_with_the_first(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(WrongUseError, match=sentence):
        read_params("medsyn2026", settings)


def several(rows: Sequence[Row]) -> list[Row]:
    """Return answers with two judges' scores, who agree more often than not."""
    scores = [0, 2, 3, 4, 5]
    found = []
    for row in rows:
        first, second = (float(x) for x in RNG.choice(scores, 2))
        same = first if RNG.random() < 0.6 else second
        found.append(replace(row, judge=first, judges=(first, same, None)))
    return found


ROWS = several(random_rows(19))
COUNTED = [
    row
    for row in ROWS
    if row.task is Task.DDX
    and row.showing.name == "raw"
    and row.status not in {Status.EXCLUDED, Status.PENDING}
]


def test_that_the_agreement_of_two_judges_is_that_of_scikit_learn() -> None:
    table = evaluate(AGREEMENT_OF_JUDGES, judge_frames(ROWS, TWO))
    line = next(x for x in table.records() if (x["task"], x["model"]) == _ALL)
    one, other = ([float(row.judges[i] or 0) for row in COUNTED] for i in (0, 1))
    assert (line["first"], line["second"], line["n"]) == ("a", "b", len(COUNTED))
    weighted = cohen_kappa_score(one, other, labels=range(6), weights="quadratic")
    covers = [[score >= 4 for score in of] for of in (one, other)]
    assert line["kappa_quadratic"] == pytest.approx(weighted, abs=1e-12)
    assert line["kappa"] == pytest.approx(cohen_kappa_score(*covers), abs=1e-12)
    assert line["same_score"] == pytest.approx(np.mean(np.equal(one, other)))
    assert line["same_verdict"] == pytest.approx(
        np.mean(np.equal(covers[0], covers[1]))
    )
    for name in ("kappa_quadratic", "kappa", "same_score", "same_verdict"):
        assert line[f"{name}_low"] < line[name] < line[f"{name}_high"]


_ALL = ("ddx", "All answers")


def test_that_each_judge_has_its_own_coverage_of_the_same_answers() -> None:
    table = evaluate(BY_JUDGE, judge_frames(ROWS, TWO))
    for line in table.records():
        own = [row for row in COUNTED if row.model == line["model"]]
        if line["task"] != "ddx":
            continue
        place = ("a", "b").index(line["judge"])
        covers = [(row.judges[place] or 0) >= 4 for row in own]
        assert (line["k"], line["n"]) == (sum(covers), len(own))
        if len({row.case.key for row in own}) == len(own):
            ends = proportion_confint(sum(covers), len(own), method="beta")
            found = line["coverage_low"], line["coverage_high"]
            assert found == pytest.approx(ends, abs=1e-9)


def test_that_one_judge_agrees_with_nobody() -> None:
    frames = judge_frames(ROWS, replace(TWO, second_judge=""))
    assert evaluate(AGREEMENT_OF_JUDGES, frames).rows == ()
    assert evaluate(BY_JUDGE, frames).rows == ()


def test_that_the_page_says_whose_score_counts() -> None:
    one, other = (ModelProfile(name, "scripted", {"answer": ""}) for name in "ab")
    spec = judge_spec(one, other, decided_by=Decision.MAJORITY)
    assert "The judges are a (scripted), b (scripted);" in spec.text
    assert "the lower median of their scores counts" in spec.text
