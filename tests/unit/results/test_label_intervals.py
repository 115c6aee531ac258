"""Intervals of F1 and of means of pooled rates, against fractions and statsmodels."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.by_patient import ci_of, macro_ci_of
from tests.helpers.tabled import estimate
from viewer.metrics.estimate import Estimate
from viewer.metrics.intervals import Interval
from viewer.metrics.proportions import f1_interval, mean_of_alike
from viewer.results.estimators.rates import NOT_EVERY

pytestmark = pytest.mark.statement("E002-07", "X-07")
ENDS = ("ci_low", "ci_high", "ci_method")
_LABELS = st.sets(st.sampled_from("abc"))
_ROWS = st.lists(st.tuples(_LABELS, _LABELS, st.integers(0, 4), st.integers(0, 5)))
Row = tuple[set[str], set[str], int, int]


def f1_intervals(
    rows: Sequence[Row], name: str = "interval of f1", **options: object
) -> tuple[object, ...]:
    columns = {
        "found": [sorted(found) for found, *_ in rows],
        "true": [sorted(true) for _, true, *_ in rows],
        "patient": [f"p{patient}" for *_, patient, _ in rows],
        "item": [f"i{item}" for *_, item in rows],
    }
    return tuple(estimate(name, columns, None, None, **options))


def expected(hits: Iterable[tuple[bool, int, tuple[int, str]]]) -> list[object]:
    found = ci_of(hits)
    return [found[name] for name in ENDS]


def as_f1(share: object) -> object:
    return 2 * share / (1 + share) if isinstance(share, float) else share


def assert_alike(found: Sequence[object], wanted: Sequence[object]) -> None:
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            assert one == pytest.approx(other, nan_ok=True) or (
                other is None and one != one
            )


@given(_ROWS)
def test_that_f1_precision_and_recall_have_intervals_of_shares_of_labels(
    rows: list[Row],
) -> None:
    decided = [
        (label in found, label in true, patient, (item, label))
        for found, true, patient, item in rows
        for label in (found | true) - {"c"}
    ]
    both = [(a and b, patient, key) for a, b, patient, key in decided]
    precision = [(b, patient, key) for a, b, patient, key in decided if a]
    recall = [(a, patient, key) for a, b, patient, key in decided if b]
    low, high, method = expected(both)
    assert_alike(
        f1_intervals(rows, drop=("c",)),
        [as_f1(low), as_f1(high), method, *expected(precision), *expected(recall)],
    )


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (5, 9), (12, 12)])
def test_that_one_label_a_patient_has_clopper_and_pearson_s_interval(
    hits: int, n: int
) -> None:
    found = f1_interval([1] * hits + [0] * (n - hits), [1] * n, n)
    ends = proportion_confint(hits, n, method="beta")
    assert found.value == pytest.approx(2 * hits / (hits + n))
    assert (found.interval.low, found.interval.high) == pytest.approx(
        [2 * end / (1 + end) for end in ends]
    )


@given(_ROWS)
def test_that_macro_f1_has_the_means_of_the_ends(rows: list[Row]) -> None:
    each = [f1_intervals(rows, only=(label,))[:3] for label in "ab"]
    found = f1_intervals(rows, "interval of macro f1", only=("a", "b"))
    missing = [one[2] for one in each if one[0] != one[0]]
    if missing:
        assert_alike(found, [None, None, missing[0]])
    else:
        low, high = (sum(float(str(one[i])) for one in each) / 2 for i in (0, 1))
        method = "Clopper-Pearson by patient, mean of ends, 95 %"
        assert_alike(found, [low, high, method])


def test_that_ends_are_averaged_and_values_too() -> None:
    pair = [Estimate(v, Interval(v - 0.1, v + 0.2), "exact") for v in (0.2, 0.6)]
    found = mean_of_alike(pair)
    assert (found.value, found.interval.low) == pytest.approx((0.4, 0.3))
    assert found.interval.high == pytest.approx(0.6)


_TESTS = st.lists(
    st.tuples(
        st.sampled_from("kl"), st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)
    )
)


@given(_TESTS, st.sampled_from([("k",), ("k", "l")]))
def test_that_a_mean_of_pooled_rates_has_the_interval_of_a_mean_of_rates(
    rows: list[tuple[str, int, int, int]], among: tuple[str, ...]
) -> None:
    rows = [(kind, min(k, n), n, patient) for kind, k, n, patient in rows]
    columns = {
        "kind": [kind for kind, *_ in rows],
        "k": [k for _, k, *_ in rows],
        "n": [n for *_, n, _ in rows],
        "patient": [patient for *_, patient in rows],
        "item": [str(i % 3) for i in range(len(rows))],
    }
    trials = {
        one: [
            (place < k, patient, str(i % 3))
            for i, (kind, k, n, patient) in enumerate(rows)
            for place in range(n)
            if kind == one
        ]
        for one in among
    }
    name = "interval of mean of pooled rates"
    of = ("k", "n", "patient", "item")
    found = estimate(name, columns, of=of, by="kind", among=among)
    if len(among) > 1 and not all(trials.values()):
        assert_alike(found, [None, None, NOT_EVERY])
    else:
        wanted = macro_ci_of(trials)
        assert_alike(found, [wanted[end] for end in ENDS])
