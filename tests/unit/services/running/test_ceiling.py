import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.metered_server import Meter, MeteredServer, spend_at_random
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    finish,
    planned,
    server_profile,
    write_images,
)
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import LimitChanged, ModelStopped, RunSpent, RunStatus
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.running.spending import budget_of_run, check_prices
from viewer.store import runs, spending
from viewer.store.database import Store

PRICES = {"price_in": 1_000_000, "price_out": 1_000_000}
# the scripted server bills 85 tokens in and 2 out
COST = 87


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "viewer.services.running.coordinator.retry_pause", lambda *_: 0.005
    )


def test_that_a_reached_ceiling_pauses_the_run_and_a_higher_one_lets_it_go_on(
    store: Store, tmp_path: Path
) -> None:
    meter = Meter(price_in=1_000_000, price_out=1_000_000)
    with MeteredServer(meter) as server:
        profile = server_profile(server.base_url, max_tokens=10, **PRICES)
        run = planned(store, tmp_path / "d", a_spec([profile, D4]), n=12)
        spending.set_ceiling(store, run, 20_000)
        events = finish(store, run)
        first = len(meter.times)
        said = [e.sentence for e in events if isinstance(e, ModelStopped)]
        assert 1 <= first < 12
        assert len(said) == 1
        assert "The ceiling of $0.02 is reached" in said[0]
        assert runs.run_summary(store, run).status is RunStatus.PAUSED
        # a model without a price is asked to its end
        assert runs.status_counts(store, run)[Status.PENDING] == 12 - first
        assert finish(store, run)
        assert len(meter.times) == first
        spending.set_ceiling(store, run, 10_000_000)
        finish(store, run)
        assert len(meter.times) == 12
    assert runs.run_summary(store, run).status is RunStatus.FINISHED


def test_that_what_is_spent_is_told_while_the_batch_goes_on(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        profile = server_profile(server.base_url, **PRICES)
        run = planned(store, tmp_path / "d", a_spec([profile]), n=4)
        events = finish(store, run, BatchOptions(concurrency=1))
    told = [e for e in events if isinstance(e, RunSpent)]
    assert [e.spent for e in told] == [COST, 2 * COST, 3 * COST, 4 * COST]
    assert {e.ceiling for e in told} == {None}
    limits = [e for e in events if isinstance(e, LimitChanged)]
    assert {e.window for e in limits} == {1}
    assert {e.endpoint for e in limits} == {server.base_url[7:-3]}


def test_that_a_plan_with_another_ceiling_is_the_same_run(
    store: Store, tmp_path: Path
) -> None:
    spec = a_spec([D4])
    run = planned(store, tmp_path / "d", spec)
    again = plan_run(store, replace(spec, ceiling_microusd=7))
    assert again == run
    assert spending.ceiling_of_run(store, run) == 7
    assert plan_run(store, spec) == run
    assert spending.ceiling_of_run(store, run) == 7


def test_that_a_ceiling_needs_the_price_of_every_model_elsewhere() -> None:
    settings = {"base_url": "https://models.example/v1", "model": "m"}
    with pytest.raises(WrongUseError, match="price of 'far'"):
        check_prices([ModelProfile("far", "openai_api", settings)])
    check_prices([ModelProfile("far", "openai_api", {**settings, **PRICES}), D4])


def test_that_an_answer_that_may_have_been_billed_counts_with_the_most_it_can_cost(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer(Script(behaviours=["half"])) as server:
        profile = server_profile(server.base_url, max_tokens=50, **PRICES)
        run = planned(store, tmp_path / "d", a_spec([profile]), n=1)
        events = finish(store, run)
    told = [e.spent for e in events if isinstance(e, RunSpent)]
    assert told[0] > 8_500
    assert told[1] == told[0] + COST
    # another day the same is known from the ledger alone
    assert budget_of_run(store, run, {"my-server": profile}).spent > 8_500 + COST


def test_that_models_of_one_endpoint_share_its_limit(
    store: Store, tmp_path: Path
) -> None:
    meter = Meter(latency_s=0.05)
    with MeteredServer(meter) as server:
        one = server_profile(server.base_url)
        two = ModelProfile("two", one.adapter, {**one.settings, "model": "other"})
        run = planned(store, tmp_path / "d", a_spec([one, two]), n=2)
        events = list(run_batch(store, run, BatchOptions(9), threading.Event()))
    assert len({e.endpoint for e in events if isinstance(e, LimitChanged)}) == 1


@pytest.mark.parametrize("seed", range(5))
def test_that_no_run_ever_costs_more_than_its_ceiling(
    seed: int, tmp_path: Path
) -> None:
    spent = spend_at_random(seed, tmp_path, write_images(tmp_path / "d", 6))
    assert spent.billed <= spent.ceiling
    if spent.pending:
        assert spent.status is RunStatus.PAUSED
