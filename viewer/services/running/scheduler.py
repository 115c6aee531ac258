"""Where the trials of a batch stand between the plan and their verdict."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from threading import Event as Flag
from typing import Any, Final

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import RawReply
from viewer.models.endpoint import Endpoint
from viewer.models.limits import AdaptiveLimit, FixedLimit, Limit
from viewer.services.running.endpoint_queue import (
    Due,
    EndpointQueue,
    NextUp,
    QueuedRequest,
)
from viewer.services.running.ledger import Asked
from viewer.services.trials.run_context import RunContext

POLL_S: Final = 0.1
"""How often a waiting coordinator looks at its cancel flag."""
MOST_HERE, MOST_ELSEWHERE = 4, 32
"""The most questions in flight to this machine, and to others, unless named."""
_SOON_S: Final = 0.001
_FIRST_LOOK_S, _LATEST_LOOK_S = 0.1, 2.0
"""Pauses between two looks at a question that another batch is asking."""
_TOO_MANY: Final = 429


@dataclass(frozen=True)
class SentRequest:
    """A question that has left, with the row that says so and the time it did."""

    queued: QueuedRequest
    attempt: int
    left_at: float

    @property
    def asked(self) -> Asked:
        """The question."""
        return self.queued.asked


Completed = tuple[Future[RawReply], SentRequest]


class Scheduler:
    """The queues of one batch; used by the coordinator's thread alone.

    Parameters
    ----------
    concurrency : int
        The most questions in flight; 0 for as many as each endpoint is good for.
    cancel : Event
        Set when nothing more is to leave.
    endpoint_of : callable
        From a model's name to the endpoint it shares with others, None for none.
    """

    def __init__(
        self,
        concurrency: int,
        cancel: Flag,
        endpoint_of: Callable[[str], Endpoint | None],
    ) -> None:
        self._concurrency, self._cancel = concurrency, cancel
        self._endpoint_of = endpoint_of
        self._queues: dict[str, EndpointQueue] = {}
        self._reserved: dict[int, tuple[QueuedRequest, float]] = {}
        self._sent: dict[Future[RawReply], SentRequest] = {}
        self._followers: dict[str, list[Asked]] = {}
        self._stopped: set[str] = set()

    def add(self, trials: Iterable[Due]) -> None:
        """Queue trials in their order, each where the model it is to ask lies."""
        for due in trials:
            self._queue(due.model).add(due)

    def _queue(self, model: str) -> EndpointQueue:
        endpoint = self._endpoint_of(model)
        name = endpoint.address if endpoint else ""
        if name not in self._queues:
            self._queues[name] = EndpointQueue(
                name, _limit(endpoint, self._concurrency)
            )
        return self._queues[name]

    @property
    def in_flight(self) -> int:
        """How many questions have left and not come back."""
        return len(self._sent)

    @property
    def has_work(self) -> bool:
        """True while anything is to be done; after a cancel, only to be awaited."""
        open_work = any(queue.has_work for queue in self._queues.values())
        return self.in_flight > 0 or (open_work and not self._cancel.is_set())

    def wait_for_preparing(self) -> bool:
        """Wait a moment for questions being prepared; return whether any still is."""
        going = [f for queue in self._queues.values() for f in queue.being_prepared()]
        return bool(wait(going, timeout=POLL_S).not_done)

    @property
    def limits(self) -> dict[str, AdaptiveLimit]:
        """The endpoints whose limits are being found out, by host and port."""
        found = {name: queue.limit for name, queue in self._queues.items()}
        return {n: one for n, one in found.items() if isinstance(one, AdaptiveLimit)}

    def prepare_ahead(self, pool: Executor, context: RunContext) -> None:
        """Read images and draw grids for the next trials, some ahead of asking."""
        for queue in self._queues.values():
            queue.prepare_ahead(pool, context, 4 * queue.limit.window + 8)

    def next_up(self) -> Iterator[NextUp]:
        """Take what may leave now, from each endpoint in turn.

        A question taken is reserved, put back, or needs no asking; an endpoint whose
        question was put back is left alone until this is called again.
        """
        queues = list(self._queues.values())
        for queue in queues:
            queue.is_shut = False
        while queues:
            for queue in tuple(queues):
                taken = queue.take(time.monotonic()) if self._free() > 0 else None
                if taken is not None:
                    yield taken
                if taken is None or queue.is_shut:
                    queues.remove(queue)

    def _free(self) -> int:
        most = self._concurrency or MOST_ELSEWHERE
        return most - len(self._sent) - len(self._reserved)

    def follows(self, queued: QueuedRequest) -> bool:
        """Wait for the same request if it is under way; return whether it is."""
        sha256 = queued.asked.prepared.sha256
        if all(other.asked.prepared.sha256 != sha256 for other in self._under_way()):
            return False
        self._followers.setdefault(sha256, []).append(queued.asked)
        return True

    def _under_way(self) -> Iterator[QueuedRequest]:
        yield from (queued for queued, _ in self._reserved.values())
        yield from (sent.queued for sent in self._sent.values())
        for queue in self._queues.values():
            yield from queue.asked_again

    def take_followers(self, sha256: str) -> tuple[Asked, ...]:
        """Return, once, the trials that waited for a request's reply."""
        return tuple(self._followers.pop(sha256, ()))

    def put_back(self, queued: QueuedRequest) -> None:
        """Let a question that may not leave yet be the next of its endpoint."""
        self._queue(queued.model).put_back(queued)

    def reserve(self, queued: QueuedRequest) -> None:
        """Give a question a place: it leaves as soon as its attempt is committed."""
        now = time.monotonic()
        self._queue(queued.model).limit.leave(now)
        self._reserved[queued.trial] = queued, now

    def release(self, queued: QueuedRequest) -> None:
        """Take back the place of a question that does not leave after all."""
        self._reserved.pop(queued.trial)
        self._queue(queued.model).limit.failed()

    def look_later(self, queued: QueuedRequest) -> None:
        """Take a question up again after a pause; others go on meanwhile."""
        pause = min(_FIRST_LOOK_S * 2.0**queued.looks, _LATEST_LOOK_S)
        again = replace(queued, looks=queued.looks + 1)
        self._queue(again.model).delay(again, time.monotonic() + pause)

    def mark_sent(
        self, future: Future[RawReply], queued: QueuedRequest, attempt: int
    ) -> None:
        """Remember a question that has left."""
        _, left_at = self._reserved.pop(queued.trial)
        self._sent[future] = SentRequest(queued, attempt, left_at)

    def completed(self) -> tuple[Completed, ...]:
        """Wait a moment for anything to happen; return the questions answered."""
        futures: list[Future[Any]] = [*self._sent]
        patience = POLL_S
        if not self._cancel.is_set():
            if self._free() > 0:
                nexts = [queue.next_prepared() for queue in self._queues.values()]
                futures += [one for one in nexts if one is not None]
            patience = min(POLL_S, max(_SOON_S, self._until_time_lets_one_leave()))
        if futures:
            wait(futures, timeout=patience, return_when=FIRST_COMPLETED)
        else:
            self._cancel.wait(patience)
        done = [future for future in self._sent if future.done()]
        return tuple((future, self._completed(future)) for future in done)

    @property
    def all_are_completed(self) -> bool:
        """True where every question that left has ended, completed or not."""
        return all(future.done() for future in self._sent)

    def received(self) -> Iterator[tuple[SentRequest, RawReply]]:
        """Return the replies that are here already; they are still to be completed."""
        for future, sent in self._sent.items():
            if future.done() and future.exception() is None:
                yield sent, future.result()

    def _until_time_lets_one_leave(self) -> float:
        now = time.monotonic()
        waits = (queue.wait_s(now) for queue in self._queues.values())
        return min(waits, default=math.inf) if self._free() > 0 else math.inf

    def _completed(self, future: Future[RawReply]) -> SentRequest:
        sent = self._sent.pop(future)
        _tell(self._queue(sent.queued.model).limit, sent, future)
        return sent

    def delay(self, sent: SentRequest, pause_s: float, *, counts: bool = True) -> None:
        """Ask again after a pause; what does not count may be asked ever so often."""
        again = QueuedRequest(sent.asked, sent.queued.number + counts)
        self._queue(again.model).delay(again, time.monotonic() + pause_s)

    def stop_model(self, model: str) -> bool:
        """Ask nothing more of a model; its trials stay pending. False if stopped."""
        if model in self._stopped:
            return False
        self._stopped.add(model)
        self._queue(model).stop_model(model)
        return True


def _limit(endpoint: Endpoint | None, most: int) -> Limit:
    if endpoint is None:
        return FixedLimit(most or MOST_HERE)
    return AdaptiveLimit(most or (MOST_HERE if endpoint.is_here else MOST_ELSEWHERE))


def _tell(limit: Limit, sent: SentRequest, future: Future[RawReply]) -> None:
    """Let an endpoint's limit learn from what became of a question."""
    now, error = time.monotonic(), future.exception()
    if error is None:
        limit.answered(sent.left_at, now, future.result().headers)
    elif _is_one_too_many(error):
        limit.rejected(sent.left_at, now, getattr(error, "retry_after_s", None))
    else:
        limit.failed()


def _is_one_too_many(error: BaseException) -> bool:
    return (
        isinstance(error, ProviderError)
        and error.http_status == _TOO_MANY
        and error.retry_class is RetryClass.RETRY
    )
