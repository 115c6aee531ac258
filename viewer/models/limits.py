"""How many questions an endpoint is asked at a time, and how fast.

Nothing here reads a clock: every call is given the time in seconds, from any monotonic
clock. Not thread-safe; only the coordinator uses it.
"""

import math
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from viewer.models.retry import LONGEST_ASKED_S

START: Final = 4
"""Questions in flight at first, at least."""
CUT: Final = 0.8
"""What is left of the window after a rejection."""
COOL_DOWN_S: Final = 15.0
"""Seconds after a cut in which the window neither grows nor is cut again."""

_MARGIN: Final = 0.97
_FIRST_STEP, _LARGEST_STEP, _LARGEST_WARM_STEP = 0.02, 0.5, 0.08
_STEP_ANSWERS: Final = 10
_WARM_UP_S: Final = 45.0
_HELD_ANSWERS, _HELD_S = 150, 10.0
"""Clean replies and seconds, once warm, before more is tried: few are refused then."""
_STEP_S, _LATEST_S = 0.5, 1.0
_HORIZON_S, _KEPT = 60.0, 3
"""Rejections are measured from for so long, the latest in any case."""
_LATE_S: Final = 0.05
"""How late a question may leave without slowing those behind it."""
_PARTS: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS: Final[Mapping[str, float]] = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class Limit(Protocol):
    """Limits the questions to an endpoint; every question sent ends exactly once."""

    @property
    def window(self) -> int:
        """The current maximum of questions in flight."""
        ...

    @property
    def in_flight(self) -> int:
        """The number of questions in flight."""
        ...

    def wait_s(self, now: float) -> float:
        """Return the seconds until one more may be sent, ∞ until another has ended."""
        ...

    def leave(self, now: float) -> None:
        """Record that a question is sent."""
        ...

    def answered(self, left_at: float, now: float, headers: Mapping[str, str]) -> None:
        """Record a reply, with its headers, to a question sent at ``left_at``."""
        ...

    def rejected(
        self, left_at: float, now: float, retry_after_s: float | None = None
    ) -> None:
        """Record that a question was rejected as one too many (status 429)."""
        ...

    def failed(self) -> None:
        """Record an end that says nothing about the limit."""
        ...

    def loading(self, now: float, retry_after_s: float) -> None:
        """Record that the endpoint has not loaded its model yet."""
        ...


class FixedLimit:
    """A constant limit of questions in flight, for local models."""

    def __init__(self, window: int) -> None:
        self.window, self.in_flight = window, 0

    def wait_s(self, now: float) -> float:  # noqa: ARG002 - time changes nothing
        """Return 0 while there is a free place, else ∞."""
        return 0.0 if self.in_flight < self.window else math.inf

    def leave(self, now: float) -> None:  # noqa: ARG002 - time changes nothing
        """Take a place."""
        self.in_flight += 1

    def answered(self, left_at: float, now: float, headers: Mapping[str, str]) -> None:  # noqa: ARG002 - a place is free again, whatever came
        """Free a place."""
        self.in_flight -= 1

    def rejected(
        self,
        left_at: float,  # noqa: ARG002 - a place is free again, whatever came
        now: float,  # noqa: ARG002
        retry_after_s: float | None = None,  # noqa: ARG002
    ) -> None:
        """Free a place."""
        self.in_flight -= 1

    def failed(self) -> None:
        """Free a place."""
        self.in_flight -= 1

    def loading(self, now: float, retry_after_s: float) -> None:  # noqa: ARG002
        """Free a place."""
        self.in_flight -= 1


class NoLimit(FixedLimit):
    """No limit, for questions that are written to a file and not sent one by one."""

    def wait_s(self, now: float) -> float:  # noqa: ARG002 - as above
        """Return 0."""
        return 0.0


