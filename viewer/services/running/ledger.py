"""Every write of a running batch, so that no reply that arrived is bought twice.

All of them happen in the coordinator's thread. An attempt is committed before its
request may be sent, the raw reply before it is parsed, and only then the trial's
verdict (docs/architecture/reply.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile, ModelReply, RawReply
from viewer.domain.run import OrphanPolicy
from viewer.models.catalog import reader_for
from viewer.models.prices import may_cost, price_of
from viewer.services.running.batched_question import Asked
from viewer.services.running.spending import budget_of_run, may_have_cost
from viewer.services.running.trial_question import TrialQuestion
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest
from viewer.store import batch_job_rows, claims, consents, rescued, trials
from viewer.store.claims import Coordinator, OpenAttempt
from viewer.store.database import Store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.runs import StoredTrial
from viewer.store.saved_replies import ReplyFile, SavedReply
from viewer.store.trials import RequestRecord, TrialReply, Verdict

_UNREUSABLE = frozenset({"length", "content_filter"})
"""Ends of a reply that another run asks again."""


@dataclass(frozen=True)
class Claim:
    """A committed attempt; ``again`` if an earlier one was left open by a kill."""

    attempt: int
    again: bool = False


Claimed = Claim | TrialReply | Coordinator | OrphanPolicy
"""What became of a question that was to be claimed: it may be asked, or has a reply.

Or another batch is asking it, or a kill left it open and it is not asked again just so.
"""


Ended = tuple[StoredTrial, Verdict]
"""A trial with its verdict, which is not in the store yet."""


class _SavedRepliesFirstError(Exception):
    """A question that was left open may have its reply in a file of saved replies."""


class Ledger:
    """The store as used by the coordinator of one run, and the run's budget.

    Parameters
    ----------
    orphans : OrphanPolicy or None
        What to do with attempts left open by a kill; None for each model's policy.
    """

    def __init__(
        self,
        store: Store,
        context: RunContext,
        run: int,
        reply_file: ReplyFile,
        orphans: OrphanPolicy | None = None,
    ) -> None:
        self._store, self._context, self._run = store, context, run
        self._orphans = orphans
        self._reply_file = reply_file
        self._unstored: tuple[SavedReply, ...] = ()
        self._coordinator = claims.add_coordinator(store, run)
        self.budget = budget_of_run(store, run, context.profiles, context.spec.helpers)

    def found(self, question: TrialQuestion) -> TrialReply | Coordinator | None:
        """Return a stored reply to exactly this request.

        If another batch awaits one, return its process; None if it may be asked.
        """
        return self._found(question, self._open(question.sha256))

    def _found(
        self, question: TrialQuestion, left_open: Sequence[OpenAttempt]
    ) -> TrialReply | Coordinator | None:
        reply = trials.kept_reply(self._store, question.sha256, question.trial)
        if reply is not None:
            return reply
        held = (claims.holder_of(self._store, one) for one in left_open)
        return next(filter(None, held), None)

    def found_or_adopted(
        self, question: TrialQuestion
    ) -> TrialReply | Coordinator | None:
        """Return a stored reply, or a rescued one that the trial adopts."""
        return self.found(question) or self._adopted(question)

    def _adopted(self, question: TrialQuestion) -> TrialReply | None:
        sha256 = question.sha256
        if rescued.waiting_reply(self._store, sha256) is None:
            return None
        with self._store.transaction():
            record = rescued.waiting_reply(self._store, sha256)
            if record is None:  # another batch was first
                return None
            attempt = self._begin_attempt(question)
            reply = self._keep_one(replace(question, attempt=attempt), record)
        self.budget.pay(question.trial, record.cost_microusd)
        return reply

    def _open(self, sha256: str) -> Sequence[OpenAttempt]:
        """Return other processes' attempts at a request that have not ended."""
        return [
            attempt
            for attempt in claims.open_attempts(self._store, sha256)
            if attempt.coordinator is None
            or attempt.coordinator.id != self._coordinator
        ]

    def begin(
        self, batch: Sequence[TrialQuestion], ended: Sequence[Ended] = ()
    ) -> tuple[Claimed, ...]:
        """Claim each question: commit an attempt, and its transmission if it is remote.

        Only questions with a ``Claim`` may be asked. Everything is checked again in the
        transaction that claims, so that of two batches that ask the same only one does.
        The verdicts on trials that have ``ended`` are committed with it.
        """
        try:
            return self._claim_all(batch, ended)
        except _SavedRepliesFirstError:
            self._store.store_saved_replies()
            return self._claim_all(batch, ended, ends_orphans=True)

    def _claim_all(
        self,
        batch: Sequence[TrialQuestion],
        ended: Sequence[Ended],
        *,
        ends_orphans: bool = False,
    ) -> tuple[Claimed, ...]:
        with self._store.transaction():
            trials.settle(self._store, [(one.id, verdict) for one, verdict in ended])
            return tuple(self._claim(question, ends_orphans) for question in batch)

    def _claim(self, question: TrialQuestion, ends_orphans: bool) -> Claimed:
        left_open = self._open(question.sha256)
        stored = self._found(question, left_open)
        if stored is not None:
            return stored
        if left_open and not ends_orphans and self._store.has_saved_replies():
            raise _SavedRepliesFirstError
        policy = self._orphans or orphan_policy(question.profile)
        if left_open and policy is not OrphanPolicy.RETRY:
            return policy
        for attempt in left_open:
            trials.close_orphan(self._store, attempt.id)
        return Claim(self._begin_one(question), again=bool(left_open))

    def _begin_one(self, question: TrialQuestion) -> int:
        attempt = self._begin_attempt(question)
        if question.job:
            batch_job_rows.add_question(
                self._store,
                question.job,
                attempt,
                question.step,
                question.replies,
                question.noted,
            )
        leaving = question.request.outgoing
        if leaving is not None:
            consents.note_departure(
                self._store,
                attempt,
                leaving.endpoint,
                leaving.body_sha256,
                leaving.consent,
                leaving.deidentified,
            )
        return attempt

    def _begin_attempt(self, question: TrialQuestion) -> int:
        trials.keep_requests(self._store, [_request_record(question.request)])
        return trials.begin_attempt(
            self._store, question.trial, question.sha256, self._coordinator
        )

    def keep(self, arrived: Sequence[tuple[Asked, RawReply]]) -> tuple[TrialReply, ...]:
        """Commit raw replies, with tokens and cost, before they are parsed.

        If this raises, whatever the store could not take is in the reply file.
        """
        self._unstored = tuple(starmap(_saved, arrived))
        pairs = [
            (question, saved.record)
            for (question, _), saved in zip(arrived, self._unstored, strict=True)
        ]
        for question, record in pairs:
            self.budget.pay(question.trial, record.cost_microusd)
        try:
            with self._store.transaction():
                replies = tuple(starmap(self._keep_one, pairs))
        except BaseException:
            self._reply_file.keep(self._unstored)
            raise
        self._unstored = ()
        self._reply_file.forget(question.attempt for question, _ in arrived)
        return replies

    def save_to_file(self, arrived: Iterable[tuple[Asked, RawReply]]) -> None:
        """Write replies to the reply file: those not stored yet, and new arrivals."""
        self._reply_file.keep((*self._unstored, *starmap(_saved, arrived)))

    def _keep_one(self, question: Asked, record: ReplyRecord) -> TrialReply:
        sha256, attempt = question.sha256, question.attempt
        reply_id = trials.keep_reply(self._store, attempt, sha256, record)
        return TrialReply(record.raw, question.step, reply_id, sha256)

    def close_failed(self, failed: Sequence[tuple[Asked, ProviderError]]) -> None:
        """Commit the end of attempts without a reply."""
        for question, error in failed:
            if may_have_cost(error.reason, error.http_status):
                self.budget.pay(question.trial, None)
            else:
                self.budget.release(question.trial)
        with self._store.transaction():
            for question, error in failed:
                trials.close_with_error(
                    self._store,
                    question.attempt,
                    reason=error.reason,
                    message=str(error),
                    http_status=error.http_status,
                )

    def settle_orphans(
        self, pending: Iterable[StoredTrial]
    ) -> tuple[tuple[StoredTrial, ...], tuple[StoredTrial, ...], int]:
        """Decide about this run's attempts that were left open by a kill.

        Returns the trials to continue, those to end as provider_error(orphan), and how
        many wait for a decision. Without a given policy each model's own applies: ask
        if it has a price, else retry.
        """
        by_id = {stored.id: stored for stored in pending}
        skipped: list[StoredTrial] = []
        waiting = 0
        for attempt, trial_id, model in trials.orphans(self._store, self._run):
            chosen = self._orphans or self._own_policy(model)
            if chosen is OrphanPolicy.ASK:
                waiting += by_id.pop(trial_id, None) is not None
                continue
            with self._store.transaction():
                trials.close_orphan(self._store, attempt)
            if chosen is OrphanPolicy.SKIP and trial_id in by_id:
                skipped.append(by_id.pop(trial_id))
        return tuple(by_id.values()), tuple(skipped), waiting

    def _own_policy(self, model: str) -> OrphanPolicy:
        """Return the orphan policy for a question to any of a trial's models."""
        asked = (self._context.profiles[model], *self._context.spec.helpers)
        policies = {orphan_policy(profile) for profile in asked}
        return OrphanPolicy.ASK if OrphanPolicy.ASK in policies else OrphanPolicy.RETRY


