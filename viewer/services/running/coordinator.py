"""The coordinator of a batch: claims, sends, stores and settles.

Only its thread writes. Trials are prepared in a small pool of threads, asked in any
``concurrent.futures.Executor``, and judged here.
"""

import contextlib
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import starmap
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
    TrialRetried,
)
from viewer.models.batching import LEFT
from viewer.models.loaded import LoadCancelledError
from viewer.models.prices import most_microusd
from viewer.models.retry import MAX_ATTEMPTS, retry_pause
from viewer.services.privacy.gate import GateWatch
from viewer.services.running.batch_job import GateInput
from viewer.services.running.batch_jobs import BatchJobs
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.batch_words import (
    held_back,
    orphans_wait,
    reason_of,
    unexpected,
)
from viewer.services.running.batched_question import Asked, BatchedQuestion
from viewer.services.running.endpoint_queue import PreparationFailure
from viewer.services.running.ledger import Claim, Ended, Ledger
from viewer.services.running.progress_events import (
    LoadWatch,
    ProgressEvents,
    ServerLoads,
    Waits,
    trial_done,
)
from viewer.services.running.run_notes import RunNotes
from viewer.services.running.scheduler import Scheduler
from viewer.services.running.spending import ceiling_sentence
from viewer.services.running.stopping import is_late
from viewer.services.running.trial_question import TrialQuestion, next_question
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, ask_model
from viewer.store import runs
from viewer.store.claims import Coordinator
from viewer.store.database import Store
from viewer.store.saved_replies import ReplyFile
from viewer.store.trials import TrialReply, Verdict

if TYPE_CHECKING:
    from viewer.domain.exchange import RawReply

ORPHAN: Final = "orphan"
"""Why a question is asked again, or not at all, that a kill left open."""
Answered = tuple[Asked, TrialReply]
"""A question with its reply, which is in the store."""
_PREPARERS: Final = 2
"""Threads that read images and draw grids ahead of the questions."""
_SOON_S: Final = 0.25
"""How long replies wait for the store before they go to a reply file."""
_LAST_PATIENCE_S: Final = 2.0
"""How long a cancelled batch waits for the store, with its replies in a file."""


