import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    D4,
    UNIFORM,
    a_spec,
    finish,
    planned,
    server_profile,
)
from viewer.domain.answer import Status
from viewer.domain.errors import RunHeldError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import (
    ModelStopped,
    OrphanPolicy,
    RunEnded,
    RunStarted,
    TrialDone,
    TrialRetried,
)
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import runs, trials, usage
from viewer.store.database import Store, open_store


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "viewer.services.running.coordinator.retry_pause", lambda *_: 0.01
    )


def statuses(store: Store, run: int) -> dict[str, int]:
    return {s.value: n for s, n in runs.status_counts(store, run).items()}


def test_that_a_batch_settles_every_trial_and_says_so(
    store: Store, tmp_path: Path
) -> None:
    run = planned(store, tmp_path / "d", a_spec([D4, UNIFORM], repeats=2))
    events = finish(store, run)
    assert isinstance(events[0], RunStarted)
    assert events[0].planned == 16
    assert sum(isinstance(e, TrialDone) for e in events) == 16
    assert isinstance(events[-1], RunEnded)
    assert sum(events[-1].counts.values()) == 16
    assert Status.PENDING not in events[-1].counts


def test_that_a_finished_run_asks_nothing_again(store: Store, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        finish(store, run)
        finish(store, run)
        assert len(server.script.received) == 4
        again = plan_run(store, a_spec([server_profile(server.base_url)]), new=True)
        events = finish(store, again)
        assert len(server.script.received) == 4
    done = [e for e in events if isinstance(e, TrialDone)]
    assert [e.reused for e in done] == [True] * 4


def test_that_repeats_are_asked_separately_also_at_temperature_zero(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        spec = a_spec([server_profile(server.base_url)], repeats=3)
        finish(store, planned(store, tmp_path / "d", spec))
        assert len(server.script.received) == 12


def test_that_two_models_with_the_same_exact_request_share_one_reply(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        one = server_profile(server.base_url)
        two = ModelProfile("other-name", one.adapter, one.settings)
        run = planned(store, tmp_path / "d", a_spec([one, two]))
        finish(store, run)
        assert len(server.script.received) == 4
    assert sum(statuses(store, run).values()) == 8
    assert "pending" not in statuses(store, run)


def test_that_a_reply_is_in_the_store_before_the_trial_is_acknowledged(
    store: Store, tmp_path: Path
) -> None:
    run = planned(store, tmp_path / "d", a_spec())
    for event in run_batch(store, run, BatchOptions(), threading.Event()):
        if isinstance(event, TrialDone):
            kept = trials.kept_reply(store, event.request_sha256, event.trial)
            assert kept is not None


def test_that_a_verdict_is_written_with_the_claim_of_the_next_question(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, list[int]] = {"settle": [], "begin_attempt": []}

    def noted(name: str) -> None:
        write = getattr(trials, name)

        def writing(store: Store, *values: object) -> object:
            if values[0]:
                written[name].append(store._generation())
            return write(store, *values)

        monkeypatch.setattr(trials, name, writing)

    noted("settle")
    noted("begin_attempt")
    with ScriptedServer(Script(["held"])) as server:
        spec = a_spec([server_profile(server.base_url)])
        run = planned(store, tmp_path / "d", spec, n=5)
        done = 0
        for event in run_batch(store, run, BatchOptions(2), threading.Event()):
            done += isinstance(event, TrialDone)
            if done == 3:
                server.script.release()
    assert done == 5
    first, second, *_ = written["settle"]
    # the two at first, then one with each verdict on what came while one was held
    assert written["begin_attempt"][2:4] == [first, second]


def test_that_cancelling_stores_what_is_in_flight_and_the_rest_stays_pending(
    store: Store, tmp_path: Path
) -> None:
    cancel = threading.Event()
    with ScriptedServer(Script(latency_s=0.05)) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile]), n=12)
        seen = 0
        for event in run_batch(store, run, BatchOptions(concurrency=2), cancel):
            seen += isinstance(event, TrialDone)
            if seen == 2:
                cancel.set()
        assert isinstance(event, RunEnded)
        assert event.cancelled
        counts = runs.status_counts(store, run)
        assert counts[Status.PENDING] == 12 - len(server.script.received)
        assert trials.orphans(store, run) == ()
        finish(store, run)
        assert len(server.script.received) == 12


