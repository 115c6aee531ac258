"""Time on task: how long a reader spent on a case, excluding absences."""

from collections.abc import Iterable
from typing import Final

from viewer.domain.reading import Interval

IDLE_AFTER_MS: Final = 30_000
"""A pause longer than this counts no further: somebody who reads may sit still."""


def intervals_of(
    moments: Iterable[int], idle_after_ms: int = IDLE_AFTER_MS
) -> tuple[Interval, ...]:
    """Return the stretches of activity that moments of a monotonic clock (ms) make.

    Two moments belong to one stretch where they are at most ``idle_after_ms`` apart;
    after the last one before a longer pause, ``idle_after_ms`` still count.
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
    """Return how many milliseconds lie in any of some stretches, each counted once.

    A stretch that ends before it starts, as after a clock was set, counts nothing.
    """
    total, until = 0, None
    for stretch in sorted(intervals, key=lambda i: (i.start_ms, i.end_ms)):
        start = stretch.start_ms if until is None else max(stretch.start_ms, until)
        if stretch.end_ms > start:
            total += stretch.end_ms - start
            until = stretch.end_ms
    return total
