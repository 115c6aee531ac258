"""Ask every pending trial of a run; a generator of events (DESIGN 4 and 5).

The generator's thread is the coordinator and alone writes. Trials are prepared in a
small pool of threads, asked in any ``concurrent.futures.Executor``, and judged here.
"""

import heapq
import random
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import Any, Final

from viewer.domain.answer import Status
from viewer.domain.errors import ProviderError, RetryClass, UnreadableInputError
from viewer.domain.exchange import RawReply
from viewer.domain.result import Score
from viewer.domain.run import (
    Event,
    ModelStopped,
    OrphanPolicy,
    RunEnded,
    RunStarted,
    TrialDone,
    TrialRetried,
)
from viewer.models.retry import MAX_ATTEMPTS, retry_pause
from viewer.services.ledger import Answered, Asked, Ledger, Settled
from viewer.services.run_trial import Bench, PreparedTrial, ask_model, prepare_trial
from viewer.store import cases, runs, trials
from viewer.store.database import Store, utc_now
from viewer.store.locks import run_lock
from viewer.store.runs import StoredTrial

_PREPARERS: Final = 2
"""Threads that read images and draw grids ahead of the questions."""
_POLL_S: Final = 0.1
"""How often a waiting coordinator looks at the cancel flag."""


@dataclass(frozen=True)
class BatchOptions:
    """How a batch is driven; nothing here changes an answer.

    ``concurrency`` is the number of questions in flight; ``orphans`` overrides each
    model's own policy; ``retry_failed`` asks trials again that ended as
    provider_error.
    """

    concurrency: int = 4
    orphans: OrphanPolicy | None = None
    retry_failed: bool = False


def run_batch(
    store: Store,
    run: int,
    options: BatchOptions,
    cancel: Flag,
    executor: Executor | None = None,
) -> Iterator[Event]:
    """Ask what is pending and yield what happens.

    Setting ``cancel`` lets what is in flight finish and be stored, then ends.
    Without an ``executor`` threads of this process ask. Raises RunHeldError where
    another process coordinates this run.
    """
    with run_lock(store.path, run, utc_now()):
        bench = Bench(runs.run_spec(store, run), cases.dataset_of_run(store, run))
        bench.check_models()
        if options.retry_failed:
            trials.reopen_failed(store, run)
        with ThreadPoolExecutor(options.concurrency) as threads:
            coordinator = _Coordinator(
                store, run, bench, options, cancel, executor or threads
            )
            yield from coordinator.events()


@dataclass
class _Flight:
    asked: Asked
    attempt: int
    number: int


@dataclass
class _Queues:
    """Where the trials of a batch stand before they are settled."""

    waiting: deque[StoredTrial] = field(default_factory=deque)
    preparing: deque[tuple[StoredTrial, Future[PreparedTrial]]] = field(
        default_factory=deque
    )
    delayed: list[tuple[float, int, int, Asked]] = field(default_factory=list)
    flying: dict[Future[RawReply], _Flight] = field(default_factory=dict)
    followers: dict[str, list[Asked]] = field(default_factory=dict)

    def drop_model(self, model: str) -> None:
        """Forget what has not left yet of a model; its trials stay pending."""
        self.waiting = deque(t for t in self.waiting if t.trial.model != model)
        self.delayed = [d for d in self.delayed if d[3].stored.trial.model != model]
        heapq.heapify(self.delayed)


