"""A reader's answers become a run, so that every table treats them like a model's.

The run plans every case of the session. What is locked is kept as a reply, parsed and
scored by the path of all replies; what is not stays pending.
"""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import RawReply, Usage
from viewer.domain.form import PlaceQuestion
from viewer.domain.reading import SessionId, SessionKind
from viewer.domain.reading_history import Standing
from viewer.services.readings.replies import (
    question_of,
    reply_of,
    spec_of_reader,
    trials_of_reader,
)
from viewer.services.readings.withdrawn import WITHDRAWN
from viewer.services.sessions.ground import Ground, ground_of, refuse_sealed
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import judge
from viewer.store import cases, consents, readings, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.runs import StoredTrial
from viewer.store.trials import RequestRecord, TrialReply


@dataclass(frozen=True, slots=True)
class Entered:
    """The run with a session's answers, and how many of them are new."""

    run: int
    added: int


def enter(store: Path, session: SessionId) -> Entered:
    """Store a reader's locked answers as a run whose model is the reader.

    Entering again adds answers locked since.

    Raises
    ------
    WrongUseError
        For a session without locations, with a withdrawn reader, or without a locked
        answer.
    """
    with open_store(store) as opened:
        return _enter(opened, _checked(opened, session))


def enter_if_finished(store: Store, session: SessionId) -> int | None:
    """Enter a reader study whose last case is locked; return its run, else None."""
    if not readings.all_locked(store, session):
        return None
    ground = ground_of(store, session)
    if ground.spec.seal is not None or not _asks_for_places(ground):
        return None
    # A lock may be that of a first stage.
    ended = all(one.complete for one in standings_of(store, ground))
    return _enter(store, ground).run if ended else None


def _enter(store: Store, ground: Ground) -> Entered:
    by_item = _by_item(store, ground)
    locked = {item: one for item, one in by_item.items() if one.complete}
    if not locked:
        raise WrongUseError(
            f"Nothing in session {ground.session.id} is locked yet.",
            "Lock at least one case first.",
        )
    run = _run(store, ground)
    return Entered(run, _settle(store, run, ground, locked))


def entered_run(store: Store, session: SessionId) -> int | None:
    """Return the run that a session was entered as, None if it was not."""
    return runs.run_with_plan(store, _plan_sha256(session))


def note_withdrawn(store: Store, run: int) -> None:
    """Note in a reader's run that its reader has withdrawn."""
    text = "the reader has withdrawn; leave these results out"
    models = runs.run_summary(store, run).models
    consents.add_notes(store, run, [(model, WITHDRAWN, text) for model in models])


def _checked(store: Store, session: SessionId) -> Ground:
    ground = ground_of(store, session)
    refuse_sealed(ground)
    if not _asks_for_places(ground):
        raise WrongUseError(
            f"Session {session} did not ask for a location on an image.",
            "Enter a session of a reader study.",
        )
    if ground.session.withdrawn:
        raise WrongUseError(f"The reader of session {session} has withdrawn.", "")
    return ground


def _asks_for_places(ground: Ground) -> bool:
    """Tell whether every answer in a session has a location."""
    kind = ground.session.kind
    is_study = kind is SessionKind.READER_STUDY and not ground.spec.task
    return is_study and any(
        isinstance(question, PlaceQuestion) and question.required
        for question in ground.form.questions
    )


def _by_item(store: Store, ground: Ground) -> dict[str, Standing]:
    tasks = readings.tasks_of(store, ground.session.id)
    standings = standings_of(store, ground)
    return {task.item: s for task, s in zip(tasks, standings, strict=True)}


def _plan_sha256(session: SessionId) -> str:
    return request_key({"reading_session": session})


def _run(store: Store, ground: Ground) -> int:
    """Return the session's run, planning it if needed."""
    sha256 = _plan_sha256(ground.session.id)
    known = runs.run_with_plan(store, sha256)
    if known is not None:
        return known
    dataset = cases.dataset_named(store, ground.session.dataset)
    asked = {task.item for task in readings.tasks_of(store, ground.session.id)}
    planned = [
        trial
        for item, trial in trials_of_reader(ground, dataset).items()
        if item in asked
    ]
    return runs.create_run(
        store,
        spec_of_reader(ground),
        ground.session.dataset_id,
        planned,
        study_version=ground.study.version,
        scorer_version=ground.study.scorer_version,
        plan_sha256=sha256,
        once=True,
    )


def _settle(store: Store, run: int, ground: Ground, locked: dict[str, Standing]) -> int:
    """Store and score what is locked and still pending; return the number."""
    spec = runs.run_spec(store, run)
    context = RunContext(spec, cases.dataset_of_run(store, run))
    pending = [
        stored
        for stored in runs.trials_in(store, run, [Status.PENDING])
        if stored.trial.item in locked
    ]
    with store.transaction():
        for stored in pending:
            standing = locked[stored.trial.item]
            raw = reply_of(ground, context, stored.trial, standing)
            _keep(store, context, stored, raw, question_of(ground, stored.trial))
    return len(pending)


def _keep(
    store: Store, context: RunContext, stored: StoredTrial, raw: RawReply, question: str
) -> None:
    document: dict[str, object] = {
        "reader": stored.trial.model,
        "item": stored.trial.item,
        "trial": stored.id,
        "messages": [{"role": "user", "parts": [{"text": question}]}],
    }
    sha256 = request_key(document)
    request = RequestRecord(sha256, document, "", {}, {})
    trials.keep_requests(store, [request])
    attempt = trials.begin_attempt(store, stored.id, sha256)
    record = ReplyRecord(raw, Usage(), None, "", reusable=False)
    reply = trials.keep_reply(store, attempt, sha256, record)
    trial_reply = TrialReply(raw, id=reply, request_sha256=sha256)
    trials.settle(store, [(stored.id, judge(context, stored.trial, [trial_reply]))])