def test_that_nothing_in_flight_is_lost_when_the_reader_of_events_goes(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer(Script(latency_s=0.05)) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile]), n=8)
        events = run_batch(store, run, BatchOptions(concurrency=4), threading.Event())
        next(e for e in events if isinstance(e, TrialDone))
        events.close()
        settled = 8 - runs.status_counts(store, run).get(Status.PENDING, 0)
        assert settled == len(server.script.received)
    assert trials.orphans(store, run) == ()


@pytest.mark.parametrize(
    "failure", ["500", "503", "429:0", "408", "409", "reset", "half"]
)
def test_that_a_passing_failure_is_tried_again_and_recorded(
    store: Store, tmp_path: Path, failure: str
) -> None:
    with ScriptedServer(Script(behaviours=[failure])) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile]))
        events = finish(store, run, BatchOptions(concurrency=1))
    assert sum(isinstance(e, TrialRetried) for e in events) == 1
    assert "provider_error" not in statuses(store, run)
    counts = usage.ledger_counts(store, run)
    assert (counts["attempts_error"], counts["attempts_reply"]) == (1, 4)


@pytest.mark.parametrize("failure", ["400", "404", "413", "422", "redirect:/elsewhere"])
def test_that_a_refused_question_fails_its_trial_and_the_batch_goes_on(
    store: Store, tmp_path: Path, failure: str
) -> None:
    with ScriptedServer(Script(behaviours=[failure])) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile]))
        finish(store, run, BatchOptions(concurrency=1))
        counts = runs.status_counts(store, run)
        assert counts[Status.PROVIDER_ERROR] == 1
        assert Status.PENDING not in counts
        finish(store, run, BatchOptions(concurrency=1, retry_failed=True))
    assert "provider_error" not in statuses(store, run)


def test_that_a_failure_that_stays_ends_as_provider_error(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer(Script(default="500")) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile, D4]))
        finish(store, run)
    by_model = Counter(
        (s.trial.model, s.score.status) for s in trials.scored_trials(store, run)
    )
    assert by_model["my-server", Status.PROVIDER_ERROR] == 4
    assert sum(n for (m, _), n in by_model.items() if m == "says-d4") == 4
    reasons = {s.score.reason for s in trials.scored_trials(store, run)}
    assert "http_500" in reasons


@pytest.mark.parametrize("failure", ["401", "403", "quota"])
def test_that_a_refused_key_stops_the_model_and_leaves_its_trials_pending(
    store: Store, tmp_path: Path, failure: str
) -> None:
    with ScriptedServer(Script(default=failure)) as server:
        profile = server_profile(server.base_url)
        run = planned(store, tmp_path / "d", a_spec([profile, D4]), n=12)
        events = finish(store, run, BatchOptions(concurrency=1))
        assert len(server.script.received) == 1
    stopped = [e for e in events if isinstance(e, ModelStopped)]
    assert [e.model for e in stopped] == ["my-server"]
    assert runs.status_counts(store, run)[Status.PENDING] == 12


def test_that_an_endpoint_where_nobody_listens_stops_the_model_in_one_sentence(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        base_url = server.base_url
    run = planned(store, tmp_path / "d", a_spec([server_profile(base_url)]), n=6)
    events = finish(store, run, BatchOptions(concurrency=1))
    stopped = [e for e in events if isinstance(e, ModelStopped)]
    assert len(stopped) == 1
    assert "Nothing answers" in stopped[0].sentence
    assert statuses(store, run) == {"pending": 6}


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        ("empty", Status.UNPARSED, None),
        ("null", Status.UNPARSED, None),
        ("refusal", Status.REFUSED, None),
        ("refusal-text", Status.REFUSED, None),
        ("content-filter", Status.REFUSED, None),
        ("length", Status.TRUNCATED, None),
        ("not-json", Status.PROVIDER_ERROR, "unreadable_reply"),
        ("half-json", Status.PROVIDER_ERROR, "unreadable_reply"),
        ("endless", Status.PROVIDER_ERROR, "too_large"),
        ("drip", Status.PROVIDER_ERROR, "timeout"),
        ("hang", Status.PROVIDER_ERROR, "timeout"),
    ],
)
def test_that_every_odd_reply_ends_in_exactly_one_status(
    store: Store, tmp_path: Path, behaviour: str, status: Status, reason: str | None
) -> None:
    with ScriptedServer(Script(default=behaviour)) as server:
        limit_s = 0.3 if reason == "timeout" else 300.0
        profile = server_profile(server.base_url, timeout_s=limit_s)
        run = planned(store, tmp_path / "d", a_spec([profile]), n=2)
        finish(store, run)
    assert runs.status_counts(store, run) == {status: 2}
    if reason is not None:
        scored = trials.scored_trials(store, run)
        assert {s.score.reason for s in scored} == {reason}