def orphan_policy(profile: ModelProfile) -> OrphanPolicy:
    """Return a model's default policy for orphans: nothing is paid for twice."""
    return OrphanPolicy.ASK if may_cost(profile) else OrphanPolicy.RETRY


def _request_record(prepared: PreparedRequest) -> RequestRecord:
    return RequestRecord(
        sha256=prepared.sha256,
        document=prepared.document,
        prompt_sha256=prepared.request.prompt_sha256,
        prompts={prepared.request.prompt_sha256: prepared.prompt},
        images={image.sha256: image.png for image in prepared.request.images},
    )


def _saved(question: Asked, raw: RawReply) -> SavedReply:
    record = _reply_record(question.profile, raw)
    return SavedReply(question.attempt, question.sha256, record)


def _reply_record(profile: ModelProfile, raw: RawReply) -> ReplyRecord:
    """Return a reply with tokens, cost and model, empty if it is unreadable.

    No answer is parsed here, and nothing in a body can prevent storing it.
    """
    try:
        reply = reader_for(profile).read(raw)
    except ProviderError:
        reply = ModelReply(text="", finish_reason="length")
    price = price_of(profile)
    return ReplyRecord(
        raw=raw,
        usage=reply.usage,
        cost_microusd=price.of(reply.usage) if price else None,
        model_returned=reply.model_returned,
        reusable=reply.refusal is None and reply.finish_reason not in _UNREUSABLE,
    )
