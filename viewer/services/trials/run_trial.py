"""The straight path of one trial, from the pixels to the verdict."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, cast

from viewer.domain.answer import Status
from viewer.domain.answer_json import NOTHING, answer_as_json
from viewer.domain.case import DatasetImage
from viewer.domain.errors import DiskFullError, ProviderError, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelRequest, RawReply
from viewer.domain.result import Score
from viewer.domain.run import Step, Trial
from viewer.models.catalog import adapter_for, reader_for, spec_of
from viewer.models.loaded import not_loaded
from viewer.services.privacy.gate import About, OutgoingRequest, remote_origin
from viewer.services.trials.request_key import request_document, request_key
from viewer.services.trials.run_context import RunContext
from viewer.store.trials import TrialReply, Verdict

if TYPE_CHECKING:
    from viewer.models.protocol import RemoteAdapter


@dataclass(frozen=True)
class PreparedRequest:
    """A request ready to be asked, with the key that names its exact bytes.

    ``outgoing`` says how it leaves this machine, None if it does not; ``shown`` are the
    images that it was made of, and ``prompt`` its template's name and text. ``note`` is
    what a reader of the results must know of it, "" for nothing.
    """

    profile: ModelProfile
    step: Step
    request: ModelRequest
    document: dict[str, object]
    sha256: str
    outgoing: OutgoingRequest | None
    prompt: tuple[str, str]
    shown: tuple[DatasetImage, ...]
    note: str

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


TrialPath = Generator[ModelProfile | PreparedRequest, TrialReply, Verdict]
"""A trial on its way, which waits before each question is made and for its reply."""


def run_trial(
    context: RunContext, trial: Trial, replies: Sequence[TrialReply] = ()
) -> TrialPath:
    """Take a trial from the pixels of its images to its verdict.

    These are stages 2 to 8 of docs/architecture/trial.md.

    One question, a batch and a resumed run all go this way; a reply that is there
    already, as of a person, joins it at `judge`. What waits in one thread may go on in
    another.

    Parameters
    ----------
    replies : sequence of TrialReply
        Those that the trial has already, oldest first.

    Yields
    ------
    ModelProfile
        The model to be asked next; nothing was read for it yet.
    PreparedRequest
        What it is to be asked. The path goes on with the reply, once that is stored.

    Returns
    -------
    Verdict
        For the trial's row in the store.

    Raises
    ------
    OverreadError
        Where a question cannot be made, or may not leave this machine.
    """
    so_far = tuple(replies)
    while (step := context.next_step(trial, so_far)) is not None:
        profile = context.profile_for(trial.model, step)
        yield profile
        sources = context.sources(profile)  # pixels and drawing, as they are asked for
        question = context.question(trial, step, so_far, sources)
        request = context.request(trial, step, question)
        about = context.about(trial, question, sources)
        document = document_of(profile, request, trial.repeat, step)
        sha256 = request_key(document)
        outgoing = _pass_gate(context, profile, request, about)
        reply = yield PreparedRequest(
            profile=profile,
            step=step,
            request=request,
            document=document,
            sha256=sha256,
            outgoing=outgoing,
            prompt=(question.prompt, question.template),
            shown=about.images,
            note=question.note,
        )
        so_far = (*so_far, reply)
    return judge(context, trial, so_far)


def document_of(
    profile: ModelProfile, request: ModelRequest, repeat: int, step: Step
) -> dict[str, object]:
    """Return what names a question; a model that cannot be got raises ProviderError."""
    spec = spec_of(profile)
    try:
        identity = reader_for(profile).identity(repeat)
    except (WrongUseError, DiskFullError) as error:
        raise not_loaded(error) from error
    document = request_document(identity, request, repeat, reads_facts=spec.reads_facts)
    return document | ({"again": step.again} if step.again else {})


def _pass_gate(
    context: RunContext, profile: ModelProfile, request: ModelRequest, about: About
) -> OutgoingRequest | None:
    """Return how a question leaves; one that may not raises PrivacyError."""
    if remote_origin(profile) is None:
        return None
    for looked in about.looked:
        context.drawn.check_pixels(
            looked.image.key, looked.window, looked.pixels_sha256
        )
    return context.gate.passed(profile, request, about)


def ask_model(
    profile: ModelProfile,
    request: ModelRequest,
    outgoing: OutgoingRequest | None = None,
) -> RawReply:
    """Ask the model, in whatever thread, process or machine the executor has."""
    if outgoing is None:
        return adapter_for(profile).generate(request)
    adapter = cast("RemoteAdapter", adapter_for(profile, outgoing.allowance))
    adapter.leave_out(outgoing.left_out)  # this process may be another one's helper
    return adapter.generate(request, outgoing.body_sha256)


def judge(context: RunContext, trial: Trial, replies: Sequence[TrialReply]) -> Verdict:
    """Read the answer off all replies of a trial, and score it.

    A body that cannot be read at all is the provider's failure, not an answer.
    """
    try:
        turn = context.turn(trial, replies)
        answer = context.answer(turn)
        parsed, score = answer_as_json(answer), context.score(turn, answer)
    except ProviderError as error:
        parsed, score = NOTHING, Score(Status.PROVIDER_ERROR, error.reason)
    return Verdict(
        score,
        context.study.scorer_version,
        parsed,
        context.study.parser_version,
        tuple(replies),
    )
