"""What a run is doing, as one value: its phase, counts and pace, and their words."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.counting import counted
from viewer.domain.run import (
    Event,
    Heartbeat,
    ModelLoading,
    Outstanding,
    RunEnded,
    RunMark,
    RunSpent,
    RunStarted,
    RunStatus,
    RunSummary,
    RunWaiting,
    TrialDone,
    TrialRetried,
)
from viewer.services.configuring.money import spent_words

_TICKS: Final = 65
"""The rate is that of so many last answers: two waves of the most in flight."""
_RATED_AFTER_S: Final = 3.0
"""Answers of a shorter time than this make no rate."""
_PATIENCE_S, _GAPS = 10.0, 3.0
"""A run stalls after so long without an answer, and so many of its longest gaps."""
_SILENT_S: Final = 10.0
"""A worker without a heartbeat for so long does not respond."""


class Phase(StrEnum):
    """What a run is doing. FAILED and CRASHED ended by an error and with the worker."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSING = "pausing"
    CANCELLING = "cancelling"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    FAILED = "failed"
    CRASHED = "crashed"
    DONE = "done"


_ACTIVE: Final = (Phase.QUEUED, Phase.RUNNING, Phase.PAUSING, Phase.CANCELLING)
_ON_REQUEST: Final = {
    RunMark.PAUSED: Phase.PAUSING,
    RunMark.CANCELLED: Phase.CANCELLING,
}
_AFTER: Final = {Phase.PAUSING: Phase.PAUSED, Phase.CANCELLING: Phase.CANCELLED}
_STORED: Final = {
    RunStatus.UNFINISHED: Phase.STOPPED,
    RunStatus.PAUSED: Phase.PAUSED,
    RunStatus.CANCELLED: Phase.CANCELLED,
    RunStatus.FINISHED: Phase.DONE,
}


_BROKEN: Final = {
    Phase.CRASHED: ("worker ended", " at "),
    Phase.FAILED: ("stopped by an error", " at "),
}


