import math
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t
from sklearn.metrics import cohen_kappa_score

from viewer.metrics.agreement import (
    Agreement,
    Weighting,
    cohen_kappa,
    gwet_ac,
    percent_agreement,
    places,
)
from viewer.metrics.krippendorff import Scale, krippendorff_alpha

Column = list[int | None]
LABELS = (1, 2, 3, 4, 5)
SKLEARN = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}
KRIPPENDORFF_2011: list[Column] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def random_raters(seed: int) -> list[Column]:
    """Return columns with gaps; some have no unit rated twice, some one label only."""
    rng = np.random.default_rng(seed)
    raters, units = int(rng.integers(2, 5)), int(rng.integers(1, 9))
    used = rng.choice(LABELS, rng.integers(1, 6), replace=False)
    missing = rng.choice([0.0, 0.2, 0.7])
    return [
        [
            None if rng.random() < missing else int(rng.choice(used))
            for _ in range(units)
        ]
        for _ in range(raters)
    ]


def by_unit(raters: Sequence[Column]) -> list[list[int]]:
    units = zip(*raters, strict=True)
    return [[rating for rating in unit if rating is not None] for unit in units]


def plain_weight(a: int, b: int, weighting: Weighting) -> float:
    if weighting is Weighting.UNWEIGHTED:
        return float(a == b)
    apart = abs(a - b) / 4
    return 1 - (apart if weighting is Weighting.LINEAR else apart * apart)


def plain_ac(raters: Sequence[Column], weighting: Weighting) -> float:
    """Follow Gwet 2014 pair by pair."""
    units = by_unit(raters)
    pairs = [list(permutations(unit, 2)) for unit in units if len(unit) > 1]
    observed = np.mean(
        [np.mean([plain_weight(a, b, weighting) for a, b in unit]) for unit in pairs]
    )
    rated = [unit for unit in units if unit]
    use = [np.mean([unit.count(k) / len(unit) for unit in rated]) for k in LABELS]
    total = sum(plain_weight(a, b, weighting) for a in LABELS for b in LABELS)
    expected = total / 20 * sum(p * (1 - p) for p in use)
    return float((observed - expected) / (1 - expected))


def plain_alpha(raters: Sequence[Column], scale: Scale) -> float:
    """Compare every pair of pairable values; NaN where there are none that differ."""
    units = [unit for unit in by_unit(raters) if len(unit) > 1]
    values = [value for unit in units for value in unit]
    if len(set(values)) < 2:
        return math.nan

    @cache  # each pair of labels stands there often
    def squared(a: int, b: int) -> float:
        if scale is Scale.NOMINAL:
            return float(a != b)
        if scale is Scale.INTERVAL:
            return float((a - b) ** 2)
        low, high = min(a, b), max(a, b)
        between = sum(low <= v <= high for v in values)
        return (between - (values.count(a) + values.count(b)) / 2) ** 2 * (a != b)

    observed = sum(
        sum(squared(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    ) / len(values)
    pairs = list(permutations(values, 2))
    return 1 - observed / (sum(squared(a, b) for a, b in pairs) / len(pairs))


def check_kappa(raters: Sequence[Column]) -> None:
    pairs = zip(raters[0], raters[1], strict=True)
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    first, second = [a for a, _ in both], [b for _, b in both]
    percent = percent_agreement(raters[0], raters[1], LABELS)
    for weighting in Weighting:
        ours = cohen_kappa(raters[0], raters[1], LABELS, weighting)
        assert ours.units == percent.units == len(both)
        if not both or len(set(first + second)) == 1:
            assert math.isnan(ours.value)
            assert ours.reason
            continue
        assert percent.value == np.mean([a == b for a, b in both])
        check_parts(ours, both, weighting)
        theirs = cohen_kappa_score(
            first, second, labels=LABELS, weights=SKLEARN[weighting.value]
        )
        assert ours.value == pytest.approx(theirs, abs=1e-12)


def check_parts(
    ours: Agreement, both: list[tuple[int, int]], weighting: Weighting
) -> None:
    """Compare what was seen, and what every pair of two raters' labels would give."""
    seen = np.mean([plain_weight(a, b, weighting) for a, b in both])
    everyone = [plain_weight(a, b, weighting) for a, _ in both for _, b in both]
    assert ours.observed == pytest.approx(seen, abs=1e-12)
    assert ours.expected == pytest.approx(np.mean(everyone), abs=1e-12)


def units_checked(seed: int) -> int:
    """Compare every coefficient with independent code; count what two or more rated."""
    raters = random_raters(seed)
    check_kappa(raters)
    twice = sum(len(unit) > 1 for unit in by_unit(raters))
    for scale in Scale:
        alpha = krippendorff_alpha(raters, LABELS, scale)
        expected = plain_alpha(raters, scale)
        assert alpha.units == twice
        assert alpha.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert math.isnan(alpha.value) == bool(alpha.reason)
    for weighting in Weighting:
        gwet = gwet_ac(raters, LABELS, weighting)
        assert gwet.units == twice
        if twice:
            assert gwet.value == pytest.approx(plain_ac(raters, weighting), abs=1e-12)
        else:
            assert math.isnan(gwet.value)
    return twice


def test_that_coefficients_equal_independent_code_with_gaps_and_one_label() -> None:
    assert sum(units_checked(seed) for seed in range(150)) > 150


@pytest.mark.proof
def test_that_coefficients_equal_independent_code_on_ten_thousand_tables() -> None:
    assert sum(units_checked(seed) for seed in range(10_000)) > 10_000


@pytest.mark.parametrize(
    ("scale", "alpha"),
    [(Scale.NOMINAL, 0.743), (Scale.ORDINAL, 0.815), (Scale.INTERVAL, 0.849)],
)
def test_that_krippendorffs_own_example_gives_his_numbers(
    scale: Scale, alpha: float
) -> None:
    ours = krippendorff_alpha(KRIPPENDORFF_2011, LABELS, scale)
    assert round(ours.value, 3) == alpha
    assert ours.units == 11
    assert ours.value == pytest.approx(1 - ours.observed / ours.expected)
    assert (ours.method, ours.reason) == (f"Krippendorff's α, {scale}", "")


def test_that_gwets_ac1_of_the_same_example_is_known() -> None:
    ours = gwet_ac(KRIPPENDORFF_2011, LABELS)
    assert round(ours.value, 5) == 0.77544
    assert ours.value == pytest.approx(
        (ours.observed - ours.expected) / (1 - ours.expected)
    )
    assert ours.method == "Gwet's AC1, unweighted, 5 labels"
    weighted = gwet_ac(KRIPPENDORFF_2011, LABELS, Weighting.LINEAR)
    assert weighted.method == "Gwet's AC2, linear, 5 labels"


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ([5, 5, 4, 2, 1, 5, 4, 4], [5, 4, 4, 1, 1, 5, 5, 2], 0.8181818182),
        ([1, 1, 5, 5, 4, 4], [1, 5, 5, 5, 4, 1], 0.3243243243),
    ],
)
def test_that_quadratic_kappa_with_fixed_labels_is_known(
    first: list[int], second: list[int], kappa: float
) -> None:
    ours = cohen_kappa(first, second, LABELS, Weighting.QUADRATIC)
    assert ours.value == pytest.approx(kappa, abs=5e-11)
    assert ours.method == "Cohen's κ, quadratic, 5 labels"
    assert cohen_kappa(first, second, LABELS).method.endswith("unweighted, 5 labels")


