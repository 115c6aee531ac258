"""Progress of a running batch: how far, how fast, and when it will end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.run import ModelLoading, TrialDone


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A batch in progress; times are seconds of one monotonic clock.

    ``begun`` trials were settled when it started, ``done`` are settled now.
    ``failures`` counts, by their reason, the trials that got no answer from a model
    since then; ``odd`` the replies that were refused or could not be read, by status.
    ``loading`` is the model that questions wait for, None if there is none, and
    ``awaited`` names the processes whose replies they wait for, "" for none.
    """

    run: int
    planned: int
    begun: int
    done: int
    started_s: float
    failures: Mapping[str, int] = field(default_factory=dict)
    odd: Mapping[str, int] = field(default_factory=dict)
    loading: ModelLoading | None = None
    awaited: str = ""

    def waiting(self, event: ModelLoading, now_s: float) -> "RunProgress":
        """Return the progress while a model is loaded; the rate excludes that time."""
        if event.what:
            return replace(self, loading=event)
        started = now_s if self.done == self.begun else self.started_s
        return replace(self, loading=None, started_s=started)

    @property
    def part(self) -> float:
        """The fraction done, 0 to 1: of the loading while a model is loaded."""
        if self.loading is not None:
            return self.loading.part
        return self.done / max(1, self.planned)

    def after(self, event: TrialDone) -> "RunProgress":
        """Return the progress with one more trial settled."""
        status, reason = event.score.status, event.score.reason
        failures, odd = self.failures, self.odd
        if status is Status.PROVIDER_ERROR:
            failures = _one_more(failures, reason.replace("_", " ") or "no reason")
        elif status is Status.REFUSED or status in UNREADABLE:
            odd = _one_more(odd, status.value.replace("_", " "))
        return replace(self, done=self.done + 1, failures=failures, odd=odd)

    def seconds_left(self, now_s: float) -> float | None:
        """Return how long the rest takes at this pace; None before the first."""
        asked = self.done - self.begun
        if asked <= 0:
            return None
        return (now_s - self.started_s) / asked * (self.planned - self.done)

    def words(self, now_s: float) -> str:
        """Return done of planned, rate, time left and failures so far by kind.

        While a model is loaded, or another process's replies are awaited, that instead
        of the rate.
        """
        parts = [f"{self.done} of {self.planned}"]
        if self.loading is not None:
            return " · ".join((*parts, self.loading.words))
        if self.awaited:
            return " · ".join((*parts, self.awaited))
        left, elapsed = self.seconds_left(now_s), now_s - self.started_s
        if left is not None and elapsed > 0:
            rate = 60 * (self.done - self.begun) / elapsed
            parts += [_rate(rate), f"{clock_text(left)} left"]
        return " · ".join((*parts, self.failures_words()))

    def failures_words(self) -> str:
        """Return text such as ``2 failed (1 timeout, 1 http 500) · 3 unparsed``."""
        n, kinds = sum(self.failures.values()), _counted(self.failures)
        failed = f"{n} failed ({', '.join(kinds)})" if n else "0 failed"
        return " · ".join((failed, *_counted(self.odd)))


def clock_text(seconds: float) -> str:
    """Return a duration as ``1:36``, with hours as ``2:01:36``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _one_more(counts: Mapping[str, int], kind: str) -> Mapping[str, int]:
    return {**counts, kind: counts.get(kind, 0) + 1}


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{n} {kind}" for kind, n in sorted(counts.items())]


def _rate(per_minute: float) -> str:
    return f"{per_minute:.{0 if per_minute >= 10 else 1}f} trials/min"