@dataclass(frozen=True, slots=True)
class RunState:
    """A run at a moment; times are seconds of one monotonic clock.

    ``since_s`` is when the phase began and ``heard_s`` when the worker last told of the
    run. ``ticks`` are the times of the last answers, after that of the beginning.
    ``failures`` counts, by their reason, the trials that got no answer from a model
    since the beginning, ``odd`` the replies refused or not readable, by status. ``out``
    is what waits in batches of providers.
    ``retried`` is why a question was last asked again since the last answer. Of a run
    that has ended, ``counts`` has the trials by status. ``why`` says what ended it, for
    people, "" for its own end.
    """

    run: int
    phase: Phase = Phase.QUEUED
    planned: int = 0
    done: int = 0
    since_s: float = 0.0
    heard_s: float = 0.0
    in_flight: int = 0
    ticks: tuple[float, ...] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    odd: Mapping[str, int] = field(default_factory=dict)
    loading: ModelLoading | None = None
    awaited: str = ""
    retried: str = ""
    spent: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    out: Outstanding | None = None

    @property
    def is_active(self) -> bool:
        """True until the run has ended in any way."""
        return self.phase in _ACTIVE

    @property
    def is_stopping(self) -> bool:
        """True if a person wants it to end and answers are awaited."""
        return self.phase in _AFTER

    @property
    def is_broken(self) -> bool:
        """True if it ended by an error, or with the worker."""
        return self.phase in {Phase.FAILED, Phase.CRASHED}

    @property
    def part(self) -> float:
        """The fraction done, 0 to 1; of the model's loading while it loads."""
        if self.loading is not None and self.loading.waited_s is None:
            return self.loading.part
        return self.done / max(1, self.planned)

    def after(self, event: Event, now_s: float) -> "RunState":
        """Return the state after an event of the run."""
        heard = replace(self, heard_s=now_s)
        match event:
            case RunStarted(planned=planned, done=done):
                phase = self.phase if self.is_stopping else Phase.RUNNING
                started = replace(self, phase=phase, planned=planned, done=done)
                return replace(started, since_s=now_s, heard_s=now_s, ticks=(now_s,))
            case TrialDone():
                return self._answered(event, now_s)
            case TrialRetried(reason=reason):
                return replace(heard, retried=_in_words(reason))
            case Heartbeat(in_flight=in_flight):
                return replace(heard, in_flight=in_flight)
            case ModelLoading():
                loading = event if event.what else None
                return replace(heard, loading=loading, ticks=(now_s,))
            case RunWaiting():
                out = (
                    Outstanding(event.questions, event.due) if event.questions else None
                )
                words = "" if out else event.words
                return replace(heard, awaited=words, out=out, ticks=(now_s,))
            case RunSpent():
                return replace(heard, spent=spent_words(event))
            case RunEnded(counts=counts, cancelled=cancelled):
                by_status = {status.value: n for status, n in counts.items()}
                return self._ended(by_status, now_s, cancelled=cancelled)
            case _:
                return heard

    def _answered(self, event: TrialDone, now_s: float) -> "RunState":
        status, reason = event.score.status, event.score.reason
        failures, odd = self.failures, self.odd
        if status is Status.PROVIDER_ERROR:
            failures = _one_more(failures, _in_words(reason) or "no reason")
        elif status is Status.REFUSED or status in UNREADABLE:
            odd = _one_more(odd, _in_words(status.value))
        answered = replace(
            self, done=self.done + 1, heard_s=now_s, failures=failures, odd=odd
        )
        if event.reused:  # says nothing about how fast models answer
            return answered
        # the rate after a stall is not that of the time before it
        stalled = self.stalled_s(now_s) > 0 and len(self.ticks) > 1
        ticks = () if stalled else self.ticks[1 - _TICKS :]
        return replace(answered, ticks=(*ticks, now_s), retried="")

    def _ended(
        self, counts: Mapping[str, int], now_s: float, *, cancelled: bool
    ) -> "RunState":
        left = counts.get(Status.PENDING, 0)
        phase = Phase.STOPPED if left else Phase.DONE
        if cancelled and left:
            phase = _AFTER.get(self.phase, Phase.STOPPED)
        planned = sum(counts.values()) or self.planned
        done = planned - left if counts else self.done
        out = self.out if left else None
        return RunState(self.run, phase, planned, done, now_s, counts=counts, out=out)

    def requested(self, mark: RunMark, now_s: float) -> "RunState":
        """Return the state once a person wants a run paused or cancelled."""
        return replace(self, phase=_ON_REQUEST[mark], since_s=now_s)

    def broken(self, phase: Phase, why: str, now_s: float) -> "RunState":
        """Return the state after an error, or the worker's death."""
        return RunState(self.run, phase, self.planned, self.done, now_s, why=why)

    def stalled_s(self, now_s: float) -> float:
        """Return for how long no answer has come, 0 while that is no surprise."""
        gaps = [b - a for a, b in zip(self.ticks, self.ticks[1:], strict=False)]
        silent = now_s - self.ticks[-1] if self.ticks else 0.0
        patience = max(_PATIENCE_S, _GAPS * max(gaps, default=0.0))
        excused = self.loading is not None or self._awaited or self.is_stopping
        return silent if silent > patience and not excused else 0.0

    def per_minute(self, now_s: float) -> float | None:
        """Return the rate of the last answers, None without one or while it stalls."""
        span = now_s - self.ticks[0] if len(self.ticks) > 1 else 0.0
        if span < _RATED_AFTER_S or self.stalled_s(now_s):
            return None
        return 60 * (len(self.ticks) - 1) / span

    def words(self, now_s: float) -> str:
        """Return what the run is doing, the same wherever it is shown."""
        if not self.is_active:
            return self._end_words()
        how_far = f"{self.done:,} of {self.planned:,}"
        if self.phase is Phase.QUEUED:
            return Phase.QUEUED.value
        if silent := self._silent_s(now_s):
            worker = f"no sign of life from the worker for {clock_text(silent)}"
            parts = [worker, how_far]
        elif self.is_stopping:
            since = clock_text(now_s - self.since_s)
            awaited = _on_their_way(self.in_flight)
            parts = [f"{self.phase} for {since}, {awaited}", how_far]
        elif self.loading is not None:
            parts = [how_far, self.loading.words]
        elif self._awaited:
            parts = [how_far, self._awaited]
        elif stalled := self.stalled_s(now_s):
            parts = [self._stalled_words(stalled), how_far]
        else:
            parts = [Phase.RUNNING.value, how_far, *self._pace_words(now_s)]
        return " · ".join((*parts, *self._trouble_words()))

    @property
    def _awaited(self) -> str:
        """What it waits for, if anything; a batch is due "today" as of now."""
        return self.out.words if self.out else self.awaited

    def _silent_s(self, now_s: float) -> float:
        silent = now_s - self.heard_s
        # a worker that waits for the store, or a model, has said so
        said = self._awaited or self.loading is not None
        return silent if silent > _SILENT_S and not said else 0.0

    def _stalled_words(self, stalled_s: float) -> str:
        since = clock_text(stalled_s)
        waits = f"waiting for {counted(self.in_flight, 'answer')}"
        if self.retried:
            return f"stalled for {since}, asking again after {self.retried}"
        if len(self.ticks) == 1 and self.in_flight:  # a slow model, as far as is known
            return f"{waits} for {since}"
        return f"stalled for {since}" + f", {waits}" * bool(self.in_flight)

    def _pace_words(self, now_s: float) -> list[str]:
        rate = self.per_minute(now_s)
        if rate is None:
            return []
        left = clock_text(60 * (self.planned - self.done) / rate)
        return [f"{rate:.{0 if rate >= 10 else 1}f} per minute", f"{left} left"]

    def _trouble_words(self) -> list[str]:
        n, kinds = sum(self.failures.values()), _counted(self.failures)
        failed = [f"{n:,} failed ({', '.join(kinds)})"] if n else []
        return [*failed, *_counted(self.odd), *([self.spent] if self.spent else [])]

    def _end_words(self) -> str:
        if self.phase is Phase.DONE:
            trials = counted(self.planned, "trial")
            return " · ".join(("done", trials, *odd_words(self.counts)))
        words, joint = _BROKEN.get(self.phase, (self.phase.value, " · "))
        how_far = f"{self.done:,} of {self.planned:,}"
        if self.out is not None:
            # the batch goes on: only what a person did to the run is still true of it
            marked = [words] if self.phase is not Phase.STOPPED else []
            return " · ".join((*marked, self.out.words, how_far))
        return f"{words}{f'{joint}{how_far}' * bool(self.planned)}"


