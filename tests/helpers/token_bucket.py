"""A server's hidden limits, and an endpoint simulated with them on a clock of its own.

`Bucket` is what a metering server keeps; `Simulation` drives a `Limit` against one
with exact times, so that what it does is the same on every machine.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from viewer.models.limits import Limit


@dataclass
class Bucket:
    """A token bucket: ``burst`` tokens at most, ``per_s`` more every second."""

    per_s: float
    burst: float
    _level: float = field(init=False)
    _at: float = 0.0

    def __post_init__(self) -> None:
        self._level = self.burst

    def take(self, now: float) -> bool:
        """Take a token; False where there is none."""
        self._level = min(self.burst, self._level + (now - self._at) * self.per_s)
        self._at = now
        if self._level < 1:
            return False
        self._level -= 1
        return True

    @property
    def full_in_s(self) -> float:
        """Seconds until there is a token again."""
        return max(0.0, (1 - self._level) / self.per_s)


@dataclass(frozen=True)
class Happened:
    """An answer or a rejection, at the time it reached the client."""

    at: float
    rejected: bool


@dataclass
class Simulation:
    """An endpoint that answers ``latency_s`` after asking, or refuses at once.

    ``retry_after`` makes the header from the exact seconds until the next token; None
    sends none. ``places`` bounds the questions it answers at a time.
    """

    limit: Limit
    bucket: Bucket
    latency_s: float = 0.2
    retry_after: Callable[[float], float] | None = math.ceil
    places: int = 1_000
    refusal_s: float = 0.01
    happened: list[Happened] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Ask as much as the limit lets, for so long."""
        now, flying = 0.0, [(math.inf, 0, 0.0, False, 0.0)]
        busy = tickets = 0
        while now < seconds:
            while self.limit.wait_s(now) <= 0:
                self.limit.leave(now)
                tickets += 1
                taken = busy < self.places and self.bucket.take(now)
                busy += taken
                back = now + (self.latency_s if taken else self.refusal_s)
                after = self.bucket.full_in_s
                heapq.heappush(flying, (back, tickets, now, taken, after))
            wake = now + max(self.limit.wait_s(now), 1e-6)
            if wake < flying[0][0]:
                now = wake
                continue
            now, _, left_at, taken, after = heapq.heappop(flying)
            busy -= taken
            self._tell(left_at, now, after, taken=taken)

    def _tell(self, left_at: float, now: float, after: float, *, taken: bool) -> None:
        self.happened.append(Happened(now, rejected=not taken))
        if taken:
            self.limit.answered(left_at, now, {})
        else:
            asked = None if self.retry_after is None else self.retry_after(after)
            self.limit.rejected(left_at, now, asked)

    def answers(self, since: float, until: float) -> int:
        """Return how many questions were answered in a span of time."""
        return sum(since <= h.at < until and not h.rejected for h in self.happened)

    def rejections(self, since: float, until: float) -> int:
        """Return how many questions were refused in a span of time."""
        return sum(since <= h.at < until and h.rejected for h in self.happened)
