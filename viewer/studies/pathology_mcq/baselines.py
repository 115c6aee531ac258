"""Baselines without the image: random, and always the same letter (E003-03)."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from viewer.studies.pathology_mcq.questions import Mcq


def random_rate(mcqs: Sequence[Mcq]) -> float | None:
    """Return the expected accuracy of a random option, the exact mean of 1 / options.

    None without items.
    """
    if not mcqs:
        return None
    return float(sum(Fraction(1, len(m.options)) for m in mcqs) / len(mcqs))


def frequent_option(mcqs: Sequence[Mcq]) -> int | None:
    """Return the option that is right most often, the first of those alike."""
    counts = Counter(mcq.correct for mcq in mcqs)
    return min(counts, key=lambda option: (-counts[option], option), default=None)
