"""The trials of a run, fixed before the first question is asked."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import OPTIONS, EvidenceCase, EvidenceType
from viewer.domain.item import Item
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.metrics.posterior import Estimator
from viewer.studies.evidence_diagnosis.params import (
    PREPARING,
    Arm,
    Params,
    Task,
    read_params,
)
from viewer.studies.evidence_diagnosis.people import of_people, trials_of
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.showing import (
    Modality,
    Showing,
    sensitivity_showings,
    showing_of,
)
from viewer.studies.evidence_diagnosis.validation import REFUTED, problems_of


def conditions(params: Params, seed: int = 0) -> tuple[Condition, ...]:
    """Return every way in which a case may be shown."""
    every = [s for task in Task for s in showings(task, tuple(EvidenceType), params)]
    return tuple(showing.condition(seed) for showing in dict.fromkeys(every))


def showings(
    task: Task, types: tuple[EvidenceType, ...], params: Params
) -> tuple[Showing, ...]:
    """Return how a case with these types of evidence is shown for a task.

    The refined prompt is about options, so it is none for a differential, which has
    arms of its own. Every cyclic order is asked of the plain case alone, and what is
    left out in turn in the first order; an estimator over all orders turns them within
    the trial.
    """
    if task in PREPARING:
        return (Showing(),)
    if task is not Task.FDX:
        return tuple(showing_of(Arm(arm)) for arm in params.differential_arms)
    arms = [Arm(arm) for arm in params.arms]
    found = [showing_of(arm) for arm in arms]
    if params.cyclic_orders:
        found += [Showing().turned(order) for order in range(OPTIONS)]
    if params.sensitivity:
        found += _left_out(types, params, refined=False)
        if Arm.REFINED in arms:
            found += _left_out(types, params, refined=True)
    return tuple(dict.fromkeys(found))


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial, case by case: task, condition, repeat, model.

    ``finding`` of a trial is its task, ``view`` the case's language. A case of which
    an image that is shown cannot be read is excluded where it is shown.
    """
    params = read_params(spec.preset, spec.params)
    defects = {image.key: image.defects.get("*", "") for image in dataset.images}
    asked = [(item, tasks_of(item, params)) for item in dataset.items]
    wanted = [(item, tasks) for item, tasks in asked if tasks]
    if not wanted:
        raise WrongUseError(
            f"The data set '{dataset.name}' has no case in "
            f"{' or '.join(params.languages)} for the tasks {', '.join(params.tasks)}.",
            "Import cases or reports with overread import medsyn, or choose their "
            "language.",
        )
    return tuple(
        trial
        for item, tasks in wanted[: spec.limit]
        for task in tasks
        for showing in showings(task, _types(item), params)
        for trial in _trials(item, task, showing, spec, defects)
    )


def tasks_of(item: Item, params: Params) -> tuple[Task, ...]:
    """Return the tasks of an item: to prepare a report, or to solve a case."""
    if str(item.facts.get("language", "")) not in params.languages:
        return ()
    tasks = [Task(task) for task in params.tasks]
    return tuple(task for task in tasks if (task in PREPARING) == is_report(item))


def orders_within(params: Params) -> int:
    """Return how many orders of the options one trial asks."""
    permuted = params.sensitivity and params.estimator is Estimator.PERMUTED
    return OPTIONS if permuted else 1


def answers_within(params: Params) -> int:
    """Return how many answers one trial draws for its estimator."""
    drawn = params.sensitivity and params.estimator is Estimator.MONTE_CARLO
    return params.draws if drawn else 1


def most_answers(params: Params) -> int:
    """Return how many answers one trial takes at most, for the price of a batch."""
    untold = params.sensitivity and params.draw_where_untold
    within = max(orders_within(params), answers_within(params))
    return max(within, params.draws) if untold else within


def _case(item: Item) -> EvidenceCase:
    try:
        return EvidenceCase.of_item(item)
    except WrongUseError as error:
        raise WrongUseError(
            f"The item '{item.key}' is not a case with several pieces of evidence.",
            "Choose a data set that was imported as medsyn.",
        ) from error


def _types(item: Item) -> tuple[EvidenceType, ...]:
    return () if is_report(item) else _case(item).types


def _left_out(
    types: tuple[EvidenceType, ...], params: Params, *, refined: bool
) -> Iterator[Showing]:
    for evidence in types:
        found = sensitivity_showings(evidence, params.context, refined)
        for pair in (found.image, found.text):
            yield from (pair.full, pair.without)


def _trials(
    item: Item,
    task: Task,
    showing: Showing,
    spec: RunSpec,
    defects: Mapping[str, str],
) -> Iterator[Trial]:
    if is_report(item):
        exclusion = _unpreparable(item, task)
    else:
        exclusion = _exclusion(item, showing, defects)
    about: dict[str, Any] = {
        "item": item.named(task),
        "patient": item.patient,
        "image": item.images[0] if item.images else "",
        "view": str(item.facts["language"]),
        "finding": str(task),
        "condition": showing.condition(spec.seed),
    }
    for repeat in range(spec.repeats):
        for model in spec.models:
            if not of_people([model]):
                name = model.name
                yield Trial(**about, repeat=repeat, model=name, exclusion=exclusion)
    if of_people(spec.models) and task is Task.DDX and showing.arm is Arm.RAW:
        refuted = REFUTED if problems_of(item) else ""
        yield from trials_of(item, {**about, "exclusion": refuted})


NO_DIAGNOSIS: Final = "no_diagnosis"
"""Why no distractors are made of a report."""


def _unpreparable(item: Item, task: Task) -> str:
    is_named = bool(str(item.reference.get("diagnosis", "")).strip())
    return NO_DIAGNOSIS if task is Task.DISTRACTORS and not is_named else ""


def _exclusion(item: Item, showing: Showing, defects: Mapping[str, str]) -> str:
    case = _case(item)
    if problems_of(item):
        return REFUTED
    shown = [
        image
        for one in case.evidence
        if showing.modality(one) is Modality.IMAGE
        for image in one.images
    ]
    return next((reason for image in shown if (reason := defects.get(image, ""))), "")
