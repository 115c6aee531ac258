"""A trial in detail: what was sent, what came back, how it was scored.

For studies whose answers are not a location on one image; it lists every step.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any, Final

import numpy as np

from viewer.domain.evidence import ShownEvidence
from viewer.domain.exchange import ModelReply, RawReply
from viewer.domain.interpretability import Highlight, Measured, WeightForm
from viewer.domain.plain import made
from viewer.domain.result import Score
from viewer.domain.run import RunSpec, Trial
from viewer.domain.study_words import Pair
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.inspecting.answers import images_of, parts_of, reused_words
from viewer.services.inspecting.explanations import (
    NOT_EXPLAINED,
    Explanation,
    explanation,
)
from viewer.services.inspecting.marked_images import MarkedImage, marked_images
from viewer.services.inspecting.predicted_boxes import (
    predicted_boxes,
    replies_read,
    roles_of,
)
from viewer.services.inspecting.runs import called
from viewer.services.reporting.grading import score_changed_grades
from viewer.services.viewing.returned_pictures import (
    NOTHING_RETURNED,
    Returned,
    returned_pictures,
)
from viewer.store import flat, items, reuse, runs, steps, trials
from viewer.store.database import Store, open_store
from viewer.store.steps import kept_replies
from viewer.studies.catalog import places_findings, study_named
from viewer.studies.steps import StepReply
from viewer.studies.study import ShowsEvidence


@dataclass(frozen=True)
class StepDetail:
    """One question with its reply: the images and words sent, and the words back.

    ``sent`` has images as numbers in place; ``marked`` are the images with their marks,
    ``returned`` those that came back with the reply.
    ``name`` is "" if the trial has only one question; ``model`` answered it, in a
    ``role`` if it is not the trial's model. ``measured`` are measurements returned with
    the reply. ``pictured`` is the evidence of each image, empty if there is none or it
    is not known.
    """

    name: str
    model: str
    request_sha256: str
    images: tuple[bytes, ...]
    sent: tuple[tuple[str, str], ...]
    reply: str
    measured: tuple[tuple[str, str], ...] = ()
    role: str = ""
    marked: tuple[MarkedImage, ...] = ()
    returned: Returned = NOTHING_RETURNED
    pictured: tuple[ShownEvidence, ...] = ()

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The messages in order, by role: what was sent, and the reply."""
        speaker = f"{self.model}, {self.name}" if self.name else self.model
        return (
            *self.sent,
            (speaker, self.reply),
            *self.returned.words,
            *self.measured,
        )


@dataclass(frozen=True, slots=True)
class Otherwise:
    """The same question under another condition, with the display name ``called``."""

    trial: int
    called: str
    score: Score


@dataclass(frozen=True)
class TrialDetail:
    """A trial with every step of it; there is none before it was asked.

    ``models`` are all that the run asks, in their order; ``called`` is what people call
    what it asked about, its group and its condition, ``about`` what the study tells of
    its item and its question besides, by name. ``otherwise`` are the trials that
    ask the same under other conditions, such as with a region pointed out. ``reused``
    says whose reply it shows where another was asked for it. ``explained`` is the
    data set's explanation of the right answer, ``evidence`` how the case's evidence is
    shown.
    """

    id: int
    run: int
    trial: Trial
    score: Score
    steps: tuple[StepDetail, ...]
    models: tuple[str, ...] = ()
    called: tuple[str, str, str] = ("", "", "")
    otherwise: tuple[Otherwise, ...] = ()
    reused: str = ""
    about: tuple[tuple[str, str], ...] = ()
    explained: Explanation = NOT_EXPLAINED
    evidence: tuple[ShownEvidence, ...] = ()

    @property
    def looked_at(self) -> tuple[MarkedImage, ...]:
        """The images that its own model answered about, as last sent."""
        steps = [step for step in self.steps if step.images and not step.role]
        return steps[-1].marked if steps else ()

    @property
    def is_marked(self) -> bool:
        """Whether anything is drawn on an image of it."""
        return any(image.is_marked for step in self.steps for image in step.marked)

    @property
    def opens(self) -> bool:
        """Whether a box can be drawn on an image of the data set itself."""
        marked = (image for step in self.steps for image in step.marked)
        return any(image.boxes and image.key for image in marked)

    @property
    def request_sha256(self) -> str:
        """The key of its first question, "" if it has not been asked."""
        return self.steps[0].request_sha256 if self.steps else ""

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The messages in order, by role: what was sent, and each reply."""
        return tuple(line for step in self.steps for line in step.words)


def is_placed(store: Path, trial: int) -> bool:
    """Tell whether a trial's answer is a location, to be drawn on its image."""
    with open_store(store) as opened:
        run = steps.asked_of_trial(opened, trial).run
        return places_findings(runs.run_spec(opened, run).study)


def trial_detail(store: Path, trial: int) -> TrialDetail:
    """Return a trial with all its messages; raises if it is unknown."""
    with open_store(store) as opened:
        score_changed_grades(opened)
        assign_model_colors(opened)
        asked = steps.asked_of_trial(opened, trial)
        (listed,) = flat.trials_at(opened, [trial])
        spec = runs.run_spec(opened, asked.run)
        about = tuple(_about(opened, asked.run, spec, listed.trial))
        explained = explanation(opened, asked.run, spec, listed.trial)
        evidence = _evidence(opened, asked.run, spec, listed.trial)
        told = tuple(_steps(opened, listed.trial, asked, spec, evidence))
        others = flat.trials_at(opened, steps.asked_otherwise(opened, trial))
        origin = reuse.origin_of(opened, trial)
    words = study_named(spec.study).words
    return TrialDetail(
        trial,
        asked.run,
        listed.trial,
        listed.score,
        told,
        tuple(profile.name for profile in spec.models),
        called(listed.trial, words),
        tuple(Otherwise(o.id, called(o.trial, words)[2], o.score) for o in others),
        reused_words(origin.origin_run, origin.origin_model) if origin else "",
        about,
        explained,
        evidence,
    )


