from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import t

from viewer.metrics.location_prior import Gain, Stratum, gain_over_prior, stratum

N_CELLS = 16
Ints = npt.NDArray[np.int64]


class Trials:
    """Random trials: patients, answers (-1 for none) and references."""

    def __init__(self, seed: int, n: int = 30, n_patients: int = 8) -> None:
        rng = np.random.default_rng(seed)
        self.patients: Ints = rng.integers(0, n_patients, n)
        self.answers: Ints = rng.integers(-1, N_CELLS, n)
        self.references = [
            tuple(
                sorted(rng.choice(N_CELLS, rng.integers(1, 7), replace=False).tolist())
            )
            for _ in range(n)
        ]

    def stratum(self) -> Stratum:
        return stratum(self.patients, N_CELLS, self.answers, self.references)

    def without(self, patient: int) -> "Trials":
        left = Trials(0, 0)
        kept = np.flatnonzero(self.patients != patient)
        left.patients, left.answers = self.patients[kept], self.answers[kept]
        left.references = [self.references[i] for i in kept]
        return left

    def gained(self) -> tuple[Fraction, int, int]:
        """Return hits above the prior, hits and trials from a double loop."""
        of = [*zip(self.patients, self.answers, self.references, strict=True)]
        if len({patient for patient, _, _ in of}) < 2:
            return Fraction(0), 0, 0
        prior, hits, n = Fraction(0), 0, 0
        for patient, own, reference in of:
            others = [a for other, a, _ in of if other != patient and a >= 0]
            if own >= 0 and not others:
                continue
            n, hits = n + 1, hits + (own in reference)
            if own >= 0:
                prior += Fraction(sum(a in reference for a in others), len(others))
        return hits - prior, hits, n


def by_hand(findings: Sequence[Sequence[Trials]]) -> Fraction | None:
    """Return the mean over findings of what their strata gain together."""
    gains = []
    for strata in findings:
        parts = [one.gained() for one in strata]
        if n := sum(trials for _, _, trials in parts):
            gains.append(sum((more for more, _, _ in parts), Fraction(0)) / n)
    return sum(gains, Fraction(0)) / len(gains) if gains else None


def gain(findings: Sequence[Sequence[Trials]]) -> Gain:
    return gain_over_prior([[one.stratum() for one in strata] for strata in findings])


@pytest.mark.statement("X-04")
@pytest.mark.parametrize("seed", range(10))
def test_that_every_reference_meets_the_answers_for_other_patients(seed: int) -> None:
    trials = Trials(seed)
    gained, hits, n = trials.gained()
    found = gain([[trials]])
    assert found.gain == pytest.approx(float(gained / n), abs=1e-15)
    assert found.prior == pytest.approx(float((hits - gained) / n), abs=1e-15)


@pytest.mark.statement("X-04")
def test_that_views_are_pooled_and_findings_averaged() -> None:
    findings = [[Trials(1, n=10), Trials(2, n=30)], [Trials(3, n=12)]]
    assert gain(findings).gain == pytest.approx(float(by_hand(findings) or 0))
    pooled = [[one for strata in findings for one in strata]]
    assert gain(pooled).gain == pytest.approx(float(by_hand(pooled) or 0))


@pytest.mark.statement("X-04", "X-09")
@pytest.mark.parametrize("seed", range(5))
def test_that_a_constant_answer_gains_exactly_nothing(seed: int) -> None:
    parts = [Trials(seed, n=17), Trials(seed + 50, n=31)]
    for part in parts:
        part.answers[:] = 5
    for findings in ([[part] for part in parts], [parts]):
        found = gain(findings)
        assert found.gain == 0.0
        assert found.interval.low == -found.interval.high < 0.0


@pytest.mark.statement("X-04", "X-09")
@pytest.mark.parametrize("seed", range(5))
def test_that_refusing_what_a_constant_answer_misses_gains_nothing(seed: int) -> None:
    trials = Trials(seed, n=60, n_patients=20)
    hit = np.array([5 in reference for reference in trials.references])
    luck = np.random.default_rng(seed).random(hit.size)
    trials.answers = np.where(hit | (luck < 0.5), 5, -1)
    found = gain([[trials]])
    assert found.gain == 0.0
    assert found.prior == pytest.approx(float(hit.mean()))


@pytest.mark.statement("X-04")
def test_that_the_answer_of_one_patient_alone_is_held_against_nothing() -> None:
    trials = Trials(2, n=20, n_patients=5)
    first = trials.patients == trials.patients[0]
    trials.answers = np.where(first, 5, -1)
    found = gain([[trials]])
    assert (found.gain, found.prior) == (0.0, 0.0)


@pytest.mark.statement("X-04")
@pytest.mark.parametrize("seed", range(5))
def test_that_the_interval_is_a_jackknife_no_narrower_than_a_rate_s(seed: int) -> None:
    findings = [
        [Trials(seed, n=25, n_patients=6), Trials(seed + 9, n=14, n_patients=5)],
        [Trials(seed + 20, n=11, n_patients=7)],
    ]
    everyone = {int(p) for strata in findings for one in strata for p in one.patients}
    left = [
        float(by_hand([[one.without(p) for one in strata] for strata in findings]) or 0)
        for p in everyone
    ]
    m = len(left)
    least = 0.0
    for strata in findings:
        parts = [one.gained() for one in strata]
        hits, n = (sum(part[i] for part in parts) for i in (1, 2))
        patients = len({int(p) for one in strata for p in one.patients})
        near = float((hits / n * patients + 2) / (patients + 4))
        least += near * (1 - near) / patients / len(findings) ** 2
    variance = max((m - 1) * float(np.var(left)), least)
    half = float(t.ppf(0.975, m - 1)) * sqrt(variance)
    found = gain(findings)
    assert found.interval.low == pytest.approx(max(found.gain - half, -1), abs=1e-12)
    assert found.interval.high == pytest.approx(min(found.gain + half, 1), abs=1e-12)


@pytest.mark.statement("X-07")
def test_that_perfect_answers_of_few_patients_are_not_certain() -> None:
    patients = np.arange(6)
    references = [(cell,) for cell in range(6)]
    one = stratum(patients, N_CELLS, np.arange(6), references)
    found = gain_over_prior([[one]])
    assert found.gain == 1.0
    assert found.interval.high == 1.0
    assert found.interval.low == pytest.approx(
        1 - t.ppf(0.975, 5) * np.sqrt(0.8 * 0.2 / 6)
    )


def test_that_what_one_patient_has_gains_nothing_that_is_known() -> None:
    alone, several = Trials(3, n=5, n_patients=1), Trials(4)
    assert np.isnan(gain([[alone]]).gain)
    assert gain([[alone], [several]]) == gain([[several]])
    assert gain([[alone, several]]) == gain([[several]])
    assert np.isnan(gain_over_prior([]).prior)


def test_that_two_patients_have_a_gain_without_an_interval() -> None:
    pair = Trials(5, n=9, n_patients=2)
    found = gain([[pair]])
    assert found.gain == pytest.approx(float(by_hand([[pair]]) or 0))
    assert np.isnan(found.interval.low)