def reasons(agreement: Agreement) -> tuple[bool, str, int]:
    nothing = agreement.units == 0
    for part in (agreement.observed, agreement.expected):
        assert math.isnan(part) == nothing
    assert agreement.method in METHODS
    return math.isnan(agreement.value), agreement.reason, agreement.units


METHODS = {
    "percent agreement",
    "Cohen's κ, unweighted, 2 labels",
    "Gwet's AC1, unweighted, 2 labels",
    "Gwet's AC1, unweighted, 1 labels",
    "Krippendorff's α, nominal",
    "Krippendorff's α, ordinal",
}


def test_that_what_cannot_be_had_is_said_and_never_a_crash() -> None:
    apart: list[list[Hashable | None]] = [["a", None], [None, "b"]]
    labels = ["a", "b"]
    nobody = (True, "no unit was rated by both", 0)
    assert reasons(percent_agreement(apart[0], apart[1], labels)) == nobody
    assert reasons(cohen_kappa(apart[0], apart[1], labels)) == nobody
    assert reasons(cohen_kappa([], [], labels)) == nobody
    once = (True, "no unit was rated twice", 0)
    assert reasons(gwet_ac(apart, labels)) == once
    assert reasons(gwet_ac([], labels)) == once
    assert reasons(krippendorff_alpha([["a"], [None]], labels, Scale.NOMINAL)) == once
    same = [["a", "a"], ["a", "a"]]
    constant = cohen_kappa(same[0], same[1], labels)
    assert reasons(constant) == (True, "both raters used one label only", 2)
    assert (constant.observed, constant.expected) == (1.0, 1.0)
    alpha = krippendorff_alpha(same, labels, Scale.ORDINAL)
    assert reasons(alpha) == (True, "every unit got the same label", 2)
    assert (alpha.observed, alpha.expected) == (0.0, 0.0)
    assert gwet_ac(same, labels).value == 1.0
    lone = gwet_ac(same, ["a"])
    assert (lone.observed, lone.expected) == (1.0, 1.0)
    assert reasons(lone) == (True, "there is one label only", 2)
    assert math.isnan(cohen_kappa(same[0], same[1], ["a"], Weighting.LINEAR).value)


def test_that_percent_agreement_says_what_it_is() -> None:
    ours = percent_agreement(["a", "b", None], ["a", "a", "b"], ["a", "b"])
    assert ours == Agreement(0.5, 0.5, 0.0, 2, "percent agreement")


def test_that_a_rating_that_is_no_label_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^'c' is not one of the labels$"):
        places(["a", "c", None], ["a", "b"])
    assert list(places(["b", None, "a"], ["a", "b"])) == [1, -1, 0]


