import math
from collections.abc import Callable

import pytest

from tests.helpers.metered_server import Bucket, Simulation
from viewer.models.limits import (
    COOL_DOWN_S,
    START,
    AdaptiveLimit,
    FixedLimit,
    exhausted_for_s,
)


def answer(limit: AdaptiveLimit, at: float, times: int = 1) -> None:
    """Fill the window, then let that many questions be answered at once."""
    for _ in range(times):
        while limit.in_flight < limit.window:
            limit.leave(at)
        limit.answered(at, at, {})


def test_that_the_window_starts_small_and_grows_by_one_with_every_clean_reply() -> None:
    limit = AdaptiveLimit(64)
    assert limit.window == START
    for grown in range(1, 9):
        answer(limit, float(grown))
        assert limit.window == START + grown


def test_that_the_window_never_exceeds_the_number_of_threads() -> None:
    limit = AdaptiveLimit(6)
    answer(limit, 0.0, times=50)
    assert limit.window == 6
    assert AdaptiveLimit(2).window == 2


def test_that_a_window_that_is_not_filled_does_not_grow() -> None:
    limit = AdaptiveLimit(64)
    for second in range(20):
        limit.leave(float(second))
        limit.answered(float(second), second + 0.5, {})
    assert limit.window == START


def test_that_a_rejection_cuts_the_window_to_eight_tenths_once_in_the_cool_down() -> (
    None
):
    limit = AdaptiveLimit(64)
    answer(limit, 0.0, times=16)
    assert limit.window == 20
    limit.rejected(0.0, 1.0)
    assert limit.window == 16
    for after in (1.0, 5.0, COOL_DOWN_S):
        limit.leave(after)
        limit.rejected(after, 1.0 + after - 0.1)
    assert limit.window == 16
    limit.leave(20.0)
    limit.rejected(20.0, 20.0)
    assert limit.window == 12


def test_that_the_window_does_not_grow_while_it_cools_down() -> None:
    limit = AdaptiveLimit(64)
    answer(limit, 0.0)
    limit.rejected(0.0, 1.0)
    before = limit.window
    answer(limit, 10.0, times=40)
    assert limit.window == before
    answer(limit, 17.0, times=40)
    assert limit.window > before


def test_that_failures_of_the_server_never_shrink_the_window() -> None:
    limit = AdaptiveLimit(64)
    answer(limit, 0.0, times=4)
    before = limit.window
    while limit.in_flight:
        limit.failed()
    assert limit.window == before
    assert limit.per_s is None


def test_that_one_more_may_leave_only_while_there_is_a_free_place() -> None:
    limit = AdaptiveLimit(64)
    for _ in range(START):
        assert limit.wait_s(0.0) == 0
        limit.leave(0.0)
    assert limit.wait_s(0.0) == math.inf
    limit.failed()
    assert limit.wait_s(0.0) == 0


def test_that_nothing_leaves_before_the_time_a_rejection_asked_for() -> None:
    limit = AdaptiveLimit(64)
    limit.leave(0.0)
    limit.rejected(0.0, 0.1, retry_after_s=7.0)
    assert limit.wait_s(1.1) == pytest.approx(6.0)
    assert limit.wait_s(7.2) == 0


def test_that_a_limit_said_to_be_used_up_is_waited_for() -> None:
    limit = AdaptiveLimit(64)
    limit.leave(0.0)
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "6m0s",
    }
    limit.answered(0.0, 1.0, headers)
    assert limit.wait_s(1.0) == pytest.approx(360.0)


@pytest.mark.parametrize(
    ("remaining", "reset", "seconds"),
    [
        ("0", "120ms", 0.12),
        ("0", "1h2m3.5s", 3723.5),
        ("0", "17", 17.0),
        ("0", "soon", None),
        ("0", "", None),
        ("1", "6m0s", None),
    ],
)
def test_that_the_reset_of_a_used_up_limit_is_read(
    remaining: str, reset: str, seconds: float | None
) -> None:
    headers = {
        "x-ratelimit-remaining-tokens": remaining,
        "x-ratelimit-reset-tokens": reset,
    }
    assert exhausted_for_s(headers) == (
        None if seconds is None else pytest.approx(seconds)
    )


def test_that_models_here_are_asked_a_fixed_number_of_questions_at_a_time() -> None:
    limit = FixedLimit(2)
    limit.leave(0.0)
    assert limit.wait_s(0.0) == 0
    limit.leave(0.0)
    assert limit.wait_s(0.0) == math.inf
    limit.rejected(0.0, 0.0)
    limit.answered(0.0, 0.0, {})
    assert (limit.window, limit.in_flight) == (2, 0)
    limit.leave(0.0)
    limit.failed()
    assert limit.in_flight == 0


def _exactly(seconds: float) -> float:
    return seconds


@pytest.mark.parametrize("retry_after", [None, _exactly, math.ceil])
@pytest.mark.parametrize("latency_s", [0.05, 0.5, 2.0])
@pytest.mark.parametrize(
    ("per_s", "burst"), [(0.5, 5), (2, 10), (2, 120), (10, 10), (10, 600), (50, 50)]
)
def test_that_hidden_buckets_are_used_to_nine_tenths_with_few_rejections(
    per_s: float,
    burst: float,
    latency_s: float,
    retry_after: Callable[[float], float] | None,
) -> None:
    simulation = Simulation(
        AdaptiveLimit(64), Bucket(per_s, burst), latency_s, retry_after
    )
    simulation.run(240)
    possible = min(per_s, 64 / latency_s) * 180
    answers = simulation.answers(60, 240)
    rejections = simulation.rejections(60, 240)
    assert answers >= 0.9 * possible
    assert rejections < 0.02 * (answers + rejections)


@pytest.mark.parametrize("places", [2, 7, 24])
def test_that_an_endpoint_with_a_few_places_is_kept_busy(places: int) -> None:
    simulation = Simulation(
        AdaptiveLimit(64), Bucket(1e6, 1e6), 0.5, None, places=places
    )
    simulation.run(240)
    answers = simulation.answers(60, 240)
    rejections = simulation.rejections(60, 240)
    assert answers >= 0.8 * places / 0.5 * 180
    assert rejections < 0.02 * (answers + rejections)


def test_that_an_endpoint_that_loads_is_asked_once_at_a_time_until_it_answers() -> None:
    limit = AdaptiveLimit(64)
    while limit.in_flight < limit.window:
        limit.leave(0.0)
    for _ in range(START):
        limit.loading(0.5, 1.0)
    assert (limit.window, limit.wait_s(0.5), limit.wait_s(1.5)) == (1, 1.0, 0.0)
    limit.leave(1.5)
    assert limit.wait_s(1.5) == math.inf
    limit.answered(1.5, 2.0, {})
    assert limit.window >= START
    fixed = FixedLimit(1)
    fixed.leave(0.0)
    fixed.loading(0.0, 1.0)
    assert fixed.wait_s(0.0) == 0.0
