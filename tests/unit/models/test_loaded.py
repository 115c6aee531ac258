import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from viewer.domain.errors import ProviderError, RetryClass, UnreadableInputError
from viewer.models.loaded import (
    Holder,
    LoadCancelledError,
    LoadState,
    Made,
    Progress,
    check_cancelled,
    silent,
)


class Maker:
    """Makes a model that is a list, counting how often; may be slow."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.made, self.released = seconds, 0, 0

    def make(self, progress: Progress, cancelled: threading.Event) -> Made[list[int]]:
        self.made += 1
        progress(0.5, "reading")
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            check_cancelled(cancelled)
            time.sleep(0.005)
        return Made([self.made], 17)

    def release(self) -> None:
        self.released += 1


def await_state(holder: Holder[list[int]], state: LoadState) -> None:
    while holder.state is not state:
        time.sleep(0.001)


def test_that_a_model_is_loaded_once_for_all_threads() -> None:
    maker = Maker(seconds=0.05)
    holder = Holder(maker.make, maker.release)

    def use(_n: int) -> int:
        with holder.in_use() as model:
            return model[0]

    assert holder.state is LoadState.UNLOADED
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(use, range(16))) == {1}
    assert (maker.made, holder.state, holder.memory_bytes) == (1, LoadState.LOADED, 17)


def test_that_progress_is_told_and_a_loaded_model_is_not_loaded_again() -> None:
    maker, told = Maker(), list[tuple[float, str]]()
    holder = Holder(maker.make, maker.release)
    for _ in range(2):
        holder.load(lambda part, what: told.append((part, what)), threading.Event())
    assert told == [(0.5, "reading")]


def test_that_loading_can_be_cancelled() -> None:
    maker, cancelled = Maker(seconds=30), threading.Event()
    holder = Holder(maker.make, maker.release)
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(holder.load, silent, cancelled)
        await_state(holder, LoadState.LOADING)
        cancelled.set()
        with pytest.raises(LoadCancelledError, match="cancelled"):
            loading.result(timeout=5)
    assert holder.state is LoadState.UNLOADED


def test_that_unloading_waits_for_the_questions_in_flight() -> None:
    maker = Maker()
    holder = Holder(maker.make, maker.release)
    with ThreadPoolExecutor(1) as pool:
        with holder.in_use():
            unloading = pool.submit(holder.unload)
            time.sleep(0.05)
            assert not unloading.done()
            assert holder.state is LoadState.LOADED
        unloading.result(timeout=5)
    assert (holder.state, holder.memory_bytes) == (LoadState.UNLOADED, 0)
    assert maker.released == 1
    with holder.in_use() as model:
        assert model == [2]


def test_that_a_model_that_cannot_be_loaded_stops_the_run_with_its_sentence() -> None:
    def make(_progress: Progress, _cancelled: threading.Event) -> Made[list[int]]:
        raise UnreadableInputError("The folder is empty.", "Choose another.")

    holder = Holder(make, lambda: None)
    with (
        pytest.raises(ProviderError, match="The folder is empty") as caught,
        holder.in_use(),
    ):
        pass
    assert caught.value.retry_class is RetryClass.STOP_RUN
    assert caught.value.reason == "not_loaded"
    with pytest.raises(UnreadableInputError):
        holder.load(silent, threading.Event())


def test_that_questions_that_wait_for_a_loading_can_be_stopped() -> None:
    maker = Maker(seconds=30)
    holder = Holder(maker.make, maker.release)

    def use(_n: int) -> str:
        with pytest.raises(ProviderError) as caught, holder.in_use():
            pass
        return f"{caught.value.reason} {caught.value.retry_class}"

    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(use, n) for n in range(3)]
        await_state(holder, LoadState.LOADING)
        time.sleep(0.05)
        holder.interrupt()
        assert {each.result(timeout=5) for each in waiting} == {"cancelled retry"}
    assert maker.made == 1
    maker.seconds = 0
    with holder.in_use() as model:
        assert model == [2]
