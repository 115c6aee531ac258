"""The questions to one endpoint, from the queue until they are sent."""

import heapq
import math
from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any, Final

from viewer.domain.errors import (
    OverreadError,
    PrivacyError,
    ProviderError,
    UnreadableInputError,
    WrongUseError,
)
from viewer.models.limits import Limit
from viewer.models.loaded import LoadCancelledError
from viewer.services.running.trial_question import TrialQuestion
from viewer.services.trials.run_trial import PreparedRequest

_FAILURES: Final = (
    UnreadableInputError,
    WrongUseError,
    PrivacyError,
    ProviderError,
    LoadCancelledError,
)
"""Ends of a preparing that concern one trial or one model, and not the batch."""
_SOON_S: Final = 2.0


@dataclass(frozen=True)
class PreparationFailure:
    """A question that could not be prepared, and why."""

    question: TrialQuestion
    why: OverreadError


class EndpointQueue:
    """The queues of the models that share an endpoint, and its limit.

    Parameters
    ----------
    name : str
        Host and port, "" for local models.
    limit : Limit
        How many questions may be in flight, and how fast they may be sent.
    """

    def __init__(self, name: str, limit: Limit) -> None:
        self.name, self.limit = name, limit
        self._waiting: deque[TrialQuestion] = deque()
        self._preparing: deque[tuple[TrialQuestion, Future[PreparedRequest]]] = deque()
        self._delayed: list[tuple[float, int, TrialQuestion]] = []
        self._returned: deque[TrialQuestion] = deque()
        self._stopped: set[str] = set()
        self.is_shut = False

    @property
    def has_work(self) -> bool:
        """True while any question is not sent."""
        return bool(self._waiting or self._preparing or self._delayed or self._returned)

    @property
    def asked_again(self) -> tuple[TrialQuestion, ...]:
        """The questions that wait to be asked again, or were put back."""
        return (*(one for _, _, one in self._delayed), *self._returned)

    def expects_more(self, now: float) -> bool:
        """Tell whether another question may be taken soon, without a reply first."""
        if self.is_shut:
            return False
        soon = any(u <= now + _SOON_S and not q.looks for u, _, q in self._delayed)
        return soon or bool(self._waiting or self._preparing or self._returned)

    def add(self, question: TrialQuestion, *, first: bool = False) -> None:
        """Queue a question that is due behind the others, or before them."""
        if question.model in self._stopped:
            return
        if first:
            self._waiting.appendleft(question)
        else:
            self._waiting.append(question)

    def prepare_ahead(self, pool: Executor, ahead: int) -> None:
        """Read images and draw grids for the next trials, ahead of asking."""
        while self._waiting and len(self._preparing) < ahead:
            question = self._waiting.popleft()
            self._preparing.append((question, pool.submit(question.prepare)))

    def take(self, now: float) -> TrialQuestion | PreparationFailure | None:
        """Take the next question that its endpoint accepts, if there is one."""
        if self.limit.wait_s(now) > 0:
            return None
        # Put-back questions and retries were due before what is only prepared.
        if self._returned:
            return self._returned.popleft()
        if self._delayed and self._delayed[0][0] <= now:
            return heapq.heappop(self._delayed)[2]
        return self._take_prepared()

    def _take_prepared(self) -> TrialQuestion | PreparationFailure | None:
        # Only the first: questions leave in the order planned, ready or not.
        while self._preparing and self._preparing[0][1].done():
            question, future = self._preparing.popleft()
            if question.model in self._stopped:
                continue
            try:
                return replace(question, prepared=future.result())
            except _FAILURES as error:
                return PreparationFailure(question, error)
        return None

    def put_back(self, question: TrialQuestion) -> None:
        """Put a question back as the next one, but not for immediate asking."""
        self._returned.appendleft(question)
        self.is_shut = True

    def delay(self, question: TrialQuestion, until: float) -> None:
        """Schedule a question to be asked again at a time."""
        # The trial's number breaks ties; questions themselves have no order.
        heapq.heappush(self._delayed, (until, question.trial, question))

    def wait_s(self, now: float) -> float:
        """Return the seconds until a question can be sent by waiting alone, else ∞."""
        if self.is_shut:
            return math.inf
        if self._returned or self._is_next_prepared():
            return self.limit.wait_s(now)
        if self._delayed:
            return max(self._delayed[0][0] - now, self.limit.wait_s(now))
        return math.inf

    def _is_next_prepared(self) -> bool:
        return bool(self._preparing) and self._preparing[0][1].done()

    def next_prepared(self) -> Future[Any] | None:
        """Return the next question to be ready, None if none is being prepared."""
        if self._preparing and not self._preparing[0][1].done():
            return self._preparing[0][1]
        return None

    def being_prepared(self) -> tuple[Future[PreparedRequest], ...]:
        """Return the questions that are being prepared."""
        return tuple(future for _, future in self._preparing if future.running())

    def stop_model(self, model: str) -> None:
        """Drop the questions to a model."""
        self._stopped.add(model)
        self._waiting = deque(q for q in self._waiting if q.model != model)
        self._returned = deque(q for q in self._returned if q.model != model)
        self._delayed = [d for d in self._delayed if d[2].model != model]
        # Filtering a heap keeps no heap.
        heapq.heapify(self._delayed)
