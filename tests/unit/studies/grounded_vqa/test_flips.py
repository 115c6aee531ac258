"""Flip rates and what shams take off them, on scripted models (Shows 4, M-14)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.by_patient import difference_by_patient
from tests.helpers.heal_trials import (
    ANATOMIES,
    NO,
    UNREAD,
    YES,
    YesNo,
    closed,
    heal_rows,
    image,
    probed,
    unsaid,
)
from tests.helpers.tabled import Row
from viewer.domain.answer import Status, YesNoAnswer
from viewer.domain.item import TASK_MARK
from viewer.domain.result import Score, TrialResult
from viewer.studies.grounded_vqa.arms import TEXT_SHAM
from viewer.studies.grounded_vqa.params import Params
from viewer.studies.grounded_vqa.questions import Benchmark, build
from viewer.studies.grounded_vqa.relations import Pair, chart
from viewer.studies.grounded_vqa.textual import TextEdit, plan_text_edits
from viewer.studies.grounded_vqa.visual import Arm, ImageEdit, plan_image_edits

PARAMS = Params(anatomies=ANATOMIES)
PAIRS = [(a, f) for a in ANATOMIES for f in ("Pneumonia", "Edema", "Nodule/Mass")]
TEXTUAL = ("TPT anatomy", "TPT disease")
VISUAL = ("VPT", "VPT, own region")


def benchmark() -> Benchmark:
    rng = np.random.default_rng(5)
    images = []
    for i in range(60):
        pairs = [p for p in PAIRS if rng.random() < 0.25]
        images.append(image(f"i{i:02}", pairs, patient=f"p{i // 2:02}"))
    return build(chart(images, PARAMS), PARAMS, 11)


BENCHMARK = benchmark()
Model = Callable[[str, Pair, bool, bool], YesNo]
"""Answers about an image (key), a pair, whether anything was edited, and whether the
finding is still there to be seen."""


def grounded(key: str, pair: Pair, edited: bool, there: bool) -> YesNo:
    del key, pair, edited
    return YesNoAnswer(there)


def no_to_edits(key: str, pair: Pair, edited: bool, there: bool) -> YesNo:
    del key, pair, there
    return YesNoAnswer(not edited)


def by_words(key: str, pair: Pair, edited: bool, there: bool) -> YesNo:
    del key, edited, there
    return YesNoAnswer(pair[1] == "Edema" or pair[0] == ANATOMIES[0])


def always_yes(key: str, pair: Pair, edited: bool, there: bool) -> YesNo:
    del key, pair, edited, there
    return YES


def asked(model: Model) -> list[TrialResult]:
    """Return a model's positive questions, and what it answers to edits of them."""
    plain = [q for q in BENCHMARK.questions if q.yes]
    found = [
        closed(
            q.key,
            model(q.image, q.pair, False, True),
            patient=q.patient,
            words=(*q.pair, q.template),
        )
        for q in plain
    ]
    said = {one.item: one.said for one in found}
    base = {q.key: q for q in plain if said[q.key] == YES}
    edits: list[TextEdit | ImageEdit] = [
        *plan_text_edits(base.values(), BENCHMARK, PARAMS, 11).edits,
        *plan_image_edits(list(base.values()), BENCHMARK, PARAMS, 11).edits,
    ]
    for number, edit in enumerate(edits):
        pair = (edit.anatomy, edit.finding)
        template = edit.template if isinstance(edit, TextEdit) else 0
        reply = model(edit.image, pair, True, _is_there(edit))
        found.append(
            closed(
                f"{edit.of}{TASK_MARK}{number}",
                reply,
                condition=_condition(edit),
                patient=base[edit.of].patient,
                words=(*pair, template),
            )
        )
    return found


def _condition(edit: TextEdit | ImageEdit) -> str:
    if isinstance(edit, ImageEdit):
        return edit.arm.value
    return f"tpt-{edit.swapped.value}" if edit.swapped else TEXT_SHAM


def _is_there(edit: TextEdit | ImageEdit) -> bool:
    if isinstance(edit, ImageEdit):
        return edit.arm is not Arm.DONOR
    return (edit.anatomy, edit.finding) in BENCHMARK.chart.related(edit.image)


def by_test(name: str, results: Sequence[TrialResult]) -> dict[str, Row]:
    return {row["test"]: row for row in heal_rows(name, results)}


@pytest.mark.statement("E002-11")
def test_that_a_model_that_says_no_to_whatever_was_edited_nets_nothing() -> None:
    results = asked(no_to_edits)
    paper = by_test("table_3_textual", results) | by_test("table_4_visual", results)
    assert {name: row["score"] for name, row in paper.items()} == dict.fromkeys(
        (*TEXTUAL, "VPT"), 1.0
    )
    controlled = by_test("sham_control", results)
    assert tuple(controlled) == VISUAL
    for net in controlled.values():
        assert net["n_items"] > 30
        assert (net["flip"], net["sham_flip"], net["net"]) == (1.0, 1.0, 0.0)
        assert net["net_low"] == pytest.approx(-float(str(net["net_high"])))
        assert net["net_low"] < 0.0
        assert net["p_value"] == 1.0


