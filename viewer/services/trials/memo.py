"""A small thread-safe cache."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Memo(Generic[_K, _V]):
    """A small cache that computes each key once, even if threads ask at once."""

    def __init__(self, compute: Callable[[_K], _V], size: int) -> None:
        self._compute, self._size = compute, size
        self._values: dict[_K, Future[_V]] = {}
        self._lock = Lock()

    def __call__(self, key: _K) -> _V:
        """Return the value of a key; a failed computation raises for every asker."""
        with self._lock:
            # Put in again: a dict keeps its order, so the longest unused goes first.
            future = self._values.pop(key, None)
            mine = future is None
            future = future or Future()
            self._values[key] = future
            while len(self._values) > self._size:
                self._values.pop(next(iter(self._values)))
        if mine:
            try:
                # Outside the lock: others look up their keys meanwhile.
                future.set_result(self._compute(key))
            except BaseException as error:  # noqa: BLE001 - every asker must be told
                future.set_exception(error)
        return future.result()
