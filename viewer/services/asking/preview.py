"""Exactly what would be sent to an endpoint without consent.

These are the bytes that `gate` lets pass once a person allows it: the image, the text,
the size and the hash of the body. Nothing is sent to find out.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile, ModelRequest, TextPart
from viewer.domain.run import ANSWER_STEP, RunSpec, Step, Trial
from viewer.models.catalog import reader_for
from viewer.services.asking.ask import Question, image_asked, spec_and_trial
from viewer.services.commands import AskCommand
from viewer.services.configuring.model_profiles import model_named
from viewer.services.privacy.decisions import ANY, allow
from viewer.services.privacy.gate import (
    Gate,
    check_key,
    check_request,
    open_gate,
    remote_origin,
)
from viewer.services.trials.run_context import RunContext
from viewer.store import cases
from viewer.store.database import Store, open_store
from viewer.studies.catalog import study_named

if TYPE_CHECKING:
    from viewer.models.protocol import RemoteAdapter


_MADE_OF_REPLIES: Final = (
    "These questions depend on replies of other models that do not exist yet. They "
    "will contain those replies, and reviewed images where the study shows any."
)


@dataclass(frozen=True)
class Preview:
    """The first request to an endpoint, as it would be sent.

    ``origin`` is scheme, host and port, ``is_encrypted`` False if the body can be read
    on its way there, ``dataset`` the registered data set it is about, "" without one;
    ``images`` the exact PNG bytes, ``text`` (role, words) in the order sent;
    ``body_bytes`` and ``body_sha256`` are of the whole body; ``requests`` the number of
    such questions planned, including this one.
    """

    model: str
    origin: str
    dataset: str
    images: tuple[bytes, ...]
    text: tuple[tuple[str, str], ...]
    body_bytes: int
    body_sha256: str
    requests: int = 1
    is_encrypted: bool = True


def previews_of_question(
    store: Path, models_file: Path, command: AskCommand
) -> tuple[Preview, ...]:
    """Return the request for each endpoint of a question that is not allowed yet."""
    with open_store(store) as opened:
        return tuple(_of_question(opened, models_file, command))


def _of_question(
    store: Store, models_file: Path, command: AskCommand
) -> Iterator[Preview]:
    for name in command.models:
        question = Question(
            command.ref,
            command.finding,
            model_named(name, models_file),
            command.grid,
            command.view,
            command.window,
            command.letters,
        )
        dataset, image = image_asked(store, question)
        gate = open_gate(store, dataset)
        if remote_origin(question.profile) in {None, *gate.consents}:
            continue
        spec, trial = spec_and_trial(question, dataset, image)
        yield _preview(RunContext(spec, dataset, gate), trial, 1)


def previews_of_batch(store: Path, spec: RunSpec) -> tuple[Preview, ...]:
    """Return the first request for each endpoint of a batch that is not allowed yet."""
    with open_store(store) as opened:
        dataset = cases.dataset_named(opened, spec.dataset)
        gate = open_gate(opened, dataset)
    waiting = [
        model.name
        for model in (*spec.models, *spec.helpers)
        if remote_origin(model) not in {None, *gate.consents}
    ]
    return tuple(_of_batch(spec, dataset, gate, waiting)) if waiting else ()


def _of_batch(
    spec: RunSpec, dataset: Dataset, gate: Gate, models: Sequence[str]
) -> Iterator[Preview]:
    plan = study_named(spec.study).plan(dataset, spec)
    context = RunContext(spec, dataset, gate)
    asked = [trial for trial in plan if not trial.exclusion]
    helping = {helper.name for helper in spec.helpers}
    for model in models:
        trials = asked if model in helping else [t for t in asked if t.model == model]
        if not trials:
            continue
        if _first_question(context, trials[0])[1].name == model:
            yield _preview(context, trials[0], len(trials))
        else:
            yield _later(context, model, len(trials))


def _first_question(context: RunContext, trial: Trial) -> tuple[Step, ModelProfile]:
    step = context.next_step(trial, ()) or ANSWER_STEP
    return step, context.profile_for(trial.model, step)


def _later(context: RunContext, model: str, requests: int) -> Preview:
    """Return placeholders for questions that depend on replies not there yet."""
    context.gate.check_restricted(context.profiles[model], context.dataset.images)
    check_key(context.profiles[model])
    endpoint = context.endpoint_of(model)
    return Preview(
        model=model,
        origin=remote_origin(context.profiles[model]) or "",
        dataset=context.gate.dataset,
        images=(),
        text=(("note", _MADE_OF_REPLIES),),
        body_bytes=0,
        body_sha256="",
        requests=requests,
        is_encrypted=endpoint is not None and endpoint.scheme == "https",
    )


def _preview(context: RunContext, trial: Trial, requests: int) -> Preview:
    step, profile = _first_question(context, trial)
    sources = context.sources(profile)
    question = context.question(trial, step, (), sources)
    request = context.request(trial, step, question)
    images = context.about(trial, question, sources).images
    context.gate.check_restricted(profile, images)
    check_key(profile)
    check_request(request)
    body = cast("RemoteAdapter", reader_for(profile)).body(request)
    endpoint = context.endpoint_of(profile.name)
    return Preview(
        model=profile.name,
        origin=remote_origin(profile) or "",
        dataset=context.gate.dataset,
        images=tuple(image.png for image in request.images),
        text=tuple(_texts(request)),
        body_bytes=len(body),
        body_sha256=hashlib.sha256(body).hexdigest(),
        requests=requests,
        is_encrypted=endpoint is not None and endpoint.scheme == "https",
    )


def _texts(request: ModelRequest) -> Iterator[tuple[str, str]]:
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, TextPart):
                yield message.role, part.text


def keep_consent(
    store: Path, preview: Preview, *, for_any: bool, unencrypted: bool = False
) -> None:
    """Store that a person, after seeing what is sent, allowed it.

    If it can be read on the way this needs ``unencrypted``, or raises WrongUseError.
    """
    dataset = ANY if for_any or not preview.dataset else preview.dataset
    purpose = f"{preview.requests} question(s), first {preview.body_sha256}"
    with open_store(store) as opened:
        allow(opened, preview.origin, dataset, purpose, unencrypted=unencrypted)