@pytest.mark.statement("E002-09", "X-09")
def test_that_a_model_that_answers_from_the_words_nets_nothing_in_tpt() -> None:
    results = asked(by_words)
    for row in by_test("table_3_textual", results).values():
        assert row["n_compared"] > 20
        assert row["denied"] == row["word_prior"] > 0.2
        assert row["net"] == 0.0
        assert row["net_low"] == -row["net_high"] < 0.0


@pytest.mark.statement("E002-09", "E002-11")
def test_that_a_grounded_model_keeps_its_score_after_the_controls() -> None:
    results = asked(grounded)
    for net in by_test("sham_control", results).values():
        assert net["net"] >= 0.95
        assert net["net_low"] >= 0.65
        assert net["sham_flip"] == 0.0
        assert net["p_value"] < 1e-6
    for row in by_test("table_3_textual", results).values():
        assert (row["word_prior"], row["net"]) == (0.0, 1.0)
        assert 0.6 <= row["net_low"] < row["net_high"] == 1.0
        assert row["net_method"] == "jackknife by patient, 95 %"


@pytest.mark.statement("E002-09", "X-08")
def test_that_words_nobody_else_was_asked_are_not_estimable() -> None:
    words = ("Heart", "Mass", 0)
    own = [
        closed("a", YES, patient="p", words=("Heart", "Edema", 0)),
        closed("a|1", NO, patient="p", condition="tpt-disease", words=words),
    ]
    others = {
        "another wording": closed("b", NO, patient="q", words=("Heart", "Mass", 1)),
        "the same patient": closed("b", NO, patient="p", words=words),
        "not there": closed("b", NO, patient="q", words=words, yes=False),
        "another model": closed("b", NO, patient="q", words=words, model="n"),
        "no answer": closed("b", UNREAD, patient="q", words=words),
    }
    for other in others.values():
        row = by_test("table_3_textual", [*own, other])["TPT disease"]
        assert (row["score"], row["n_compared"], row["net"]) == (1.0, 0, None)
        assert row["net_method"] == (
            "not estimable: the same words were asked of no other patient who has it, "
            "95 %"
        )
    right = closed("b", NO, patient="q", words=words)
    row = by_test("table_3_textual", [*own, right])["TPT disease"]
    assert (row["n_compared"], row["word_prior"], row["net"]) == (1, 1.0, 0.0)
    assert row["net_low"] is None
    assert row["net_method"] == (
        "not estimable: without one of the patients nothing is left to compare, 95 %"
    )


def test_that_a_model_that_always_says_yes_flips_nothing() -> None:
    results = asked(always_yes)
    for row in by_test("table_3_textual", results).values():
        assert (row["n_flipped"], row["score"], row["net"]) == (0, 0.0, 0.0)
    assert {n["net"] for n in by_test("sham_control", results).values()} == {0.0}


@pytest.mark.statement("E002-11", "X-09")
def test_that_a_model_that_says_no_to_any_foreign_paste_nets_nothing() -> None:
    """5,000 items: its own region pasted back is no foreign one."""
    donor, own, same = (arm.value for arm in (Arm.DONOR, Arm.OWN, Arm.SAME))
    results = [
        one
        for i in range(5_000)
        for one in probed(
            f"q{i}", f"p{i // 3}", {donor: (NO,), own: (YES,), same: (NO,)}
        )
    ]
    nets = by_test("sham_control", results)
    assert (nets["VPT"]["flip"], nets["VPT"]["net"]) == (1.0, 0.0)
    assert nets["VPT, own region"]["net"] == 1.0


@pytest.mark.statement("E002-09", "E002-12")
def test_that_the_score_counts_edits_and_tells_its_base() -> None:
    results = [
        *probed("a", "p1", {"tpt-anatomy": (NO, YES), TEXT_SHAM: (YES,)}),
        *probed("b", "p1", {"tpt-anatomy": (UNREAD,), TEXT_SHAM: (NO,)}),
        *probed("c", "p2", {"tpt-anatomy": (), TEXT_SHAM: (YES,)}),
        *probed("d", "p3", {"tpt-anatomy": (NO,), TEXT_SHAM: ()}),
    ]
    (rate,) = heal_rows("table_3_textual", results)
    assert (rate["n_true_positives"], rate["n_without_edit"]) == (4, 1)
    assert (rate["n_edits"], rate["n_flipped"], rate["n_unread"]) == (4, 2, 1)
    assert rate["score"] == 0.5
    assert rate["other_words"] == pytest.approx(1 / 3)