class AdaptiveLimit:
    """Adapts to an endpoint's limit by asking a little more until it refuses.

    A window limits the questions in flight: it grows by one, with every reply until the
    first rejection and then with every window without one, and shrinks to 0.8 at a
    rejection, at most once in 15 s. A rate, known from the first rejection on, limits
    how many are sent per second. The endpoint's own information takes precedence:
    Retry-After, and x-ratelimit headers that say nothing remains.

    Parameters
    ----------
    most : int
        The largest window.
    start : int
        The first window, if it is more than a few.
    """

    def __init__(self, most: int, start: int = START) -> None:
        self._window = _Window(most, max(START, start))
        self._pace = _Pace()
        self._paused_until = -math.inf
        self._is_loading = False
        self.in_flight = 0

    @property
    def window(self) -> int:
        """The current maximum of questions in flight; 1 while its model is loading."""
        return 1 if self._is_loading else int(self._window.size)

    @property
    def per_s(self) -> float | None:
        """Questions per second that the endpoint accepts, None while unknown."""
        return self._pace.rate

    def wait_s(self, now: float) -> float:
        """Return the seconds until one more may be sent, ∞ until another has ended."""
        if self.in_flight >= self.window:
            return math.inf
        return max(0.0, max(self._paused_until, self._pace.due_at) - now)

    def leave(self, now: float) -> None:
        """Record that a question is sent."""
        self.in_flight += 1
        self._window.note_use(self.in_flight)
        self._pace.leave(now)

    def answered(self, left_at: float, now: float, headers: Mapping[str, str]) -> None:
        """Record a reply, with its headers, to a question sent at ``left_at``."""
        self.in_flight -= 1
        self._is_loading = False
        self._window.answered(left_at, now, paced=self._pace.rate is not None)
        self._pace.answered(left_at, now)
        self._pause(now, exhausted_for_s(headers))

    def rejected(
        self, left_at: float, now: float, retry_after_s: float | None = None
    ) -> None:
        """Record that a question was rejected as one too many (status 429)."""
        self.in_flight -= 1
        self._window.rejected(left_at, now)
        self._pace.rejected(left_at, now)
        self._pause(now, retry_after_s)

    def failed(self) -> None:
        """Record an end that says nothing about the limit, such as a 5xx."""
        self.in_flight -= 1

    def loading(self, now: float, retry_after_s: float) -> None:
        """Record that the endpoint has not loaded its model yet: one at a time."""
        self.in_flight -= 1
        self._is_loading = True
        self._pause(now, retry_after_s)

    def _pause(self, now: float, seconds: float | None) -> None:
        if seconds is not None:
            until = now + min(max(seconds, 0.0), LONGEST_ASKED_S)
            self._paused_until = max(self._paused_until, until)


class _Window:
    """Additive increase, multiplicative decrease."""

    def __init__(self, most: int, start: int) -> None:
        self._most = most
        self.size = float(min(start, most))
        self._cut_at = -math.inf
        self._clean = 0
        self._used = False

    def note_use(self, in_flight: int) -> None:
        """Record that the window was full: only a full window needs to grow."""
        self._used = self._used or in_flight >= int(self.size)

    def answered(self, left_at: float, now: float, *, paced: bool) -> None:
        """Grow by one when due; soon if a rate is the actual limit."""
        if self._is_cooling(left_at, now):
            return
        self._clean += 1
        # No rejection yet: grow with every reply (slow start, as in TCP).
        at_once = paced or self._cut_at == -math.inf
        if self._used and self._clean >= (1 if at_once else int(self.size)):
            self.size = min(self.size + 1, float(self._most))
            self._clean, self._used = 0, False

    def rejected(self, left_at: float, now: float) -> None:
        """Shrink, unless that just happened."""
        self._clean = 0
        if not self._is_cooling(left_at, now):
            self.size = max(1.0, self.size * CUT)
            self._cut_at = now

    def _is_cooling(self, left_at: float, now: float) -> bool:
        # Sent before the cut, it tells about the larger window and not about this one.
        return left_at < self._cut_at or now - self._cut_at < COOL_DOWN_S


@dataclass(frozen=True, slots=True)
class _Taken:
    """The questions that an endpoint accepted since a rejection."""

    questions: int
    seconds: float


