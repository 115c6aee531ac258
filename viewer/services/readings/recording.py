"""Store a reader's actions, each as its own row.

Every function reads the current state and writes in one transaction, so that two
windows on a session cannot lock a case twice; the second one gets an error.
"""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.form import Form
from viewer.domain.form_values import Values, check_values
from viewer.domain.reading import (
    Act,
    Consent,
    Interval,
    LockedError,
    SessionId,
    Task,
)
from viewer.domain.reading_history import Standing
from viewer.domain.reading_time import active_ms
from viewer.services.readings.cases import task_in
from viewer.services.readings.entering import (
    enter_if_finished,
    entered_run,
    note_withdrawn,
)
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.standings import planned_at, standing_at
from viewer.store import reading_audit, readings, withdrawing
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import session_lock
from viewer.store.readings import NewReading

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def held(store: Path, session: SessionId) -> Iterator[None]:
    """Lock a session while a window works on it; a second one is refused.

    The lock is the operating system's and dies with its process. SessionHeldError names
    its holder. If a process died after locking the last case and before entering the
    answers in the tables, they are entered now.
    """
    with session_lock(store, session, utc_now()):
        with open_store(store) as opened:
            enter_if_finished(opened, session)
        yield


def has_consented(store: Path, session: SessionId) -> bool:
    """Tell whether a session's reader agreed to what its form asks, if anything."""
    with open_store(store) as opened:
        return _has_consented(opened, ground_of(opened, session))


def consent(store: Path, session: SessionId) -> None:
    """Record that a session's reader agrees to what its form asks.

    Raises
    ------
    WrongUseError
        If the form asks for no consent, or the reader has withdrawn.
    """
    with open_store(store) as opened, opened.transaction():
        ground = ground_of(opened, session)
        _refuse_withdrawn(ground)
        if not ground.form.consent:
            raise WrongUseError(
                f"Session {session} asks for no consent.", "Its reader can begin."
            )
        reading_audit.note_consent(opened, session, _asked_of(ground.form))


def _has_consented(store: Store, ground: Ground) -> bool:
    form, session = ground.form, ground.session.id
    asked = _asked_of(form)
    return not form.consent or reading_audit.has_consented(store, session, asked)


def _asked_of(form: Form) -> Consent:
    return Consent.on(form.name, form.version, form.consent)


def autosave(
    store: Path,
    session: SessionId,
    position: int,
    values: Values,
    *,
    comment: str = "",
    activity: Sequence[Interval] = (),
) -> Task:
    """Store an answer that is not locked yet, complete or not; return its case.

    ``values`` are those of the current stage, ``activity`` the times of the reader's
    actions since the last call for this case. Unchanged values without activity write
    nothing.

    Raises
    ------
    LockedError
        If the case is locked.
    WrongUseError
        For a question that is not asked now.
    """
    with open_store(store) as opened, opened.transaction():
        ground, standing = _before(opened, session, position)
        _refuse_locked(standing)
        form = ground.form_of(planned_at(opened, ground, position))
        new = _row(form, standing, Act.SAVED, values, comment, activity)
        unchanged = new.values == standing.values and comment == standing.comment
        if not unchanged or new.active_ms:
            readings.add_reading(opened, session, position, new)
        return task_in(opened, ground, position)


def lock(
    store: Path,
    session: SessionId,
    position: int,
    values: Values,
    *,
    comment: str = "",
    activity: Sequence[Interval] = (),
) -> Task:
    """Lock the current stage; return the case, with the next stage if there is one.

    After the last case a reader study becomes a run of the reader; if the store cannot
    take that now, it does once the session is opened again.

    Raises
    ------
    LockedError
        If the case is already locked, possibly by another window.
    WrongUseError
        In a sentence, for a question without a value that answers it.
    """
    with open_store(store) as opened:
        with opened.transaction():
            ground, standing = _before(opened, session, position)
            _refuse_locked(standing)
            form = ground.form_of(planned_at(opened, ground, position))
            _check(task_in(opened, ground, position), form, standing.stage, values)
            if problem := ground.task.problem(values) if ground.task else "":
                raise WrongUseError("The case cannot be locked yet.", problem)
            new = _row(form, standing, Act.LOCKED, values, comment, activity)
            readings.add_reading(opened, session, position, new)
            task = task_in(opened, ground, position)
        try:
            enter_if_finished(opened, session)
        except StoreError as error:  # the case is locked all the same
            _log.warning("Session %d is not a run yet: %s", session, error.what)
        return task


def undo(
    store: Path,
    session: SessionId,
    position: int,
    *,
    activity: Sequence[Interval] = (),
) -> Task:
    """Undo the last action on a case, or its lock if nothing was revealed.

    Nothing is deleted: the undo is a row too.

    Raises
    ------
    LockedError
        If there is nothing to undo, something was revealed since the lock, or the
        reader has moved to another case or finished.
    """
    with open_store(store) as opened, opened.transaction():
        ground, standing = _before(opened, session, position)
        new = _undone(opened, ground, position, standing)
        new = replace(new, active_ms=active_ms(activity))
        readings.add_reading(opened, session, position, new)
        return task_in(opened, ground, position)


def _undone(
    store: Store, ground: Ground, position: int, standing: Standing
) -> NewReading:
    if standing.complete:
        _refuse_undoing(store, ground.session.id, position)
    if not standing.undoable:
        raise LockedError(
            "Nothing to undo.",
            "What was locked stays locked once something was revealed."
            if standing.complete
            else "",
        )
    return NewReading(Act.UNDONE, standing.stage, standing.values, standing.comment)


