"""Answers in words about an image: with boxes drawn on it, or with an explanation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelReply
from viewer.domain.grid import Grid
from viewer.domain.run import RunSpec
from viewer.services.inspecting.answers import StoredAnswer, reused_words
from viewer.services.inspecting.explanations import Explanation, reasons_of
from viewer.services.inspecting.marked_images import NOWHERE
from viewer.services.inspecting.predicted_boxes import predicted_boxes, replies_read
from viewer.services.inspecting.runs import called
from viewer.store import cases, flat, items, reuse, runs, steps, trials
from viewer.store.database import Store, open_store
from viewer.store.steps import kept_replies
from viewer.store.trials import TrialReply
from viewer.studies.catalog import study_named
from viewer.studies.steps import PredictedBoxes, StepReply
from viewer.studies.study import PointsOut

_ANY_GRID: Final = Grid(8, 8)
"""Placeholder for the grid of an answer with a cell; never shown."""

_MOST: Final = 200


def written_about(store: Path, ref: ImageRef) -> tuple[StoredAnswer, ...]:
    """Return the answers in words about an image, searched among its newest 200 trials.

    Those with boxes on it come first, newest first; then those whose right answer the
    data set explains, of each run in the order planned: the image as it is, then
    without it or changed.
    """
    with open_store(store) as opened:
        newest = items.trials_showing(opened, ref, _MOST)
        drawn = (one for trial in newest for one in _written(opened, trial))
        explained = (one for trial in newest for one in _explained(opened, trial, ref))
        return (
            *(answer for answer in drawn if answer.ref == ref),
            *sorted(explained, key=lambda answer: (-answer.run, answer.trial)),
        )


def written_of_trial(store: Path, trial: int) -> StoredAnswer:
    """Return a trial's answer with the boxes on the first image that has any.

    One without a box raises WrongUseError.
    """
    with open_store(store) as opened:
        found = next(_written(opened, trial), None)
    if found is None:
        raise WrongUseError(
            "No box was named in this trial.", "See it in Measure instead."
        )
    return found


def _written(store: Store, trial: int) -> Iterator[StoredAnswer]:
    """Yield a trial's answer for each image on which it names boxes."""
    asked = steps.asked_of_trial(store, trial)
    spec = runs.run_spec(store, asked.run)
    if asked.reply is None or not isinstance(study_named(spec.study), PointsOut):
        return
    (listed,) = flat.trials_at(store, [trial])
    trial_replies = kept_replies(store, asked.id, asked.reply)
    replies = replies_read(spec, listed.trial, trial_replies)
    pairs = zip(trial_replies, replies, strict=True)
    so_far = tuple(StepReply(one.step, reply) for one, reply in pairs if reply)
    pointed = predicted_boxes(store, listed.trial, asked, spec, so_far)
    drawn = [one for one in pointed if one.boxes and one.key]
    refs = cases.image_refs_of_run(store, asked.run) if drawn else {}
    for one in drawn:
        reply_pair = _of_step(trial_replies, replies, one.step)
        yield _stored(store, listed, spec, one, reply_pair, refs[one.key])


def _explained(store: Store, trial: int, ref: ImageRef) -> Iterator[StoredAnswer]:
    """Yield a trial's answer where its data set explains the right one."""
    asked = steps.asked_of_trial(store, trial)
    spec = runs.run_spec(store, asked.run)
    words = study_named(spec.study).words
    if asked.reply is None or words.explained is None:
        return
    (listed,) = flat.trials_at(store, [trial])
    why = Explanation(reasons_of(store, asked.run, spec, listed.trial))
    trial_replies = kept_replies(store, asked.id, asked.reply)
    replies = replies_read(spec, listed.trial, trial_replies)
    last, reply = trial_replies[-1], replies[-1]
    if why.reasons and reply is not None:
        nowhere = PredictedBoxes(last.step.name, 0, NOWHERE, ())
        answer = _stored(store, listed, spec, nowhere, (last, reply), ref)
        subset, _, condition = called(listed.trial, words)
        yield replace(answer, finding=f"{subset}, {condition}", explained=why.text)


_ReplyPair = tuple[TrialReply, ModelReply]


def _of_step(
    trial_replies: Sequence[TrialReply], replies: Sequence[ModelReply | None], step: str
) -> _ReplyPair:
    """Return the latest reply to a step, by the step's name."""
    pairs = zip(trial_replies, replies, strict=True)
    return [(k, r) for k, r in pairs if r and k.step.name == step][-1]


def _stored(
    store: Store,
    listed: flat.ListedTrial,
    spec: RunSpec,
    pointed: PredictedBoxes,
    pair: _ReplyPair,
    ref: ImageRef,
) -> StoredAnswer:
    (trial_reply, reply), trial = pair, listed.trial
    profile = next(p for p in spec.models if p.name == trial.model)
    finding, view, condition = called(trial, study_named(spec.study).words)
    request = trials.sent_request(store, trial_reply.request_sha256)
    origin = reuse.origin_of(store, listed.id)
    return StoredAnswer(
        trial=listed.id,
        run=listed.run,
        ref=ref,
        finding=finding,
        view=view,
        model=trial.model,
        adapter=profile.adapter,
        grid=_ANY_GRID,
        field=pointed.field,
        score=listed.score,
        reference_cells=(),
        reply_text=reply.text,
        note=reply.note,
        latency_ms=trial_reply.raw.latency_ms,
        cost_microusd=None,
        model_returned=reply.model_returned,
        prompt_sha256=request.prompt_sha256,
        request_sha256=request.sha256,
        parameters={
            "study": spec.study,
            "preset": spec.preset,
            "item": trial.item,
            "condition": condition,
            "step": trial_reply.step.name,
            "seed": str(spec.seed),
            "repeat": str(trial.repeat),
        },
        asked_at=runs.run_summary(store, listed.run).created_at,
        written=ReportAnswer(reply.text, pointed.boxes),
        reply=trial_reply.id,
        reused=reused_words(origin.origin_run, origin.origin_model) if origin else "",
    )
