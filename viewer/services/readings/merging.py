"""Answers of a sealed session, merged into the session they were sealed from.

Everything is merged or nothing. An answer is stored as if it had been given here: with
its own time and salt, after the same checks, and as an event of the audit. A file with
more answers than were merged of it adds the others. Once the last answer of a part is
merged, the next part is sealed beside the file.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.counting import counted
from viewer.domain.errors import (
    CancelledError,
    OverreadError,
    UnreadableInputError,
    WrongUseError,
)
from viewer.domain.plain import made
from viewer.domain.reading import SessionId
from viewer.services.readings.entering import enter_if_finished
from viewer.services.readings.parts import MERGE, Part
from viewer.services.readings.recording import repeat
from viewer.services.readings.sealed_plan import SealedFile
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.telemetry import add_record, forget_if_declined
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.seal import (
    AGAIN,
    ANSWERS,
    FORMAT,
    Seal,
    SealedAnswers,
    check_chain,
    moment,
    plan_hmac,
)
from viewer.services.sessions.standings import standings_of
from viewer.settings import SEALED_ENDING
from viewer.store import reading_audit, readings
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import session_lock
from viewer.store.withdrawing import purging

_MOST_BYTES: Final = 1 << 28
_SAME: Final = "Install the same version on both machines, and write the file again."


@dataclass(frozen=True, slots=True)
class Merged:
    """The session that answers were merged into, and the number of actions.

    ``locked`` of ``planned`` cases are locked. ``then`` is the next part that was
    sealed, None without any, and ``problem`` says why it could not be.
    """

    session: SessionId
    reader: str
    acts: int
    locked: int
    planned: int
    then: SealedFile | None = None
    problem: str = ""

    @property
    def sentence(self) -> str:
        """What was merged and what is to be done now, in words."""
        acts = counted(self.acts, "action")
        told = f"{acts} of {self.reader} merged into session {self.session}."
        if self.then is not None:
            name, part = self.then.path.name, self.then.part
            return f"{told} Send {name} to {self.reader}: it holds part {part}."
        if self.problem:
            return f"{told} The next part was not sealed. {self.problem}"
        if self.locked < self.planned:
            cases = counted(self.planned, "case")
            return f"{told} {self.locked} of {cases} locked; the others can follow."
        return told


def merge_answers(
    store: Path,
    path: Path,
    *,
    progress: Callable[[int, int], object] | None = None,
    stop: Event | None = None,
) -> Merged:
    """Merge a file of answers into its session; return what was merged.

    If every case has locked the part that the file answers, and more is asked, the next
    part is sealed in a file beside it. ``progress`` is told how many actions of how
    many are merged; once ``stop`` is set, nothing is.

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
    seal = answers.seal

    def step(done: int, every: int) -> None:
        if stop is not None and stop.is_set():
            raise CancelledError("Merging was stopped.", "Nothing was merged.")
        if progress is not None:
            progress(done, every)

    with open_store(store) as opened:
        _check_seal(opened, seal)
        session = SessionId(seal.session)
        with session_lock(store, session, utc_now()):
            # Nothing may be left of what its reader took back.
            with purging(opened):
                before = _check_session(opened, answers)
                _merge(opened, session, answers, sha256, before, step)
            enter_if_finished(opened, session)
        ground = ground_of(opened, session)
        standings = standings_of(opened, ground)
        part = Part.next_of(opened, ground)
    locked = sum(one.complete or one.stage >= seal.part for one in standings)
    acts = len(answers.acts) - before.acts
    merged = Merged(session, answers.reader, acts, locked, len(standings))
    if part is None or part.number <= seal.part:
        return merged
    return _with_next(store, merged, _beside(path, part.number))


def _with_next(store: Path, merged: Merged, path: Path) -> Merged:
    """Seal the next part; that it could not be changes nothing of what was merged."""
    try:
        return replace(merged, then=seal_session(store, merged.session, path))
    except OverreadError as error:
        return replace(merged, problem=f"{error.what} {error.how}".strip())


def _beside(path: Path, part: int) -> Path:
    """Return a name that is not taken for a part, beside a file of answers."""
    first = path.with_name(f"{path.stem}-part-{part}{SEALED_ENDING}")
    others = (first.with_stem(f"{first.stem}-{number}") for number in count(2))
    return next(file for file in chain((first,), others) if not file.exists())


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


@dataclass(frozen=True, slots=True)
class _Before:
    """How much of a file was merged before."""

    acts: int
    looks: int


def _check_session(store: Store, answers: SealedAnswers) -> _Before:
    """Raise WrongUseError unless the session is still as it was sealed.

    Returns how much of the file is in it already.
    """
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
    return _check_merged(store, answers)


def _check_merged(store: Store, answers: SealedAnswers) -> _Before:
    """Raise WrongUseError unless the answers follow those that the session has."""
    seal, acts = answers.seal, answers.acts
    merges = reading_audit.events_of(store, seal.session, MERGE)
    own = [one for one in merges if one["signature"] == seal.signature]
    every, done = (sum(one["acts"] for one in of) for of in (merges, own))
    if len(reading_audit.acts_of(store, seal.session)) != every:
        raise WrongUseError(
            f"Session {seal.session} was answered here after it was sealed, and those "
            "answers stay.",
            "The file was not merged; to use it instead, withdraw them, and seal a new "
            "session.",
        )
    last = merges[-1]["head"] if merges else ""
    if every < seal.acts or (every == seal.acts and last != seal.head):
        raise WrongUseError(
            f"The answers of {seal.words} follow others that are not merged here.",
            "Merge those first.",
        )
    if every > seal.acts + done or (own and len(acts) <= done):
        raise WrongUseError(
            f"The answers of {seal.words} are merged already.", "Nothing is left to do."
        )
    if own and acts[done - 1].sha256 != last:
        raise WrongUseError(
            f"The answers of {seal.words} are not those that were merged first.", AGAIN
        )
    return _Before(done, sum(one.get("looks", 0) for one in own))


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
    before: _Before,
    step: Callable[[int, int], None],
) -> None:
    acts, looks = answers.acts[before.acts :], answers.looks[before.looks :]
    reading_audit.note_event(
        store,
        MERGE,
        session,
        signature=answers.seal.signature,
        file_sha256=sha256,
        head=answers.head,
        acts=len(acts),
        looks=len(looks),
    )
    for consent in answers.consents:
        reading_audit.note_consent(store, session, consent)
    forget_if_declined(store, session)
    for number, act in enumerate(acts, before.acts + 1):
        step(number - before.acts - 1, len(acts))
        try:
            repeat(store, session, act.position, act.as_new(), answers.seal.part)
        except (WrongUseError, ValueError, TypeError, AttributeError, KeyError) as e:
            why = e.what if isinstance(e, WrongUseError) else "It cannot be read."
            raise WrongUseError(
                f"Action {number} of the file could not have been done. {why}", AGAIN
            ) from e
    step(len(acts), len(acts))
    if looks:
        add_record(store, ground_of(store, session), looks, seal=True)
