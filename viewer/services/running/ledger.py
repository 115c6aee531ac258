"""Hop 6's book-keeping: no reply that reached us is ever bought twice.

Every write of a running batch goes through here, from the coordinator's thread. An
attempt is committed before its request may leave; the raw reply is committed before
anything is read off it; only then is the trial's verdict written (DESIGN 5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from viewer.domain.answer import Status
from viewer.domain.answer_json import NOTHING
from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile, ModelReply, RawReply
from viewer.domain.result import Score
from viewer.domain.run import OrphanPolicy
from viewer.models.catalog import reader_for
from viewer.models.prices import may_cost, price_of
from viewer.services.running.spending import may_have_cost, open_purse
from viewer.services.trials.run_context import ANSWER, RunContext, StepReply
from viewer.services.trials.run_trial import PreparedTrial
from viewer.store import claims, consents, rescued, trials
from viewer.store.claims import Coordinator, OpenAttempt
from viewer.store.database import Store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.runs import StoredTrial
from viewer.store.saved_replies import SavedReply, Spool
from viewer.store.trials import (
    ReadReply,
    RequestRecord,
    StoredReply,
    Verdict,
)

_UNREUSABLE = frozenset({"length", "content_filter"})
"""Ends of a reply that another run asks again (studies.md 3.2, Never cache)."""


@dataclass(frozen=True)
class Asked:
    """A trial whose question is prepared, and the replies that it was made of."""

    stored: StoredTrial
    prepared: PreparedTrial
    before: tuple[StepReply, ...] = ()


@dataclass(frozen=True)
class Answered:
    """A trial whose question has a reply in the store."""

    asked: Asked
    reply: StoredReply
    reused: bool

    @property
    def kept(self) -> tuple[StepReply, ...]:
        """Every reply of the trial, oldest first."""
        return (*self.asked.before, StepReply(self.asked.prepared.step, self.reply))


@dataclass(frozen=True)
class Settled:
    """A trial whose verdict is in the store."""

    stored: StoredTrial
    score: Score
    request_sha256: str
    reused: bool
    latency_ms: int


@dataclass(frozen=True)
class Begun:
    """An attempt that is committed; ``again`` where a kill left one open before it."""

    attempt: int
    again: bool = False


@dataclass(frozen=True)
class Orphaned:
    """A question that a kill left open and that is not asked again just so."""

    policy: OrphanPolicy


Claim = Begun | StoredReply | Coordinator | Orphaned
"""What became of a question that was to be claimed; only what has begun is asked."""


class _SpoolsFirstError(Exception):
    """A question that was left open may have its reply in a spool."""


class Ledger:
    """The store as the coordinator of one run writes it, and the run's budget.

    Parameters
    ----------
    orphans : OrphanPolicy or None
        What becomes of attempts that a kill left open; None for each model's own.
    """

    def __init__(
        self,
        store: Store,
        context: RunContext,
        run: int,
        spool: Spool,
        orphans: OrphanPolicy | None = None,
    ) -> None:
        self._store, self._context, self._run = store, context, run
        self._orphans = orphans
        self._spool = spool
        self._unstored: tuple[SavedReply, ...] = ()
        self._coordinator = claims.add_coordinator(store, run)
        self.budget = open_purse(store, run, context.profiles, context.spec.helpers)

    def found(self, asked: Asked) -> StoredReply | Coordinator | None:
        """Return a reply to exactly this request that is in the store already.

        Where another batch awaits one, return who does; None where it may be asked.
        """
        sha256 = asked.prepared.sha256
        reply = trials.kept_reply(self._store, sha256, asked.stored.id)
        if reply is not None:
            return reply
        held = (claims.holder_of(self._store, one) for one in self._open(sha256))
        return next(filter(None, held), None)

    def found_or_adopted(self, asked: Asked) -> StoredReply | Coordinator | None:
        """Return what is found, or a rescued reply that the trial takes for its own."""
        return self.found(asked) or self._adopted(asked)

    def _adopted(self, asked: Asked) -> StoredReply | None:
        sha256, prepared = asked.prepared.sha256, asked.prepared
        if rescued.waiting_reply(self._store, sha256) is None:
            return None
        with self._store.transaction():
            record = rescued.waiting_reply(self._store, sha256)
            if record is None:  # another batch was first
                return None
            trials.keep_requests(self._store, [_request_record(prepared)])
            attempt = trials.begin_attempt(
                self._store, asked.stored.id, sha256, self._coordinator
            )
            reply = self._keep_one(attempt, asked, record)
        self.budget.pay(asked.stored.id, record.cost_microusd)
        return reply

    def _open(self, sha256: str) -> Sequence[OpenAttempt]:
        """Return the attempts of others at a request that have not ended."""
        return [
            attempt
            for attempt in claims.open_attempts(self._store, sha256)
            if attempt.coordinator is None
            or attempt.coordinator.id != self._coordinator
        ]

    def begin(self, batch: Sequence[Asked]) -> tuple[Claim, ...]:
        """Claim each question: commit an attempt, and its departure where it leaves.

        Only what has ``Begun`` may be asked. All is looked at again in the transaction
        that claims, so that of two batches that ask the same only one does.
        """
        try:
            return self._claim_all(batch)
        except _SpoolsFirstError:
            self._store.take_in_spools()
            return self._claim_all(batch, ends_orphans=True)

    def _claim_all(
        self, batch: Sequence[Asked], *, ends_orphans: bool = False
    ) -> tuple[Claim, ...]:
        with self._store.transaction():
            return tuple(self._claim(asked, ends_orphans) for asked in batch)

    def _claim(self, asked: Asked, ends_orphans: bool) -> Claim:
        found = self.found(asked)
        if found is not None:
            return found
        left_open = self._open(asked.prepared.sha256)
        if left_open and not ends_orphans and self._store.has_spools():
            raise _SpoolsFirstError
        policy = self._orphans or orphan_policy(asked.prepared.profile)
        if left_open and policy is not OrphanPolicy.RETRY:
            return Orphaned(policy)
        for attempt in left_open:
            trials.close_orphan(self._store, attempt.id)
        return Begun(self._begin_one(asked), again=bool(left_open))

    def _begin_one(self, asked: Asked) -> int:
        prepared = asked.prepared
        trials.keep_requests(self._store, [_request_record(prepared)])
        attempt = trials.begin_attempt(
            self._store, asked.stored.id, prepared.sha256, self._coordinator
        )
        leaving = prepared.outgoing
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

    def keep(
        self, arrived: Sequence[tuple[int, Asked, RawReply]]
    ) -> tuple[Answered, ...]:
        """Commit raw replies, before anything is read off them.

        What the store cannot take is in the spool when this raises.
        """
        self._unstored = tuple(_saved(*one) for one in arrived)
        for (_, asked, _), saved in zip(arrived, self._unstored, strict=True):
            self.budget.pay(asked.stored.id, saved.record.cost_microusd)
        try:
            with self._store.transaction():
                kept = tuple(
                    self._keep_one(attempt, asked, saved.record)
                    for (attempt, asked, _), saved in zip(
                        arrived, self._unstored, strict=True
                    )
                )
        except BaseException:
            self._spool.keep(self._unstored)
            raise
        self._unstored = ()
        self._spool.forget(attempt for attempt, _, _ in arrived)
        return tuple(
            Answered(asked, reply, reused=False)
            for (_, asked, _), reply in zip(arrived, kept, strict=True)
        )

    def spool(self, arrived: Iterable[tuple[int, Asked, RawReply]]) -> None:
        """Write to the spool what waits to be stored, and what else has come back."""
        self._spool.keep((*self._unstored, *(_saved(*one) for one in arrived)))

    def _keep_one(self, attempt: int, asked: Asked, record: ReplyRecord) -> StoredReply:
        sha256 = asked.prepared.sha256
        reply_id = trials.keep_reply(self._store, attempt, sha256, record)
        return StoredReply(reply_id, sha256, record.raw)

    def close_failed(self, failed: Sequence[tuple[int, Asked, ProviderError]]) -> None:
        """Commit the end of attempts that brought no reply."""
        for _, asked, error in failed:
            if may_have_cost(error.reason, error.http_status):
                self.budget.pay(asked.stored.id, None)
            else:
                self.budget.release(asked.stored.id)
        with self._store.transaction():
            for attempt, _, error in failed:
                trials.close_with_error(
                    self._store,
                    attempt,
                    reason=error.reason,
                    message=str(error),
                    http_status=error.http_status,
                )

    def settle_answers(self, answered: Sequence[Answered]) -> tuple[Settled, ...]:
        """Read and score replies; commit the verdicts."""
        if not answered:
            return ()
        pairs = [self._judge(a) for a in answered]
        with self._store.transaction():
            trials.settle(self._store, [verdict for verdict, _ in pairs])
        return tuple(settled for _, settled in pairs)

    def _judge(self, answered: Answered) -> tuple[Verdict, Settled]:
        stored, study = answered.asked.stored, self._context.study
        parsed, score = judged_or_failed(self._context, stored, answered.kept)
        own = own_reply(answered.kept)
        verdict = Verdict(
            trial_id=stored.id,
            score=score,
            scorer_version=study.scorer_version,
            request_sha256=own.request_sha256,
            reply_id=own.id,
            parser_version=study.parser_version,
            parsed=parsed,
            steps=steps_of(answered.kept),
        )
        settled = Settled(
            stored,
            score,
            own.request_sha256,
            answered.reused,
            sum(one.reply.raw.latency_ms for one in answered.kept),
        )
        return verdict, settled

    def settle_without_reply(
        self, ended: Sequence[tuple[StoredTrial, Score, str | None]]
    ) -> tuple[Settled, ...]:
        """Commit verdicts of trials that have no reply: (trial, score, request)."""
        version = self._context.study.scorer_version
        with self._store.transaction():
            trials.settle(
                self._store,
                [
                    Verdict(stored.id, score, version, request_sha256=sha256)
                    for stored, score, sha256 in ended
                ],
            )
        return tuple(
            Settled(stored, score, sha256 or "", reused=False, latency_ms=0)
            for stored, score, sha256 in ended
        )

    def settle_orphans(
        self, pending: Iterable[StoredTrial]
    ) -> tuple[tuple[StoredTrial, ...], tuple[Settled, ...], int]:
        """Decide what becomes of attempts that a kill of this run left open.

        Returns the trials to go on with, those that ended as
        provider_error(orphan), and how many wait for a decision. Unless a policy is
        given each model's own holds: ask where it has a price, else retry.
        """
        by_id = {stored.id: stored for stored in pending}
        skipped: list[tuple[StoredTrial, Score, str | None]] = []
        waiting = 0
        for attempt, trial_id, model in trials.orphans(self._store, self._run):
            chosen = self._orphans or self._own_policy(model)
            if chosen is OrphanPolicy.ASK:
                waiting += by_id.pop(trial_id, None) is not None
                continue
            with self._store.transaction():
                trials.close_orphan(self._store, attempt)
            stored = by_id.get(trial_id)
            if chosen is OrphanPolicy.SKIP and stored is not None:
                score = Score(Status.PROVIDER_ERROR, "orphan")
                skipped.append((by_id.pop(trial_id), score, None))
        settled = self.settle_without_reply(skipped) if skipped else ()
        return tuple(by_id.values()), settled, waiting

    def _own_policy(self, model: str) -> OrphanPolicy:
        """Return what becomes of a question that any of a trial's models was asked."""
        asked = (self._context.profiles[model], *self._context.spec.helpers)
        policies = {orphan_policy(profile) for profile in asked}
        return OrphanPolicy.ASK if OrphanPolicy.ASK in policies else OrphanPolicy.RETRY


