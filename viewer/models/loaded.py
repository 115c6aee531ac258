"""What models that live in this process share: loading, unloading, memory, stopping."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar, runtime_checkable

from viewer.domain.errors import OverreadError, ProviderError, RetryClass

_T = TypeVar("_T")

Progress = Callable[[float, str], None]
"""Told the part that is done (0 to 1) and, in a few words, what is being done."""


class LoadState(StrEnum):
    """Where a model stands between its files and memory."""

    UNLOADED = "unloaded"
    LOADING = "loading"
    LOADED = "loaded"


class LoadCancelledError(OverreadError):
    """A person stopped the loading of a model; nothing of it stays in memory."""


@runtime_checkable
class Loadable(Protocol):
    """An adapter whose model is held in this process's memory or on its GPU.

    Safe to use from threads. Asking an unloaded model loads it first.
    """

    @property
    def state(self) -> LoadState:
        """Where the model stands now."""
        ...

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model; at once where it is loaded.

        Raises
        ------
        LoadCancelledError
            Soon after ``cancelled`` was set.
        OverreadError
            Where it cannot be loaded: the two sentences say why.
        """
        ...

    def unload(self) -> None:
        """Give the memory back, once the questions in flight are answered."""
        ...

    def memory_bytes(self) -> int:
        """Return the bytes its weights hold; before loading, those they will hold."""
        ...

    def interrupt(self) -> None:
        """Stop the answers being written, between two tokens, and those waited for.

        Each raises a ``ProviderError`` of the reason ``cancelled``; questions asked
        later are not concerned.
        """
        ...


def check_cancelled(cancelled: threading.Event) -> None:
    """Raise ``LoadCancelledError`` once ``cancelled`` is set."""
    if cancelled.is_set():
        raise LoadCancelledError("The loading of the model was cancelled.", "")


def silent(_part: float, _what: str) -> None:
    """Tell nobody of any progress."""


@dataclass(frozen=True)
class Made(Generic[_T]):
    """A loaded model and the bytes that its weights hold."""

    model: _T
    memory_bytes: int


class Holder(Generic[_T]):
    """Holds a model between loading and unloading, for any number of threads.

    Parameters
    ----------
    make : callable
        Loads the model, telling a ``Progress`` and heeding a cancel flag; raises an
        ``OverreadError`` where that cannot be done.
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
        self._users = 0
        self._changed = threading.Condition()

    @property
    def state(self) -> LoadState:
        """Where the model stands now."""
        if self._made is not None:
            return LoadState.LOADED
        return LoadState.LOADING if self._is_loading else LoadState.UNLOADED

    @property
    def memory_bytes(self) -> int:
        """Bytes of the loaded weights, 0 while unloaded."""
        made = self._made
        return 0 if made is None else made.memory_bytes

    def load(self, progress: Progress, cancelled: threading.Event) -> None:
        """Load the model unless it is loaded; threads that load together wait."""
        with self._loading:
            if self._made is not None:
                return
            check_cancelled(cancelled)
            self._is_loading = True
            try:
                made = self._make(progress, cancelled)
            finally:
                self._is_loading = False
            with self._changed:
                self._made = made

    def interrupt(self) -> None:
        """Stop a loading that questions wait for; they raise ``ProviderError``."""
        with self._changed:
            self._unwanted.set()
            self._unwanted = threading.Event()

    def unload(self) -> None:
        """Let the model go once nobody uses it, then release what it held."""
        with self._loading:
            with self._changed:
                self._changed.wait_for(lambda: self._users == 0)
                self._made = None
            self._release()

    @contextmanager
    def in_use(self) -> Iterator[_T]:
        """Yield the model, loaded if need be; it is not unloaded meanwhile.

        A model that cannot be loaded raises a ``ProviderError`` that stops the run.
        """
        made = self._taken()
        try:
            yield made.model
        finally:
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
                raise _not_loaded(error) from error
            with self._changed:
                if self._made is not None:  # else it was unloaded in between
                    self._users += 1
                    return self._made


def _not_loaded(error: OverreadError) -> ProviderError:
    return ProviderError(
        error.what,
        error.how,
        retry_class=RetryClass.STOP_RUN,
        reason="not_loaded",
    )


def cancelled_answer() -> ProviderError:
    """Return the error of an answer stopped before its end; it may be asked again."""
    return ProviderError(
        "The answer was stopped before its end.",
        "Ask again.",
        retry_class=RetryClass.RETRY,
        reason="cancelled",
    )
