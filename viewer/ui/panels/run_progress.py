"""How far a running batch is, how fast it goes and when it will end."""

from dataclasses import dataclass, replace

from viewer.domain.answer import Status
from viewer.domain.run import TrialDone


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A batch under way; times are seconds of one monotonic clock.

    ``begun`` trials were settled when it started, ``done`` are settled now.
    """

    run: int
    planned: int
    begun: int
    done: int
    failed: int
    started_s: float

    def after(self, event: TrialDone) -> "RunProgress":
        """Return the progress with one more trial settled."""
        failure = event.score.status is Status.PROVIDER_ERROR
        return replace(self, done=self.done + 1, failed=self.failed + failure)

    def words(self, now_s: float) -> str:
        """Return done of planned, rate, time left and failures so far."""
        parts = [f"{self.done} of {self.planned}"]
        elapsed, asked = now_s - self.started_s, self.done - self.begun
        if asked and elapsed > 0:
            rate = asked / elapsed
            parts += [_rate(rate), f"{_clock((self.planned - self.done) / rate)} left"]
        parts.append(f"{self.failed} failed")
        return " · ".join(parts)


def _rate(per_second: float) -> str:
    if per_second >= 1:
        return f"{per_second:.0f} a second"
    return f"{60 * per_second:.1f} a minute"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
