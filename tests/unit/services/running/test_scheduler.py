import threading
from concurrent.futures import Future
from dataclasses import replace

import pytest

from tests.helpers.small_store import a_dataset, a_spec, some_trials
from viewer.domain.exchange import RawReply, ReplyKind
from viewer.models.endpoint import Endpoint, endpoint_at
from viewer.models.limits import START
from viewer.services.running.scheduler import MOST_ELSEWHERE, MOST_HERE, Scheduler
from viewer.services.running.trial_question import next_question
from viewer.services.trials.run_context import RunContext
from viewer.store.runs import StoredTrial

REPLY = RawReply(ReplyKind.CHAT_COMPLETION, b"{}", 200, {}, 400)
HERE = endpoint_at("http://127.0.0.1:8131/v1")
ELSEWHERE = endpoint_at("https://models.example/v1")


def scheduler(concurrency: int, endpoint: Endpoint | None) -> Scheduler:
    made = Scheduler(concurrency, threading.Event(), lambda _: endpoint)
    (trial,) = some_trials(1)
    due = next_question(RunContext(a_spec(), a_dataset()), StoredTrial(1, trial))
    made.add(due)
    return made


@pytest.mark.parametrize(
    ("concurrency", "endpoint", "most"),
    [(0, HERE, MOST_HERE), (0, ELSEWHERE, MOST_ELSEWHERE), (9, HERE, 9)],
)
def test_that_the_window_of_an_endpoint_grows_to_what_it_is_good_for(
    concurrency: int, endpoint: Endpoint, most: int
) -> None:
    limit = scheduler(concurrency, endpoint).limits[endpoint.address]
    for _ in range(100):
        while limit.in_flight < limit.window:
            limit.leave(0.0)
        limit.answered(0.0, 0.0, {})
    assert limit.window == most


@pytest.mark.parametrize(
    ("concurrency", "endpoint", "first"),
    [
        (0, HERE, START),
        (0, ELSEWHERE, START),
        (128, HERE, 128),
        (128, ELSEWHERE, 32),
        (9, ELSEWHERE, START),
        (2, HERE, 2),
    ],
)
def test_that_a_named_number_of_questions_is_approached_sooner(
    concurrency: int, endpoint: Endpoint, first: int
) -> None:
    assert scheduler(concurrency, endpoint).limits[endpoint.address].window == first


def test_that_models_of_this_machine_have_no_limit_to_be_found_out() -> None:
    made = scheduler(0, None)
    assert made.limits == {}
    assert made.has_work


def test_that_nothing_is_left_to_do_once_a_model_is_stopped() -> None:
    made = scheduler(0, HERE)
    assert made.stop_model("says-d4")
    assert not made.stop_model("says-d4")
    assert not made.has_work


def sent(made: Scheduler, at: float, number: int) -> Future[RawReply]:
    """Send a question at a time of the clock; return what its reply comes in."""
    (trial,) = some_trials(1)
    context = RunContext(a_spec(), a_dataset())
    question = next_question(context, StoredTrial(number, trial))
    made.reserve(question)
    made._reserved[number] = replace(question, left_at=at)
    future: Future[RawReply] = Future()
    made.mark_sent(future, question, number)
    return future


@pytest.mark.parametrize(("took_s", "together"), [(0.4, 2), (0.01, 1)])
def test_that_a_reply_that_took_long_waits_a_moment_for_others(
    monkeypatch: pytest.MonkeyPatch, took_s: float, together: int
) -> None:
    made = scheduler(2, HERE)
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    first, second = (sent(made, 100.0 - took_s, number) for number in (1, 2))
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        second.set_result(REPLY)

    monkeypatch.setattr("time.sleep", pause)
    first.set_result(REPLY)
    assert len(made.completed()) == together
    assert paused == [0.005] * (together - 1)
