"""Which trials a run consists of, fixed before the first question is asked."""

from collections.abc import Iterator, Mapping, Sequence

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.studies.pathology_mcq.arms import (
    BUILDING,
    arm_of,
    asked_in,
    conditions,
    donors,
    shows_image,
)
from viewer.studies.pathology_mcq.making import captioned
from viewer.studies.pathology_mcq.params import Arm, Invalid, Params, Work, read_params
from viewer.studies.pathology_mcq.questions import Asked, asked_of
from viewer.studies.pathology_mcq.validity import validity_of


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial, item by item: condition, repeat, model.

    ``finding`` of a trial is its subset, ``view`` its split. An item with a missing
    image is excluded in arms that show it, and asked in others; text-only models are
    asked only there. A run that makes questions has a trial for each captioned image,
    whatever its split.

    Raises
    ------
    WrongUseError
        No question matches the selection, or every arm shows images and no model takes
        any.
    """
    params = read_params(spec.preset, spec.params)
    if params.work is Work.BUILDING:
        return tuple(_to_build(dataset, spec, params))
    asked = questions_asked(dataset, params)
    exchanged = donors(asked, params, spec.seed)
    rejected, defects = _rejected(dataset, params), _defects(dataset)
    trials = tuple(
        trial
        for mcq in asked[: spec.limit]
        for condition in conditions(params)
        if asked_in(mcq, arm_of(condition.name), exchanged, params)
        for trial in _trials(
            mcq,
            condition,
            spec,
            rejected.get(mcq.key)
            or _unmatched(mcq, condition, exchanged)
            or _exclusion(mcq, condition, defects),
        )
        if params.shows_images_to(trial.model)
        or not shows_image(arm_of(condition.name))
    )
    if not trials:
        raise WrongUseError(
            "Every arm of the run asks with images, but none of its models is shown "
            "any.",
            "Add the arm text_only, or name fewer models in no_image_models.",
        )
    return trials


def questions_asked(dataset: Dataset, params: Params) -> Sequence[Asked]:
    """Return the questions of the selected splits and subsets, in the data set's order.

    Raises WrongUseError if there are none.
    """
    mcqs = [asked_of(item) for item in dataset.items]
    wanted = params.wanted_subsets
    asked = [
        mcq
        for mcq in mcqs
        if mcq.split in params.splits and (not wanted or mcq.subset in wanted)
    ]
    if not asked:
        there = sorted({f"{mcq.subset} {mcq.split}" for mcq in mcqs})
        raise WrongUseError(
            f"The data set '{dataset.name}' has no question of the requested subsets "
            "and splits.",
            f"It has {', '.join(there) or 'no multiple-choice question at all'}.",
        )
    return asked


def _unmatched(mcq: Asked, condition: Condition, exchanged: Mapping[str, str]) -> str:
    """Return why an item cannot get another item's question; "" if it can."""
    is_swapped = arm_of(condition.name) is Arm.MISMATCH
    return "no_other_question" if is_swapped and not exchanged[mcq.key] else ""


def _to_build(dataset: Dataset, spec: RunSpec, params: Params) -> Iterator[Trial]:
    wanted, defects = params.wanted_subsets, _defects(dataset)
    chosen = [i for i in captioned(dataset) if not wanted or i.kind in wanted]
    for item in chosen[: spec.limit]:
        split = str(item.facts.get("split", ""))
        asked = Asked(item.key, item.patient, item.kind, split, item.images, "", ())
        yield from _trials(asked, BUILDING, spec, _unseen(item.images, defects))


def _defects(dataset: Dataset) -> Mapping[str, str]:
    return {image.key: image.defects.get("*", "") for image in dataset.images}


def _trials(
    mcq: Asked, condition: Condition, spec: RunSpec, exclusion: str
) -> Iterator[Trial]:
    for repeat in range(spec.repeats):
        for model in spec.models:
            yield Trial(
                item=mcq.key,
                patient=mcq.patient,
                image=mcq.images[0] if mcq.images else "",
                view=mcq.split,
                finding=mcq.subset,
                condition=condition,
                repeat=repeat,
                model=model.name,
                exclusion=exclusion,
            )


def _rejected(dataset: Dataset, params: Params) -> Mapping[str, str]:
    """Return the first reason of each item that a reviewer rejects."""
    if params.invalid is Invalid.ASK:
        return {}
    found = map(validity_of, dataset.items)
    return {one.item: one.failed[0] for one in found if one.failed}


def _exclusion(mcq: Asked, condition: Condition, defects: Mapping[str, str]) -> str:
    if not shows_image(arm_of(condition.name)):
        return ""
    return _unseen(mcq.images, defects)


def _unseen(images: Sequence[str], defects: Mapping[str, str]) -> str:
    if not images:
        return "no_image"
    return next((why for key in images if (why := defects.get(key, ""))), "")
