"""Loading, unloading, memory and interruption of models in this process."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable

from viewer.domain.errors import OverreadError, ProviderError, RetryClass

_T = TypeVar("_T")

Progress = Callable[[float, str], None]
"""Called with the fraction done (0 to 1) and a few words on the current step."""
NOTHING_MORE: Final = ""
"""The step that watchers get once a download or loading has ended."""
_POLL_S: Final = 0.1
_MB: Final = 1e6
_one_loads: Final = threading.Lock()


class LoadState(StrEnum):
    """The state of a model between its files and memory."""

    UNLOADED = "unloaded"
    LOADING = "loading"
    LOADED = "loaded"


class LoadCancelledError(OverreadError):
    """The user stopped the loading of a model; nothing of it stays in memory."""


@runtime_checkable
class Loadable(Protocol):
    """An adapter whose model is held in this process's memory or on its GPU.

    Thread-safe. Asking an unloaded model loads it first.
    """

    @property
    def state(self) -> LoadState:
        """The state of the model."""
        ...

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model, unless it is loaded.

        Raises
        ------
        LoadCancelledError
            Soon after ``cancelled`` was set.
        OverreadError
            If it cannot be loaded; the two sentences say why.
        """
        ...

    def unload(self) -> None:
        """Unload the model once the questions in flight are answered."""
        ...

    def memory_bytes(self) -> int:
        """Return the size of its weights in bytes, also before they are loaded."""
        ...

    def interrupt(self) -> None:
        """Stop the answers in progress, between two tokens, and those that wait.

        Each raises a ``ProviderError`` with reason ``cancelled``; later questions are
        not affected.
        """
        ...

    def watch(self, progress: Progress) -> AbstractContextManager[None]:
        """Report every step of downloading or loading meanwhile, whoever started it.

        The last step of each is ``NOTHING_MORE``.
        """
        ...


def check_cancelled(cancelled: threading.Event) -> None:
    """Raise ``LoadCancelledError`` once ``cancelled`` is set."""
    if cancelled.is_set():
        raise LoadCancelledError("Loading the model was cancelled.", "")


@contextmanager
def taken(lock: threading.Lock, cancelled: threading.Event) -> Iterator[None]:
    """Acquire a lock, but wait only as long as the result is wanted."""
    while not lock.acquire(timeout=_POLL_S):
        check_cancelled(cancelled)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def loading_alone(cancelled: threading.Event) -> Iterator[None]:
    """Load no other model meanwhile, as long as this one is wanted.

    torch and transformers change process-wide state while they load, such as the
    default dtype of new weights.
    """
    with taken(_one_loads, cancelled):
        yield


def until_cancelled(work: Callable[[], _T], cancelled: threading.Event) -> _T:
    """Run a blocking function in a thread, and wait until it ends or is cancelled.

    On cancellation ``LoadCancelledError`` is raised at once; the function continues in
    its thread until it checks the flag, and its result is ignored.
    """
    ended: Future[_T] = Future()

    def do() -> None:
        try:
            ended.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever waits is told
            ended.set_exception(error)

    # A daemon, so that work abandoned on cancellation does not keep the process.
    threading.Thread(target=do, daemon=True, name="until-cancelled").start()
    while not wait((ended,), timeout=_POLL_S).done:
        check_cancelled(cancelled)
    return ended.result()


def received_words(here: int, total: int) -> str:
    """Return progress of a download, such as ``downloading, 12.3 of 25.0 MB``.

    Both are in bytes; ``total`` is 0 if it is unknown.
    """
    if total <= 0:
        return f"downloading, {here / _MB:.1f} MB"
    return f"downloading, {here / _MB:.1f} of {total / _MB:.1f} MB"


def silent(_part: float, _what: str) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Made(Generic[_T]):
    """A loaded model and the size of its weights in bytes."""

    model: _T
    memory_bytes: int


