"""Which trials a run consists of, fixed before the first question is asked.

Perturbed trials are planned for every positive question. Which of them count is known
only after the model has answered the question itself: only true positives are followed
up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from viewer.domain.case import Dataset, DatasetImage
from viewer.domain.item import TASK_MARK
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.studies.grounded_vqa.arms import (
    IMAGE_ARMS,
    NONE,
    PLAIN,
    TEXT_SHAM,
    TEXT_SWAPS,
    change_of,
    conditions,
    is_perturbed,
    pair_change,
    perturbation_of,
    shows_region,
    wording_change,
)
from viewer.studies.grounded_vqa.benchmark import benchmarks_of
from viewer.studies.grounded_vqa.localizing import locates
from viewer.studies.grounded_vqa.params import Params, read_params
from viewer.studies.grounded_vqa.questions import Benchmark, Kind, Question
from viewer.studies.grounded_vqa.textual import TextPlan, plan_text_edits
from viewer.studies.grounded_vqa.visual import ImagePlan, plan_image_edits

OPEN = "any finding"
"""What open questions are counted under."""
_NO_SWAP = "no_valid_swap"
_NO_DONOR = "no_donor"
_NO_MASK = "no_anatomy_mask"


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial, question by question: condition, repeat, model.

    The ``finding`` of a trial is the one asked about, its ``view`` the kind of
    question. A perturbation that cannot be made is an excluded trial. Items that are
    not questions are excluded as well, once each.
    """
    params = read_params(spec.preset, spec.params)
    benchmarks = benchmarks_of(dataset, params)
    images = {image.key: image for image in dataset.images}
    questions = [
        (q, benchmark) for benchmark in benchmarks for q in benchmark.questions
    ]
    found = tuple(
        trial
        for question, benchmark in questions[: spec.limit]
        for name, condition, why in _asked(
            question, images[question.image], benchmark, params, spec.seed
        )
        for trial in _trials(
            question,
            name,
            condition,
            spec,
            why or _exclusion(question, name, condition, images, params),
        )
    )
    return found if spec.limit else (*found, *_unreadable(dataset, benchmarks, spec))


def _asked(
    question: Question,
    image: DatasetImage,
    benchmark: Benchmark,
    params: Params,
    seed: int,
) -> Iterator[tuple[str, Condition, str]]:
    """Yield each trial's name, condition and exclusion reason, "" for none.

    The relations of an unreadable image are unknown, so each of its perturbations is
    listed once, without a change.
    """
    texts, images = TextPlan((), ()), ImagePlan((), ())
    positive, defect = question.kind is Kind.POSITIVE, image.defects.get("*", "")
    if positive and not defect:
        texts = plan_text_edits([question], benchmark, params, seed)
        images = plan_image_edits([question], benchmark, params, seed)
    for condition in conditions(params):
        if not is_perturbed(condition.name):
            yield question.key, condition, defect
        elif positive and defect:
            yield f"{question.key}{TASK_MARK}{NONE}", condition, defect
        for change, exclusion in _changes(
            perturbation_of(condition.name), texts, images
        ):
            yield f"{question.key}{TASK_MARK}{change}", condition, exclusion


def _changes(
    condition: str, texts: TextPlan, images: ImagePlan
) -> Iterator[tuple[str, str]]:
    if condition in TEXT_SWAPS:
        swapped = TEXT_SWAPS[condition]
        for edit in texts.edits:
            if edit.swapped is swapped:
                yield pair_change((edit.anatomy, edit.finding)), ""
        for _, without in texts.without_swap:
            if without is swapped:
                yield NONE, _NO_SWAP
    if condition == TEXT_SHAM:
        yield from ((wording_change(e.template), "") for e in texts.edits if e.sham)
    if condition in IMAGE_ARMS:
        arm = IMAGE_ARMS[condition]
        yield from ((edit.donor, "") for edit in images.edits if edit.arm is arm)
        yield from ((NONE, _NO_DONOR) for _, a in images.without_donor if a is arm)


def _trials(
    question: Question,
    name: str,
    condition: Condition,
    spec: RunSpec,
    exclusion: str,
) -> Iterator[Trial]:
    for repeat in range(spec.repeats):
        for model in spec.models:
            yield Trial(
                item=name,
                patient=question.patient,
                image=question.image,
                view=question.kind.value,
                finding=question.finding or OPEN,
                condition=condition,
                repeat=repeat,
                model=model.name,
                exclusion=exclusion,
            )


def _exclusion(
    question: Question,
    name: str,
    condition: Condition,
    images: Mapping[str, DatasetImage],
    params: Params,
) -> str:
    """Return why a trial's region cannot be shown as the condition wants it, or ""."""
    anatomy = images[question.image].anatomy
    masks = (anatomy.get(a) for a in _masked(question, name, condition, params))
    return _NO_MASK if any(mask is None or mask.is_empty for mask in masks) else ""


def _masked(
    question: Question, name: str, condition: Condition, params: Params
) -> tuple[str, ...]:
    """Return the anatomies whose masks a trial's questions are made with."""
    change = change_of(name, condition.name)
    if shows_region(condition.name) and not locates(params):
        return question.anatomy, change.pair[0] if change.pair else question.anatomy
    return (question.anatomy,) if change.donor else ()


def _unreadable(
    dataset: Dataset, benchmarks: Sequence[Benchmark], spec: RunSpec
) -> Iterable[Trial]:
    """Yield an excluded trial of every item that is not a question of this study."""
    readable = {question.key for one in benchmarks for question in one.questions}
    reasons = {n.subject: n.kind for one in benchmarks for n in one.notices}
    for item in dataset.items:
        if item.key in readable:
            continue
        for repeat in range(spec.repeats):
            for model in spec.models:
                yield Trial(
                    item=item.key,
                    patient=item.patient,
                    image=item.images[0] if item.images else "",
                    view=item.kind,
                    finding=OPEN,
                    condition=Condition(PLAIN),
                    repeat=repeat,
                    model=model.name,
                    exclusion=reasons[item.key],
                )
