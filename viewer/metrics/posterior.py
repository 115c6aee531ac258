"""A model's belief in a question's options, by five declared estimators.

MEDSYN (E004-17) needs p(y | E) and does not say how it is obtained. Each estimator here
returns probabilities with strict bounds if they come from log-probabilities, or with
counts, for an interval, if they come from sampled answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp
from typing import Final

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

PREFIXES: Final = ("", " ", "(", " (", "\u0120", "\u2581", "\u0120(", "\u2581(")
"""What may stand before a letter within its token: blanks as tokenizers write them."""
JEFFREYS: Final = 0.5
"""The weight of each option before anything is drawn: Dirichlet(1/2)."""


class Estimator(StrEnum):
    """How a posterior was estimated; stated with every sensitivity."""

    LETTERS = "letter_logprobs"
    """(a) log-probabilities of the options' letters at the place of the answer."""
    SEQUENCES = "sequence_likelihood"
    """(b) likelihood of each option's text."""
    TOP_LOGPROBS = "top_logprobs"
    """(c) the few likeliest tokens that an endpoint tells; the rest is bounded."""
    MONTE_CARLO = "monte_carlo"
    """(d) repeated answers, smoothed by Dirichlet(1/2)."""
    PERMUTED = "permutation_averaged"
    """(e) the mean over every cyclic order of the options."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """Probabilities of the options, in the options' order; they sum to 1.

    The true probability of each lies from ``low`` to ``high``; if answers were sampled,
    ``counts`` says how often each was given, and the bounds are central 95 % credible
    intervals.
    """

    p: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    estimator: Estimator
    counts: tuple[int, ...] = ()

    @property
    def is_exact(self) -> bool:
        """True if every bound is the value itself."""
        return self.low == self.p == self.high


@dataclass(frozen=True)
class _Masses:
    """Unnormalised probabilities: the known mass of each option, and the mass to share.

    An option has from ``known`` to ``most``, together no more than ``spare`` beyond the
    known mass.
    """

    known: _Floats
    most: _Floats
    assumed: _Floats
    spare: float

    def posterior(self, estimator: Estimator) -> Posterior:
        """Return the probabilities and their bounds."""
        room = np.minimum(self.most - self.known, self.spare)
        rest = self.known.sum() - self.known
        elsewhere = np.minimum(room.sum() - room, self.spare)
        low = _share(self.known, self.known + rest + elsewhere, 0.0)
        high = _share(self.known + room, self.known + room + rest, 1.0)
        p = self.assumed / self.assumed.sum()
        return Posterior(
            _plain(p),
            _plain(np.minimum(low, p)),
            _plain(np.maximum(high, p)),
            estimator,
        )


def from_letters(
    logprobs: Mapping[str, float], letters: Sequence[str], precision: float = 0.0
) -> Posterior:
    """Return estimator (a): the letters' probabilities, renormalised over the options.

    Parameters
    ----------
    logprobs : mapping
        Natural log-probability of every token that may begin the answer; variants of a
        letter (``A``, `` A``, ``(A``) are summed, and missing tokens have probability
        0.
    letters : sequence of str
        The options' letters in the options' order.
    precision : float
        Largest error of a log-probability, such as that of single precision.

    Raises
    ------
    ValueError
        If none of the letters is among the tokens.
    """
    seen, _ = _by_letter(logprobs.items(), letters)
    if not seen.sum() > 0:
        raise ValueError("no option's letter is among the tokens")
    return _known_to(seen, np.full(len(letters), precision), Estimator.LETTERS)


def from_sequences(
    loglikelihoods: Sequence[float],
    tokens: Sequence[int],
    *,
    by_length: bool = False,
    precision: float = 0.0,
) -> Posterior:
    """Return estimator (b): the likelihoods of the options' texts, renormalised.

    Parameters
    ----------
    loglikelihoods : sequence of float
        Sum of the natural log-probabilities of each option's tokens.
    tokens : sequence of int
        Number of tokens of each option, at least 1.
    by_length : bool
        Whether to divide each sum by its number of tokens first.
    precision : float
        Largest error of one token's log-probability.
    """
    lengths = np.asarray(tokens, dtype=np.float64)
    sums = np.asarray(loglikelihoods, dtype=np.float64)
    error = precision * (np.ones_like(lengths) if by_length else lengths)
    sums = sums / lengths if by_length else sums
    return _known_to(np.exp(sums - sums.max()), error, Estimator.SEQUENCES)


def from_top_logprobs(
    top: Sequence[tuple[str, float]], letters: Sequence[str], precision: float = 0.0
) -> Posterior:
    """Return estimator (c): the options' letters among the likeliest tokens.

    A token that is not listed has at most the probability of the least likely one that
    is, and all of them together at most the remaining probability. Options that are not
    listed share that bound.

    Parameters
    ----------
    top : sequence of (token, natural log-probability)
        The most likely tokens at the answer's position.
    letters : sequence of str
        The options' letters in the options' order.
    precision : float
        Largest error of a log-probability.
    """
    seen, variants = _by_letter(top, letters)
    probabilities = [exp(logprob) for _, logprob in top]
    spare = max(0.0, 1 - sum(probabilities) * exp(-precision))
    least = min(probabilities, default=1.0) * exp(precision)
    unseen = np.minimum(least * (len(PREFIXES) - variants), spare)
    missing = seen == 0
    guess = np.minimum(unseen, spare / max(int(missing.sum()), 1))
    assumed = np.where(missing, guess, seen)
    if not assumed.sum() > 0:
        assumed = np.ones(len(letters))
    wide = seen * exp(precision) - seen * exp(-precision)
    return _Masses(
        seen * exp(-precision),
        seen * exp(precision) + unseen,
        assumed,
        float(spare + wide.sum()),
    ).posterior(Estimator.TOP_LOGPROBS)


def from_counts(counts: Sequence[int]) -> Posterior:
    """Return estimator (d): smoothed frequencies of the sampled options.

    (n + 1/2) / (R + K/2) for each of the K options in R draws; the bounds are the
    central 95 % of its marginal Beta distribution.

    Raises
    ------
    ValueError
        If there are fewer than two options or a count is negative.
    """
    drawn = np.asarray(counts, dtype=np.int64)
    if drawn.size < 2 or np.any(drawn < 0):
        raise ValueError(f"{tuple(counts)} are not counts of two or more options")
    weights: _Floats = np.asarray(drawn + JEFFREYS, dtype=np.float64)
    p = weights / weights.sum()
    low, high = (_beta_quantile(weights, level) for level in (0.025, 0.975))
    return Posterior(
        _plain(p),
        _plain(np.minimum(low, p)),
        _plain(np.maximum(high, p)),
        Estimator.MONTE_CARLO,
        tuple(int(n) for n in drawn),
    )


def permutation_averaged(
    posteriors: Sequence[Posterior], orders: Sequence[Sequence[int]]
) -> Posterior:
    """Return estimator (e): the mean over orders of the options.

    Parameters
    ----------
    posteriors : sequence of Posterior
        The posterior under each order, by position shown.
    orders : sequence of sequences of int
        For each posterior, the option at each position.

    Raises
    ------
    ValueError
        If there are no posteriors, or not one per order.
    """
    if not posteriors or len(posteriors) != len(orders):
        raise ValueError("a mean over orders needs a posterior for each order")
    own = [
        in_option_order(one, order)
        for one, order in zip(posteriors, orders, strict=True)
    ]
    return Posterior(
        _mean([one.p for one in own]),
        _mean([one.low for one in own]),
        _mean([one.high for one in own]),
        Estimator.PERMUTED,
    )


def in_option_order(posterior: Posterior, order: Sequence[int]) -> Posterior:
    """Convert a posterior over positions to one over options.

    ``order`` names the option at each position.
    """
    place = [list(order).index(option) for option in range(len(order))]
    counts = posterior.counts
    return Posterior(
        tuple(posterior.p[i] for i in place),
        tuple(posterior.low[i] for i in place),
        tuple(posterior.high[i] for i in place),
        posterior.estimator,
        tuple(counts[i] for i in place) if counts else (),
    )


def cyclic_orders(options: int) -> tuple[tuple[int, ...], ...]:
    """Return every cyclic order of this many options, the identity first."""
    return tuple(
        tuple((start + place) % options for place in range(options))
        for start in range(options)
    )


def _by_letter(
    logprobs: Iterable[tuple[str, float]], letters: Sequence[str]
) -> tuple[_Floats, npt.NDArray[np.int64]]:
    """Return each letter's probability and how many of its variants are listed."""
    place = {prefix + x: i for i, x in enumerate(letters) for prefix in PREFIXES}
    seen = np.zeros(len(letters))
    variants = np.zeros(len(letters), dtype=np.int64)
    for token, logprob in logprobs:
        if token in place:
            seen[place[token]] += exp(logprob)
            variants[place[token]] += 1
    return seen, variants


def _known_to(masses: _Floats, error: _Floats, estimator: Estimator) -> Posterior:
    known, most = masses * np.exp(-error), masses * np.exp(error)
    spare = float((most - known).sum())
    return _Masses(known, most, masses, spare).posterior(estimator)


def _share(part: _Floats, whole: _Floats, empty: float) -> _Floats:
    return np.divide(part, whole, out=np.full_like(part, empty), where=whole > 0)


def _beta_quantile(weights: _Floats, level: float) -> _Floats:
    from scipy.special import betaincinv

    found: _Floats = betaincinv(weights, weights.sum() - weights, level)
    return found


def _mean(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return _plain(np.mean(np.asarray(rows, dtype=np.float64), axis=0))


def _plain(values: _Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
