"""Which trials a run consists of, fixed before the first question is asked."""

from collections.abc import Iterator, Mapping, Sequence

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.question_kinds import PLACED
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.studies.exclusions import NO_OTHER_PATIENT
from viewer.studies.question_set.arms import (
    asked_in,
    conditions,
    other_images,
    shows_image,
)
from viewer.studies.question_set.params import Arm, read_params
from viewer.studies.question_set.questions import Asked, is_judged, questions_of


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial, item by item: condition, repeat, model.

    ``finding`` of a trial is its category, ``view`` the kind of its answer. An item
    whose image is missing is excluded where the arm shows one.

    Raises
    ------
    WrongUseError
        There is no question, none is asked in any arm, or answers are to be judged and
        no model is named as judge.
    """
    params = read_params(spec.preset, spec.params)
    asked = questions_of(dataset)
    if not params.judge and any(map(is_judged, dataset.items)):
        raise WrongUseError(
            f"The data set '{dataset.name}' wants answers judged, but the run names no "
            "judge.",
            'Add for example judge = "my-model" to its parameters.',
        )
    usable = tuple(usable_questions(dataset))
    others = other_images(usable, spec.seed)
    defects = _defects(dataset)
    trials = tuple(
        trial
        for one in asked[: spec.limit]
        for condition in conditions(params, spec.seed)
        if asked_in(one, Arm(condition.name))
        for trial in _trials(
            one, condition, spec, _exclusion(one, condition, defects, others)
        )
    )
    if not trials:
        raise WrongUseError(
            "No question has options, but the run asks with options only.",
            "Add the arm image.",
        )
    return trials


def usable_questions(dataset: Dataset) -> Iterator[Asked]:
    """Yield the questions all of whose images can be read."""
    defects = _defects(dataset)
    return (one for one in questions_of(dataset) if not _unseen(one.images, defects))


def _trials(
    asked: Asked, condition: Condition, spec: RunSpec, exclusion: str
) -> Iterator[Trial]:
    for repeat in range(spec.repeats):
        for model in spec.models:
            yield Trial(
                item=asked.key,
                patient=asked.patient,
                image=asked.images[0] if asked.images else "",
                view=asked.kind.value,
                finding=asked.category,
                condition=condition,
                repeat=repeat,
                model=model.name,
                exclusion=exclusion,
            )


def _defects(dataset: Dataset) -> Mapping[str, str]:
    return {image.key: image.defects.get("*", "") for image in dataset.images}


def _exclusion(
    asked: Asked,
    condition: Condition,
    defects: Mapping[str, str],
    others: Mapping[str, str],
) -> str:
    arm = Arm(condition.name)
    if not shows_image(arm) and asked.kind not in PLACED:
        return ""
    unseen = _unseen(asked.images, defects)
    lonely = arm is Arm.OTHER_IMAGE and not others.get(asked.key)
    return unseen or (NO_OTHER_PATIENT if lonely else "")


def _unseen(images: Sequence[str], defects: Mapping[str, str]) -> str:
    if not images:
        return "no_image"
    return next((why for key in images if (why := defects.get(key, ""))), "")