def judged_or_failed(
    context: RunContext, stored: StoredTrial, kept: Sequence[StepReply]
) -> tuple[str, Score]:
    """Return the answer of a trial's replies as JSON and its score.

    A body that cannot be read at all is the provider's failure, not an answer.
    """
    try:
        judged = context.judged(stored.trial, kept)
    except ProviderError as error:
        return NOTHING, Score(Status.PROVIDER_ERROR, error.reason)
    return judged.parsed, judged.score


def own_reply(kept: Sequence[StepReply]) -> StoredReply:
    """Return the last reply of the model that a trial is about, else the last."""
    own = [one.reply for one in kept if not one.step.role]
    return own[-1] if own else kept[-1].reply


def steps_of(kept: Sequence[StepReply]) -> tuple[ReadReply, ...]:
    """Return a trial's replies as the store keeps them.

    The one reply of a trial that is answered at once needs no steps.
    """
    if len(kept) == 1 and kept[0].step == ANSWER:
        return ()
    return tuple(
        ReadReply(one.step.name, one.step.role, one.step.again, one.reply.id)
        for one in kept
    )


def orphan_policy(profile: ModelProfile) -> OrphanPolicy:
    """Return what becomes of orphans unless a person says: nothing is paid twice."""
    return OrphanPolicy.ASK if may_cost(profile) else OrphanPolicy.RETRY


def _request_record(prepared: PreparedTrial) -> RequestRecord:
    return RequestRecord(
        sha256=prepared.sha256,
        document=prepared.document,
        prompt_sha256=prepared.request.prompt_sha256,
        prompts={prepared.request.prompt_sha256: prepared.prompt},
        images={image.sha256: image.png for image in prepared.request.images},
    )


def _saved(attempt: int, asked: Asked, raw: RawReply) -> SavedReply:
    record = _reply_record(asked.prepared, raw)
    return SavedReply(attempt, asked.prepared.sha256, record)


def _reply_record(prepared: PreparedTrial, raw: RawReply) -> ReplyRecord:
    try:
        reply = reader_for(prepared.profile).read(raw)
    except ProviderError:
        reply = ModelReply(text="", finish_reason="length")
    price = price_of(prepared.profile)
    return ReplyRecord(
        raw=raw,
        usage=reply.usage,
        cost_microusd=price.of(reply.usage) if price else None,
        model_returned=reply.model_returned,
        reusable=reply.refusal is None and reply.finish_reason not in _UNREUSABLE,
    )
