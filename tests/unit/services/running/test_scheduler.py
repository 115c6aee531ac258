import threading

import pytest

from tests.helpers.small_store import a_dataset, a_spec, some_trials
from viewer.models.endpoint import Endpoint, endpoint_at
from viewer.services.running.scheduler import MOST_ELSEWHERE, MOST_HERE, Scheduler
from viewer.services.running.trial_question import next_question
from viewer.services.trials.run_context import RunContext
from viewer.store.runs import StoredTrial

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


def test_that_models_of_this_machine_have_no_limit_to_be_found_out() -> None:
    made = scheduler(0, None)
    assert made.limits == {}
    assert made.has_work


def test_that_nothing_is_left_to_do_once_a_model_is_stopped() -> None:
    made = scheduler(0, HERE)
    assert made.stop_model("says-d4")
    assert not made.stop_model("says-d4")
    assert not made.has_work
