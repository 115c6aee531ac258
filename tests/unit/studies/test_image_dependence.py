"""The image-dependence card, held against numbers worked out otherwise."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.helpers.by_patient import difference_by_patient
from tests.helpers.simulated import rates_of
from viewer.metrics.pairing import mean_difference
from viewer.results.evaluate import evaluate
from viewer.results.frame import Frame
from viewer.results.records import frame_of_trials
from viewer.results.spec import Key
from viewer.studies.image_dependence import (
    CARD,
    NEEDING,
    SCORED,
    card_figure,
    card_frames,
    mean_scores,
    score_frame,
)

OPTIONS = json.dumps({"options": ["a", "b", "c", "d"], "right": 0})
RIGHT, WRONG, LEFT_OUT = "scored_correct", "scored_wrong", "excluded"
CONTROLS = ("no_image", "noise")
Row = tuple[str, int, str, str, int]
"""Patient, item, condition, status, repeat."""


def frame(rows: Sequence[Row], model: str = "m") -> Frame:
    columns: dict[str, Sequence[object]] = {
        "patient": [f"p{row[0]}" for row in rows],
        "item": [f"{row[0]}-{row[1]}" for row in rows],
        "condition": [row[2] for row in rows],
        "status": [row[3] for row in rows],
        "repeat": [row[4] for row in rows],
    }
    for name in ("image", "finding", "view"):
        columns[name] = [""] * len(rows)
    columns |= {"model": [model] * len(rows), "gold": [OPTIONS] * len(rows)}
    return frame_of_trials(columns, [()] * len(rows))


def drawn(seed: int, patients: int, control: float, most: int = 3) -> list[Row]:
    """Return answers drawn at random, some of them left out."""
    rng, rows = np.random.default_rng(seed), list[Row]()
    for patient in range(patients):
        for item in range(int(rng.integers(1, most + 1))):
            for condition, rate in (("image", 0.8), ("no_image", control)):
                status = RIGHT if rng.random() < rate else WRONG
                left_out = rng.random() < 0.05
                named = (str(patient), item, condition)
                rows.append((*named, LEFT_OUT if left_out else status, 0))
    return rows


def card(rows: Sequence[Row]) -> Mapping[str, Any]:
    made = card_frames(frame(rows), "image", CONTROLS, CONTROLS[:1])
    (row,) = evaluate(CARD, made).records()
    return row


FAILED = "provider_error"


@pytest.mark.statement("X-01", "X-09")
@pytest.mark.parametrize("silent", ["image", "no_image"])
def test_that_there_is_no_difference_to_a_side_whose_requests_all_failed(
    silent: str,
) -> None:
    rows: list[Row] = [
        (str(i), 0, condition, FAILED if condition == silent else RIGHT, 0)
        for i in range(8)
        for condition in ("image", "no_image")
    ]
    row = card(rows)
    assert row["n_failed"] == (8 if silent == "no_image" else 0)
    assert (row["n_pairs"], row["n_items"], row["n_need_image"]) == (0, 0, 0)
    for name in ("with_image", "under_control", "difference", "p"):
        assert row[name] is None, name
    # where one of them got a reply, the failed ones count as wrong
    rows[rows.index(("0", 0, silent, FAILED, 0))] = ("0", 0, silent, RIGHT, 0)
    row = card(rows)
    assert row["n_pairs"] == 8
    assert abs(row["difference"]) == 7 / 8


@pytest.mark.statement("X-09")
def test_that_scores_are_not_compared_with_a_side_whose_requests_all_failed() -> None:
    rows: list[Row] = [
        (str(i), 0, condition, RIGHT if condition == "image" else FAILED, 0)
        for i in range(3)
        for condition in ("image", "no_image")
    ]
    trials = frame(rows).having(
        task=["box"] * 6, score=[1.0, 0.0] * 3, asked=["plain"] * 6
    )
    made = score_frame(trials, "image", CONTROLS, ("task", "asked"))
    assert len(made) == 3
    assert not made.complete("score_with_image")


def pairs_of(rows: Sequence[Row]) -> dict[str, list[int]]:
    """Return by patient what each pair gains with the image: 1, 0 or -1."""
    known = {(r[0], r[1], r[2]): r[3] for r in rows}
    found: dict[str, list[int]] = defaultdict(list)
    for patient, item, condition, status, _ in rows:
        after = known[patient, item, "no_image"]
        if condition == "image" and LEFT_OUT not in (status, after):
            found[patient].append((status == RIGHT) - (after == RIGHT))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_that_interval_and_test_are_those_of_another_implementation(seed: int) -> None:
    rows = drawn(seed, 11, 0.5)
    row, pairs = card(rows), pairs_of(rows)
    sums = np.array([sum(of) for of in pairs.values()])
    n = np.array([len(of) for of in pairs.values()])
    mean = sums.sum() / n.sum()
    assert row["n_pairs"] == n.sum()
    assert row["difference"] == pytest.approx(mean)
    assert row["with_image"] - row["under_control"] == pytest.approx(mean)
    _, *ends = difference_by_patient([*pairs.values()])
    found = row["difference_low"], row["difference_high"]
    assert found == pytest.approx(ends, abs=1e-9)
    far = [
        abs(sums @ signs) >= abs(sums.sum())
        for signs in product((1, -1), repeat=len(n))
    ]
    assert row["p"] == pytest.approx(np.mean(far))


@pytest.mark.statement("X-07")
@pytest.mark.parametrize(
    ("image", "control", "icc"),
    [(0.5, 0.5, 0.0), (0.25, 0.25, 0.2), (0.9, 0.25, 0.0), (0.8, 0.5, 0.2)],
)
def test_that_intervals_hold_the_truth_in_95_of_100_studies_not_in_99(
    image: float, control: float, icc: float
) -> None:
    """A blind model and one that sees, of patients with one to eight questions."""
    rng, held, studies, m = np.random.default_rng(6), 0, 1_000, 300
    for _ in range(studies):
        asked = np.arange(8) < rng.integers(1, 9, (m, 1))
        own = rates_of(rng, image, icc, (m, 1))
        other = own if image == control else rates_of(rng, control, icc, (m, 1))
        right, guessed = (rng.random((m, 8)) < rate for rate in (own, other))
        d = (right.astype(int) - guessed) * asked
        found = mean_difference(d.sum(axis=1), asked.sum(axis=1), (d * d).sum())
        held += found.interval.low <= image - control <= found.interval.high
    assert 0.935 <= held / studies <= 0.965


def test_that_a_blind_model_is_worth_as_much_without_the_image() -> None:
    rows = drawn(1, 20, 0.5)
    same = {(r[0], r[1]): r[3] for r in rows if r[2] == "image"}
    blind = [(*r[:3], same[r[0], r[1]], 0) for r in rows]
    row = card(blind)
    assert row["difference"] == 0
    assert row["with_image"] == row["under_control"] == row["accuracy"]
    assert row["difference_low"] < 0 < row["difference_high"]
    assert row["n_need_image"] == 0
    assert row["p"] == 1


def test_that_a_sighted_model_is_as_chance_is_without_the_image() -> None:
    rows = [
        (
            str(patient),
            item,
            condition,
            RIGHT if sees or patient % 4 == item else WRONG,
            0,
        )
        for patient in range(12)
        for item in range(4)
        for condition, sees in (("image", True), ("no_image", False))
    ]
    row = card(rows)
    assert (row["with_image"], row["accuracy"]) == (1, row["chance"])
    assert row["difference"] == 0.75
    assert (row["n_need_image"], row["n_items"]) == (36, 48)


def test_that_an_item_needs_its_image_in_most_of_its_repeats() -> None:
    rows = [
        ("1", 1, condition, RIGHT if repeat in right else WRONG, repeat)
        for condition, right in (("image", {0, 1}), ("no_image", {2}))
        for repeat in range(3)
    ]
    half = [(*r[:3], r[3] if r[4] else WRONG, r[4]) for r in rows if r[4] < 2]
    more = [
        *(("2", *r[1:]) for r in half),
        ("3", 1, "image", RIGHT, 0),
        ("3", 1, "noise", WRONG, 0),
        ("4", 1, "no_image", WRONG, 0),
        ("5", 1, "image", LEFT_OUT, 0),
        ("5", 1, "no_image", WRONG, 0),
        *(("6", 1, "image", RIGHT, repeat) for repeat in (0, 1)),
        ("6", 1, "no_image", RIGHT, 0),
        ("6", 1, "no_image", WRONG, 1),
    ]
    made = card_frames(frame([*rows, *more]), "image", CONTROLS, CONTROLS[:1])
    found = evaluate(NEEDING, made)
    assert [row[1:3] for row in found.rows] == [("no_image", "1-1")]
    by_control = {row["control"]: row for row in evaluate(CARD, made).records()}
    assert (by_control["noise"]["n_need_image"], by_control["noise"]["n_pairs"]) == (
        1,
        1,
    )
    assert by_control["no_image"]["n_planned"] == 9
    assert by_control["no_image"]["n_pairs"] == 7


def test_that_the_figure_has_a_bar_for_each_condition_with_its_interval() -> None:
    trials = frame(drawn(2, 15, 0.4))
    figure = card_figure(trials, ("image", *CONTROLS), "Figure 1", str.upper)
    assert figure is not None
    (panel,) = figure.panels
    assert panel.groups == ("IMAGE", "NO_IMAGE")
    (series,) = panel.series
    assert all(
        limits[0] < value < limits[1]
        for limits, value in zip(series.limits, series.values, strict=True)
        if limits and value is not None
    )
    assert panel.baselines == ((0.25, 0.25),)
    alone = trials.where({"condition": ("image",)})
    assert card_figure(alone, ("image", *CONTROLS), "", str) is None


def test_that_a_model_that_was_not_asked_has_no_bar() -> None:
    rows = drawn(3, 6, 0.4)
    one, other = (frame(rows, name) for name in ("one", "other"))
    other = other.where({"condition": ("image",)})
    columns = {n: [*one[n], *other[n]] for n in one.columns if n in _GIVEN}
    both = frame_of_trials(columns, [()] * len(columns["item"]))
    figure = card_figure(both, ("image", *CONTROLS), "", str)
    assert figure is not None
    assert [series.values[1] is None for series in figure.panels[0].series] == [0, 1]


_GIVEN = frozenset(
    {
        *("item", "patient", "image", "finding", "view", "condition", "repeat"),
        *("model", "status", "gold"),
    }
)


def test_that_mean_scores_have_the_interval_of_their_share_of_the_most() -> None:
    rows = [row for row in drawn(5, 14, 0.4) if row[3] != LEFT_OUT]
    trials = frame(rows)
    scores = [5.0 if row[3] == RIGHT else 2.0 for row in rows]
    tasks = ["ddx"] * len(rows)
    scored = trials.having(score=scores, task=tasks)
    found = score_frame(scored, "image", CONTROLS, ("task",))
    spec = mean_scores((Key("task"),), ("task",), (0, 5))
    (row,) = evaluate(spec, {SCORED: found}).records()
    pairs = list(pairs_of_scores(rows).values())
    both = [one for of in pairs for one in of]
    assert row["n_pairs"] == len(both)
    assert row["difference"] == pytest.approx(np.mean(both))
    assert row["with_image"] - row["under_control"] == pytest.approx(np.mean(both))
    squares = sum((one / 5) ** 2 for one in both)
    totals = [sum(of) / 5 for of in pairs]
    shares = mean_difference(totals, [*map(len, pairs)], squares)
    assert row["difference_low"] == pytest.approx(5 * shares.interval.low)
    assert row["difference_high"] == pytest.approx(5 * shares.interval.high)
    assert "scores -5 to 5" in row["difference_method"]


def pairs_of_scores(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Return by patient how much higher each pair scores with the image."""
    known = {(r[0], r[1], r[2]): 5.0 if r[3] == RIGHT else 2.0 for r in rows}
    found: dict[str, list[float]] = defaultdict(list)
    for (patient, item, condition), score in known.items():
        after = known.get((patient, item, "no_image"))
        if condition == "image" and after is not None:
            found[patient].append(score - after)
    return found
