"""Questions of several threads, answered together."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Generic, TypeVar

_Q = TypeVar("_Q")
_A = TypeVar("_A")


class Batcher(Generic[_Q, _A]):
    """Joins questions that wait at the same time, up to ``most``, in their order.

    No question waits for others to come: the first is answered at once, and those
    that arrive meanwhile are answered together next. Where a joint answer fails, each
    is asked alone, so that one question's failure is no other's.
    """

    def __init__(
        self, answer: Callable[[Sequence[_Q]], Sequence[_A]], most: int
    ) -> None:
        self._answer, self._most = answer, most
        self._waiting: deque[tuple[_Q, Future[_A]]] = deque()
        self._answering = threading.Lock()

    def __call__(self, question: _Q) -> _A:
        """Return the answer, or raise what asking it raised."""
        mine: Future[_A] = Future()
        self._waiting.append((question, mine))
        with self._answering:
            while not mine.done():
                self._answer_next()
        return mine.result()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no question be answered meanwhile."""
        with self._answering:
            yield

    def _answer_next(self) -> None:
        count = min(self._most, len(self._waiting))
        taken = [self._waiting.popleft() for _ in range(count)]
        if not self._answered(taken) and len(taken) > 1:
            for one in taken:
                self._answered([one])

    def _answered(self, taken: list[tuple[_Q, Future[_A]]]) -> bool:
        try:
            answers = self._answer([question for question, _ in taken])
        except BaseException as error:  # noqa: BLE001 - raised where it was asked
            if len(taken) == 1:
                taken[0][1].set_exception(error)
            return False
        for (_, future), answer in zip(taken, answers, strict=True):
            future.set_result(answer)
        return True