class BatchCoordinator:
    """Runs the pending trials of one run and yields events."""

    def __init__(
        self,
        store: Store,
        run: int,
        context: RunContext,
        options: BatchOptions,
        cancel: Flag,
        executor: Executor,
        loading: LoadWatch,
        reply_file: ReplyFile,
    ) -> None:
        self._store, self._run, self._context = store, run, context
        self._options, self._cancel, self._executor = options, cancel, executor
        self._ledger = Ledger(store, context, run, reply_file, options.orphans)
        self._tell_waiting = store.on_wait
        self._watch = GateWatch(
            store, context.dataset, context.gate, context.drawn.validation
        )
        self._notes = RunNotes(store, run)
        self._batch_jobs = BatchJobs(store, run, context, cancel)
        self._scheduler = Scheduler(
            options.concurrency, cancel, context.endpoint_of, self._batch_jobs.models
        )
        self._told = ProgressEvents(run, self._ledger.budget, self._scheduler)
        self._waits, self._undecided = Waits(run), 0
        self._ended: list[Ended] = []
        self._loading, self._server_loads = loading, ServerLoads(run)
        self._paused = False
        self._held: tuple[PrivacyError, ...] = ()
        self._jitter = random.Random()  # noqa: S311 - pauses between retries only

    def events(self) -> Iterator[Event]:
        """Yield the batch's events from its start to its end."""
        counts = runs.status_counts(self._store, self._run)
        planned = sum(counts.values())
        yield RunStarted(self._run, planned, planned - counts.get(Status.PENDING, 0))
        pending = runs.trials_in(self._store, self._run, [Status.PENDING])
        go_on, skipped, self._undecided = self._ledger.settle_orphans(pending)
        lost = self._unanswered(Score(Status.PROVIDER_ERROR, ORPHAN))
        self._ended += [(stored, lost) for stored in skipped]
        for question, most in self._batch_jobs.take_up():
            self._ledger.budget.reserve(question.trial, most)
            self._scheduler.mark_batched(question)
        for stored in go_on:
            if not self._scheduler.has_batched(stored.id):
                self._scheduler.add(next_question(self._context, stored))
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
            while not is_late(self._cancel) and (
                self._scheduler.has_work or self._batch_jobs.has_work
            ):
                yield from self._step(pool)
            yield from self._done(self._keep_verdicts())
        finally:
            # the reader of these events may be gone: what is in flight is kept
            self._scheduler.stop_preparing(pool, self._context.interrupt_models)
            self._batch_jobs.leave()
            while self._scheduler.in_flight and not is_late(self._cancel):
                self._keep_arrivals()
            with contextlib.suppress(StoreError):
                self._keep_verdicts()

    def _keep_arrivals(self) -> None:
        """Store replies as they arrive, or keep them in the reply file."""
        with contextlib.suppress(StoreError):
            for _ in self._collect():
                continue

    def save_while_waiting(self, waited_s: float) -> None:
        """Write replies to the reply file while another process writes to the store.

        A batch that is to end does not wait for the store: the file has everything.
        """
        if waited_s < _SOON_S:
            return
        self._ledger.save_to_file(self._scheduler.received())
        awaited = not self._scheduler.all_are_completed and not is_late(self._cancel)
        if self._cancel.is_set() and not awaited:
            self._store.patience_s = _LAST_PATIENCE_S
        self._tell_waiting(waited_s)

    def _step(self, pool: Executor) -> Iterator[Event]:
        self._store.check_file()
        if not self._cancel.is_set():
            self._scheduler.prepare_ahead(pool)
            yield from self._start()
        else:
            # again and again: a question may only now have begun to load its model
            self._context.interrupt_models()
            yield from self._done(self._keep_verdicts())
        yield from self._collect()
        yield from self._move_batch_jobs()
        yield from self._told.news()
        yield from self._loading.news()
        yield from self._server_loads.news()
        idle = self._scheduler.in_flight == 0
        yield from self._waits.news(idle=idle, out=self._batch_jobs.out)

    def _move_batch_jobs(self) -> Iterator[Event]:
        """Send files that are complete, and store what came back of others."""
        self._batch_jobs.move(self._scheduler.expects_more, self._kept_here)
        arrived, failed = self._batch_jobs.take()
        for question, _ in (*arrived, *failed):
            self._scheduler.mark_returned(question)
        yield from self._take_in(arrived, failed)
        for model, sentence in self._batch_jobs.take_stopped():
            yield from self._stopped(model, sentence)

    def _start(self) -> Iterator[Event]:
        answered: list[Answered] = []
        excluded: list[Ended] = []
        queued: list[TrialQuestion] = []
        stopped: list[ModelStopped] = []
        for up in self._scheduler.next_up():
            if isinstance(up, PreparationFailure):
                self._hear_failure(up, excluded, stopped)
            elif self._found(up, self._ledger.found_or_adopted(up), answered):
                continue
            elif (why := self._kept_here(up.request)) is not None:
                self._held += (why,)
            elif not self._scheduler.follows(up):
                self._reserve(up, queued, stopped)
            if len(answered) + len(excluded) >= self._options.most:
                break
        self._ended += excluded
        yield from self._send(queued, answered)
        self._settle(answered)
        yield from stopped

    def _hear_failure(
        self,
        failure: PreparationFailure,
        excluded: list[Ended],
        stopped: list[ModelStopped],
    ) -> None:
        """Remove a question that cannot be made, without delaying the others."""
        question, why = failure.question, failure.why
        if isinstance(why, PrivacyError):
            self._held += (why,)
        elif isinstance(why, ProviderError):  # its model cannot be got
            stopped += self._stopped(question.model, str(why))
        elif isinstance(why, LoadCancelledError):  # by somebody else: begin again
            again = next_question(self._context, question.stored, question.replies)
            self._scheduler.add(again, first=True)
        else:
            score = Score(Status.EXCLUDED, reason_of(why))
            excluded.append((question.stored, self._unanswered(score)))

    def _stopped(self, model: str, sentence: str) -> list[ModelStopped]:
        """Stop asking a model; return why, the first time only."""
        if not self._scheduler.stop_model(model):
            return []
        return [ModelStopped(self._run, model, sentence)]

    def _found(
        self,
        up: TrialQuestion,
        found: TrialReply | Coordinator | None,
        answered: list[Answered],
    ) -> bool:
        """Use a reply that need not be bought, or wait for the process that buys it."""
        if isinstance(found, Coordinator):
            self._waits.hold(up.trial, found)
            self._scheduler.look_later(up)
            return True
        self._waits.release(up.trial)
        if found is None:
            return False
        together = (up, *self._scheduler.take_followers(up))
        answered += [(question, question.reusing(found)) for question in together]
        return True

    def _kept_here(self, request: PreparedRequest | GateInput) -> PrivacyError | None:
        """Return why a question that was about to be sent must not be sent any more."""
        if request.outgoing is None:
            return None
        try:
            self._watch.check(request.profile, request.shown, request.outgoing)
        except PrivacyError as error:
            return error
        return None

    def _reserve(
        self,
        up: TrialQuestion,
        queued: list[TrialQuestion],
        stopped: list[ModelStopped],
    ) -> None:
        """Allow a question to be sent if the ceiling covers its maximum cost."""
        budget = self._ledger.budget
        most = most_microusd(up.profile, up.request.request)
        if budget.fits(most):
            # At once: the next question of this round must find the money spoken for.
            budget.reserve(up.trial, most)
            self._scheduler.reserve(up)
            queued.append(up)
        elif budget.at_risk > 0:
            self._scheduler.put_back(up)  # what is in flight may cost less than feared
        elif stop := self._stopped(up.model, ceiling_sentence(budget, up.model, most)):
            stopped += stop
            self._paused = True

    def _send(
        self, queued: list[TrialQuestion], answered: list[Answered]
    ) -> Iterator[Event]:
        """Claim all questions, then send only those that nobody else has claimed.

        The verdicts so far are written in the same transaction.
        """
        # What is sent may have changed while it waited, such as rejected parameters.
        queued = [self._batch_jobs.placed(one.now()) for one in queued]
        ended, self._ended = self._ended, []
        claimed = self._ledger.begin(queued, ended) if queued or ended else ()
        for one, claim in zip(queued, claimed, strict=True):
            if isinstance(claim, Claim):
                self._ask(one, claim.attempt)
                if claim.again:
                    yield TrialRetried(self._run, one.trial, one.model, ORPHAN, 0.0)
                continue
            self._ledger.budget.release(one.trial)
            self._scheduler.release(one)
            self._batch_jobs.unplace(one)
            if isinstance(claim, OrphanPolicy):
                self._leave_open(one, claim)
            else:
                self._found(one, claim, answered)
        # Only now: whoever hears of it may stop the batch, with nothing half sent.
        yield from self._done(ended)

    def _ask(self, one: TrialQuestion, attempt: int) -> None:
        if one.job:
            self._notes.see_asked([one])
            self._scheduler.mark_batched(self._batch_jobs.put(one, attempt))
            return
        request = one.request
        future = self._executor.submit(
            ask_model, request.profile, request.request, request.outgoing
        )
        self._scheduler.mark_sent(future, one, attempt)

    def _leave_open(self, question: TrialQuestion, policy: OrphanPolicy) -> None:
        """Close a question left open by another batch's death, or let it wait."""
        if policy is OrphanPolicy.SKIP:
            self._end_all(question, ORPHAN)
        else:
            self._undecided += 1 + len(self._scheduler.take_followers(question))

    def _collect(self) -> Iterator[Event]:
        """Store what came back before reporting it."""
        arrived: list[tuple[TrialQuestion, RawReply]] = []
        failed: list[tuple[TrialQuestion, ProviderError]] = []
        for future, question in self._scheduler.completed():
            error = future.exception()
            if error is None:
                arrived.append((question, future.result()))
            elif isinstance(error, ProviderError):
                failed.append((question, error))
            else:
                failed.append((question, unexpected(error)))
        yield from self._take_in(arrived, failed)

    def _take_in(
        self,
        arrived: Sequence[tuple[Asked, "RawReply"]],
        failed: Sequence[tuple[Asked, ProviderError]],
    ) -> Iterator[Event]:
        # Replies first: a failure below must not lose what has been paid for.
        replies = self._ledger.keep(arrived) if arrived else ()
        if failed:
            self._ledger.close_failed(failed)
        for question, ended in (*((q, None) for q, _ in arrived), *failed):
            self._server_loads.hear(question.model, ended)
        asked = [question for question, _ in arrived]
        answered = [*zip(asked, replies, strict=True)]
        self._settle([*answered, *self._followed(answered)])
        for question, provider_error in failed:
            yield from self._after_failure(question, provider_error)
        if not self._scheduler.in_flight:
            # Whoever hears of an answer may still decide about the next question.
            yield from self._done(self._keep_verdicts())

    def _followed(self, answered: Sequence[Answered]) -> Iterator[Answered]:
        for question, reply in answered:
            for follower in self._scheduler.take_followers(question):
                yield follower, follower.reusing(reply)

    def _after_failure(self, question: Asked, error: ProviderError) -> Iterator[Event]:
        if error.reason in LEFT:  # neither asked nor paid for: it stays pending
            self._scheduler.take_followers(question)
            return
        if error.loading and self._server_loads.is_awaited(question.model):
            # Nobody failed: its server answers once it has loaded the model.
            self._ask_later(question, error)
            return
        # The next attempt lacks what was rejected, so that this one does not count.
        learned = question.learns(error)
        last = question.number >= MAX_ATTEMPTS and not learned
        # What cannot be reached would fail every question: they stay pending instead.
        gone = error.loading or (last and error.unreachable)
        if error.retry_class is RetryClass.STOP_RUN or gone:
            yield from self._stopped(question.model, str(error))
        elif error.retry_class is RetryClass.RETRY and not last:
            pause = self._ask_later(question, error, counts=not learned)
            if pause is not None:
                trial, model = question.trial, question.model
                yield TrialRetried(self._run, trial, model, error.reason, pause)
        else:
            self._end_all(question, error.reason)

    def _ask_later(
        self, question: Asked, error: ProviderError, *, counts: bool = False
    ) -> float | None:
        """Ask again after a pause; return its seconds, None once cancelled."""
        if self._cancel.is_set():
            return None  # the trial stays pending; the next batch asks again
        pause = retry_pause(question.number, error, self._jitter)
        if isinstance(question, BatchedQuestion):  # the next file takes long enough
            self._scheduler.add(question.again(counts=counts))
            return 0.0
        self._scheduler.delay(question, pause, counts=counts)
        return pause

    def _settle(self, answered: Sequence[Answered]) -> None:
        """Continue trials whose reply is stored: with a question, or a verdict."""
        self._notes.see(answered)
        for question, reply in answered:
            then = question.answered(reply)
            if isinstance(then, Verdict):
                self._ended.append((question.stored, then))
            else:
                self._scheduler.add(then, first=True)

    def _end_all(self, question: Asked, reason: str) -> None:
        """End a trial as failed without a reply, and all that wait for the same one."""
        together = (question, *self._scheduler.take_followers(question))
        score = Score(Status.PROVIDER_ERROR, reason)
        verdict = self._unanswered(score, question.sha256)
        self._ended += [(each.stored, verdict) for each in together]

    def _unanswered(self, score: Score, asked: str | None = None) -> Verdict:
        """Return the verdict on a trial whose request ``asked`` got no reply."""
        return Verdict(score, self._context.study.scorer_version, unanswered=asked)

    def _keep_verdicts(self) -> Sequence[Ended]:
        """Write the verdicts that no claim has taken along, and return them."""
        ended, self._ended = self._ended, []
        if ended:
            self._ledger.begin((), ended)
        return ended

    def _done(self, ended: Sequence[Ended]) -> Iterator[Event]:
        return starmap(partial(trial_done, self._run), ended)
