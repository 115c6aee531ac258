"""A number with its interval, and what the interval is."""

from dataclasses import dataclass

from viewer.metrics.intervals import Interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its interval, and in words how the interval was made.

    NaN if there is nothing to estimate from.
    """

    value: float
    interval: Interval
    method: str


def percent(confidence: float) -> str:
    """Return a confidence as people write it, as "95 %"."""
    return f"{100 * confidence:g} %"
