"""Denials of swapped questions over those of the same words about other patients."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import t

from viewer.metrics.word_prior import Worded, gain_over_words


def drawn(seed: int, elsewhere: int = 40) -> tuple[list[Worded], list[Worded]]:
    """Return swapped questions of six words about ten patients, and positive ones."""
    rng = np.random.default_rng(seed)

    def questions(n: int) -> list[Worded]:
        said = (True, False, None)
        return [
            Worded(int(w), int(p), said[int(s)])
            for w, p, s in zip(
                *(rng.integers(0, most, n) for most in (6, 10, 3)), strict=True
            )
        ]

    return questions(30), questions(elsewhere)


def by_hand(
    swapped: list[Worded], there: list[Worded]
) -> tuple[Fraction, Fraction, int]:
    """Return denials, the word prior and questions from a double loop."""
    hits, prior, n = 0, Fraction(0), 0
    for one in swapped:
        same = [o for o in there if o.words == one.words and o.denied is not None]
        others = [o.denied for o in same if o.patient != one.patient]
        own_swaps = [
            o for o in swapped if (o.words, o.patient) == (one.words, one.patient)
        ]
        is_held = any(o.denied is not None for o in own_swaps)
        if not same or (is_held and not others):
            continue
        own = {o.patient for o in (*swapped, *same) if o.words == one.words}
        if len(own) < 2:
            continue
        n, hits = n + 1, hits + (one.denied is True)
        if one.denied is not None:
            prior += Fraction(others.count(True), len(others))
    return Fraction(hits, n), prior / n, n


@pytest.mark.statement("E002-09", "X-09")
@pytest.mark.parametrize("seed", range(10))
def test_that_denials_are_held_against_those_of_other_patients(seed: int) -> None:
    denied, prior, n = by_hand(*drawn(seed))
    found = gain_over_words(*drawn(seed))
    assert (found.trials, Fraction(found.hits)) == (n, denied * n)
    assert found.prior == pytest.approx(float(prior), abs=1e-12)
    assert found.gain == pytest.approx(float(denied - prior), abs=1e-12)


@pytest.mark.statement("X-07")
@pytest.mark.parametrize("elsewhere", [14, 40])
@pytest.mark.parametrize("seed", range(5))
def test_that_the_interval_is_a_jackknife_over_all_whose_answers_count(
    seed: int, elsewhere: int
) -> None:
    swapped, there = drawn(seed, elsewhere)

    def without(patient: int) -> float:
        parts = ([o for o in of if o.patient != patient] for of in (swapped, there))
        denied, prior, _ = by_hand(*parts)
        return float(denied - prior)

    told = [o for o in there if o.denied is not None]
    who: dict[object, set[object]] = {o.words: set() for o in told}
    for one in (*swapped, *told):
        who.get(one.words, set()).add(one.patient)
    kept = {words for words, patients in who.items() if len(patients) > 1}
    everyone = set().union(*(who[words] for words in kept))
    left = [without(int(str(patient))) for patient in everyone]
    m, (denied, prior, _) = len(left), by_hand(swapped, there)
    least = 0.0
    for rate, whose in (
        (denied, {o.patient for o in swapped if o.words in kept}),
        (prior, {o.patient for o in told if o.words in kept}),
    ):
        near = (float(rate) * len(whose) + 2) / (len(whose) + 4)
        least += near * (1 - near) / len(whose)
    variance = max((m - 1) * float(np.var(left)), least)
    half = t.ppf(0.975, m - 1) * variance**0.5
    found = gain_over_words(swapped, there)
    assert found.interval.low == pytest.approx(max(found.gain - half, -1))
    assert found.interval.high == pytest.approx(min(found.gain + half, 1))


def test_that_answers_that_nothing_is_held_against_make_no_patient_count() -> None:
    swapped, there = drawn(2)
    more = [Worded(words, 10 + words, None) for words in range(6)]
    more += [Worded("never swapped", patient, True) for patient in range(20, 30)]
    assert gain_over_words(swapped, [*there, *more]) == gain_over_words(swapped, there)


@pytest.mark.statement("X-09")
def test_that_words_alone_gain_exactly_nothing_and_sight_everything() -> None:
    swapped, there = drawn(3)

    def answered(of: list[Worded], *denied: int) -> list[Worded]:
        return [Worded(o.words, o.patient, o.words in denied) for o in of]

    by_words = gain_over_words(answered(swapped, 0, 2, 5), answered(there, 0, 2, 5))
    assert by_words.gain == 0.0
    assert 0 < by_words.prior < 1
    seen = gain_over_words(answered(swapped, *range(6)), answered(there))
    assert (seen.prior, seen.gain) == (0.0, 1.0)


def test_that_words_asked_of_nobody_else_tell_nothing() -> None:
    swapped = [Worded("a", "p", True), Worded("b", "q", True)]
    assert gain_over_words(swapped, []).trials == 0
    assert gain_over_words(swapped, [Worded("a", "p", False)]).trials == 0
    assert gain_over_words(swapped, [Worded("c", "r", False)]).trials == 0
    assert np.isnan(gain_over_words([], []).gain)
    pair = gain_over_words(swapped, [Worded("a", "r", False)])
    assert (pair.trials, pair.gain) == (1, 1.0)
    assert np.isnan(pair.interval.low)
