"""One question of a trial in a batch: due, prepared, in flight, answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self, cast

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import Step
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.run_trial import PreparedRequest, TrialPath, run_trial
from viewer.store.runs import StoredTrial
from viewer.store.trials import TrialReply, Verdict


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """A question from when it is due until its reply is stored.

    Attributes
    ----------
    stored : StoredTrial
        Its trial, which has one open question at a time.
    path : TrialPath
        The generator of the trial's steps.
    profile : ModelProfile
        The model to be asked.
    replies : tuple of TrialReply
        The trial's replies so far.
    prepared : PreparedRequest or None
        The request; None while the question is only due.
    number, looks : int
        How often it is asked in this batch, from 1, and how often another process was
        found to be asking it.
    attempt, left_at : int, float
        For a question in flight: the id of its attempt, and the time it was sent.
    job, noted : int, mapping
        For a question to a batch endpoint: its file, and what its reply is read with.
    """

    stored: StoredTrial
    path: TrialPath
    profile: ModelProfile
    replies: tuple[TrialReply, ...] = ()
    prepared: PreparedRequest | None = None
    number: int = 1
    looks: int = 0
    attempt: int = 0
    left_at: float = 0.0
    job: int = 0
    noted: Mapping[str, str] = field(default_factory=dict)

    @property
    def trial(self) -> int:
        """The number of its trial."""
        return self.stored.id

    @property
    def model(self) -> str:
        """The name of the model asked."""
        return self.profile.name

    @property
    def request(self) -> PreparedRequest:
        """The request; only prepared questions are queued."""
        assert self.prepared is not None  # noqa: S101 - see above
        return self.prepared

    @property
    def sha256(self) -> str:
        """The key of its request."""
        return self.request.sha256

    @property
    def step(self) -> Step:
        """The step of the trial that this question belongs to."""
        return self.request.step

    @property
    def note(self) -> str:
        """A caveat for readers of the results, "" for none."""
        return self.request.note

    def learns(self, error: ProviderError) -> bool:
        """Leave out what its server rejected; return whether it was sent with that."""
        return self.request.drop_rejected_params(error)

    def prepare(self) -> PreparedRequest:
        """Read images and draw grids for it, in any thread."""
        return cast("PreparedRequest", next(self.path))

    def now(self) -> Self:
        """Return the question with the body that would be sent now."""
        return replace(self, prepared=self.request.outgoing_now())

    def reusing(self, reply: TrialReply) -> TrialReply:
        """Return a reply to the identical request as the reply to this question."""
        return replace(reply, step=self.request.step, reused=True)

    def answered(self, reply: TrialReply) -> "TrialQuestion | Verdict":
        """Return the next question after a reply, or the verdict."""
        try:
            # A trial's path yields a profile and a request in turn, which has no type.
            profile = cast("ModelProfile", self.path.send(reply))
        except StopIteration as end:
            return cast("Verdict", end.value)
        replies = (*self.replies, reply)
        return TrialQuestion(self.stored, self.path, profile, replies)


def next_question(
    context: RunContext, stored: StoredTrial, replies: tuple[TrialReply, ...] = ()
) -> TrialQuestion:
    """Return a trial's next question after its replies so far."""
    path = run_trial(context, stored.trial, replies)
    return TrialQuestion(stored, path, cast("ModelProfile", next(path)), replies)
