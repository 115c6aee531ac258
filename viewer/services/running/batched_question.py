"""A question in a provider's batch, from when it is put there until its end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, cast

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import Step
from viewer.models.batching import ANEW
from viewer.services.running.trial_question import TrialQuestion, next_question
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, run_trial
from viewer.store.batch_job_rows import OpenQuestion
from viewer.store.runs import StoredTrial
from viewer.store.trials import TrialReply, Verdict


@dataclass(frozen=True)
class BatchedQuestion:
    """A question that may be out for a day; it holds no image."""

    context: RunContext = field(repr=False)
    stored: StoredTrial
    profile: ModelProfile
    step: Step
    sha256: str
    attempt: int
    replies: tuple[TrialReply, ...] = ()
    noted: Mapping[str, str] = field(default_factory=dict)
    number: int = 1
    note: str = ""

    @classmethod
    def claimed(
        cls,
        context: RunContext,
        question: TrialQuestion,
        attempt: int,
        noted: Mapping[str, str],
    ) -> Self:
        """Return a claimed question as it is put into a file."""
        request: PreparedRequest = question.request
        return cls(
            context,
            question.stored,
            question.profile,
            request.step,
            question.sha256,
            attempt,
            question.replies,
            noted,
            question.number,
            request.note,
        )

    @classmethod
    def resumed(cls, context: RunContext, out: OpenQuestion) -> Self:
        """Return a question that an earlier process put into a file."""
        return cls(
            context,
            out.stored,
            context.profile_for(out.stored.trial.model, out.step),
            out.step,
            out.sha256,
            out.attempt,
            out.replies,
            out.noted,
        )

    @property
    def trial(self) -> int:
        """The number of its trial."""
        return self.stored.id

    @property
    def model(self) -> str:
        """The name of the model asked."""
        return self.profile.name

    @property
    def name(self) -> str:
        """Its name in the file."""
        return str(self.attempt)

    def reusing(self, reply: TrialReply) -> TrialReply:
        """Return a reply to the identical request as the reply to this question."""
        return replace(reply, step=self.step, reused=True)

    def learns(self, error: ProviderError) -> bool:
        """Tell whether this was no attempt, because its file was not sent.

        A rejected parameter counts: nobody knows what its file was sent with.
        """
        return error.reason == ANEW

    def again(self, *, counts: bool) -> TrialQuestion:
        """Return the question to be made and asked once more."""
        question = next_question(self.context, self.stored, self.replies)
        return replace(question, number=self.number + counts)

    def answered(self, reply: TrialReply) -> TrialQuestion | Verdict:
        """Return the trial's next question after a reply, or its verdict."""
        replies = (*self.replies, reply)
        path = run_trial(self.context, self.stored.trial, replies)
        try:
            profile = cast("ModelProfile", next(path))
        except StopIteration as end:
            return cast("Verdict", end.value)
        return TrialQuestion(self.stored, path, profile, replies)


Asked = TrialQuestion | BatchedQuestion
"""A question that was sent, in whichever way."""
