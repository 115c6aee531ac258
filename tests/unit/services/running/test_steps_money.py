"""Ceilings and orphans of trials that take several questions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.metered_server import Meter, MeteredServer
from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog, quiz_spec, says
from tests.helpers.tiny_study import finish, prepared_question, server_profile
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import ModelStopped, OrphanPolicy, RunStatus
from viewer.services.running.batch_estimate import most_of_trial
from viewer.services.running.ledger import Ledger
from viewer.services.running.plan_run import plan_run
from viewer.services.running.spending import budget_of_run
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, spending
from viewer.store.database import Store, open_store
from viewer.store.saved_replies import ReplyFile

PRICES = {"price_in": 1_000_000, "price_out": 1_000_000}
DIFFERENT = {"two": "C", "one": "A", "none": "B"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        cases.add_dataset(opened, quiz_dataset(tmp_path / "pictures"))
        yield opened


def test_that_a_ceiling_holds_the_judge_too_and_only_it_is_asked_later(
    store: Store, tmp_path: Path
) -> None:
    meter = Meter(price_in=1_000_000, price_out=1_000_000)
    with MeteredServer(meter) as server:
        judge = server_profile(server.base_url, max_tokens=10, **PRICES)
        spec = quiz_spec([says("knows", DIFFERENT, tmp_path)], judge)
        run = plan_run(store, spec)
        spending.set_ceiling(store, run, 300)
        events = finish(store, run)
        first = len(meter.times)
        said = [e.sentence for e in events if isinstance(e, ModelStopped)]
        assert first < 3
        assert "my-server may cost up to" in said[0]
        assert runs.run_summary(store, run).status is RunStatus.PAUSED
        own = store.rows("SELECT count(*) FROM attempt")[0][0] - first
        assert own == 3
        spending.set_ceiling(store, run, 10_000_000)
        finish(store, run)
        # the server says no number, so that each judgement is asked for once more
        assert len(meter.times) == 6
        assert store.rows("SELECT count(*) FROM attempt")[0][0] == 3 + 6
    assert runs.run_summary(store, run).status is RunStatus.FINISHED


def test_that_the_most_a_trial_can_cost_counts_every_step(
    store: Store, tmp_path: Path
) -> None:
    model = says("knows", DIFFERENT, tmp_path)
    judge = server_profile("http://127.0.0.1:9/v1", max_tokens=10, **PRICES)
    dataset = cases.dataset_named(store, "quizzes")
    alone = most_of_trial(quiz_spec([model]), dataset, model)
    judged = most_of_trial(quiz_spec([model], judge), dataset, model)
    assert alone == 0
    assert judged > 2 * 10


def test_that_an_orphan_of_a_costly_judge_waits_for_a_decision(
    store: Store, tmp_path: Path
) -> None:
    judge = server_profile("http://127.0.0.1:9/v1", max_tokens=10, **PRICES)
    model = says("knows", DIFFERENT, tmp_path)
    run = plan_run(store, quiz_spec([model], judge))
    spec = runs.run_spec(store, run)
    context = RunContext(spec, cases.dataset_of_run(store, run))
    pending = runs.trials_in(store, run, [Status.PENDING])
    reply_file = ReplyFile(store.path, store.name)
    ledger = Ledger(store, context, run, reply_file)
    ledger.begin([prepared_question(context, pending[0])])
    another = Ledger(store, context, run, reply_file)
    go_on, ended, waiting = another.settle_orphans(pending)
    assert (len(go_on), ended, waiting) == (2, (), 1)
    budget = budget_of_run(store, run, context.profiles, context.spec.helpers)
    assert budget.spent > 0
    decided = Ledger(store, context, run, reply_file, OrphanPolicy.RETRY)
    go_on, ended, waiting = decided.settle_orphans(pending)
    assert (len(go_on), waiting) == (3, 0)


def test_that_a_judge_that_is_out_of_reach_leaves_its_trials_pending(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "viewer.services.running.coordinator.retry_pause", lambda *_: 0.001
    )
    settings = {"base_url": "http://127.0.0.1:9/v1", "model": "gone"}
    judge = ModelProfile("gone", "openai_api", settings)
    model = says("knows", DIFFERENT, tmp_path)
    run = plan_run(store, quiz_spec([model], judge))
    events = finish(store, run)
    stopped = [event.model for event in events if isinstance(event, ModelStopped)]
    assert stopped == ["gone"]
    assert len(runs.trials_in(store, run, [Status.PENDING])) == 3