class Holder(Generic[_T]):
    """Keeps a model between loading and unloading, for any number of threads.

    Parameters
    ----------
    make : callable
        Loads the model, reporting a ``Progress`` and checking a cancel flag; raises an
        ``OverreadError`` if that fails.
    release : callable
        Called after the last reference of this holder is gone; empties caches.
    """

    def __init__(
        self,
        make: Callable[[Progress, threading.Event], Made[_T]],
        release: Callable[[], None],
    ) -> None:
        self._make, self._release = make, release
        self._made: Made[_T] | None = None
        self._loading = threading.Lock()
        self._is_loading = False
        self._unwanted = threading.Event()
        self._watchers: list[Progress] = []
        self._users = 0
        self._changed = threading.Condition()

    @property
    def state(self) -> LoadState:
        """The state of the model."""
        if self._made is not None:
            return LoadState.LOADED
        return LoadState.LOADING if self._is_loading else LoadState.UNLOADED

    @property
    def memory_bytes(self) -> int:
        """Size of the loaded weights in bytes, 0 while unloaded."""
        made = self._made
        return 0 if made is None else made.memory_bytes

    @property
    def unwanted(self) -> threading.Event:
        """The flag that the next ``interrupt`` sets."""
        return self._unwanted

    @contextmanager
    def watch(self, progress: Progress) -> Iterator[None]:
        """Report every step of downloading or loading meanwhile, whoever started it."""
        with self._changed:
            self._watchers.append(progress)
        try:
            yield
        finally:
            with self._changed:
                self._watchers.remove(progress)

    @contextmanager
    def telling(self, progress: Progress) -> Iterator[Progress]:
        """Yield a function that reports steps to ``progress`` and to all watchers."""

        def tell(part: float, what: str) -> None:
            for told in (progress, *self._watchers):
                told(part, what)

        try:
            yield tell
        finally:
            for told in tuple(self._watchers):
                told(1.0, NOTHING_MORE)

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model unless it is loaded; threads that load together wait."""
        with taken(self._loading, cancelled):
            if self._made is not None:
                return
            check_cancelled(cancelled)
            self._is_loading = True
            try:
                with self.telling(progress) as tell:
                    made = self._make(tell, cancelled)
            finally:
                self._is_loading = False
            with self._changed:
                self._made = made

    def interrupt(self) -> None:
        """Stop a loading that questions wait for; they raise ``ProviderError``."""
        with self._changed:
            # A new flag at once: the next question must not find itself interrupted.
            self._unwanted.set()
            self._unwanted = threading.Event()

    def unload(self) -> None:
        """Unload the model once nobody uses it, and release its memory."""
        with self._loading:
            with self._changed:
                self._changed.wait_for(lambda: self._users == 0)
                self._made = None
            self._release()

    @contextmanager
    def in_use(self) -> Iterator[_T]:
        """Yield the model, loaded if necessary; it stays loaded meanwhile.

        A model that cannot be loaded raises a ``ProviderError`` that stops the run.
        """
        made = self._taken()
        try:
            yield made.model
        finally:
            # Before the count falls: unload() frees memory once no frame holds it.
            del made
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    def _taken(self) -> Made[_T]:
        unwanted = self._unwanted
        while True:
            try:
                self.load(silent, unwanted)
            except LoadCancelledError as error:
                raise cancelled_answer() from error
            except ProviderError:
                raise
            except OverreadError as error:
                raise not_loaded(error) from error
            with self._changed:
                if self._made is not None:  # else it was unloaded in between
                    self._users += 1
                    return self._made


class Held(Generic[_T]):
    """Base of adapters that hold a model in this process; see ``Loadable``."""

    _holder: Holder[_T]

    @property
    def state(self) -> LoadState:
        """The state of the model."""
        return self._holder.state

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model, downloading it first if that is allowed and needed."""
        self._holder.load(progress, cancelled)

    def unload(self) -> None:
        """Unload the model once the questions in flight are answered."""
        self._holder.unload()

    def interrupt(self) -> None:
        """Stop a loading that answers wait for."""
        self._holder.interrupt()

    def watch(self, progress: Progress) -> AbstractContextManager[None]:
        """Report every step of downloading and loading meanwhile, whoever began it."""
        return self._holder.watch(progress)


def not_loaded(error: OverreadError) -> ProviderError:
    """Return the error as one that ends all questions to this model."""
    return ProviderError(
        error.what,
        error.how,
        retry_class=RetryClass.STOP_RUN,
        reason="not_loaded",
    )


def cancelled_answer() -> ProviderError:
    """Return the error for an answer that was stopped early; it may be asked again."""
    return ProviderError(
        "The answer was stopped before it was complete.",
        "Ask again.",
        retry_class=RetryClass.RETRY,
        reason="cancelled",
    )
