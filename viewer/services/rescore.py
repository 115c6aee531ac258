"""Parse and score a run's kept replies again; no model is asked."""

from collections.abc import Callable
from dataclasses import dataclass

from viewer.services.ledger import judged_or_failed
from viewer.services.run_trial import Bench
from viewer.store import cases, runs, trials
from viewer.store.database import Store
from viewer.store.runs import StoredTrial
from viewer.store.trials import ScoredTrial, Verdict


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
    runs.run_summary(store, run)
    bench = Bench(runs.run_spec(store, run), cases.dataset_of_run(store, run))
    answered = [t for t in trials.scored_trials(store, run) if t.reply_id is not None]
    changed: list[Verdict] = []
    for done, scored in enumerate(answered, 1):
        verdict = _new_verdict(store, bench, scored)
        if verdict is not None:
            changed.append(verdict)
        progress(done, len(answered))
    if changed:
        with store.transaction():
            trials.settle(store, changed)
    return Rescored(len(answered), len(changed))


def _new_verdict(store: Store, bench: Bench, scored: ScoredTrial) -> Verdict | None:
    if scored.reply_id is None:
        return None
    raw = trials.reply_with_id(store, scored.reply_id).raw
    parsed, score = judged_or_failed(bench, StoredTrial(scored.id, scored.trial), raw)
    same_place = not scored.placed or parsed == trials.parsed_answer(store, scored.id)
    if score == scored.score and same_place:
        return None
    return Verdict(
        trial_id=scored.id,
        score=score,
        scorer_version=bench.study.scorer_version,
        reply_id=scored.reply_id,
        parser_version=bench.study.parser_version,
        parsed=parsed,
    )
