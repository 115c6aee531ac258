"""Repeated questions: how much the answers to the same question vary.

A replicate is one asking of an item; items share patients.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import fsum, log2, nan

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AnswerSpread:
    """The answers of one item's replicates.

    ``mode`` is the most frequent answer, for ties (``tied``) the one given first;
    ``entropy`` is in bits, 0 if all agree. An answer that could not be read (None)
    counts like any other.
    """

    replicates: int
    mode: Hashable
    share: float
    tied: bool
    entropy: float


@dataclass(frozen=True, slots=True)
class ReplicateAgreement:
    """Agreement of replicates of the same item, over items with at least two.

    ``pairs`` is the mean over items of the share of agreeing pairs. ``icc`` is the
    one-way random intraclass correlation, ICC(1) (Shrout and Fleiss 1979); NaN, with
    the reason, if it is undefined.
    """

    items: int
    pairs: float
    icc: float
    method: str
    reason: str = ""


def answer_spread(answers: Sequence[Hashable]) -> AnswerSpread:
    """Return the distribution of one item's answers.

    Raises
    ------
    ValueError
        If there is no answer.
    """
    if not answers:
        raise ValueError("an item without replicates has no spread")
    n, counts = len(answers), Counter(answers)
    # Among equals most_common keeps the order of first appearance.
    (mode, most), *others = counts.most_common()
    entropy = fsum(k / n * log2(n / k) for k in counts.values())
    tied = any(k == most for _, k in others)
    return AnswerSpread(n, mode, most / n, tied, entropy)


def replicate_agreement(items: Sequence[Sequence[float]]) -> ReplicateAgreement:
    """Return the agreement of repeated values of the same item, such as hits."""
    method = "ICC(1), one-way random, over items with two replicates or more"
    groups = [np.asarray(item, dtype=np.float64) for item in items if len(item) > 1]
    if not groups:
        reason = "no item was asked twice"
        return ReplicateAgreement(0, nan, nan, method, reason)
    pairs = float(np.mean([_agreeing_pairs(group) for group in groups]))
    icc = _icc(groups)
    # NaN is not equal to itself.
    reason = "" if icc == icc else "there is one item, or no value differs"
    return ReplicateAgreement(len(groups), pairs, icc, method, reason)


def _agreeing_pairs(values: _Floats) -> float:
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum() / (values.size * (values.size - 1)))


def _icc(groups: Sequence[_Floats]) -> float:
    """Return (MSB - MSW) / (MSB + (k₀ - 1)·MSW), k₀ the mean size of unequal groups."""
    n, sizes = len(groups), np.array([group.size for group in groups])
    total = int(sizes.sum())
    means = np.array([group.mean() for group in groups])
    grand = float((sizes * means).sum()) / total
    within = sum(float(((g - g.mean()) ** 2).sum()) for g in groups) / (total - n)
    if n == 1:
        return nan
    between = float((sizes * (means - grand) ** 2).sum()) / (n - 1)
    size = (total - float((sizes**2).sum()) / total) / (n - 1)
    below = between + (size - 1) * within
    return (between - within) / below if below else nan
