"""Time on task: how long a reader spent on a case, excluding absences."""

from collections.abc import Iterable
from typing import Final

from viewer.domain.reading import Interval

IDLE_AFTER_MS: Final = 30_000
"""A pause counts up to this long, since a reader may sit still."""


def intervals_of(
    moments: Iterable[int], idle_after_ms: int = IDLE_AFTER_MS
) -> tuple[Interval, ...]:
    """Return the stretches of activity in a series of moments (ms, monotonic clock).

    Moments at most ``idle_after_ms`` apart belong to one stretch; ``idle_after_ms`` is
    added after the last moment before a longer pause.
    """
    stretches: list[Interval] = []
    ordered = sorted(moments)
    for number, moment in enumerate(ordered):
        last = number + 1 == len(ordered)
        pause = 0 if last else ordered[number + 1] - moment
        end = moment + min(pause, idle_after_ms)
        if stretches and stretches[-1].end_ms == moment:
            stretches[-1] = Interval(stretches[-1].start_ms, end)
        else:
            stretches.append(Interval(moment, end))
    return tuple(stretches)


def active_ms(intervals: Iterable[Interval]) -> int:
    """Return how many milliseconds lie in at least one of several stretches.

    A stretch that ends before it starts, as after a clock change, counts as empty.
    """
    total, until = 0, None
    for stretch in sorted(intervals, key=lambda i: (i.start_ms, i.end_ms)):
        start = stretch.start_ms if until is None else max(stretch.start_ms, until)
        if stretch.end_ms > start:
            total += stretch.end_ms - start
            until = stretch.end_ms
    return total
