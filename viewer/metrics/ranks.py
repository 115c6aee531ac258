"""Ranks with ties."""

from collections.abc import Sequence
from math import isnan


def competition_ranks(values: Sequence[float]) -> tuple[int | None, ...]:
    """Return each value's rank, the highest being 1; ties share the better rank.

    After two fourths comes the sixth (MEDSYN, Table 2). NaN has no rank.
    """
    return tuple(
        None if isnan(value) else 1 + sum(other > value for other in values)
        for value in values
    )
