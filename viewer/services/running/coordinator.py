"""The coordinator of a batch: claims, sends, keeps and settles (DESIGN 4 and 5).

Its thread alone writes. Trials are prepared in a small pool of threads, asked in any
``concurrent.futures.Executor``, and judged here.
"""

import contextlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event as Flag
from typing import TYPE_CHECKING, Final

from viewer.domain.answer import Status
from viewer.domain.errors import PrivacyError, ProviderError, RetryClass, StoreError
from viewer.domain.result import Score
from viewer.domain.run import (
    Event,
    ModelStopped,
    OrphanPolicy,
    RunEnded,
    RunMark,
    RunStarted,
    TrialDone,
    TrialRetried,
)
from viewer.models.prices import most_microusd
from viewer.models.retry import MAX_ATTEMPTS, retry_pause
from viewer.services.privacy.gate import GateWatch
from viewer.services.running.batch_words import held_back, orphans_wait, unexpected
from viewer.services.running.endpoint_queue import (
    Due,
    NotThere,
    QueuedRequest,
    Unaskable,
    Withheld,
)
from viewer.services.running.ledger import (
    Answered,
    Asked,
    Begun,
    Ledger,
    Orphaned,
    Settled,
)
from viewer.services.running.progress_events import (
    LoadWatch,
    ProgressEvents,
    Waits,
    trial_done,
)
from viewer.services.running.run_notes import RunNotes
from viewer.services.running.scheduler import MOST_ELSEWHERE, Scheduler, SentRequest
from viewer.services.running.spending import ceiling_sentence
from viewer.services.running.stopping import is_late
from viewer.services.trials.run_context import RunContext, StepReply
from viewer.services.trials.run_trial import ask_model
from viewer.store import runs
from viewer.store.claims import Coordinator
from viewer.store.database import Store
from viewer.store.runs import StoredTrial
from viewer.store.saved_replies import Spool
from viewer.store.trials import StoredReply

if TYPE_CHECKING:
    from viewer.domain.exchange import RawReply

ORPHAN: Final = "orphan"
"""Why a question is asked again, or not at all, that a kill left open."""
_PREPARERS: Final = 2
"""Threads that read images and draw grids ahead of the questions."""
_SOON_S: Final = 0.25
"""How long replies wait for the store before they are spooled."""
_LAST_PATIENCE_S: Final = 2.0
"""How long a cancelled batch, whose replies are all spooled, waits for the store."""


@dataclass(frozen=True)
class BatchOptions:
    """How a batch is driven; nothing here changes an answer.

    ``concurrency`` is the most questions in flight, 0 for few to this machine and more
    to servers elsewhere, as far as they take them; ``orphans`` overrides each
    model's own policy; ``retry_failed`` asks trials again that ended as
    provider_error.
    """

    concurrency: int = 0
    orphans: OrphanPolicy | None = None
    retry_failed: bool = False

    @property
    def most(self) -> int:
        """The most questions in flight to all endpoints together."""
        return self.concurrency or MOST_ELSEWHERE