IRRCAC: list[Column] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, None],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""The four raters of Gwet 2014, table 2.10, which irrCAC has as ``raw_4raters``."""


@pytest.mark.parametrize(
    ("weighting", "scale", "ac", "ac_error", "alpha", "alpha_error"),
    [
        # The package irrCAC 0.4.4, CAC(raw_4raters(), weights="identity", digits=8).
        (
            *(Weighting.UNWEIGHTED, Scale.NOMINAL),
            *(0.77544407, 0.14294995, 0.74342105, 0.14557389),
        ),
        # The same with weights="quadratic".
        (
            *(Weighting.QUADRATIC, Scale.INTERVAL),
            *(0.91400072, 0.10396224, 0.84910714, 0.12912997),
        ),
    ],
)
def test_that_coefficients_and_their_spread_are_those_of_another_package(
    weighting: Weighting,
    scale: Scale,
    ac: float,
    ac_error: float,
    alpha: float,
    alpha_error: float,
) -> None:
    names = [*range(12)]
    by_ac = gwet_ac(IRRCAC, LABELS, weighting, names)
    by_alpha = krippendorff_alpha(IRRCAC, LABELS, scale, names)
    for found, value, error in ((by_ac, ac, ac_error), (by_alpha, alpha, alpha_error)):
        assert found.value == pytest.approx(value, abs=5e-9)
        assert found.method.endswith("jackknife by patient, 95 %")
        # Of Gwet's variance, linear in the units: the house's has four units more.
        low, high = found.interval.low, found.interval.high
        assert low < value - error
        assert min(value + error, 1) <= high <= 1


def brute_jackknife(
    units: list[tuple[int, int]], coefficient: Callable[[list[tuple[int, int]]], float]
) -> tuple[float, float]:
    """Leave out every unit of two readers, with the four added, one by one."""
    more = [*units, (1, 1), (5, 5), (1, 5), (5, 1)]
    low, high = reached(more, coefficient, len(units))
    below, above = reached(units, coefficient, len(units))
    return max(min(low, below), -1), min(max(high, above), 1)


def reached(
    units: list[tuple[int, int]],
    coefficient: Callable[[list[tuple[int, int]]], float],
    n: int,
) -> tuple[float, float]:
    without = [coefficient(units[:i] + units[i + 1 :]) for i in range(len(units))]
    half = t.ppf(0.975, n - 1) * np.std(without) * math.sqrt(len(units) - 1)
    value = coefficient(units)
    if math.isnan(half):
        return value, value
    return value - half, value + half


def two_readers(n: int) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(n)
    first = [int(one) for one in rng.choice(LABELS, n)]
    return first, [a if rng.random() < 0.6 else int(rng.choice(LABELS)) for a in first]


@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("n", [2, 9, 40])
def test_that_intervals_are_those_of_leaving_out_patients_one_by_one(
    n: int, weighting: Weighting
) -> None:
    first, second = two_readers(n)
    scale = dict(zip(Weighting, Scale, strict=True))[weighting]
    found = (
        gwet_ac((first, second), LABELS, weighting, range(n)),
        cohen_kappa(first, second, LABELS, weighting, range(n)),
        krippendorff_alpha((first, second), LABELS, scale, range(n)),
    )

    def plain_kappa(units: list[tuple[int, int]]) -> float:
        if len({*units}) == 1 and len({*units[0]}) == 1:
            return math.nan
        pair, weights = [*zip(*units, strict=True)], SKLEARN[weighting]
        return float(cohen_kappa_score(*pair, labels=LABELS, weights=weights))

    plain: tuple[Callable[[list[tuple[int, int]]], float], ...] = (
        lambda units: plain_ac([[*of] for of in zip(*units, strict=True)], weighting),
        plain_kappa,
        lambda units: plain_alpha([[*of] for of in zip(*units, strict=True)], scale),
    )
    for one, coefficient in zip(found, plain, strict=True):
        ends = brute_jackknife([*zip(first, second, strict=True)], coefficient)
        told = one.interval.low, one.interval.high
        assert told == pytest.approx(ends, abs=1e-9), one.method


def test_that_units_of_one_patient_are_not_independent() -> None:
    raters = [[1, 2, 3, 1, 2, 3] * 4, [1, 2, 2, 1, 3, 3] * 4]
    alone, shared = (
        gwet_ac(raters, (1, 2, 3), clusters=names).interval
        for names in ([*range(24)], [i % 6 for i in range(24)])
    )
    assert shared.high - shared.low > alone.high - alone.low
    same = percent_agreement(
        raters[0], raters[1], (1, 2, 3), [i % 6 for i in range(24)]
    )
    assert same.interval.low < 2 / 3 < same.interval.high
    assert "by patient" in same.method
    single = gwet_ac(raters, (1, 2, 3), clusters=["a"] * 24)
    assert math.isnan(single.interval.low)
    assert "not estimable from one patient" in single.method


def test_that_readers_who_always_agree_have_an_interval_with_a_width() -> None:
    found = gwet_ac([[1] * 8, [1] * 8], (1, 2), clusters=[*range(8)])
    assert found.value == found.interval.high == 1
    assert 0.2 < found.interval.low < 0.8
