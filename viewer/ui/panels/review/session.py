"""A reader's session for the screen: short calls, each durable once it returns."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from viewer.domain.form_values import Values
from viewer.domain.reading import (
    Forecast,
    Interval,
    Progress,
    Reveal,
    SessionId,
    SessionSummary,
    Task,
    TaskState,
)
from viewer.domain.telemetry import Look
from viewer.services.readings import (
    cases,
    opening,
    progress,
    recording,
    reviewing,
    telemetry,
)


class Asked(NamedTuple):
    """What a reader still has to decide before the first case."""

    consent: bool = False
    """Whether to take part."""
    telemetry: bool = False
    """Whether what is on screen may be recorded."""


class Session:
    """One session of one reader, held by this window until it is closed.

    What it gives of a case is its Task, which names no model and holds no reference;
    only :meth:`reveal` gives more, and only once the case is locked.
    """

    def __init__(self, store: Path, summary: SessionSummary, held: ExitStack) -> None:
        self.summary = summary
        self._store, self._held = store, held

    @classmethod
    def hold(cls, store: Path, session: SessionId) -> Self:
        """Acquire a session; if another window holds it, the error says which."""
        held = ExitStack()
        held.enter_context(recording.held(store, session))
        return cls(store, opening.session(store, session), held)

    @property
    def asked(self) -> Asked:
        """What the reader has not decided yet."""
        return Asked(
            not recording.has_consented(self._store, self.summary.id),
            telemetry.decision(self._store, self.summary.id) is None,
        )

    def agree(self, *, record: bool) -> None:
        """Record that the reader takes part, and whether the screen is recorded."""
        asked = self.asked
        if asked.consent:
            recording.consent(self._store, self.summary.id)
        if asked.telemetry:
            telemetry.decide(self._store, self.summary.id, given=record)

    @property
    def records(self) -> bool:
        """Whether the reader agreed that what is on screen is recorded."""
        return telemetry.decision(self._store, self.summary.id) is True

    def record(self, looks: Sequence[Look], seal: bool) -> None:
        """Store what was on screen; seal all that is stored."""
        telemetry.record(self._store, self.summary.id, looks, seal=seal)

    def stop_record(self) -> int:
        """Take that consent back; return how many rows were deleted for good."""
        return telemetry.decide(self._store, self.summary.id, given=False)

    def withdraw(self) -> int:
        """Purge the reader's name and answers; return the number of rows."""
        return recording.withdraw(self._store, self.summary.id)

    def tasks(self) -> tuple[Task, ...]:
        """Return its cases in the session's order."""
        return cases.queue(self._store, self.summary.id)

    def save(
        self, position: int, values: Values, comment: str, at_work: Sequence[Interval]
    ) -> Task:
        """Save the answers so far and return the case."""
        return recording.autosave(
            self._store,
            self.summary.id,
            position,
            values,
            comment=comment,
            activity=at_work,
        )

    def lock(
        self, task: Task, values: Values, comment: str, at_work: Sequence[Interval]
    ) -> Task:
        """Lock the current stage, or resolve what was unsure."""
        unsure = task.state is TaskState.UNRESOLVED
        does = recording.resolve if unsure else recording.lock
        return does(
            self._store,
            self.summary.id,
            task.position,
            values,
            comment=comment,
            activity=at_work,
        )

    def undo(self, position: int, at_work: Sequence[Interval] = ()) -> Task:
        """Undo the last action at a case and return the case as it is then."""
        return recording.undo(self._store, self.summary.id, position, activity=at_work)

    def reveal(self, position: int) -> Reveal:
        """Return the parts of a locked case that its form reveals."""
        return cases.reveal(self._store, self.summary.id, position)

    def progress(self) -> Progress:
        """Return the progress of the session."""
        return progress.progress(self._store, self.summary.id)

    def forecast(self) -> Forecast:
        """Return the gain of more reviews; slow."""
        return reviewing.forecast(self._store, self.summary.id)

    def close(self) -> None:
        """Release the session so that others can work on it."""
        self._held.close()
