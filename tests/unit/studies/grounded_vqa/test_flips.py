"""Flip rates and what shams take off them, on scripted models (Shows 4, M-14)."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.helpers.anatomy_images import ANATOMIES, image
from viewer.domain.answer import Status, Unparsed, YesNoAnswer
from viewer.metrics.cluster_bootstrap import Resampling
from viewer.studies.grounded_vqa.flips import (
    Probed,
    common,
    flip_rate,
    restricted,
    sham_controlled,
)
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Benchmark, Question, build
from viewer.studies.grounded_vqa.relations import Pair, chart
from viewer.studies.grounded_vqa.textual import TextEdit, plan_text_edits
from viewer.studies.grounded_vqa.visual import Arm, ImageEdit, plan_image_edits

YES, NO = YesNoAnswer(yes=True), YesNoAnswer(yes=False)
UNREAD = Unparsed(Status.UNPARSED, "no_yes_or_no")
PARAMS = Params(anatomies=ANATOMIES)
FEW = Resampling(replicates=500)
PAIRS = [(a, f) for a in ANATOMIES for f in ("Pneumonia", "Edema", "Nodule/Mass")]


def benchmark() -> Benchmark:
    rng = np.random.default_rng(5)
    images = []
    for i in range(60):
        pairs = [p for p in PAIRS if rng.random() < 0.25]
        images.append(image(f"i{i:02}", pairs, patient=f"p{i // 2:02}"))
    return build(chart(images, PARAMS), PARAMS, 11)


BENCHMARK = benchmark()
Model = Callable[[str, Pair, bool, bool], YesNoAnswer | Unparsed]
"""Answers about an image (key), a pair, whether anything was edited, and whether the
finding is still there to be seen."""


def grounded(key: str, pair: Pair, edited: bool, there: bool) -> YesNoAnswer:
    del key, pair, edited
    return YesNoAnswer(there)


def no_to_edits(key: str, pair: Pair, edited: bool, there: bool) -> YesNoAnswer:
    del key, pair, there
    return YesNoAnswer(not edited)


def always_yes(key: str, pair: Pair, edited: bool, there: bool) -> YesNoAnswer:
    del key, pair, edited, there
    return YES


def _base(model: Model) -> list[Question]:
    closed = [q for q in BENCHMARK.questions if q.closed]
    return [q for q in closed if q.yes and model(q.image, q.pair, False, True) == YES]


def textual(model: Model) -> list[Probed]:
    base = _base(model)
    plan = plan_text_edits(base, BENCHMARK, PARAMS, 11)

    def reply(edit: TextEdit) -> YesNoAnswer | Unparsed:
        there = (edit.anatomy, edit.finding) in BENCHMARK.chart.related(edit.image)
        return model(edit.image, (edit.anatomy, edit.finding), True, there)

    return [
        Probed(
            *(q.key, q.patient),
            tuple(reply(e) for e in plan.edits if e.of == q.key and not e.sham),
            tuple(reply(e) for e in plan.edits if e.of == q.key and e.sham),
        )
        for q in base
    ]


def visual(model: Model, shams: Sequence[Arm]) -> list[Probed]:
    base = _base(model)
    plan = plan_image_edits(base, BENCHMARK, PARAMS, 11)

    def reply(edit: ImageEdit) -> YesNoAnswer | Unparsed:
        there = edit.arm is not Arm.DONOR
        return model(edit.image, (edit.anatomy, edit.finding), True, there)

    return [
        Probed(
            *(q.key, q.patient),
            tuple(reply(e) for e in plan.edits if e.of == q.key and e.arm is Arm.DONOR),
            tuple(reply(e) for e in plan.edits if e.of == q.key and e.arm in shams),
        )
        for q in base
    ]


@pytest.mark.statement("E002-11")
def test_that_a_model_that_says_no_to_whatever_was_edited_nets_nothing() -> None:
    tests = [
        textual(no_to_edits),
        visual(no_to_edits, [Arm.OWN]),
        visual(no_to_edits, [Arm.SAME]),
        visual(no_to_edits, [Arm.OWN, Arm.SAME]),
    ]
    for tested in tests:
        paper, net = flip_rate(tested), sham_controlled(tested, FEW)
        assert paper.score.value == 1.0
        assert net.items > 30
        assert (net.flip, net.sham, net.net.value) == (1.0, 1.0, 0.0)
        assert net.net.percentile.interval.low == 0.0
        assert net.net.percentile.interval.high == 0.0
        assert net.test.p_value == 1.0


@pytest.mark.statement("E002-11")
def test_that_a_grounded_model_keeps_its_score_after_the_shams() -> None:
    tests = [
        textual(grounded),
        visual(grounded, [Arm.OWN]),
        visual(grounded, [Arm.SAME]),
    ]
    for tested in tests:
        net = sham_controlled(tested, FEW)
        assert net.net.value >= 0.95
        assert net.net.percentile.interval.low >= 0.95
        assert net.sham == 0.0
        assert net.test.p_value < 1e-6


def test_that_a_model_that_always_says_yes_flips_nothing() -> None:
    tested = textual(always_yes)
    rate, net = flip_rate(tested), sham_controlled(tested, FEW)
    assert (rate.flipped, rate.score.value) == (0, 0.0)
    assert net.net.value == 0.0


@pytest.mark.statement("E002-09", "E002-12")
def test_that_the_score_counts_edits_and_tells_its_base() -> None:
    tested = [
        Probed("a", "p1", (NO, YES), (YES,)),
        Probed("b", "p1", (UNREAD,), (NO,)),
        Probed("c", "p2", (), (YES,)),
        Probed("d", "p3", (NO,), ()),
    ]
    rate = flip_rate(tested)
    assert (rate.base, rate.items, rate.excluded) == (4, 3, 1)
    assert (rate.edits, rate.flipped, rate.unread) == (4, 2, 1)
    assert rate.score.value == 0.5
    net = sham_controlled(tested, FEW)
    assert net.items == 2
    assert (net.flip, net.sham) == (0.25, 0.5)
    assert net.net.value == -0.25


@pytest.mark.statement("E002-11")
def test_that_the_interval_draws_patients_with_all_their_items() -> None:
    rng = np.random.default_rng(8)
    tested = [
        Probed(
            *(f"{p}-{i}", f"p{p}"),
            tuple(NO if rng.random() < 0.7 else YES for _ in range(2)),
            (NO if rng.random() < 0.3 else YES,),
        )
        for p in range(12)
        for i in range(int(rng.integers(1, 5)))
    ]
    net = sham_controlled(tested, Resampling(replicates=20_000)).net
    gaps: dict[str, list[float]] = {}
    for one in tested:
        share = sum(r is NO for r in one.edits) / len(one.edits)
        sham = sum(r is NO for r in one.shams) / len(one.shams)
        gaps.setdefault(one.patient, []).append(share - sham)
    patients = list(gaps)
    drawn = []
    for _ in range(20_000):
        sample = [g for p in rng.choice(patients, len(patients)) for g in gaps[p]]
        drawn.append(np.mean(sample))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert net.value == pytest.approx(np.mean([g for of in gaps.values() for g in of]))
    assert net.percentile.interval.low == pytest.approx(low, abs=0.02)
    assert net.percentile.interval.high == pytest.approx(high, abs=0.02)


def test_that_nothing_tested_has_no_score() -> None:
    rate, net = flip_rate([]), sham_controlled([], FEW)
    assert math.isnan(rate.score.value)
    assert math.isnan(net.flip)
    assert math.isnan(net.net.value)
    assert (rate.base, net.items) == (0, 0)


@pytest.mark.statement("E002-12")
def test_that_models_are_compared_on_the_true_positives_they_share() -> None:
    shared = common({"m": ["a", "b", "c"], "n": ["b", "c", "d"]})
    tested = [Probed(key, "p", (NO,), (YES,)) for key in "abc"]
    assert shared == {"b", "c"}
    assert [one.key for one in restricted(tested, shared)] == ["b", "c"]
    assert common({}) == frozenset()
