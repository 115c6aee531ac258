"""Submits a run's questions to providers' batch endpoints, a file at a time.

A batch job is filled with claimed questions, uploaded, submitted, looked at until it is
over, and its results are taken in. Each step is in the store before the next begins, so
that a killed run goes on with what is there: a file that never left costs nothing, and
before a batch is begun a second time the provider is asked whether it knows the first.
"""

import contextlib
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Event as Flag
from typing import Any, BinaryIO, Final, cast

from viewer.domain.errors import PrivacyError, ProviderError, RetryClass, StoreError
from viewer.domain.exchange import ModelProfile, RawReply
from viewer.domain.run import Outstanding, RunMark
from viewer.models.batching import (
    CANCELLED,
    UNSENT,
    BatchEndpoint,
    BatchState,
    BatchStatus,
    is_batched,
)
from viewer.models.catalog import adapter_for
from viewer.models.retry import MAX_ATTEMPTS
from viewer.services.running.batch_job import (
    BatchJob,
    GateInput,
    Stage,
    asked_anew,
    can_be_left,
    gone,
    is_gone,
    rejected,
    resumed_job,
    tidy,
    unsent,
    upload,
)
from viewer.services.running.batch_words import (
    batch_cancelled,
    batch_refused,
    unexpected,
)
from viewer.services.running.batched_question import BatchedQuestion
from viewer.services.running.spending import most_of_stored
from viewer.services.running.stopping import is_late
from viewer.services.running.trial_question import TrialQuestion
from viewer.services.trials.run_context import RunContext
from viewer.store import batch_job_rows, runs
from viewer.store.batch_job_rows import BatchJobStep, StoredBatchJob
from viewer.store.database import Store

MOST_QUESTIONS: Final = 10_000
"""Questions of one file: providers take 50,000, but results are read as a whole."""
MOST_BYTES: Final = 190_000_000
"""Bytes of one file; providers take 200 MB."""
SETTLE_S: Final = 60.0
"""How long after a batch was begun it may be missing in the provider's list."""
CROWDED_S: Final = 60.0
"""The pause after a batch that was one too many at its provider."""
_AT_A_TIME: Final = 50
"""Results that are stored and judged between two looks at everything else."""
_LINE_BYTES: Final = 200
"""More than a line adds to the body in it."""

Failed = tuple[BatchedQuestion, ProviderError]
Arrived = tuple[BatchedQuestion, RawReply]