def _evidence(
    store: Store, run: int, spec: RunSpec, trial: Trial
) -> tuple[ShownEvidence, ...]:
    study = study_named(spec.study)
    if not isinstance(study, ShowsEvidence):
        return ()
    return study.evidence_shown(trial, items.item_of_run(store, run, trial.item))


def _about(store: Store, run: int, spec: RunSpec, trial: Trial) -> Iterator[Pair]:
    """Yield a trial's strata and questions; findings to be located have no item."""
    words = study_named(spec.study).words
    if words.strata or words.asked:
        item = items.item_of_run(store, run, trial.item)
        yield from words.about(item, trial.item, trial.condition.name)


def _steps(
    store: Store,
    trial: Trial,
    asked: steps.AskedTrial,
    spec: RunSpec,
    evidence: Sequence[ShownEvidence],
) -> Iterator[StepDetail]:
    if asked.reply is None:
        return
    trial_replies = kept_replies(store, asked.id, asked.reply)
    roles = roles_of(spec)
    read = replies_read(spec, trial, trial_replies)
    pairs = tuple(zip(trial_replies, read, strict=True))
    so_far = tuple(StepReply(one.step, reply) for one, reply in pairs if reply)
    pointed = predicted_boxes(store, trial, asked, spec, so_far)
    sent = [trials.sent_request(store, one.request_sha256) for one in trial_replies]
    first = next((image for request in sent for image in images_of(request)), None)
    before = None if first is None else MarkedImage(first)
    pictured = tuple(one for one in evidence for _ in range(one.images))
    for request, (one, reply) in zip(sent, pairs, strict=True):
        images = images_of(request)
        here = [p for p in pointed if p.step == one.step.name]
        shown = marked_images(images, request.document, reply, here, before)
        before = next(iter(shown), before)
        yield StepDetail(
            name=one.step.name if len(trial_replies) > 1 else "",
            model=roles.get(one.step.role, trial.model),
            request_sha256=request.sha256,
            images=images,
            sent=(*parts_of(request), *highlight_words(request.document)),
            reply=reply.text if reply else _body_of(one.raw),
            measured=measured_words(reply) if reply else (),
            role=one.step.role,
            marked=shown,
            returned=returned_pictures(reply),
            pictured=pictured if len(pictured) == len(images) else (),
        )


def _body_of(raw: RawReply) -> str:
    return raw.body.decode("utf-8", "replace")


NamedWords = tuple[tuple[str, str], ...]
_MOST: Final = 12
"""The parts of a prompt that are listed."""


def highlight_words(document: Mapping[str, Any]) -> NamedWords:
    """Return the highlighted part of a request in one line.

    ``document`` is what the request's key is a hash of.
    """
    if "highlight" not in document:
        return ()
    light = made(Highlight, document["highlight"], where="the request")
    by = "its logarithm" if light.form is WeightForm.LOG else "itself"
    plain = f"contrast {light.contrast:g} with the plain image"
    words = (
        f"{light.mask.array().mean():.1%} of image {light.image + 1}, weight "
        f"{light.weight:g} added as {by}, {plain if light.contrasts else 'no contrast'}"
    )
    return (("highlighted", words),)


def measured_words(reply: ModelReply) -> NamedWords:
    """Return the measurements that came with an answer, one line per kind."""
    measured = reply.measured
    if measured is None:
        return ()
    lines = (
        ("says next", _likelihoods(measured)),
        ("attends to", _attention(measured)),
        ("attends most to", _relevance(measured)),
        ("vision attends to the region", _region(measured)),
    )
    return tuple((who, words) for who, words in lines if words)


def _likelihoods(measured: Measured) -> str:
    return " · ".join(
        f"{option[0].text.strip()} {sum(exp(s.logprob) for s in option):.3g}"
        for option in measured.options
    )


def _attention(measured: Measured) -> str:
    attention = measured.attention
    if attention is None:
        return ""
    layers = zip(*attention.sums, strict=True)
    shares = (sum(section) / len(attention.sums) for section in layers)
    return " · ".join(
        f"{name} {share:.1%}"
        for name, share in zip(attention.names, shares, strict=True)
    )


def _relevance(measured: Measured) -> str:
    """Return the images and words with the most attention, in the prompt's order."""
    relevance = measured.relevance
    if relevance is None:
        return ""
    images = [
        (f"image {n}", float(np.sum(image.values)))
        for n, image in enumerate(relevance.images, start=1)
    ]
    words = [(token.strip() or repr(token), share) for token, share in relevance.tokens]
    shares = [*images, *words]
    least = sorted((share for _, share in shares), reverse=True)[:_MOST][-1]
    most = [one for one in shares if one[1] >= least][:_MOST]
    return " · ".join(f"{name} {share:.1%}" for name, share in most)


def _region(measured: Measured) -> str:
    if not measured.region:
        return ""
    return f"{sum(measured.region) / len(measured.region):.1%}"
