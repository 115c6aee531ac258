"""Answers of a sealed session, merged into the session they were sealed from.

Everything is merged or nothing. An answer is stored as if it had been given here: with
its own time and salt, after the same checks, and as an event of the audit.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import CancelledError, UnreadableInputError, WrongUseError
from viewer.domain.form_values import values_as_json, values_of_json
from viewer.domain.plain import made
from viewer.domain.reading import Act, SessionId
from viewer.services.readings.entering import enter_if_finished
from viewer.services.readings.recording import repeat
from viewer.services.readings.telemetry import add_record
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.seal import (
    AGAIN,
    ANSWERS,
    FORMAT,
    Seal,
    SealedAct,
    SealedAnswers,
    check_chain,
    moment,
    plan_hmac,
)
from viewer.store import reading_audit, readings
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import session_lock
from viewer.store.readings import NewReading

_MOST_BYTES: Final = 1 << 28
_SAME: Final = "Install the same version on both machines, and write the file again."


@dataclass(frozen=True, slots=True)
class Merged:
    """The session that answers were merged into, and the number of actions."""

    session: SessionId
    reader: str
    acts: int

    @property
    def sentence(self) -> str:
        """What was merged, in words."""
        acts = counted(self.acts, "action")
        return f"{acts} of {self.reader} merged into session {self.session}."


def merge_answers(
    store: Path,
    path: Path,
    *,
    progress: Callable[[int, int], object] | None = None,
    stop: Event | None = None,
) -> Merged:
    """Merge a file of answers into its session; return what was merged.

    ``progress`` is told how many actions of how many are merged; once ``stop`` is set,
    nothing is.

    Raises
    ------
    CancelledError
        If it was stopped.
    UnreadableInputError
        For a file that is not one of answers.
    WrongUseError
        For a file that was changed, was made for another session, store or version, or
        was merged before; for a session that was withdrawn, deleted or answered here
        meanwhile; for times out of order, and answers that could not be given here.
    """
    answers, sha256 = _read(path)

    def step(done: int) -> None:
        if stop is not None and stop.is_set():
            raise CancelledError("Merging was stopped.", "Nothing was merged.")
        if progress is not None:
            progress(done, len(answers.acts))

    with open_store(store) as opened:
        _check_seal(opened, answers.seal)
        session = SessionId(answers.seal.session)
        with session_lock(store, session, utc_now()):
            with opened.transaction():
                _check_session(opened, answers)
                _merge(opened, session, answers, sha256, step)
            enter_if_finished(opened, session)
    return Merged(session, answers.reader, len(answers.acts))


def _read(path: Path) -> tuple[SealedAnswers, str]:
    """Return the answers of a file, whole and in order, and the file's hash."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _no_answers(path)
        data = path.read_bytes()
        document = json.loads(data)
    except (OSError, ValueError, RecursionError) as error:
        raise _no_answers(path) from error
    if not isinstance(document, dict) or document.get("kind") != ANSWERS:
        raise _no_answers(path)
    if document.get("format") != FORMAT:
        raise WrongUseError(
            f"{path.name} is of format {document.get('format')}; this program reads "
            f"{FORMAT}.",
            _SAME,
        )
    answers = made(SealedAnswers, document, where=path.name)
    check_chain(answers)
    if moment(utc_now()) < moment(answers.written_at):
        raise WrongUseError(
            f"{path.name} was written in the future: the clock of a machine is wrong.",
            "Set this machine's clock, or wait until then.",
        )
    return answers, hashlib.sha256(data).hexdigest()


def _no_answers(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} is not a file of answers.",
        "Name a file that overread export session wrote where the session was read.",
    )


def _check_seal(store: Store, seal: Seal) -> None:
    """Raise WrongUseError unless this store sealed the session."""
    if seal.store != store.name:
        raise WrongUseError(
            "These answers are of a session of another store.",
            "Name that store with --store.",
        )
    if not seal.is_by(store):
        raise WrongUseError("The seal of the session was changed.", AGAIN)


def _check_session(store: Store, answers: SealedAnswers) -> None:
    """Raise WrongUseError unless the session is still as it was sealed."""
    seal, number = answers.seal, answers.seal.session
    if not any(row.id == number for row in readings.session_rows(store)):
        raise WrongUseError(
            f"Session {number} was deleted after it was sealed.",
            "Its answers have nothing left that they could count in.",
        )
    ground = ground_of(store, number)
    if ground.session.withdrawn:
        raise WrongUseError(
            f"The reader of session {number} has withdrawn.",
            "The answers stay out; delete the file.",
        )
    if plan_hmac(store, number) != seal.plan_hmac:
        raise WrongUseError(
            f"The answers were made for another session than {number}.",
            "Find the store in which it was sealed.",
        )
    _check_who_and_what(ground, answers)
    if reading_audit.events_of(store, number, "merge"):
        raise WrongUseError(
            f"The answers of session {number} are merged already.",
            "Nothing is left to do.",
        )
    if reading_audit.acts_of(store, number):
        raise WrongUseError(
            f"Session {number} was answered here after it was sealed, and those "
            "answers stay.",
            "The file was not merged; to use it instead, withdraw them, and seal a new "
            "session.",
        )


def _check_who_and_what(ground: Ground, answers: SealedAnswers) -> None:
    seal, now = answers.seal, ground.study.version
    if not answers.reader == seal.reader == ground.session.reader:
        raise WrongUseError(
            f"The answers are by '{answers.reader}', but session {seal.session} is "
            f"that of '{ground.session.reader}'.",
            "Each reader answers in a session of their own.",
        )
    if answers.program != seal.program:
        raise WrongUseError(
            f"The answers were written by Overread {answers.program}, the session was "
            f"sealed by {seal.program}.",
            _SAME,
        )
    if seal.study_version != now:
        raise WrongUseError(
            f"The session was sealed for version {seal.study_version} of its study; "
            f"here it is {now}.",
            _SAME,
        )


def _merge(
    store: Store,
    session: SessionId,
    answers: SealedAnswers,
    sha256: str,
    step: Callable[[int], None],
) -> None:
    reading_audit.note_event(
        store,
        "merge",
        session,
        signature=answers.seal.signature,
        file_sha256=sha256,
        head=answers.head,
        acts=len(answers.acts),
    )
    for consent in answers.consents:
        reading_audit.note_consent(store, session, consent)
    for number, act in enumerate(answers.acts, 1):
        step(number - 1)
        try:
            repeat(store, session, act.position, _as_new(act))
        except (WrongUseError, ValueError, TypeError, AttributeError, KeyError) as e:
            why = e.what if isinstance(e, WrongUseError) else "It cannot be read."
            raise WrongUseError(
                f"Action {number} of the file could not have been done. {why}", AGAIN
            ) from e
    step(len(answers.acts))
    if answers.looks:
        add_record(store, ground_of(store, session), answers.looks, seal=True)


def _as_new(act: SealedAct) -> NewReading:
    """Return an action as a row to be; ValueError if it is none."""
    values = values_of_json(act.answers)
    if values_as_json(values) != act.answers or act.active_ms < 0 or not act.salt:
        raise ValueError(asdict(act))
    return NewReading(
        act=Act(act.act),
        stage=act.stage,
        values=values,
        comment=act.comment,
        active_ms=act.active_ms,
        salt=act.salt,
        at=act.at,
    )
