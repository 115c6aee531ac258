import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from viewer.domain.errors import ProviderError, RetryClass, UnreadableInputError
from viewer.models.loaded import (
    NOTHING_MORE,
    Holder,
    LoadCancelledError,
    LoadState,
    Made,
    Progress,
    check_cancelled,
    silent,
    taken,
    until_cancelled,
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
    maker, cancelled = Maker(seconds=3600), threading.Event()
    holder = Holder(maker.make, maker.release)
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(holder.load, silent, cancelled)
        await_state(holder, LoadState.LOADING)
        cancelled.set()
        with pytest.raises(LoadCancelledError, match="cancelled"):
            loading.result(timeout=300)
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
        unloading.result(timeout=300)
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
    maker = Maker(seconds=3600)
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
        assert {each.result(timeout=300) for each in waiting} == {"cancelled retry"}
    assert maker.made == 1
    maker.seconds = 0
    with holder.in_use() as model:
        assert model == [2]


def test_that_whoever_watches_is_told_what_others_load_and_when_it_ends() -> None:
    maker, seen, asked = Maker(), list[tuple[float, str]](), list[tuple[float, str]]()
    holder = Holder(maker.make, maker.release)

    def watch(part: float, what: str) -> None:
        seen.append((part, what))

    with holder.watch(watch):
        holder.load(lambda part, what: asked.append((part, what)), threading.Event())
    assert asked == [(0.5, "reading")]
    assert seen == [(0.5, "reading"), (1.0, NOTHING_MORE)]
    holder.unload()
    holder.load(silent, threading.Event())
    assert len(seen) == 2


def test_that_who_waits_for_anothers_loading_can_stop_waiting() -> None:
    maker = Maker(seconds=60)
    holder, (wanted, mine) = Holder(maker.make, maker.release), _flags()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(holder.load, silent, wanted)
        await_state(holder, LoadState.LOADING)
        second = pool.submit(holder.load, silent, mine)
        mine.set()
        assert isinstance(second.exception(timeout=300), LoadCancelledError)
        assert holder.state is LoadState.LOADING
        wanted.set()
        assert isinstance(first.exception(timeout=300), LoadCancelledError)


def _flags() -> tuple[threading.Event, threading.Event]:
    return threading.Event(), threading.Event()


def test_that_work_is_left_once_it_is_cancelled_and_its_end_is_passed_on() -> None:
    cancelled, go = _flags()
    assert until_cancelled(lambda: 7, cancelled) == 7
    with pytest.raises(UnreadableInputError):
        until_cancelled(_refuse, cancelled)
    threading.Timer(0.05, cancelled.set).start()
    with pytest.raises(LoadCancelledError):
        until_cancelled(go.wait, cancelled)
    go.set()


def _refuse() -> None:
    raise UnreadableInputError("no", "")


def test_that_a_lock_is_waited_for_no_longer_than_it_is_wanted() -> None:
    lock, (cancelled, _) = threading.Lock(), _flags()
    with lock:
        threading.Timer(0.05, cancelled.set).start()
        with pytest.raises(LoadCancelledError), taken(lock, cancelled):
            pass
    with taken(lock, cancelled):
        assert lock.locked()
    assert not lock.locked()
