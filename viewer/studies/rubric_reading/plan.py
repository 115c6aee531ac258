"""The trials of a run, fixed before the first question is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item
from viewer.domain.report_study import ReportStudy, is_study, study_of
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.domain.task_selection import SelectedTask
from viewer.metrics.seeding import generator
from viewer.studies.rubric_reading.params import Params, Work, read_params
from viewer.studies.rubric_reading.policy import Shown, shown

CONDITION: Final = Condition("plain")
CURATION: Final = Condition("curation")
NO_REPORT: Final = "no_report"
"""Why no task is proposed for a study: neither indication nor findings are there."""
TEMPORAL, SINGLE = "temporal", "single study"


@dataclass(frozen=True)
class Asked:
    """A task of a study, with its trials' name."""

    name: str
    study: ReportStudy
    task: SelectedTask

    def shown_to(self, model: str, params: Params) -> Shown:
        """Return the images that a model is shown for this task."""
        return shown(
            self.study.images,
            params.policy_for(model),
            temporal=self.task.temporal,
            prior_days=self.study.prior_days,
            max_prior_days=params.max_prior_days,
        )


def plan(dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
    """Return every trial, task by task: repeat, model.

    ``finding`` of a trial is the task's category, ``view`` whether it is temporal; a
    task whose images a model cannot be shown is excluded with its reason.
    """
    params = read_params(spec.preset, spec.params)
    if params.work is Work.CURATION:
        return tuple(_proposals(dataset, spec, params))
    asked = tasks_of(dataset.items)
    if not asked:
        raise WrongUseError(
            f"The studies of '{dataset.name}' have no tasks.",
            "Select tasks for them, save them as tasks.json in the folder and import "
            "it again.",
        )
    defects = {image.key: image.defects.get("*", "") for image in dataset.images}
    return tuple(
        _trial(one, model.name, repeat, params, defects)
        for one in asked[: spec.limit]
        for repeat in range(spec.repeats)
        for model in spec.models
    )


def _proposals(dataset: Dataset, spec: RunSpec, params: Params) -> Iterator[Trial]:
    """Yield a trial for each sampled study; one without a report is excluded."""
    items = {item.key: item for item in dataset.items if is_study(item)}
    if not items:
        raise WrongUseError(
            f"'{dataset.name}' has no study with a report.",
            "Import studies as report-studies or mimic-cxr.",
        )
    for key in sampled(tuple(items), params.studies, spec.seed)[: spec.limit]:
        study = study_of(items[key])
        context = study.indication or study.findings
        for repeat in range(spec.repeats):
            for model in spec.models:
                yield Trial(
                    item=key,
                    patient=study.patient,
                    image="",
                    view=TEMPORAL if study.has_prior else SINGLE,
                    finding=CURATION.name,
                    condition=CURATION,
                    repeat=repeat,
                    model=model.name,
                    exclusion="" if context else NO_REPORT,
                )


def tasks_of(items: Sequence[Item]) -> tuple[Asked, ...]:
    """Return every task of the items that are studies, in their order."""
    return tuple(_tasks(items))


def task_named(item: Item, name: str) -> Asked:
    """Return an item's task by its trials' ``name``; KeyError if there is none."""
    return {one.name: one for one in _tasks([item])}[name]


def sampled(keys: Sequence[str], number: int, seed: int) -> tuple[str, ...]:
    """Return ``number`` studies drawn at random, in their order (E001-20).

    The same keys and seed give the same studies; all of them where they are fewer.
    """
    ordered = sorted(keys)
    drawn = generator(seed, "studies").permutation(len(ordered))[:number]
    return tuple(ordered[i] for i in sorted(drawn.tolist()))


def _tasks(items: Sequence[Item]) -> Iterator[Asked]:
    for item in items:
        if is_study(item):
            study = study_of(item)
            for task in study.tasks:
                yield Asked(item.named(task.id), study, task)


def _trial(
    asked: Asked, model: str, repeat: int, params: Params, defects: dict[str, str]
) -> Trial:
    given = asked.shown_to(model, params)
    broken = next((d for i in given.images if (d := defects.get(i.key, ""))), "")
    return Trial(
        item=asked.name,
        patient=asked.study.patient,
        image=given.images[0].key if given.images else "",
        view=TEMPORAL if asked.task.temporal else SINGLE,
        finding=asked.task.category.value,
        condition=CONDITION,
        repeat=repeat,
        model=model,
        exclusion=given.reason or broken,
    )