def test_that_an_image_that_cannot_be_read_excludes_its_trials_only(
    store: Store, tmp_path: Path
) -> None:
    run = planned(store, tmp_path / "d", a_spec())
    (tmp_path / "d" / "patient00001_frontal.png").write_bytes(b"no image any more")
    finish(store, run)
    counts = runs.status_counts(store, run)
    assert counts[Status.EXCLUDED] == 1
    assert Status.PENDING not in counts
    reasons = {s.score.reason for s in trials.scored_trials(store, run)}
    assert "unreadable_image" in reasons


def leave_an_orphan(store: Store, run: int) -> None:
    stored = runs.trials_in(store, run, [Status.PENDING])[0]
    record = trials.RequestRecord("e" * 64, {"messages": []}, "p", {}, {})
    with store.transaction():
        trials.keep_requests(store, [record])
        trials.begin_attempt(store, stored.id, "e" * 64)


@pytest.mark.parametrize(
    ("prices", "policy", "ended"),
    [
        ({}, None, "scored"),
        ({"price_in": 1000, "price_out": 1000}, None, "pending"),
        ({"price_in": 1000, "price_out": 1000}, OrphanPolicy.RETRY, "scored"),
        ({}, OrphanPolicy.SKIP, "provider_error"),
    ],
)
def test_that_an_attempt_without_a_reply_follows_its_policy(
    store: Store,
    tmp_path: Path,
    prices: dict[str, object],
    policy: OrphanPolicy | None,
    ended: str,
) -> None:
    with ScriptedServer() as server:
        profile = server_profile(server.base_url, **prices)
        run = planned(store, tmp_path / "d", a_spec([profile]))
        leave_an_orphan(store, run)
        events = finish(store, run, BatchOptions(orphans=policy))
    first = trials.scored_trials(store, run)[0].score
    assert first.status.value.startswith(ended)
    if ended == "provider_error":
        assert first.reason == "orphan"
    waits = [e for e in events if isinstance(e, ModelStopped)]
    assert bool(waits) == (ended == "pending")


def test_that_a_second_coordinator_is_refused(store: Store, tmp_path: Path) -> None:
    run = planned(store, tmp_path / "d", a_spec())
    first = run_batch(store, run, BatchOptions(), threading.Event())
    next(iter(first))
    with open_store(store.path) as other, pytest.raises(RunHeldError, match="since"):
        next(iter(run_batch(other, run, BatchOptions(), threading.Event())))
    first.close()


def test_that_a_run_of_a_store_that_was_replaced_is_refused_in_a_sentence(
    store: Store,
) -> None:
    with pytest.raises(WrongUseError, match="no run 7"):
        finish(store, 7)


def test_that_any_executor_of_the_standard_interface_gives_the_same_rows(
    tmp_path: Path,
) -> None:
    rows = []
    for name in ("threads", "processes"):
        with open_store(tmp_path / f"{name}.sqlite") as store:
            run = planned(store, tmp_path / "d", a_spec([D4, UNIFORM]))
            if name == "processes":
                with ProcessPoolExecutor(1) as pool:
                    list(run_batch(store, run, BatchOptions(), threading.Event(), pool))
            else:
                finish(store, run)
            rows.append(
                [
                    (s.trial, s.score, s.request_sha256)
                    for s in trials.scored_trials(store, run)
                ]
            )
    assert rows[0] == rows[1]


def test_that_rescoring_changes_nothing(store: Store, tmp_path: Path) -> None:
    run = planned(store, tmp_path / "d", a_spec([D4, UNIFORM]))
    finish(store, run)
    before = trials.scored_trials(store, run)
    assert rescore_run(store, run).changed == 0
    assert rescore_run(store, run).replies == 8
    assert trials.scored_trials(store, run) == before


def test_that_cost_is_counted_in_whole_micro_dollars(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        # the server counts 85 tokens in and 2 out: 85 · 2.5 + 2 · 10 = 232.5
        profile = server_profile(
            server.base_url, price_in=2_500_000, price_out=10_000_000
        )
        run = planned(store, tmp_path / "d", a_spec([profile]))
        finish(store, run)
    assert usage.ledger_counts(store, run)["cost_microusd"] == 4 * 233