class BatchCoordinator:
    """Asks what is pending of one run and yields what happens."""

    def __init__(
        self,
        store: Store,
        run: int,
        context: RunContext,
        options: BatchOptions,
        cancel: Flag,
        executor: Executor,
        loading: LoadWatch,
        spool: Spool,
    ) -> None:
        self._store, self._run, self._context = store, run, context
        self._options, self._cancel, self._executor = options, cancel, executor
        self._ledger = Ledger(store, context, run, spool, options.orphans)
        self._tell_waiting = store.on_wait
        self._watch = GateWatch(store, context.dataset, context.gate)
        self._notes = RunNotes(store, run)
        self._scheduler = Scheduler(options.concurrency, cancel, context.endpoint_of)
        self._told = ProgressEvents(run, self._ledger.budget, self._scheduler)
        self._waits, self._undecided = Waits(run), 0
        self._loading = loading
        self._paused = False
        self._held: tuple[PrivacyError, ...] = ()
        self._jitter = random.Random()  # noqa: S311 - pauses between retries only

    def events(self) -> Iterator[Event]:
        """Yield the batch's events from its start to its end."""
        counts = runs.status_counts(self._store, self._run)
        planned = sum(counts.values())
        yield RunStarted(self._run, planned, planned - counts.get(Status.PENDING, 0))
        pending = runs.trials_in(self._store, self._run, [Status.PENDING])
        go_on, ended, self._undecided = self._ledger.settle_orphans(pending)
        yield from map(self._done, ended)
        self._scheduler.add(filter(None, map(self._due, go_on)))
        yield from self._work()
        if self._undecided:
            yield ModelStopped(self._run, "", orphans_wait(self._undecided))
        if self._held:
            yield held_back(self._run, self._held, self._context.dataset.name)
        if self._paused:
            runs.mark_run(self._store, self._run, RunMark.PAUSED)
        self._store.check_file()  # what is told as the run's result must be kept
        counts = runs.status_counts(self._store, self._run)
        cancelled, left_open = self._cancel.is_set(), self._scheduler.in_flight
        yield RunEnded(self._run, counts, cancelled, left_open)

    def _work(self) -> Iterator[Event]:
        pool = ThreadPoolExecutor(_PREPARERS, thread_name_prefix="prepare")
        try:
            while self._scheduler.has_work and not is_late(self._cancel):
                yield from self._step(pool)
        finally:
            # the reader of these events may be gone: what is in flight is kept
            self._let_go(pool)
            while self._scheduler.in_flight and not is_late(self._cancel):
                self._bring_home()

    def _bring_home(self) -> None:
        """Keep what comes back, in the spool where the store does not take it."""
        with contextlib.suppress(StoreError):
            for _ in self._collect():
                continue

    def save_while_waiting(self, waited_s: float) -> None:
        """Spool what is here while another process writes to the store.

        Who wants the batch to end is not kept waiting: all is in the spool.
        """
        if waited_s < _SOON_S:
            return
        self._ledger.spool(
            (sent.attempt, sent.asked, raw) for sent, raw in self._scheduler.received()
        )
        awaited = not self._scheduler.all_are_completed and not is_late(self._cancel)
        if self._cancel.is_set() and not awaited:
            self._store.patience_s = _LAST_PATIENCE_S
        self._tell_waiting(waited_s)

    def _let_go(self, pool: Executor) -> None:
        """End the preparing; a model that is fetched for it is not waited for."""
        pool.shutdown(wait=False, cancel_futures=True)
        while self._cancel.is_set() and self._scheduler.wait_for_preparing():
            self._context.interrupt_models()
            if is_late(self._cancel):
                return
        pool.shutdown(wait=True)

    def _step(self, pool: Executor) -> Iterator[Event]:
        self._store.check_file()
        if not self._cancel.is_set():
            self._scheduler.prepare_ahead(pool, self._context)
            yield from self._start()
        else:
            # again and again: a question may only now have begun to load its model
            self._context.interrupt_models()
        yield from self._collect()
        yield from self._told.news()
        yield from self._loading.news()
        yield from self._waits.news(idle=self._scheduler.in_flight == 0)

    def _start(self) -> Iterator[Event]:
        answered: list[Answered] = []
        unaskable: list[Unaskable] = []
        queued: list[QueuedRequest] = []
        stopped: list[ModelStopped] = []
        for up in self._scheduler.next_up():
            if isinstance(up, Withheld):
                self._held += (up.why,)
            elif isinstance(up, Unaskable):
                unaskable.append(up)
            elif isinstance(up, NotThere):
                stopped += self._stopped(up)
            elif self._found(up, self._ledger.found_or_adopted(up.asked), answered):
                continue
            elif (why := self._kept_here(up)) is not None:
                self._held += (why,)
            elif not self._scheduler.follows(up):
                self._reserve(up, queued, stopped)
            if len(answered) + len(unaskable) >= self._options.most:
                break
        yield from self._send(queued, answered)
        yield from self._settle(answered)
        yield from self._exclude(unaskable)
        yield from stopped

    def _stopped(self, up: NotThere) -> list[ModelStopped]:
        """Ask nothing more of a model that cannot be got; say so once."""
        if not self._scheduler.stop_model(up.model):
            return []
        return [ModelStopped(self._run, up.model, str(up.why))]

    def _found(
        self,
        up: QueuedRequest,
        found: StoredReply | Coordinator | None,
        answered: list[Answered],
    ) -> bool:
        """Take a reply that need not be bought, or wait for whoever is buying it."""
        if isinstance(found, Coordinator):
            self._waits.hold(up.asked, found)
            self._scheduler.look_later(up)
            return True
        self._waits.release(up.asked)
        if isinstance(found, StoredReply):
            together = [up.asked, *self._followers(up.asked)]
            answered += [Answered(asked, found, reused=True) for asked in together]
        return isinstance(found, StoredReply)

    def _followers(self, asked: Asked) -> tuple[Asked, ...]:
        return self._scheduler.take_followers(asked.prepared.sha256)

    def _kept_here(self, up: QueuedRequest) -> PrivacyError | None:
        """Return why a question that was to leave may not any more."""
        prepared = up.asked.prepared
        if prepared.outgoing is None:
            return None
        try:
            self._watch.check(prepared.profile, prepared.shown, prepared.outgoing)
        except PrivacyError as error:
            return error
        return None

    def _reserve(
        self,
        up: QueuedRequest,
        queued: list[QueuedRequest],
        stopped: list[ModelStopped],
    ) -> None:
        """Let a question leave if the ceiling allows for the most it can cost."""
        prepared, budget = up.asked.prepared, self._ledger.budget
        most = most_microusd(prepared.profile, prepared.request)
        if budget.fits(most):
            budget.reserve(up.trial, most)
            self._scheduler.reserve(up)
            queued.append(up)
        elif budget.at_risk > 0:
            self._scheduler.put_back(up)  # what is in flight may cost less than feared
        elif self._scheduler.stop_model(up.model):
            sentence = ceiling_sentence(budget, up.model, most)
            stopped.append(ModelStopped(self._run, up.model, sentence))
            self._paused = True

    def _send(
        self, queued: list[QueuedRequest], answered: list[Answered]
    ) -> Iterator[Event]:
        """Claim every question, and only then let those leave that nobody else asks."""
        queued = [one.now() for one in queued]
        begun = self._ledger.begin([one.asked for one in queued]) if queued else ()
        for one, what in zip(queued, begun, strict=True):
            if isinstance(what, Begun):
                self._ask(one, what.attempt)
                if what.again:
                    yield TrialRetried(self._run, one.trial, one.model, ORPHAN, 0.0)
                continue
            self._ledger.budget.release(one.trial)
            self._scheduler.release(one)
            if isinstance(what, Orphaned):
                yield from self._leave_open(one.asked, what.policy)
            else:
                self._found(one, what, answered)

    def _ask(self, one: QueuedRequest, attempt: int) -> None:
        prepared = one.asked.prepared
        future = self._executor.submit(
            ask_model, prepared.profile, prepared.request, prepared.outgoing
        )
        self._scheduler.mark_sent(future, one, attempt)

    def _leave_open(self, asked: Asked, policy: OrphanPolicy) -> Iterator[Event]:
        """End a question that the kill of another batch left open, or let it wait."""
        if policy is OrphanPolicy.SKIP:
            error = Score(Status.PROVIDER_ERROR, ORPHAN)
            yield from self._end_all(asked, error)
        else:
            self._undecided += 1 + len(self._followers(asked))

    def _exclude(self, unaskable: Sequence[Unaskable]) -> Iterator[Event]:
        """End trials whose question cannot be made; the others are not held up."""
        if unaskable:
            ended = [
                (one.stored, Score(Status.EXCLUDED, one.reason), None)
                for one in unaskable
            ]
            yield from map(self._done, self._ledger.settle_without_reply(ended))

    def _collect(self) -> Iterator[Event]:
        """Keep what came back before anybody is told of it."""
        arrived: list[tuple[int, Asked, RawReply]] = []
        failed: list[tuple[SentRequest, ProviderError]] = []
        for future, sent in self._scheduler.completed():
            error = future.exception()
            if error is None:
                arrived.append((sent.attempt, sent.asked, future.result()))
            elif isinstance(error, ProviderError):
                failed.append((sent, error))
            else:
                failed.append((sent, unexpected(error)))
        kept = self._ledger.keep(arrived) if arrived else ()
        if failed:
            self._ledger.close_failed([(f.attempt, f.asked, e) for f, e in failed])
        yield from self._settle([*kept, *self._followed(kept)])
        for sent, provider_error in failed:
            yield from self._after_failure(sent, provider_error)

    def _followed(self, kept: tuple[Answered, ...]) -> Iterator[Answered]:
        for answered in kept:
            for asked in self._followers(answered.asked):
                yield Answered(asked, answered.reply, reused=True)

    def _after_failure(
        self, sent: SentRequest, error: ProviderError
    ) -> Iterator[Event]:
        model = sent.queued.model
        learned = sent.asked.prepared.drop_rejected_params(error)
        last = sent.queued.number >= MAX_ATTEMPTS and not learned
        if error.retry_class is RetryClass.STOP_RUN or (last and error.unreachable):
            if self._scheduler.stop_model(model):
                yield ModelStopped(self._run, model, str(error))
        elif error.retry_class is RetryClass.RETRY and not last:
            yield from self._retry(sent, error, counts=not learned)
        else:
            yield from self._give_up(sent.asked, error)

    def _retry(
        self, sent: SentRequest, error: ProviderError, *, counts: bool
    ) -> Iterator[Event]:
        if self._cancel.is_set():
            return  # the trial stays pending; the next batch asks again
        pause = retry_pause(sent.queued.number, error, self._jitter)
        self._scheduler.delay(sent, pause, counts=counts)
        again = sent.queued
        yield TrialRetried(self._run, again.trial, again.model, error.reason, pause)

    def _give_up(self, asked: Asked, error: ProviderError) -> Iterator[Event]:
        yield from self._end_all(asked, Score(Status.PROVIDER_ERROR, error.reason))

    def _end_all(self, asked: Asked, score: Score) -> Iterator[Event]:
        """End a trial without a reply, and all that waited for the same."""
        sha256 = asked.prepared.sha256
        together = [asked, *self._followers(asked)]
        ended = [(each.stored, score, sha256) for each in together]
        yield from map(self._done, self._ledger.settle_without_reply(ended))

    def _settle(self, answered: list[Answered]) -> Iterator[Event]:
        if answered:
            self._notes.see(answered)
            ended = [one for one in answered if not self._goes_on(one)]
            yield from map(self._done, self._ledger.settle_answers(ended))

    def _goes_on(self, answered: Answered) -> bool:
        """Queue a trial's next question; return whether it has one."""
        due = self._due(answered.asked.stored, answered.kept)
        if due is not None:
            self._scheduler.add([due])
        return due is not None

    def _due(self, stored: StoredTrial, kept: tuple[StepReply, ...] = ()) -> Due | None:
        """Return what a trial is to be asked next, None where it has all it needs."""
        try:
            step = self._context.next_step(stored.trial, kept)
        except ProviderError:
            return None  # a reply that cannot be read ends its trial as that
        if step is None:
            return None
        model = self._context.profile_for(stored.trial.model, step).name
        return Due(stored, model, kept)

    def _done(self, settled: Settled) -> TrialDone:
        return trial_done(self._run, settled)
