"""Every estimator against scikit-learn, SciPy, statsmodels, NumPy or brute force."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from tests.helpers.by_patient import difference_by_patient, ends_of
from tests.helpers.tabled import estimate
from viewer.metrics.proportions import macro_interval, patient_interval
from viewer.results.estimators import Seen, registry
from viewer.results.estimators.rates import UNEQUAL
from viewer.results.frame import Frame, frame_of

SHARES = ("edit", "sham")
Columns = Mapping[str, Sequence[Any]]


def test_that_an_estimator_is_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "ESTIMATORS", {})

    @registry.estimator("first")
    def first(seen: Seen) -> tuple[object, ...]:
        return (seen.values()[0],)

    assert dict(registry.ESTIMATORS) == {"first": first}
    assert first(Seen(frame_of({"a": [None, 7]}), None, ("a",), {})) == (7,)


def test_that_rows_are_counted_and_summed_in_their_order() -> None:
    assert estimate("size", {"a": [1, 2, 3]}) == (3,)
    assert estimate("size", {"a": []}) == estimate("sum", {"a": []}) == (0,)
    assert estimate("sum", {"a": [True, False, True]}) == (2,)
    assert estimate("sum", {"a": [1.5, None, 2.0]}) == (3.5,)
    assert estimate("sum", {"a": [1e16, 1.0, -1e16]}) == (1e16 + 1.0 - 1e16,)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 9))))
def test_that_a_rate_has_an_interval_by_patient(
    rows: list[tuple[bool, int, int]],
) -> None:
    columns: Columns = {
        "correct": [right for right, _, _ in rows],
        "patient": [patient for _, patient, _ in rows],
        "item": [item for _, _, item in rows],
    }
    hits, trials = Counter(p for r, p, _ in rows if r), Counter(p for _, p, _ in rows)
    items = {item for _, _, item in rows}
    wanted = patient_interval(
        [hits[patient] for patient in trials], [*trials.values()], len(items)
    )
    k, n, value, *ends, method = estimate("rate", columns)
    assert (k, n) == (sum(columns["correct"]), len(rows))
    assert (value, *ends) == pytest.approx(
        (wanted.value, wanted.interval.low, wanted.interval.high), nan_ok=True
    )
    assert method == wanted.method
    assert estimate("interval", columns)[2] == method
    alone = estimate("rate", columns, of=("correct",))
    assert alone == pytest.approx((k, n, value), nan_ok=True)


@given(st.lists(st.tuples(*3 * [st.integers(0, 4)]), max_size=9))
def test_that_a_pooled_rate_is_one_of_sums(parts: list[tuple[int, int, int]]) -> None:
    columns: Columns = {
        "hits": [hit for hit, _, _ in parts],
        "tries": [hit + miss for hit, miss, _ in parts],
        "patient": [patient for _, _, patient in parts],
        "item": range(len(parts)),
    }
    k, n = Counter[int](), Counter[int]()
    for hit, miss, patient in parts:
        k[patient] += hit
        n[patient] += hit + miss
    tried = sum(hit + miss > 0 for hit, miss, _ in parts)
    wanted = patient_interval([k[one] for one in n], [*n.values()], tried)
    value, *ends, method = estimate("pooled rate", columns)
    assert (value, *ends) == pytest.approx(
        (wanted.value, wanted.interval.low, wanted.interval.high), nan_ok=True
    )
    assert method == wanted.method


def test_that_a_mean_of_pooled_rates_needs_all_of_them() -> None:
    columns = {
        "hits": [1, 0, 3, 5],
        "tries": [2, 2, 3, 5],
        "test": ["a", "a", "b", "c"],
    }
    both: dict[str, Any] = {"of": ("hits", "tries"), "by": "test"}
    assert estimate("mean of pooled rates", columns, **both, among=("a", "b")) == (
        (1 / 4 + 3 / 3) / 2,
    )
    (none,) = estimate("mean of pooled rates", columns, **both, among=("a", "z"))
    assert isnan(none)


def test_that_nothing_has_no_rate() -> None:
    assert estimate("rate", {"correct": []})[:2] == (0, 0)
    empty = [
        *estimate("rate", {"correct": []})[2:],
        *estimate("share", {"correct": []}),
        *estimate("mean", {"cost": []}),
        *estimate("mean", {"cost": [None, nan]}),
        *estimate("largest", {"cost": []}),
        *estimate("f1", {"found": [], "true": []}),
    ]
    assert all(map(isnan, empty))


def test_that_a_part_is_of_the_rows_it_is_held_against() -> None:
    own, others = frame_of({"a": [1]}), frame_of({"a": [1, 2, 3, 4]})
    assert estimate("part", own, others) == (0.25,)
    assert isnan(estimate("part", own, others.take(()))[0])
    assert isnan(estimate("part", own)[0])


@pytest.mark.statement("E002-13")
@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**11)),
        min_size=1,
        max_size=50,
    )
)
def test_that_a_hundred_items_cost_what_their_mean_says(
    answers: list[tuple[int, int]],
) -> None:
    latencies, peaks = map(list, zip(*answers, strict=True))
    seconds = [latency / 10 for latency in latencies]
    (found,) = estimate("mean", {"seconds_per_100": seconds})
    assert found == pytest.approx(np.mean(latencies) / 10, abs=1e-9, rel=1e-12)
    assert estimate("largest", {"peak": peaks}) == (np.max(peaks),)


def test_that_the_largest_is_not_told_unless_every_row_tells_its_own() -> None:
    assert isnan(estimate("largest", {"peak": [1.0, None]})[0])
    assert isnan(estimate("largest", {"peak": [None, None]})[0])
    assert estimate("largest", {"peak": [1.0, 3.0, 2.0]}) == (3.0,)


def test_that_means_are_of_each_column_s_own_rows() -> None:
    columns = {"a": [1.0, None, 3.0], "b": [0.5, 0.25, None]}
    assert estimate("mean", columns) == (2.0, 0.375)


def _labelled(rng: np.random.Generator, names: list[str]) -> Columns:
    n = int(rng.integers(1, 10))

    def draw() -> list[tuple[str, ...]]:
        return [tuple(x for x in names if rng.random() < 0.4) for _ in range(n)]

    return {"found": draw(), "true": draw()}


@pytest.mark.statement("E002-07")
def test_that_f1_agrees_with_scikit_learn_whatever_labels_count() -> None:
    rng = np.random.default_rng(3)
    names = list("abcd")
    for _ in range(30):
        columns = _labelled(rng, names)
        only = tuple(x for x in names if rng.random() < 0.7) or ("a",)
        drop = tuple(x for x in names if rng.random() < 0.3)
        counted = [x for x in only if x not in drop]
        binarizer = MultiLabelBinarizer(classes=names)
        true = binarizer.fit_transform(columns["true"])
        found = binarizer.transform(columns["found"])
        ours = estimate("f1", columns, only=only, drop=drop)
        of_all = estimate("f1", columns)
        (macro,) = estimate("macro f1", columns, only=only)
        for place, score in enumerate((f1_score, precision_score, recall_score)):
            where = [names.index(x) for x in counted] or None
            theirs = _theirs(score, true, found, where) if counted else nan
            assert ours[place] == pytest.approx(theirs, abs=1e-12, nan_ok=True)
            theirs = _theirs(score, true, found, None)
            assert of_all[place] == pytest.approx(theirs, abs=1e-12, nan_ok=True)
        where = [names.index(x) for x in only]
        each = np.array(_theirs(f1_score, true, found, where, average=None))
        assert macro == pytest.approx(each.mean(), abs=1e-12, nan_ok=True)


def _theirs(
    score: Callable[..., Any],
    true: object,
    found: object,
    where: list[int] | None,
    average: str | None = "micro",
) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score(true, found, labels=where, average=average, zero_division=np.nan)


def test_that_a_label_named_twice_counts_once() -> None:
    twice = {"found": [("a", "a", "b")], "true": [("a", "a")]}
    assert estimate("f1", twice) == (2 / 3, 1 / 2, 1.0)


@pytest.mark.statement("E002-19")
def test_that_a_gain_is_in_per_cent_of_what_was_there_before() -> None:
    def asked(right: int, wrong: int) -> Frame:
        found = right * [("a",)] + wrong * [("b",)]
        return frame_of({"found": found, "true": len(found) * [("a",)]})

    assert estimate("gain in f1", asked(3, 2), asked(2, 2)) == pytest.approx(
        (0.5, 0.6, 20.0)
    )
    assert estimate("gain in f1", asked(2, 2), asked(2, 2))[2] == 0.0
    before, after, gain = estimate("gain in f1", asked(2, 2), asked(0, 2))
    assert (before, after, isnan(gain)) == (0.0, 0.5, True)
    before, after, gain = estimate("gain in f1", asked(2, 2))
    assert (isnan(before), after, isnan(gain)) == (True, 0.5, True)


def _items(seed: int, patients: int) -> Columns:
    """Return items of patients, some without one of the two shares."""
    rng = np.random.default_rng(seed)
    who = [f"p{p}" for p in rng.permutation(patients) for _ in range(p % 3 + 1)]
    return {
        "patient": list(who),
        "edit": [None if rng.random() < 0.1 else float(rng.random()) for _ in who],
        "sham": [None if rng.random() < 0.1 else float(rng.random() / 2) for _ in who],
    }


def _gaps(items: Columns) -> dict[str, list[float]]:
    gaps: dict[str, list[float]] = {}
    for patient, edit, sham in zip(*items.values(), strict=True):
        if isinstance(edit, float) and isinstance(sham, float):
            gaps.setdefault(patient, []).append(edit - sham)
    return gaps


def _paired(items: Columns) -> tuple[Any, ...]:
    return estimate("paired difference", items, of=SHARES, cluster="patient")


@pytest.mark.statement("E002-11", "X-07")
def test_that_a_paired_difference_has_an_interval_by_cluster() -> None:
    items = _items(2, 14)
    n, first, second, net, low, high, _, method = _paired(items)
    gaps = _gaps(items)
    both = [
        (edit, sham)
        for _, edit, sham in zip(*items.values(), strict=True)
        if edit is not None and sham is not None
    ]
    assert n == sum(map(len, gaps.values())) == len(both) < len(items["patient"])
    assert (first, second) == pytest.approx(np.mean(both, axis=0))
    assert (net, low, high) == pytest.approx(difference_by_patient(list(gaps.values())))
    assert method == "Clopper-Pearson by patient, of differences, 95 %"


def _signed(sums: list[float]) -> Iterator[float]:
    for signs in product((-1, 1), repeat=len(sums)):
        yield abs(sum(sign * one for sign, one in zip(signs, sums, strict=True)))


@pytest.mark.statement("E002-11")
@pytest.mark.parametrize("seed", range(4))
def test_that_its_p_value_is_that_of_every_pattern_of_signs(seed: int) -> None:
    items = _items(seed, 8)
    sums = [sum(of) for of in _gaps(items).values()]
    ours = _paired(items)[6]
    reached = [far >= abs(sum(sums)) - 1e-9 for far in _signed(sums)]
    assert ours == pytest.approx(np.mean(reached))
    theirs = permutation_test(
        (np.array(sums),), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert ours == pytest.approx(theirs.pvalue)


def test_that_nothing_paired_has_no_difference() -> None:
    alone: Columns = {"patient": ["a", "b"], "edit": [0.5, None], "sham": [None, 1.0]}
    n, first, second, net, low, high, p_value, _ = _paired(alone)
    assert n == 0
    assert all(isnan(one) for one in (first, second, net, low, high, p_value))


def test_that_one_cluster_tells_no_interval() -> None:
    items: Columns = {
        "patient": ["a", "a"],
        "edit": [1.0, 0.5],
        "sham": [0.0, 0.5],
    }
    _, _, _, net, low, high, p_value, _ = _paired(items)
    assert (net, p_value) == (0.5, 1.0)
    assert isnan(low)
    assert isnan(high)


LEVELS: Columns = {
    "kind": ["a", "a", "a", "b", "b"],
    "level": [1, 1, 2, 1, 3],
    "correct": [True, False, True, False, True],
}


def test_that_a_nested_mean_is_of_means_of_rates() -> None:
    nested = "nested mean of rates"
    assert estimate(nested, LEVELS, of=("correct",), by=()) == (3 / 5,)
    by_level = ((1 / 3 + 1.0) + 1.0) / 3
    (value,) = estimate(nested, LEVELS, of=("correct",), by=("level",))
    assert value == pytest.approx(by_level, abs=1e-15)
    (value,) = estimate(nested, LEVELS, of=("correct",), by=("kind", "level"))
    assert value == pytest.approx(((0.5 + 1.0) / 2 + (0.0 + 1.0) / 2) / 2, abs=1e-15)
    empty: Columns = {name: [] for name in LEVELS}
    assert isnan(*estimate(nested, empty, of=("correct",), by=("kind",)))


CLEAN: Columns = {"pair": [0, 1, 2, 3], "correct": [True, True, True, False]}
WORSE: Columns = {
    "pair": [0, 1, 2, 3, 0, 1, 9],
    "kind": ["a"] * 4 + ["b"] * 3,
    "level": [1, 1, 1, 2, 1, 1, 1],
    "correct": [True, False, False, True, True, False, True],
    "chance": [0.25, 0.25, 0.5, 0.5, 0.25, 0.25, 1.0],
}
"""The last has no counterpart that is clean."""


def change(rows: Columns, others: Columns | None) -> tuple[Any, ...]:
    held = None if others is None else frame_of(others)
    of, by = ("correct", "chance"), ("kind", "level")
    return estimate("change of rates", rows, held, of=of, by=by, pair="pair")


@pytest.mark.statement("X-07")
def test_that_intervals_of_a_change_are_by_patient_over_equal_numbers_of_pairs() -> (
    None
):
    clean: Columns = {"pair": [0, 1, 2, 3], "correct": [True, True, True, False]}
    noisy: Columns = {
        "pair": [0, 1, 2, 3] * 2,
        "level": [1] * 4 + [2] * 4,
        "correct": [True, False, True, True, False, False, True, False],
        "patient": ["a", "a", "b", "c"] * 2,
        "item": [0, 1, 2, 3] * 2,
    }
    of, name = ("correct", "patient", "item"), "intervals of changed rates"
    options = {"by": ("level",), "pair": "pair"}
    found = estimate(name, noisy, frame_of(clean), of=of, **options)
    rate = ends_of([1, 2, 1], [4, 2, 2], items=4)
    assert found[:2] == pytest.approx(rate, abs=1e-12)
    gaps = [[0.0, -1.0, -1.0, -1.0], [0.0, 0.0], [1.0, 0.0]]
    assert found[3:5] == pytest.approx(difference_by_patient(gaps)[1:], abs=1e-12)
    fewer = {column: values[:-1] for column, values in noisy.items()}
    assert estimate(name, fewer, frame_of(clean), of=of, **options)[2] == UNEQUAL


@pytest.mark.statement("X-08")
def test_that_a_change_is_of_the_items_that_both_have() -> None:
    before, after, less, arrow, n, chance = change(WORSE, CLEAN)
    assert before == ((1 + 0) / 2 + 1) / 2
    assert after == ((1 / 3 + 1) / 2 + 1 / 2) / 2
    assert (less, arrow, n) == (after - before, "↓", 6)
    assert chance == pytest.approx(((1 / 3 + 1 / 2) / 2 + 1 / 4) / 2)
    up = {name: [values[3]] for name, values in WORSE.items()}
    assert change(up, CLEAN)[:4] == (0.0, 1.0, 1.0, "↑")
    same = {name: [values[0]] for name, values in WORSE.items()}
    assert change(same, CLEAN)[2:5] == (0.0, "=", 1)
    assert change(up, None)[3:5] == ("", 0)


def test_that_chance_is_told_where_every_row_has_one() -> None:
    assert estimate("chance level", {"chance": [0.5, 0.25, 0.25]}) == (1 / 3,)
    assert isnan(*estimate("chance level", {"chance": [0.5, None]}))
    assert isnan(*estimate("chance level", {"chance": []}))


def test_that_chance_and_a_constant_answer_count_each_item_once() -> None:
    rows = {
        "item": ["a", "a", "b", "c"],
        "options": [4, 4, 2, 4],
        "letter": ["B", "B", "A", "A"],
    }
    assert estimate("chance", rows, of=("options",)) == ((0.25 + 0.5 + 0.25) / 3,)
    constant = "constant answer"
    assert estimate(constant, rows, of=("letter",)) == (2 / 3, "A")
    assert estimate(constant, rows, of=("letter",), answer="B") == (1 / 3, "B")
    assert estimate(constant, rows, of=("letter",), answer=None)[1] == ""
    tie = {"item": ["a", "b"], "letter": ["B", "A"]}
    assert estimate(constant, tie, of=("letter",)) == (1 / 2, "A")
    nothing: Columns = {"item": [], "options": [], "letter": []}
    assert isnan(*estimate("chance", nothing, of=("options",)))


def test_that_values_are_taken_and_counted() -> None:
    rows = {"a": ["x", "y", "x"], "b": [1, 2, 3]}
    assert estimate("first", rows) == ("x", 1)
    assert estimate("first", {"a": []}) == (None,)
    assert estimate("distinct", rows, of=("a",)) == (2, 1.0)


def test_that_a_difference_in_points_is_one_of_two_rates() -> None:
    rows = {"k": [1, 1], "n": [1, 1], "other_k": [1, 0], "other_n": [1, 1]}
    assert estimate("difference in points", rows) == (50.0,)
    assert isnan(*estimate("difference in points", {**rows, "n": [0, 0]}))


def test_that_a_median_is_of_what_is_told() -> None:
    assert estimate("median", {"of": [3.0, None, 1.0, 2.5, 9.0]}) == (2.75,)
    (none,) = estimate("median", {"of": [None, None]})
    assert isnan(none)


def test_that_values_are_listed_by_name_each_once() -> None:
    assert estimate("listed", {"kind": ["mask", None, "box", "mask"]}) == ("box;mask",)
    assert estimate("listed", {"kind": [None]}) == ("",)


def test_that_distinct_values_count_where_any_row_of_theirs_holds() -> None:
    images = ["a", "a", "b", "c", "c"]
    held = {"image": images, "holds": [False, True, False, True, True]}
    assert estimate("rate of distinct", held) == (2, 3, 2 / 3)
    unknown = {"image": images, "holds": [True, None, None, None, None]}
    k, n, share = estimate("rate of distinct", unknown)
    assert (k, n) == (1, 3)
    assert isnan(share)


def test_that_the_interval_of_a_mean_of_shares_is_by_patient_over_its_parts() -> None:
    rng = np.random.default_rng(11)
    correct = [bool(x) for x in rng.random(60) < 0.6]
    finding, patient = (rng.integers(0, most, 60).tolist() for most in (3, 9))
    columns: Columns = {
        "correct": correct,
        "patient": patient,
        "item": [i // 2 for i in range(60)],
        "finding": finding,
    }
    hits, trials = np.zeros((2, 9, 3), dtype=int)
    np.add.at(hits, (patient, finding), correct)
    np.add.at(trials, (patient, finding), 1)
    wanted = macro_interval(hits.tolist(), trials.tolist(), 30)
    read = ("correct", "patient", "item")
    found = estimate("interval", columns, of=read, by="finding")
    assert found[:2] == pytest.approx((wanted.interval.low, wanted.interval.high))
    assert found[2] == wanted.method
    of_one = {**columns, "finding": [1] * 60}
    alone = estimate("interval", of_one, of=read, by="finding")
    assert alone == estimate("interval", columns, of=read)
