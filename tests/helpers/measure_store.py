"""A store with one finished run of two models over four small images."""

from dataclasses import replace
from pathlib import Path

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, planned
from viewer.domain.answer import Status
from viewer.domain.result import Outcome
from viewer.store import trials
from viewer.store.database import Store, open_store
from viewer.store.trials import ScoredTrial, Verdict


def finished_run(store_path: Path, folder: Path) -> int:
    """Ask everything of the run and return its number."""
    with open_store(store_path) as store:
        run = planned(store, folder, a_spec([D4, UNIFORM], repeats=3))
        finish(store, run)
    return run


def misjudge(store: Store, run: int) -> ScoredTrial:
    """Store a wrong trial of a run as right, as if its store had been edited."""
    wrong = Status.SCORED_WRONG
    one = next(t for t in trials.scored_trials(store, run) if t.score.status is wrong)
    right = replace(one.score, status=Status.SCORED_CORRECT, outcome=Outcome.FULL)
    assert one.reply_id is not None
    kept = trials.reply_with_id(store, one.reply_id)
    verdict = Verdict(right, "1", one.parsed, "1", (kept,))
    with store.transaction():
        trials.settle(store, [(one.id, verdict)])
    return one
