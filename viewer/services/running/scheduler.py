"""Queues of a batch: where its trials are between plan and verdict."""

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import replace
from threading import Event as Flag
from typing import Any, Final

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import RawReply
from viewer.models.endpoint import Endpoint
from viewer.models.limits import AdaptiveLimit, FixedLimit, Limit, NoLimit
from viewer.services.running.batched_question import Asked, BatchedQuestion
from viewer.services.running.endpoint_queue import EndpointQueue, PreparationFailure
from viewer.services.running.stopping import is_late
from viewer.services.running.trial_question import TrialQuestion

POLL_S: Final = 0.1
"""How often a waiting coordinator looks at its cancel flag."""
MOST_HERE, MOST_ELSEWHERE = 4, 32
"""The most questions in flight to this machine, and to others, unless named."""
_SOON_S: Final = 0.001
_TOGETHER_S: Final = 0.005
"""How long a reply waits for others, which are then stored in the same transaction."""
_SHARE: Final = 50
"""A reply waits at most for this part of the time that it took."""
_FIRST_LOOK_S, _LATEST_LOOK_S = 0.1, 2.0
"""Pauses between two looks at a question that another batch is asking."""
_TOO_MANY: Final = 429
_PREPARED_FOR_FILES: Final = 8
"""As many questions to a batch endpoint are prepared ahead as for so many in flight."""


