"""Parsing and scoring of a run's stored replies again; no model is asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from viewer.domain.answer_json import any_answer_of_json
from viewer.services.reporting.grading import score_changed_grades
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import judge
from viewer.services.trials.stored_run import context_of_run
from viewer.store import runs, trials
from viewer.store.database import Store
from viewer.store.steps import kept_replies
from viewer.store.trials import ScoredTrial, Verdict


@dataclass(frozen=True, slots=True)
class Rescored:
    """How many replies were parsed again, and how many verdicts have changed."""

    replies: int
    changed: int


def rescore_run(
    store: Store, run: int, progress: Callable[[int, int], None] = lambda *_: None
) -> Rescored:
    """Judge every stored reply again, and append only verdicts that changed.

    ``progress`` is called with (done, total). Verdicts without a reply (excluded,
    failed at the provider) stay as they are.
    """
    score_changed_grades(store)
    answered = _answered(store, run)
    now = zip(answered, _now(store, run, answered, progress), strict=True)
    changed = [(one.id, verdict) for one, verdict in now if verdict is not None]
    if changed:
        store.in_short_transactions(_settled(store, changed))
    return Rescored(len(answered), len(changed))


def departure_sentence(store: Store, run: int) -> str:
    """Return a sentence on verdicts that contradict their replies, "" for none."""
    score_changed_grades(store)
    with store.snapshot():  # as somebody may delete the run meanwhile
        answered = _answered(store, run)
        now = zip(answered, _now(store, run, answered), strict=True)
        apart = [one.trial for one, verdict in now if verdict is not None]
    if not apart:
        return ""
    first = f"{apart[0].item}, {apart[0].condition.name}, {apart[0].model}"
    return (
        f"Verdicts that do not match their replies: {len(apart)} of {len(answered)} "
        f"(first: {first}). 'overread rescore {run}' scores them again."
    )


def _answered(store: Store, run: int) -> list[ScoredTrial]:
    runs.run_summary(store, run)
    return [t for t in trials.scored_trials(store, run) if t.reply_id is not None]


def _now(
    store: Store,
    run: int,
    answered: Sequence[ScoredTrial],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Verdict | None]:
    """Yield each trial's verdict from its replies, None if it is the stored one."""
    context = context_of_run(store, run)
    for done, scored in enumerate(answered, 1):
        yield _new_verdict(store, context, scored)
        progress(done, len(answered))


def _settled(store: Store, verdicts: Sequence[tuple[int, Verdict]]) -> Iterator[None]:
    """Append verdicts one by one, so that an interruption leaves the rest unchanged."""
    for verdict in verdicts:
        trials.settle(store, [verdict])
        yield


def _new_verdict(
    store: Store, context: RunContext, scored: ScoredTrial
) -> Verdict | None:
    if scored.reply_id is None:
        return None
    is_place = context.study.words.places
    replies = kept_replies(store, scored.id, scored.reply_id, alone=is_place)
    verdict = judge(context, scored.trial, replies)
    # a cell is told by its verdict, whatever else its reply says
    told = is_place and not scored.placed
    same = told or _same_answer(verdict.parsed, scored.parsed)
    return None if verdict.score == scored.score and same else verdict


def _same_answer(one: str, other: str) -> bool:
    """Tell whether two answers as JSON are equal; a missing field has its default."""
    return one == other or any_answer_of_json(one) == any_answer_of_json(other)