class _Pace:
    """Questions per second, measured between rejections.

    An endpoint with token buckets refuses when its bucket is empty. Between two
    rejections the bucket was therefore filled by as much as was accepted, which gives
    its rate. The pace keeps just below it, and after many replies without a rejection
    tries a little more, doubling the step each time.
    """

    def __init__(self) -> None:
        self.rate: float | None = None
        self.due_at = -math.inf
        self._left: list[float] = []
        self._refused: list[float] = []
        self._refused_at = self._warm_at = math.inf
        self._stepped_at = -math.inf
        self._clean = self._since_step = 0
        self._step = _FIRST_STEP
        self._used = False

    def leave(self, now: float) -> None:
        """Record a question as sent; the next may go after its share of a second."""
        self._left.append(now)
        if self.rate is not None:
            self._used = self._used or now - self.due_at < _LATE_S
            self.due_at = max(self.due_at, now - _LATE_S) + 1 / self.rate

    def rejected(self, left_at: float, now: float) -> None:
        """Measure what the endpoint accepts, and stay just below it."""
        if not self._refused:
            self._warm_at = now + _WARM_UP_S
        self._forget(left_at)
        measured = self._measured(left_at, warm=now >= self._warm_at)
        insort(self._refused, left_at)
        if measured is not None:
            # a pace that held for a while is not far off, whatever was lost in a pause
            held = self.rate if self.rate and self._clean >= _STEP_ANSWERS else 0.0
            self.rate = max(_MARGIN * measured, CUT * held)
            self.due_at = max(self.due_at, now + 1 / self.rate)
        self._refused_at = self._stepped_at = now
        self._clean = self._since_step = 0
        self._step = _FIRST_STEP

    def _measured(self, until: float, *, warm: bool) -> float | None:
        """Return the accepted questions per second, None if there were too few.

        Since any rejection, no more than was filled plus one can have been accepted.
        The first measurements, of few questions, also count the next question, so that
        they are not far too low.
        """
        taken = [t for t in map(self._taken(until), self._refused) if t.questions >= 2]
        if not taken:
            return self._latest(until) if not self._refused else None
        least = max((t.questions - 1) / t.seconds for t in taken)
        return (
            least if warm else max(least, (taken[0].questions + 1) / taken[0].seconds)
        )

    def _latest(self, until: float) -> float | None:
        """Return the rate of the latest questions, which was too high.

        The first few questions count as one window.
        """
        latest = [at for at in self._left if until - _LATEST_S <= at <= until]
        return max(len(latest), START) / _LATEST_S if latest else None

    def _taken(self, until: float) -> Callable[[float], "_Taken"]:
        left = bisect_left(self._left, until)
        refused = bisect_left(self._refused, until)

        def since(start: float) -> _Taken:
            asked = left - bisect_right(self._left, start)
            lost = refused - bisect_right(self._refused, start)
            return _Taken(asked - lost, until - start)

        return since

    def _forget(self, now: float) -> None:
        """Drop measurements that are too old."""
        old = bisect_left(self._refused, now - _HORIZON_S)
        del self._refused[: max(0, min(old, len(self._refused) - _KEPT))]
        if self._refused:
            del self._left[: bisect_left(self._left, self._refused[0])]

    def answered(self, left_at: float, now: float) -> None:
        """Try a little more after enough replies without a rejection."""
        if self.rate is None or left_at < self._refused_at:
            return
        self._clean += 1
        self._since_step += 1
        if self._may_step(now):
            self.rate *= 1 + self._step
            largest = _LARGEST_STEP if now < self._warm_at else _LARGEST_WARM_STEP
            self._step = min(2 * self._step, largest)
            self._stepped_at, self._since_step, self._used = now, 0, False

    def _may_step(self, now: float) -> bool:
        if not self._used or self._since_step < _STEP_ANSWERS:
            return False
        if now - self._stepped_at < _STEP_S:
            return False
        is_held = self._clean < _HELD_ANSWERS or now - self._refused_at < _HELD_S
        return now < self._warm_at or not is_held


def exhausted_for_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until an exhausted limit is reset, None if none is exhausted.

    Reads ``x-ratelimit-remaining-*`` and ``x-ratelimit-reset-*`` for requests and
    tokens, with times such as ``6m0s``, ``120ms`` or plain seconds.
    """
    waits = [
        _duration(headers.get(f"x-ratelimit-reset-{what}", ""))
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}", "").strip() == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _duration(text: str) -> float | None:
    plain = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", plain):
        return float(plain)
    if not re.fullmatch(rf"(?:{_PARTS.pattern})+", plain):
        return None
    return sum(float(n) * _SECONDS[unit] for n, unit in _PARTS.findall(plain))
