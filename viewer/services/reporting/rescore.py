"""Parse and score a run's kept replies again; no model is asked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from viewer.services.reporting.grading import take_in_grades
from viewer.services.running.ledger import judged_or_failed, own_reply, steps_of
from viewer.services.trials.run_context import ANSWER, RunContext, StepReply
from viewer.store import cases, runs, steps, trials
from viewer.store.database import Store
from viewer.store.runs import StoredTrial
from viewer.store.trials import ScoredTrial, Verdict
from viewer.studies.steps import Step


@dataclass(frozen=True, slots=True)
class Rescored:
    """How many replies were read again, and how many verdicts differ from before."""

    replies: int
    changed: int


def rescore_run(
    store: Store, run: int, progress: Callable[[int, int], None] = lambda *_: None
) -> Rescored:
    """Judge every kept reply again; append only verdicts that changed.

    ``progress`` is called with (done, total). Verdicts without a reply (excluded,
    failed at the provider) stay as they are.
    """
    answered = _answered(store, run)
    verdicts = [v for v in _now(store, run, answered, progress) if v is not None]
    if verdicts:
        store.in_short_transactions(_settled(store, verdicts))
    return Rescored(len(answered), len(verdicts))


def told_departures(store: Store, run: int) -> str:
    """Return a sentence on verdicts that do not match their replies, "" without any."""
    answered = _answered(store, run)
    now = zip(answered, _now(store, run, answered), strict=True)
    apart = [one.trial for one, verdict in now if verdict is not None]
    if not apart:
        return ""
    first = f"{apart[0].item}, {apart[0].condition.name}, {apart[0].model}"
    return (
        f"Verdicts that do not match their replies: {len(apart)} of {len(answered)} "
        f"(first: {first}). 'overread rescore {run}' judges them again."
    )


def _answered(store: Store, run: int) -> list[ScoredTrial]:
    take_in_grades(store)
    runs.run_summary(store, run)
    return [t for t in trials.scored_trials(store, run) if t.reply_id is not None]


def _now(
    store: Store,
    run: int,
    answered: Sequence[ScoredTrial],
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Verdict | None]:
    """Yield what each trial's replies give now, None where it is the stored verdict."""
    context = RunContext(runs.run_spec(store, run), cases.dataset_of_run(store, run))
    for done, scored in enumerate(answered, 1):
        yield _new_verdict(store, context, scored)
        progress(done, len(answered))


def _settled(store: Store, verdicts: Sequence[Verdict]) -> Iterator[None]:
    """Append verdicts; each is whole by itself, so a kill leaves the rest as before."""
    for verdict in verdicts:
        trials.settle(store, [verdict])
        yield


def _new_verdict(
    store: Store, context: RunContext, scored: ScoredTrial
) -> Verdict | None:
    if scored.reply_id is None:
        return None
    is_place = context.study.words.places
    kept = kept_replies(store, scored.id, scored.reply_id, alone=is_place)
    parsed, score = judged_or_failed(
        context, StoredTrial(scored.id, scored.trial), kept
    )
    # a cell is told by its verdict, whatever else its reply says
    told = is_place and not scored.placed
    same = told or parsed == scored.parsed
    if score == scored.score and same:
        return None
    return Verdict(
        trial_id=scored.id,
        score=score,
        scorer_version=context.study.scorer_version,
        reply_id=own_reply(kept).id,
        parser_version=context.study.parser_version,
        parsed=parsed,
        steps=steps_of(kept),
    )


def kept_replies(
    store: Store, trial: int, reply: int, *, alone: bool = False
) -> tuple[StepReply, ...]:
    """Return every reply that a trial's verdict was read from, oldest first.

    ``reply`` is the one that a trial of one step was answered with; ``alone`` says
    that there are no others to look for.
    """
    read = () if alone else steps.replies_read(store, trial)
    if not read:
        return (StepReply(ANSWER, trials.reply_with_id(store, reply)),)
    return tuple(
        StepReply(
            Step(one.step, one.role, one.again),
            trials.reply_with_id(store, one.reply_id),
        )
        for one in read
    )
