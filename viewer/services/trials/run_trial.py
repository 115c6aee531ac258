"""The straight path of one trial: pixels, question, answer, verdict (DESIGN 4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, cast

from viewer.domain.case import DatasetImage
from viewer.domain.errors import DiskFullError, ProviderError, WrongUseError
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelRequest,
    RawReply,
)
from viewer.domain.run import Trial
from viewer.models.catalog import adapter_for, reader_for, spec_of
from viewer.models.loaded import not_loaded
from viewer.services.privacy.gate import OutgoingRequest, remote_origin
from viewer.services.trials.request_key import request_document, request_key
from viewer.services.trials.run_context import ANSWER, Draft, RunContext, StepReply
from viewer.studies.steps import Step

if TYPE_CHECKING:
    from viewer.models.protocol import RemoteAdapter


@dataclass(frozen=True)
class PreparedTrial:
    """A question ready to be asked, with the key that names its exact bytes.

    ``outgoing`` says how it leaves this machine, None where it does not; ``shown``
    are the images that it was made of, and ``prompt`` its template's name and text.
    ``note`` is what a reader of the results must know of it, "" for nothing.
    """

    profile: ModelProfile
    request: ModelRequest
    document: dict[str, object]
    sha256: str
    outgoing: OutgoingRequest | None = None
    step: Step = ANSWER
    prompt: tuple[str, str] = ("", "")
    shown: tuple[DatasetImage, ...] = ()
    note: str = ""

    def outgoing_now(self) -> Self:
        """Return it with the body as it is now: its server may have rejected a part."""
        if self.outgoing is None:
            return self
        return replace(self, outgoing=self.outgoing.now(self.profile, self.request))

    def drop_rejected_params(self, error: ProviderError) -> bool:
        """Leave out what its server refused; return whether it was asked with that."""
        if self.outgoing is None or not error.rejected:
            return False
        return self.outgoing.drop_rejected_params(self.profile, error.rejected)


def prepare_trial(
    context: RunContext, trial: Trial, kept: Sequence[StepReply] = ()
) -> PreparedTrial:
    """Hops 3 to 5: from the trial, and its replies so far, to the exact request."""
    step = context.next_step(trial, kept) or ANSWER
    profile = context.profile_for(trial.model, step)
    draft = context.draft(trial, step, kept)
    document = request_document(
        _identity(profile, trial.repeat),
        draft.request,
        trial.repeat,
        reads_facts=spec_of(profile).reads_facts,
    )
    if step.again:
        document["again"] = step.again
    return PreparedTrial(
        profile,
        draft.request,
        document,
        request_key(document),
        _outgoing(context, profile, draft),
        step,
        draft.prompt,
        draft.about.images,
        draft.note,
    )


def _identity(profile: ModelProfile, repeat: int) -> ModelIdentity:
    """Return what names a model; one that cannot be got raises ``ProviderError``."""
    try:
        return reader_for(profile).identity(repeat)
    except (WrongUseError, DiskFullError) as error:
        raise not_loaded(error) from error


def _outgoing(
    context: RunContext, profile: ModelProfile, draft: Draft
) -> OutgoingRequest | None:
    """Return how a question leaves; one that may not raises PrivacyError."""
    if remote_origin(profile) is None:
        return None
    for looked in draft.about.looked:
        context.drawn.check_pixels(
            looked.image.key, looked.window, looked.pixels_sha256
        )
    return context.gate.passed(profile, draft.request, draft.about)


def ask_model(
    profile: ModelProfile,
    request: ModelRequest,
    outgoing: OutgoingRequest | None = None,
) -> RawReply:
    """Hop 6, in whatever thread, process or machine the executor has."""
    if outgoing is None:
        return adapter_for(profile).generate(request)
    adapter = cast("RemoteAdapter", adapter_for(profile, outgoing.allowance))
    adapter.leave_out(outgoing.left_out)  # this process may be another one's helper
    return adapter.generate(request, outgoing.body_sha256)