class Scheduler:
    """The queues of one batch; used only by the coordinator's thread.

    Parameters
    ----------
    concurrency : int
        Maximum of questions in flight; 0 to adapt to each endpoint.
    cancel : Event
        Set when nothing more is to be sent.
    endpoint_of : callable
        Maps a model's name to the endpoint it shares with others, None for none.
    batched : collection of str
        The models whose questions go into files.
    """

    def __init__(
        self,
        concurrency: int,
        cancel: Flag,
        endpoint_of: Callable[[str], Endpoint | None],
        batched: Collection[str] = (),
    ) -> None:
        self._concurrency, self._cancel = concurrency, cancel
        self._endpoint_of, self._batched = endpoint_of, frozenset(batched)
        self._in_batches: dict[int, BatchedQuestion] = {}
        self._batched_keys: Counter[str] = Counter()
        self._queues: dict[str, EndpointQueue] = {}
        self._reserved: dict[int, TrialQuestion] = {}
        self._sent: dict[Future[RawReply], TrialQuestion] = {}
        self._followers: dict[str, list[TrialQuestion]] = {}
        self._stopped: set[str] = set()

    def add(self, question: TrialQuestion, *, first: bool = False) -> None:
        """Queue a question that is due, at the endpoint of its model."""
        self._queue(question.model).add(question, first=first)

    def _queue(self, model: str) -> EndpointQueue:
        if model in self._batched:  # each has files of its own, and no limit
            name = f"{model} in batches"
            self._queues.setdefault(
                name, EndpointQueue(name, NoLimit(_PREPARED_FOR_FILES))
            )
            return self._queues[name]
        endpoint = self._endpoint_of(model)
        name = endpoint.address if endpoint else ""
        if name not in self._queues:
            self._queues[name] = EndpointQueue(
                name, _limit(endpoint, self._concurrency)
            )
        return self._queues[name]

    @property
    def in_flight(self) -> int:
        """The number of questions sent and not returned yet."""
        return len(self._sent)

    @property
    def awaited(self) -> int:
        """The number of questions whose answers are awaited, in files too."""
        return len(self._sent) + len(self._in_batches)

    @property
    def has_work(self) -> bool:
        """True while there is work; after a cancel, only while replies are awaited."""
        open_work = any(queue.has_work for queue in self._queues.values())
        return self.in_flight > 0 or (open_work and not self._cancel.is_set())

    def stop_preparing(self, pool: Executor, interrupt: Callable[[], None]) -> None:
        """End the preparation of trials without waiting for a model's download."""
        # A thread cannot be ended: one in a download is interrupted through its model.
        pool.shutdown(wait=False, cancel_futures=True)
        while self._cancel.is_set() and self.wait_for_preparing():
            interrupt()
            if is_late(self._cancel):
                return
        pool.shutdown(wait=True)

    def wait_for_preparing(self) -> bool:
        """Wait a moment for questions being prepared; return whether any still is."""
        going = [f for queue in self._queues.values() for f in queue.being_prepared()]
        return bool(wait(going, timeout=POLL_S).not_done)

    @property
    def limits(self) -> dict[str, AdaptiveLimit]:
        """The endpoints with adaptive limits, by host and port."""
        limits = {name: queue.limit for name, queue in self._queues.items()}
        return {n: one for n, one in limits.items() if isinstance(one, AdaptiveLimit)}

    def prepare_ahead(self, pool: Executor) -> None:
        """Read images and draw grids for the next trials, ahead of asking."""
        for queue in self._queues.values():
            queue.prepare_ahead(pool, 4 * queue.limit.window + 8)

    def next_up(self) -> Iterator[TrialQuestion | PreparationFailure]:
        """Take the questions that may be sent now, from each endpoint in turn.

        A question taken is reserved, put back, or needs no asking; an endpoint whose
        question was put back is skipped until the next call.
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

    def follows(self, question: TrialQuestion) -> bool:
        """Wait for the same request if it is in progress; return whether it is."""
        sha256 = question.sha256
        # Also of questions to be asked again: their reply is still to come.
        in_batch = self._batched_keys[sha256] > 0
        if not in_batch and all(other.sha256 != sha256 for other in self._under_way()):
            return False
        self._followers.setdefault(sha256, []).append(question)
        return True

    def _under_way(self) -> Iterator[TrialQuestion]:
        yield from self._reserved.values()
        yield from self._sent.values()
        for queue in self._queues.values():
            yield from queue.asked_again

    def take_followers(self, question: Asked) -> tuple[TrialQuestion, ...]:
        """Return, once, the questions that waited for the reply to the same request."""
        return tuple(self._followers.pop(question.sha256, ()))

    def put_back(self, question: TrialQuestion) -> None:
        """Make a question that may not be sent yet the next one of its endpoint."""
        self._queue(question.model).put_back(question)

    def reserve(self, question: TrialQuestion) -> None:
        """Reserve a place for a question: it is sent once its attempt is committed."""
        now = time.monotonic()
        # At the reservation, not when sent: others of this round must see it taken.
        self._queue(question.model).limit.leave(now)
        self._reserved[question.trial] = replace(question, left_at=now)

    def release(self, question: TrialQuestion) -> None:
        """Release the place of a question that is not sent after all."""
        self._reserved.pop(question.trial)
        self._queue(question.model).limit.failed()

    def look_later(self, question: TrialQuestion) -> None:
        """Resume a question after a pause, without delaying others."""
        pause = min(_FIRST_LOOK_S * 2.0**question.looks, _LATEST_LOOK_S)
        again = replace(question, looks=question.looks + 1)
        self._queue(again.model).delay(again, time.monotonic() + pause)

    def mark_sent(
        self, future: Future[RawReply], question: TrialQuestion, attempt: int
    ) -> None:
        """Record that a question was sent."""
        left_at = self._reserved.pop(question.trial).left_at
        self._sent[future] = replace(question, attempt=attempt, left_at=left_at)

    def mark_batched(self, question: BatchedQuestion) -> None:
        """Record that a question is in a file, where it takes no place."""
        if self._reserved.pop(question.trial, None) is not None:
            self._queue(question.model).limit.failed()
        self._in_batches[question.trial] = question
        self._batched_keys[question.sha256] += 1

    def has_batched(self, trial: int) -> bool:
        """Tell whether a trial's question is in a file."""
        return trial in self._in_batches

    def mark_returned(self, question: BatchedQuestion) -> None:
        """Record the end of a question in a file."""
        if self._in_batches.pop(question.trial, None) is not None:
            self._batched_keys[question.sha256] -= 1

    def expects_more(self, model: str) -> bool:
        """Tell whether another question to a model may be taken soon."""
        return self._queue(model).expects_more(time.monotonic())

    def completed(self) -> tuple[tuple[Future[RawReply], TrialQuestion], ...]:
        """Wait briefly for anything to happen; return the questions answered."""
        futures: list[Future[Any]] = [*self._sent]
        patience = POLL_S
        if not self._cancel.is_set():
            if self._free() > 0:
                nexts = [queue.next_prepared() for queue in self._queues.values()]
                futures += [one for one in nexts if one is not None]
            # Never zero, which would turn the loop into a busy one.
            patience = min(POLL_S, max(_SOON_S, self._until_time_lets_one_leave()))
        # wait() on no futures returns at once.
        if futures:
            wait(futures, timeout=patience, return_when=FIRST_COMPLETED)
        else:
            self._cancel.wait(patience)
        self._wait_for_others()
        done = [future for future in self._sent if future.done()]
        return tuple((future, self._completed(future)) for future in done)

    def _wait_for_others(self) -> None:
        """Let replies arrive that can be stored with one that has arrived."""
        came = [one.left_at for future, one in self._sent.items() if future.done()]
        if came and len(came) < len(self._sent):
            took_s = time.monotonic() - max(came)
            if took_s > _SOON_S * _SHARE:
                time.sleep(min(_TOGETHER_S, took_s / _SHARE))

    @property
    def all_are_completed(self) -> bool:
        """True if every question sent has ended, completed or not."""
        return all(future.done() for future in self._sent)

    def received(self) -> Iterator[tuple[TrialQuestion, RawReply]]:
        """Return the replies that have arrived but are not collected yet."""
        for future, question in self._sent.items():
            if future.done() and future.exception() is None:
                yield question, future.result()

    def _until_time_lets_one_leave(self) -> float:
        now = time.monotonic()
        waits = (queue.wait_s(now) for queue in self._queues.values())
        return min(waits, default=math.inf) if self._free() > 0 else math.inf

    def _completed(self, future: Future[RawReply]) -> TrialQuestion:
        question = self._sent.pop(future)
        _tell(self._queue(question.model).limit, question.left_at, future)
        return question

    def delay(
        self, question: TrialQuestion, pause_s: float, *, counts: bool = True
    ) -> None:
        """Ask again after a pause; uncounted attempts may be repeated without limit."""
        again = replace(question, number=question.number + counts, looks=0)
        self._queue(again.model).delay(again, time.monotonic() + pause_s)

    def stop_model(self, model: str) -> bool:
        """Stop asking a model; its trials stay pending. False if already stopped."""
        if model in self._stopped:
            return False
        self._stopped.add(model)
        self._queue(model).stop_model(model)
        return True


def _limit(endpoint: Endpoint | None, most: int) -> Limit:
    if endpoint is None:
        return FixedLimit(most or MOST_HERE)
    if not most:
        return AdaptiveLimit(MOST_HERE if endpoint.is_here else MOST_ELSEWHERE)
    # Named by somebody who knows the server: a quarter is no surprise to any other.
    return AdaptiveLimit(most, start=most if endpoint.is_here else most // 4)


def _tell(limit: Limit, left_at: float, future: Future[RawReply]) -> None:
    """Update an endpoint's limit with the result of a question."""
    now, error = time.monotonic(), future.exception()
    if error is None:
        limit.answered(left_at, now, future.result().headers)
    elif _is_one_too_many(error):
        limit.rejected(left_at, now, getattr(error, "retry_after_s", None))
    elif isinstance(error, ProviderError) and error.loading:
        limit.loading(now, error.retry_after_s or 0.0)
    else:
        limit.failed()


def _is_one_too_many(error: BaseException) -> bool:
    return (
        isinstance(error, ProviderError)
        and error.http_status == _TOO_MANY
        and error.retry_class is RetryClass.RETRY
    )
