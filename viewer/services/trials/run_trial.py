"""The path of one trial, from the pixels to the verdict."""

import hashlib
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
    """A request ready to be sent, with the key of its exact bytes.

    ``outgoing`` is its transmission, None if it stays on this machine; ``shown`` are
    the images it was made from, and ``prompt`` its template's name and text. ``note``
    is a caveat for readers of the results, "" for none.
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
        """Return the request with its current body, without rejected parts."""
        if self.outgoing is None:
            return self
        return replace(self, outgoing=self.outgoing.now(self.profile, self.request))

    def sent_as(self, body: bytes) -> Self:
        """Return the request with the hash of the body that leaves, if one does."""
        if self.outgoing is None:
            return self
        sha256 = hashlib.sha256(body).hexdigest()
        return replace(self, outgoing=replace(self.outgoing, body_sha256=sha256))

    def drop_rejected_params(self, error: ProviderError) -> bool:
        """Leave out what its server rejected; return whether it was sent with that."""
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

    Single questions, batches and resumed runs all use it; an existing reply, such as a
    person's, enters at `judge`. The generator may be continued in another thread.

    Parameters
    ----------
    replies : sequence of TrialReply
        The trial's replies so far, oldest first.

    Yields
    ------
    ModelProfile
        The model to be asked next; nothing has been read for it yet.
    PreparedRequest
        The request. Send the reply back once it is stored.

    Returns
    -------
    Verdict
        For the trial's row in the store.

    Raises
    ------
    OverreadError
        If a question cannot be made, or must not leave this machine.
    """
    so_far = tuple(replies)
    while (step := context.next_step(trial, so_far)) is not None:
        profile = context.profile_for(trial.model, step)
        yield profile
        # pixels and drawing, as they are asked for
        sources = context.sources(profile, trial.condition.name)
        question = context.question(trial, step, so_far, sources)
        request = context.request(trial, step, question)
        about = context.about(trial, question, sources)
        document = document_of(profile, request, trial.repeat, step)
        # The key is made before the gate, because what passes must be what was hashed.
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
    """Return the document that identifies a question; ProviderError on failure."""
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
    """Return the outgoing request; PrivacyError if it must not be sent."""
    if remote_origin(profile) is None:
        return None
    for looked in about.looked:
        context.drawn.check_pixels(looked)
    return context.gate.passed(profile, request, about)


def ask_model(
    profile: ModelProfile,
    request: ModelRequest,
    outgoing: OutgoingRequest | None = None,
) -> RawReply:
    """Ask the model; this runs wherever the executor runs it."""
    if outgoing is None:
        return adapter_for(profile).generate(request)
    adapter = cast("RemoteAdapter", adapter_for(profile, outgoing.allowance))
    adapter.leave_out(outgoing.left_out)  # this process may be another one's helper
    return adapter.generate(request, outgoing.body_sha256)


def judge(context: RunContext, trial: Trial, replies: Sequence[TrialReply]) -> Verdict:
    """Parse the answer from all replies of a trial, and score it.

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