class _Coordinator:
    def __init__(
        self,
        store: Store,
        run: int,
        bench: Bench,
        options: BatchOptions,
        cancel: Flag,
        executor: Executor,
    ) -> None:
        self._store, self._run, self._bench = store, run, bench
        self._options, self._cancel, self._executor = options, cancel, executor
        self._ledger = Ledger(store, bench, run)
        self._queues = _Queues()
        self._stopped: set[str] = set()
        self._jitter = random.Random()  # noqa: S311 - pauses between retries only
        self._tickets = 0

    def events(self) -> Iterator[Event]:
        """Yield the batch's events from its start to its end."""
        counts = runs.status_counts(self._store, self._run)
        planned = sum(counts.values())
        yield RunStarted(self._run, planned, planned - counts.get(Status.PENDING, 0))
        pending = runs.trials_in(self._store, self._run, [Status.PENDING])
        go_on, ended, waiting = self._ledger.settle_orphans(
            self._options.orphans, pending
        )
        yield from map(self._done, ended)
        if waiting:
            yield ModelStopped(self._run, "", _orphans_wait(waiting))
        self._queues.waiting.extend(go_on)
        yield from self._work()
        yield RunEnded(
            self._run,
            runs.status_counts(self._store, self._run),
            cancelled=self._cancel.is_set(),
        )

    def _work(self) -> Iterator[Event]:
        pool = ThreadPoolExecutor(_PREPARERS, thread_name_prefix="prepare")
        try:
            while self._has_work():
                yield from self._step(pool)
        finally:
            # the reader of these events may be gone: what is in flight is kept
            pool.shutdown(wait=True, cancel_futures=True)
            while self._queues.flying:
                for _ in self._collect():
                    continue

    def _has_work(self) -> bool:
        queues = self._queues
        if queues.flying:
            return True
        return not self._cancel.is_set() and bool(
            queues.waiting or queues.preparing or queues.delayed
        )

    def _step(self, pool: Executor) -> Iterator[Event]:
        if not self._cancel.is_set():
            self._prepare_ahead(pool)
            leaving = list(self._due())
            yield from self._start(leaving, *self._ready(self._free(leaving)))
        yield from self._collect()

    def _prepare_ahead(self, pool: Executor) -> None:
        queues = self._queues
        ahead = 4 * self._options.concurrency + 8
        while queues.waiting and len(queues.preparing) < ahead:
            stored = queues.waiting.popleft()
            future = pool.submit(prepare_trial, self._bench, stored.trial)
            queues.preparing.append((stored, future))

    def _free(self, leaving: list[tuple[Asked, int]]) -> int:
        """Return how many more questions may be in flight."""
        return self._options.concurrency - len(self._queues.flying) - len(leaving)

    def _ready(
        self, free: int
    ) -> tuple[list[Asked], list[tuple[StoredTrial, UnreadableInputError]]]:
        """Take prepared trials in their order, up to the free places."""
        ready: list[Asked] = []
        failed: list[tuple[StoredTrial, UnreadableInputError]] = []
        preparing = self._queues.preparing
        while preparing and preparing[0][1].done() and len(ready) < free:
            stored, future = preparing.popleft()
            if stored.trial.model in self._stopped:
                continue
            try:
                ready.append(Asked(stored, future.result()))
            except UnreadableInputError as error:
                failed.append((stored, error))
        return ready, failed

    def _start(
        self,
        leaving: list[tuple[Asked, int]],
        ready: list[Asked],
        failed: list[tuple[StoredTrial, UnreadableInputError]],
    ) -> Iterator[Event]:
        yield from self._exclude(failed)
        answered: list[Answered] = []
        for asked in ready:
            reply = self._ledger.kept(asked)
            if reply is not None:
                answered.append(Answered(asked, reply, reused=True))
            elif self._joins_flight(asked, leaving):
                self._queues.followers.setdefault(asked.prepared.sha256, []).append(
                    asked
                )
            else:
                leaving.append((asked, 1))
        self._send(leaving)
        yield from self._settle(answered)

    def _joins_flight(self, asked: Asked, leaving: list[tuple[Asked, int]]) -> bool:
        sha256 = asked.prepared.sha256
        return (
            any(other.prepared.sha256 == sha256 for other, _ in leaving)
            or any(
                f.asked.prepared.sha256 == sha256 for f in self._queues.flying.values()
            )
            or any(d[3].prepared.sha256 == sha256 for d in self._queues.delayed)
        )

    def _due(self) -> Iterator[tuple[Asked, int]]:
        delayed, free = self._queues.delayed, self._free([])
        while free > 0 and delayed and delayed[0][0] <= time.monotonic():
            _, _, number, asked = heapq.heappop(delayed)
            free -= 1
            yield asked, number

    def _send(self, leaving: list[tuple[Asked, int]]) -> None:
        if not leaving:
            return
        attempts = self._ledger.begin([asked for asked, _ in leaving])
        for (asked, number), attempt in zip(leaving, attempts, strict=True):
            prepared = asked.prepared
            future = self._executor.submit(
                ask_model, prepared.profile, prepared.request
            )
            self._queues.flying[future] = _Flight(asked, attempt, number)

    def _exclude(
        self, failed: list[tuple[StoredTrial, UnreadableInputError]]
    ) -> Iterator[Event]:
        """End trials whose image cannot be read; the others are not held up."""
        if failed:
            score = Score(Status.EXCLUDED, "unreadable_image")
            ended = [(stored, score, None) for stored, _ in failed]
            yield from map(self._done, self._ledger.settle_without_reply(ended))

    def _collect(self) -> Iterator[Event]:
        queues = self._queues
        waiting_for: list[Future[Any]] = [*queues.flying]
        if queues.preparing and self._free([]) > 0 and not self._cancel.is_set():
            waiting_for.append(queues.preparing[0][1])
        if waiting_for:
            wait(waiting_for, timeout=_POLL_S, return_when=FIRST_COMPLETED)
        elif queues.delayed:
            self._cancel.wait(_POLL_S)
        done = [future for future in queues.flying if future.done()]
        landed = [(future, queues.flying.pop(future)) for future in done]
        yield from self._land(landed)

    def _land(self, landed: list[tuple[Future[RawReply], _Flight]]) -> Iterator[Event]:
        arrived: list[tuple[int, Asked, RawReply]] = []
        failed: list[tuple[_Flight, ProviderError]] = []
        for future, flight in landed:
            error = future.exception()
            if error is None:
                arrived.append((flight.attempt, flight.asked, future.result()))
            elif isinstance(error, ProviderError):
                failed.append((flight, error))
            else:
                failed.append((flight, _unexpected(error)))
        if arrived:
            kept = self._ledger.keep(arrived)
            yield from self._settle([*kept, *self._followed(kept)])
        if failed:
            self._ledger.close_failed([(f.attempt, e) for f, e in failed])
            for flight, provider_error in failed:
                yield from self._after_failure(flight, provider_error)

    def _followed(self, kept: tuple[Answered, ...]) -> Iterator[Answered]:
        for answered in kept:
            for asked in self._queues.followers.pop(answered.reply.request_sha256, []):
                yield Answered(asked, answered.reply, reused=True)

    def _after_failure(self, flight: _Flight, error: ProviderError) -> Iterator[Event]:
        model = flight.asked.stored.trial.model
        last = flight.number >= MAX_ATTEMPTS
        if error.retry_class is RetryClass.STOP_RUN or (last and error.unreachable):
            if model not in self._stopped:
                self._stopped.add(model)
                self._queues.drop_model(model)
                yield ModelStopped(self._run, model, str(error))
        elif error.retry_class is RetryClass.RETRY and not last:
            yield from self._retry(flight, error)
        else:
            yield from self._give_up(flight.asked, error)

    def _retry(self, flight: _Flight, error: ProviderError) -> Iterator[Event]:
        if self._cancel.is_set():
            return  # the trial stays pending; the next batch asks again
        pause = retry_pause(flight.number, error, self._jitter)
        self._tickets += 1
        heapq.heappush(
            self._queues.delayed,
            (time.monotonic() + pause, self._tickets, flight.number + 1, flight.asked),
        )
        stored = flight.asked.stored
        yield TrialRetried(
            self._run, stored.id, stored.trial.model, error.reason, pause
        )

    def _give_up(self, asked: Asked, error: ProviderError) -> Iterator[Event]:
        sha256 = asked.prepared.sha256
        score = Score(Status.PROVIDER_ERROR, error.reason)
        together = [asked, *self._queues.followers.pop(sha256, [])]
        ended = [(each.stored, score, sha256) for each in together]
        yield from map(self._done, self._ledger.settle_without_reply(ended))

    def _settle(self, answered: list[Answered]) -> Iterator[Event]:
        if answered:
            yield from map(self._done, self._ledger.settle_answers(answered))

    def _done(self, settled: Settled) -> TrialDone:
        trial = settled.stored.trial
        return TrialDone(
            run=self._run,
            trial=settled.stored.id,
            item=trial.item,
            condition=trial.condition.name,
            repeat=trial.repeat,
            model=trial.model,
            score=settled.score,
            request_sha256=settled.request_sha256,
            reused=settled.reused,
            latency_ms=settled.latency_ms,
        )


def _unexpected(error: BaseException) -> ProviderError:
    """Return what an adapter should not have raised as a failure of its trial."""
    return ProviderError(
        f"The model's adapter failed with {type(error).__name__}.",
        "Report this with the output of overread doctor.",
        retry_class=RetryClass.FAIL,
        reason=f"adapter_{type(error).__name__}",
    )


def _orphans_wait(n: int) -> str:
    return (
        f"{n} question(s) were in flight when the last batch was killed and may have"
        " been paid for. Ask them again with --orphans retry, or end them as failed"
        " with --orphans skip."
    )