def _refuse_undoing(store: Store, session: SessionId, position: int) -> None:
    """Raise if a lock is final although nothing was revealed."""
    if readings.went_on(store, session, position):
        raise LockedError(
            "This case was locked before the current one.",
            "What is locked stays locked.",
        )
    run = entered_run(store, session)
    if run is not None:
        raise LockedError(
            f"These answers are already in run {run}.", "What is locked stays locked."
        )


def resolve(
    store: Path,
    session: SessionId,
    position: int,
    values: Values,
    *,
    comment: str = "",
    activity: Sequence[Interval] = (),
) -> Task:
    """Resolve a case locked as unsure; the earlier lock stays on record.

    Raises
    ------
    LockedError
        If the case is not locked as unsure.
    WrongUseError
        For values that do not answer, or are unsure again.
    """
    with open_store(store) as opened, opened.transaction():
        ground, standing = _before(opened, session, position)
        new = _resolved(opened, ground, position, standing, values)
        new = replace(new, comment=comment, active_ms=active_ms(activity))
        readings.add_reading(opened, session, position, new)
        return task_in(opened, ground, position)


def _resolved(
    store: Store, ground: Ground, position: int, standing: Standing, values: Values
) -> NewReading:
    if not standing.unresolved:
        raise LockedError(
            "This case was not locked as unsure.",
            "Only unsure cases can be resolved.",
        )
    form = ground.form_of(planned_at(store, ground, position))
    last = len(form.stages) - 1
    _check(task_in(store, ground, position), form, last, values)
    if any((name, value) in form.unsure for name, value in values.items()):
        raise WrongUseError(
            "The case would stay unsure.", "Choose what it most likely is."
        )
    return NewReading(Act.RESOLVED, last, {**standing.values, **values})


def repeat(
    store: Store, session: SessionId, position: int, done: NewReading, stages: int
) -> None:
    """Store what was done in a copy of a session elsewhere, inside a transaction.

    The copy asked only the first ``stages`` of the form.

    Raises
    ------
    WrongUseError
        If it could not have been done here: LockedError if the case is locked.
    """
    ground, _ = _before(store, session, position)
    ground = replace(ground, form=ground.form.first_stages(stages))
    standing = standing_at(store, ground, position)
    new = _repeated(store, ground, position, standing, done)
    if (new.stage, new.values) != (done.stage, done.values):
        raise WrongUseError("Its answers are not those of its case.", "")
    readings.add_reading(store, session, position, done)


def _repeated(
    store: Store, ground: Ground, position: int, standing: Standing, done: NewReading
) -> NewReading:
    """Return an act as it would be stored if it were done now."""
    if done.act is Act.UNDONE:
        return _undone(store, ground, position, standing)
    if done.act is Act.RESOLVED:
        return _resolved(store, ground, position, standing, done.values)
    if done.act is Act.REVEALED:
        raise WrongUseError("Nothing is revealed elsewhere.", "")
    _refuse_locked(standing)
    form = ground.form_of(planned_at(store, ground, position))
    if done.act is Act.LOCKED:
        _check(task_in(store, ground, position), form, standing.stage, done.values)
    return _row(form, standing, done.act, done.values, done.comment, ())


def withdraw(store: Path, session: SessionId, reason: str = "") -> int:
    """Purge a reader's name and answers from a session; return the number of rows.

    That there was a session, and when it ended, stays in the audit (M-22). A run that
    was made of the answers is kept, as every run is, with a note to leave it out.
    """
    with open_store(store) as opened:
        if readings.session_row(opened, session).withdrawn:
            raise WrongUseError(
                f"The reader of session {session} has already withdrawn.", ""
            )
        run = entered_run(opened, session)
        if run is not None:
            note_withdrawn(opened, run)
        return withdrawing.withdraw(opened, session, reason)


def _before(store: Store, session: SessionId, position: int) -> tuple[Ground, Standing]:
    ground = ground_of(store, session)
    _refuse_withdrawn(ground)
    if not _has_consented(store, ground):
        raise WrongUseError(
            f"The reader of session {session} has not agreed to take part.",
            "Continue it in Review, read what it asks, and agree first.",
        )
    return ground, standing_at(store, ground, position)


def _refuse_withdrawn(ground: Ground) -> None:
    if ground.session.withdrawn:
        raise WrongUseError(
            f"The reader of session {ground.session.id} has withdrawn.",
            "Open another session.",
        )


def _refuse_locked(standing: Standing) -> None:
    if standing.complete:
        raise LockedError(
            "This case is already locked, perhaps in another window.",
            "Continue with the next one.",
        )


def _row(
    form: Form,
    standing: Standing,
    act: Act,
    values: Values,
    comment: str,
    activity: Sequence[Interval],
) -> NewReading:
    """Return a row for the current stage, with the values of earlier stages."""
    asked = {question.id for question in form.stages[standing.stage]}
    earlier = {k: v for k, v in standing.values.items() if k not in asked}
    unknown = set(values) - asked - set(earlier)
    if unknown:
        raise WrongUseError(
            f"'{min(unknown)}' is not one of the questions asked now.", "Leave it out."
        )
    asked_values = {name: value for name, value in values.items() if name in asked}
    return NewReading(
        act, standing.stage, {**earlier, **asked_values}, comment, active_ms(activity)
    )


def _check(shown: Task, form: Form, stage: int, values: Values) -> None:
    questions = form.stages[stage]
    names = {question.id for question in questions}
    named_values = {name: value for name, value in values.items() if name in names}
    check_values(questions, named_values, shown.canvas, shown.options)