def stored_state(summary: RunSummary) -> RunState:
    """Return the state of a run that nobody works on, as the store has it."""
    done = summary.n_planned - summary.counts.get(Status.PENDING, 0)
    phase = _STORED[summary.status]
    return RunState(
        summary.id,
        phase,
        summary.n_planned,
        done,
        counts={Status(one): n for one, n in summary.counts.items()},
        out=summary.out,
    )


def odd_words(counts: Mapping[str, int]) -> list[str]:
    """Return how many trials did not go well, such as ``2 unreadable``."""
    odd = {
        "unreadable": sum(counts.get(status, 0) for status in UNREADABLE),
        "refused": counts.get(Status.REFUSED, 0),
        "failed": counts.get(Status.PROVIDER_ERROR, 0),
    }
    return [f"{n:,} {word}" for word, n in odd.items() if n]


def clock_text(seconds: float) -> str:
    """Return a duration as ``1:36``, with hours as ``2:01:36``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _on_their_way(n: int) -> str:
    return f"{counted(n, 'answer')} on {'its' if n == 1 else 'their'} way"


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _one_more(counts: Mapping[str, int], kind: str) -> Mapping[str, int]:
    return {**counts, kind: counts.get(kind, 0) + 1}


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{n:,} {kind}" for kind, n in sorted(counts.items())]