class BatchJobs:
    """The batch jobs of one run; used only by the coordinator's thread.

    Parameters
    ----------
    cancel : Event
        Set when nothing more is to be sent. Batches then go on at their providers,
        unless the run is marked as cancelled.
    """

    def __init__(
        self, store: Store, run: int, context: RunContext, cancel: Flag
    ) -> None:
        self._store, self._run, self._context = store, run, context
        self._cancel = cancel
        self._jobs: list[BatchJob] = []
        self._bodies: dict[int, bytes] = {}
        self._failed: list[Failed] = []
        self._stopped: list[tuple[str, str]] = []
        self._most: dict[str, int] = {}
        self._not_before: dict[str, float] = {}
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="batch")

    @property
    def models(self) -> frozenset[str]:
        """The models of the run that are asked by file."""
        profiles = self._context.profiles.values()
        return frozenset(one.name for one in profiles if is_batched(one))

    @property
    def has_work(self) -> bool:
        """True while there is work; after a cancel, only what cannot wait."""
        if self._failed or self._stopped:
            return True
        if not self._cancel.is_set() or self._is_cancelled:
            return bool(self._jobs)
        return any(not can_be_left(one) for one in self._jobs)

    @property
    def _is_cancelled(self) -> bool:
        """Whether a person wants the batches at providers to end as well."""
        if not self._cancel.is_set():
            return False
        return runs.run_mark(self._store, self._run) is RunMark.CANCELLED

    @property
    def out(self) -> Outstanding | None:
        """What is in providers' batches now, None for nothing."""
        out = [one for one in self._jobs if one.stage is Stage.SUBMITTED]
        questions = sum(len(one.questions) for one in out)
        if not questions:
            return None
        return Outstanding(questions, max(one.due for one in out))

    def take_up(self) -> tuple[tuple[BatchedQuestion, int], ...]:
        """Go on with the batch jobs of an earlier process.

        Returns their questions with the most that each can cost.
        """
        unfinished_jobs = batch_job_rows.unfinished_jobs(self._store, self._run)
        found = {one.id: self._again(one) for one in unfinished_jobs}
        out: list[tuple[BatchedQuestion, int]] = []
        for question in batch_job_rows.open_questions(self._store, self._run):
            one = BatchedQuestion.resumed(self._context, question)
            found[question.job].questions[one.name] = one
            out.append((one, most_of_stored(self._store, one.profile, one.sha256)))
        self._jobs += found.values()
        for stored in unfinished_jobs:
            job = found[stored.id]
            began = bool(stored.batch or (stored.file and job.questions))
            if stored.was_dropped or not began:
                self._drop(job, asked_anew(job.model))
        return tuple(out)

    def _again(self, stored: StoredBatchJob) -> BatchJob:
        profile = self._context.profiles[stored.model]
        return resumed_job(stored, profile, self._endpoint(profile))

    def _endpoint(self, profile: ModelProfile) -> BatchEndpoint:
        adapter: Any = adapter_for(profile, self._context.gate.allowance(profile))
        return cast("BatchEndpoint", adapter.batches)

    def placed(self, question: TrialQuestion) -> TrialQuestion:
        """Return a question with its place in a batch job, if its model is asked so."""
        if not is_batched(question.profile):
            return question
        request = question.request
        adapter: Any = adapter_for(
            question.profile, self._context.gate.allowance(question.profile)
        )
        body = cast("bytes", adapter.body(request.request))
        job = self._filling(question.profile, len(body) + _LINE_BYTES)
        self._bodies[question.trial] = body
        noted = job.endpoint.noted(request.request)
        return replace(
            question, prepared=request.sent_as(body), job=job.row, noted=noted
        )

    def unplace(self, question: TrialQuestion) -> None:
        """Forget a question that is not sent after all."""
        self._bodies.pop(question.trial, None)

    def _filling(self, profile: ModelProfile, size: int) -> BatchJob:
        """Return a batch job with room for a question."""
        most = self._most.get(profile.name, MOST_QUESTIONS)
        for one in self._jobs:
            if one.stage is not Stage.FILLING or one.profile != profile:
                continue
            one.is_full |= one.planned >= most or one.size + size > MOST_BYTES
            if not one.is_full:
                one.size, one.planned = one.size + size, one.planned + 1
                return one
        number, key = batch_job_rows.begin_job(self._store, self._run, profile.name)
        # Without a name, so that even a killed process leaves no images there.
        file = tempfile.TemporaryFile(dir=self._store.path.parent)  # noqa: SIM115 - open until its upload
        endpoint = self._endpoint(profile)
        made = BatchJob(number, key, profile, endpoint, size=size, planned=1)
        made.content = cast("BinaryIO", file)
        self._jobs.append(made)
        return made

    def put(self, question: TrialQuestion, attempt: int) -> BatchedQuestion:
        """Put a claimed question into its batch job."""
        job = next(one for one in self._jobs if one.row == question.job)
        one = BatchedQuestion.claimed(self._context, question, attempt, question.noted)
        assert job.content is not None  # noqa: S101 - it is being filled
        body = self._bodies.pop(question.trial)
        job.content.write(job.endpoint.line(one.name, body))
        job.questions[one.name] = one
        asked = question.request
        job.gate_inputs.append(GateInput(asked.profile, asked.shown, asked.outgoing))
        return one

    def move(
        self,
        expects_more: Callable[[str], bool],
        kept_here: Callable[[GateInput], PrivacyError | None],
    ) -> None:
        """Do for each batch job what can be done now."""
        for one in tuple(self._jobs):
            if one.going is not None and one.going.done():
                self._hear(one)
            if one.going is None and one in self._jobs:
                if one.stage is Stage.FILLING:
                    self._close(one, expects_more, kept_here)
                elif one.stage is Stage.STORING and not one.results:
                    self._finish(one)
                elif time.monotonic() >= one.next_at or self._is_to_cancel(one):
                    self._begin(one)

    def _is_to_cancel(self, one: BatchJob) -> bool:
        return (
            one.stage is Stage.SUBMITTED and not one.cancelling and self._is_cancelled
        )

    def _close(
        self,
        one: BatchJob,
        expects_more: Callable[[str], bool],
        kept_here: Callable[[GateInput], PrivacyError | None],
    ) -> None:
        """Send a batch job once nothing more is to come into it."""
        if self._cancel.is_set() or not one.questions:
            if self._cancel.is_set() or not expects_more(one.model):
                self._drop(one, unsent(one.model))
            return
        if (expects_more(one.model) and not one.is_full) or self._must_wait(one.model):
            return
        if any(map(kept_here, one.gate_inputs)):
            self._drop(one, asked_anew(one.model))  # without those that must stay
            return
        one.gate_inputs.clear()
        one.enter(Stage.UPLOADING)
        self._begin(one)

    def _must_wait(self, model: str) -> bool:
        """Whether a provider that has too much already is to be left alone."""
        if model not in self._not_before:
            return False
        sent = (Stage.FILLING, Stage.STORING, Stage.TIDYING)
        others = any(one.model == model and one.stage not in sent for one in self._jobs)
        return others or time.monotonic() < self._not_before[model]

    def _begin(self, one: BatchJob) -> None:
        """Begin what the stage of a batch job waits for."""
        if self._cancel.is_set() and one.stage is Stage.UPLOADING:
            self._drop(one, unsent(one.model))
        elif self._cancel.is_set() and can_be_left(one) and not self._is_cancelled:
            pass  # its batch goes on without this process
        elif one.stage is Stage.UPLOADING:
            one.going = self._pool.submit(upload, one)
        elif one.stage is Stage.SEARCHING:
            one.going = self._pool.submit(one.endpoint.found, one.file, one.key)
        elif one.stage is Stage.SUBMITTING:
            self._submit(one)
        elif one.stage is Stage.SUBMITTED:
            self._look(one)
        elif one.stage is Stage.FETCHING:
            self._fetch(one)

    def _submit(self, one: BatchJob) -> None:
        self._store.check_file()
        batch_job_rows.note_step(self._store, one.row, BatchJobStep.SUBMITTING)
        one.submitting_at = datetime.now(UTC).isoformat()
        one.going = self._pool.submit(one.endpoint.submit, one.file, one.key)

    def _look(self, one: BatchJob) -> None:
        if self._is_cancelled and not one.cancelling:
            one.cancelling = True
            one.going = self._pool.submit(one.endpoint.cancel, one.batch)
        else:
            one.going = self._pool.submit(one.endpoint.state, one.batch)

    def _fetch(self, one: BatchJob) -> None:
        assert one.state is not None  # noqa: S101 - it is over
        noted = {name: question.noted for name, question in one.questions.items()}
        state = one.state
        one.going = self._pool.submit(lambda: [*one.endpoint.results(state, noted)])

    def _hear(self, one: BatchJob) -> None:
        """Go on with what came of what was begun."""
        assert one.going is not None  # noqa: S101 - it is done
        going, one.going = one.going, None
        error = going.exception()
        if error is not None:
            known = error if isinstance(error, ProviderError) else unexpected(error)
            self._hear_failure(one, known)
            return
        found = going.result()
        if one.stage is Stage.TIDYING:
            self._end(one)
        elif one.stage is Stage.UPLOADING:
            self._uploaded(one, found)
        elif one.stage is Stage.FETCHING:
            one.enter(Stage.STORING)
            one.results = deque(found)
        elif found is None:
            self._not_found(one)
        else:
            self._hear_state(one, found)

    def _uploaded(self, one: BatchJob, file: str) -> None:
        batch_job_rows.note_step(self._store, one.row, BatchJobStep.UPLOADED, file)
        one.file = file
        one.close()
        one.enter(Stage.SUBMITTING)
        if self._is_cancelled:
            self._drop(one, unsent(one.model))

    def _not_found(self, one: BatchJob) -> None:
        """Begin a batch that the provider does not know, if it had time to know it."""
        begun = datetime.fromisoformat(one.submitting_at or "1970-01-01T00:00+00:00")
        if (datetime.now(UTC) - begun).total_seconds() < SETTLE_S:
            one.wait()
        elif self._is_cancelled:
            self._drop(one, unsent(one.model))
        else:
            tries = one.tries
            one.enter(Stage.SUBMITTING)
            one.tries = tries

    def _hear_state(self, one: BatchJob, state: BatchState) -> None:
        if one.stage is not Stage.SUBMITTED:
            one.batch, one.due = state.id, state.due
            batch_job_rows.note_step(
                self._store, one.row, BatchJobStep.SUBMITTED, state.id, state.due
            )
            one.enter(Stage.SUBMITTED)
        one.state = state
        if state.status is BatchStatus.FAILED:
            self._refused(one, state)
        elif state.is_over:
            one.enter(Stage.FETCHING if one.questions else Stage.STORING)
        else:
            one.wait(state.look_after_s)

    def _refused(self, one: BatchJob, state: BatchState) -> None:
        """Hear that a batch never began, and so cost nothing."""
        if state.is_crowded:
            self._most[one.model] = max(1, len(one.questions) // 2)
            self._not_before[one.model] = time.monotonic() + CROWDED_S
            self._drop(one, asked_anew(one.model))
            return
        self._stopped.append((one.model, batch_refused(one.model, state.why)))
        self._drop(one, rejected(one.model))

    def _hear_failure(self, one: BatchJob, error: ProviderError) -> None:
        one.tries += 1
        again = error.retry_class is RetryClass.RETRY
        if one.stage is Stage.UPLOADING:
            if again and one.tries < MAX_ATTEMPTS:
                one.wait(error.retry_after_s)
            else:
                self._stopped.append((one.model, str(error)))
                self._drop(one, unsent(one.model))
        elif one.stage is Stage.SUBMITTING and not again:
            self._stopped.append((one.model, str(error)))
            self._drop(one, unsent(one.model))
        elif one.stage is Stage.SUBMITTING and one.tries < MAX_ATTEMPTS:
            one.stage = Stage.SEARCHING  # it may have begun all the same
            one.wait(error.retry_after_s)
        elif one.stage is Stage.SUBMITTED and one.cancelling and not again:
            one.wait()  # it was over already
        elif one.stage in (Stage.SUBMITTED, Stage.FETCHING) and is_gone(error):
            one.enter(Stage.STORING)
            one.results = deque((name, gone(one.model)) for name in one.questions)
        elif again and one.stage is not Stage.SUBMITTING:
            one.wait(error.retry_after_s)
        else:  # it stays where it is, for the next time that the run goes on
            self._stopped.append((one.model, str(error)))
            self._jobs.remove(one)

    def _drop(self, one: BatchJob, why: ProviderError) -> None:
        """End a batch job that never became a batch, or that never began."""
        # First: what is asked anew must never leave in this file as well.
        batch_job_rows.note_step(self._store, one.row, BatchJobStep.DROPPED)
        self._failed += [(question, why) for question in one.questions.values()]
        one.questions = {}
        one.results.clear()
        one.stage = Stage.STORING
        one.close()

    def _finish(self, one: BatchJob) -> None:
        """Delete a job's files once the ends of all its questions are in the store."""
        if not self._failed:
            one.enter(Stage.TIDYING)
            one.going = self._pool.submit(tidy, one)

    def _end(self, one: BatchJob) -> None:
        """Note a job's end; until then the next process deletes its files."""
        status = one.state.status.value if one.state else UNSENT
        batch_job_rows.note_step(self._store, one.row, BatchJobStep.ENDED, status)
        self._jobs.remove(one)

    def take(self) -> tuple[list[Arrived], list[Failed]]:
        """Take some results, each of which must be stored before the next call."""
        arrived: list[Arrived] = []
        failed = self._failed[:_AT_A_TIME]
        self._failed = self._failed[_AT_A_TIME:]
        for one in self._jobs:
            while one.results and len(arrived) + len(failed) < _AT_A_TIME:
                name, outcome = one.results.popleft()
                question = one.questions.pop(name)
                if isinstance(outcome, RawReply):
                    arrived.append((question, outcome))
                else:
                    failed.append((question, outcome))
                    self._hear_cancelled(one, outcome)
        return arrived, failed

    def _hear_cancelled(self, one: BatchJob, outcome: ProviderError) -> None:
        """Say that somebody cancelled a batch at its provider."""
        if outcome.reason == CANCELLED and not one.cancelling:
            one.cancelling = True  # once
            self._stopped.append((one.model, batch_cancelled(one.model)))

    def take_stopped(self) -> Iterator[tuple[str, str]]:
        """Yield the models that are not asked any more, each with a sentence why."""
        stopped, self._stopped = self._stopped, []
        yield from stopped

    def leave(self) -> None:
        """Store what is known of the batch jobs; the next process takes up the rest."""
        late = is_late(self._cancel)
        self._pool.shutdown(wait=not late, cancel_futures=late)
        with contextlib.suppress(StoreError):
            for one in self._jobs:
                one.close()
                going = one.going
                if going is not None and going.done() and not going.cancelled():
                    self._hear(one)
