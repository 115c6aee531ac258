"""The questions of one endpoint, from the queue until they leave."""

import heapq
import math
from collections import deque
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

from viewer.domain.errors import (
    PrivacyError,
    ProviderError,
    UnreadableInputError,
    WrongUseError,
)
from viewer.models.limits import Limit
from viewer.models.loaded import LoadCancelledError
from viewer.services.running.ledger import Asked
from viewer.services.trials.run_context import RunContext, StepReply
from viewer.services.trials.run_trial import PreparedTrial, prepare_trial
from viewer.store.runs import StoredTrial


@dataclass(frozen=True)
class Due:
    """A trial whose next question is to be prepared, for ``model`` to answer.

    ``before`` are its replies so far.
    """

    stored: StoredTrial
    model: str
    before: tuple[StepReply, ...] = ()


@dataclass(frozen=True)
class QueuedRequest:
    """A question about to be asked for the ``number``-th time in this batch.

    ``looks`` counts how often it was found that another batch is asking it.
    """

    asked: Asked
    number: int = 1
    looks: int = 0

    @property
    def trial(self) -> int:
        """The number of its trial; a trial has one question in flight at most."""
        return self.asked.stored.id

    def now(self) -> "QueuedRequest":
        """Return it with the body that would be sent now."""
        prepared = self.asked.prepared.outgoing_now()
        return replace(self, asked=replace(self.asked, prepared=prepared))

    @property
    def model(self) -> str:
        """The model asked."""
        return self.asked.prepared.profile.name


@dataclass(frozen=True)
class Unaskable:
    """A trial whose question cannot be made, and why in a word.

    Its image cannot be read, or its model or its image lacks what it points out.
    """

    stored: StoredTrial
    reason: str


@dataclass(frozen=True)
class Withheld:
    """A question that may not leave this machine, and why."""

    why: PrivacyError


@dataclass(frozen=True)
class NotThere:
    """A model that is not on this machine and cannot be fetched, and why."""

    model: str
    why: ProviderError


NextUp = QueuedRequest | Unaskable | Withheld | NotThere


class EndpointQueue:
    """The queues of the models that share an endpoint, and how much it is asked.

    Parameters
    ----------
    name : str
        Host and port, "" for models of this machine.
    limit : Limit
        How many questions may be in flight, and how fast they may leave.
    """

    def __init__(self, name: str, limit: Limit) -> None:
        self.name, self.limit = name, limit
        self._waiting: deque[Due] = deque()
        self._preparing: deque[tuple[Due, Future[PreparedTrial]]] = deque()
        self._delayed: list[tuple[float, int, QueuedRequest]] = []
        self._returned: deque[QueuedRequest] = deque()
        self._stopped: set[str] = set()
        self.is_shut = False

    @property
    def has_work(self) -> bool:
        """True while any question has not left."""
        return bool(self._waiting or self._preparing or self._delayed or self._returned)

    @property
    def asked_again(self) -> tuple[QueuedRequest, ...]:
        """The questions that wait to be asked again, or were put back."""
        return (*(one for _, _, one in self._delayed), *self._returned)

    def add(self, due: Due) -> None:
        """Queue a trial behind the others; one that was begun goes before them."""
        if due.model in self._stopped:
            return
        if due.before:
            self._waiting.appendleft(due)
        else:
            self._waiting.append(due)

    def prepare_ahead(self, pool: Executor, context: RunContext, ahead: int) -> None:
        """Read images and draw grids for the next trials, some ahead of asking."""
        while self._waiting and len(self._preparing) < ahead:
            due = self._waiting.popleft()
            future = pool.submit(prepare_trial, context, due.stored.trial, due.before)
            self._preparing.append((due, future))

    def take(self, now: float) -> NextUp | None:
        """Take the next question that its endpoint has room for, if there is one."""
        if self.limit.wait_s(now) > 0:
            return None
        if self._returned:
            return self._returned.popleft()
        if self._delayed and self._delayed[0][0] <= now:
            return heapq.heappop(self._delayed)[2]
        return self._take_prepared()

    def _take_prepared(self) -> NextUp | None:
        while self._preparing and self._preparing[0][1].done():
            due, future = self._preparing.popleft()
            if due.model in self._stopped:
                continue
            try:
                return QueuedRequest(Asked(due.stored, future.result(), due.before))
            except UnreadableInputError:
                return Unaskable(due.stored, "unreadable_image")
            except WrongUseError:
                return Unaskable(due.stored, "cannot_be_asked")
            except PrivacyError as error:
                return Withheld(error)
            except ProviderError as error:
                return NotThere(due.model, error)
            except LoadCancelledError:
                self._waiting.appendleft(due)  # by somebody else: begin again
        return None

    def put_back(self, queued: QueuedRequest) -> None:
        """Let a question that was taken be the next one again, but not at once."""
        self._returned.appendleft(queued)
        self.is_shut = True

    def delay(self, queued: QueuedRequest, until: float) -> None:
        """Ask again at a time."""
        heapq.heappush(self._delayed, (until, queued.trial, queued))

    def wait_s(self, now: float) -> float:
        """Return the seconds until time alone lets a question leave, else ∞."""
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
        """Return what will be ready next, None where nothing is being prepared."""
        if self._preparing and not self._preparing[0][1].done():
            return self._preparing[0][1]
        return None

    def being_prepared(self) -> tuple[Future[PreparedTrial], ...]:
        """Return what is being prepared at this moment."""
        return tuple(future for _, future in self._preparing if future.running())

    def stop_model(self, model: str) -> None:
        """Forget the questions of a model."""
        self._stopped.add(model)
        self._waiting = deque(due for due in self._waiting if due.model != model)
        self._returned = deque(r for r in self._returned if r.model != model)
        self._delayed = [d for d in self._delayed if d[2].model != model]
        heapq.heapify(self._delayed)