@pytest.mark.statement("E002-11")
@pytest.mark.statement("E002-11", "X-09")
@pytest.mark.parametrize("silent", ["vpt", "vpt-sham-same"])
def test_that_nothing_is_taken_off_where_every_request_of_a_side_failed(
    silent: str,
) -> None:
    other = "vpt" if silent == "vpt-sham-same" else "vpt-sham-same"
    results = [
        one
        for i in range(4)
        for one in (
            *probed(f"q{i}", f"p{i}", {other: (NO,)}),
            unsaid(f"q{i}{TASK_MARK}0", silent, Status.PROVIDER_ERROR),
        )
    ]
    (net,) = heal_rows("sham_control", results)
    assert (net["n_items"], net["net"], net["p_value"]) == (0, None, None)
    answered = replace(results[-1], score=Score(Status.SCORED_WRONG), said=NO)
    (net,) = heal_rows("sham_control", [*results[:-1], answered])
    assert net["n_items"] == 4
    assert abs(net["net"]) == 3 / 4  # the other three failed, and count as no No


def test_that_shams_are_taken_off_where_both_were_asked() -> None:
    results = [
        *probed("a", "p1", {"vpt": (NO, YES), "vpt-sham-same": (YES,)}),
        *probed("b", "p1", {"vpt": (UNREAD,), "vpt-sham-same": (NO,)}),
        *probed("c", "p2", {"vpt": (), "vpt-sham-same": (YES,)}),
        *probed("d", "p3", {"vpt": (NO,), "vpt-sham-same": ()}),
    ]
    (net,) = heal_rows("sham_control", results)
    assert net["n_items"] == 2
    assert (net["flip"], net["sham_flip"]) == (0.25, 0.5)
    assert net["net"] == -0.25


@pytest.mark.statement("E002-11", "X-07")
def test_that_the_interval_is_by_patient_with_all_their_items() -> None:
    rng = np.random.default_rng(8)
    tested = [
        (
            f"p{p}",
            tuple(NO if rng.random() < 0.7 else YES for _ in range(2)),
            (NO if rng.random() < 0.3 else YES,),
        )
        for p in range(12)
        for i in range(int(rng.integers(1, 5)))
    ]
    results: list[TrialResult] = []
    gaps: dict[str, list[float]] = {}
    for i, (patient, edits, shams) in enumerate(tested):
        results += probed(f"q{i}", patient, {"vpt": edits, "vpt-sham-same": shams})
        share = sum(r is NO for r in edits) / len(edits)
        sham = sum(r is NO for r in shams) / len(shams)
        gaps.setdefault(patient, []).append(share - sham)
    net = heal_rows("sham_control", results)[0]
    value, low, high = difference_by_patient(list(gaps.values()))
    assert net["n_items"] == len(tested)
    assert net["net"] == pytest.approx(value)
    assert (net["net_low"], net["net_high"]) == pytest.approx((low, high))
    assert net["method"] == "Clopper-Pearson by patient, of differences, 95 %"


def test_that_nothing_tested_has_no_score() -> None:
    results = [
        unsaid(f"a{number}", condition, Status.PENDING)
        for number, condition in enumerate(("tpt-anatomy", "vpt", "vpt-sham-same"))
    ]
    (rate,) = heal_rows("table_3_textual", results)
    (net,) = heal_rows("sham_control", results)
    assert (rate["n_true_positives"], rate["score"]) == (0, None)
    assert (rate["n_compared"], rate["net_method"]) == (0, "no trial, 95 %")
    assert (net["n_items"], net["flip"], net["net"]) == (0, None, None)
    assert heal_rows("table_3_textual", []) == heal_rows("sham_control", []) == []


@pytest.mark.statement("E002-12")
def test_that_models_are_compared_on_the_true_positives_they_share() -> None:
    replies = {"vpt": (NO,), "vpt-sham-same": (YES,), "tpt-anatomy": (NO,)}
    alone = [r for key in "abc" for r in probed(key, "p", replies, "m")]
    other = [r for key in "bcd" for r in probed(key, "p", replies, "n")]
    found = heal_rows("common_true_positives", [*alone, *other])
    assert [(row["model"], row["n_items"]) for row in found] == [("m", 2), ("n", 2)]
    every = heal_rows("sham_control", [*alone, *other])
    assert [row["n_items"] for row in every] == [3, 3]
    for table, n in (("table_3_textual", 3), ("common_textual", 2)):
        there = [
            closed("there", YES, condition="plain", model=model, patient="r", words="w")
            for model in "mn"
        ]
        worded = [
            replace(one, gold=there[0].gold) if "tpt" in one.condition else one
            for one in (*alone, *other, *there)
        ]
        assert [row["n_compared"] for row in heal_rows(table, worded)] == [n, n]
    assert heal_rows("common_true_positives", alone) == []
    assert heal_rows("common_true_positives", []) == []
