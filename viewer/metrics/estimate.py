"""A number with its interval, and the method of the interval."""

from dataclasses import dataclass

from viewer.metrics.intervals import Interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its interval, and the interval's method in words.

    NaN if there are no data to estimate from.
    """

    value: float
    interval: Interval
    method: str


def percent(confidence: float) -> str:
    """Return a confidence level as text, such as "95 %"."""
    return f"{100 * confidence:g} %"
