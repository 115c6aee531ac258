"""What a model's answers do to the readers who see them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.aid import Arm, first_values, latest_values
from viewer.domain.answer import Answer
from viewer.domain.case import Dataset
from viewer.domain.form_values import Value, Values, values_of_json
from viewer.domain.item import item_of
from viewer.domain.plain import made
from viewer.domain.reading import Material, Withheld
from viewer.metrics import aided
from viewer.metrics.aided import AidedCase
from viewer.metrics.estimate import Estimate
from viewer.services.readings.advice import is_right
from viewer.services.readings.replies import (
    answer_of,
    spec_of_reader,
    trials_of_reader,
)
from viewer.services.sessions.ground import TRAINING, Ground, ground_of
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, readings
from viewer.store.database import Store, open_store
from viewer.store.readings import PlannedTask
from viewer.studies.reading_tasks import Choice


@dataclass(frozen=True)
class Effect:
    """What a model's answers did to the readers of one reader's cases.

    ``cases`` had an answer; each estimate has its interval by patient.
    """

    reader: str
    arm: Arm
    cases: int
    gain: Estimate
    automation_bias: Estimate
    over_trust: Estimate
    under_trust: Estimate


def effects(store: Path, session: int) -> tuple[Effect, ...]:
    """Return the effects on every reader of a session's work, () if none was aided.

    Of a session that was sealed elsewhere they are known there alone.
    """
    with open_store(store) as opened:
        first = ground_of(opened, session)
        if first.spec.aid is None or first.spec.seal is not None:
            return ()
        dataset = cases.dataset_named(opened, first.session.dataset)
        found = [
            _effect(ground, tuple(_aided(opened, ground, dataset)))
            for row in readings.session_rows(opened, work=first.session.work)
            if not row.withdrawn
            for ground in (ground_of(opened, row.id),)
        ]
    return tuple(found)


def _effect(ground: Ground, read: Sequence[AidedCase]) -> Effect:
    assert ground.spec.aid is not None  # noqa: S101 - `effects` looked
    return Effect(
        ground.session.reader,
        ground.spec.aid.arm,
        len(read),
        aided.gain(read),
        aided.automation_bias(read),
        aided.over_trust(read),
        aided.under_trust(read),
    )


@dataclass(frozen=True)
class _Scoring:
    """How a session's answers are found in its values, and which are right."""

    answer: Callable[[Values], Value | None]
    right: Callable[[str, Value | None], bool]
    patients: Mapping[str, str]


def _scoring(ground: Ground, dataset: Dataset) -> _Scoring:
    if ground.task is not None and ground.task.choice is not None:
        return _of_choice(ground.task.choice, dataset)
    context = RunContext(spec_of_reader(ground), dataset)
    asked = trials_of_reader(ground, dataset)

    def right(item: str, answer: Value | None) -> bool:
        place = answer if isinstance(answer, Answer) else None
        return bool(is_right(context, asked[item], place))

    return _Scoring(
        lambda values: answer_of(ground.form, values),
        right,
        {name: trial.patient for name, trial in asked.items()},
    )


def _of_choice(choice: Choice, dataset: Dataset) -> _Scoring:
    items = {item.key: item for item in dataset.items}
    return _Scoring(
        lambda values: values.get(choice.question),
        lambda name, answer: answer == choice.right(item_of(items, name)),
        {item.key: item.patient for item in dataset.items},
    )


def _aided(store: Store, ground: Ground, dataset: Dataset) -> Iterator[AidedCase]:
    """Yield the locked cases that had an answer."""
    scoring = _scoring(ground, dataset)
    before = _unaided(store, ground, scoring)
    tasks = readings.tasks_of(store, ground.session.id)
    for position, standing in enumerate(standings_of(store, ground)):
        task = tasks[position]
        advice = _advice(store, ground, task, position)
        if not standing.complete or advice is None or task.view == TRAINING:
            continue
        yield _case(ground, scoring, task.item, standing.values, advice, before)


def _advice(
    store: Store, ground: Ground, task: PlannedTask, position: int
) -> Value | None:
    """Return the answer that a case showed, None without one."""
    withheld = readings.withheld_at(store, ground.session.id, position)
    told = (
        made(Material, json.loads(task.material), where="the case").advice
        or made(Withheld, json.loads(withheld), where="the case").advice
    )
    return next(iter(values_of_json(told).values()), None) if told else None


def _case(
    ground: Ground,
    scoring: _Scoring,
    item: str,
    values: Values,
    advice: Value,
    before: Mapping[str, Value | None],
) -> AidedCase:
    final, first = scoring.answer(latest_values(values)), before.get(item)
    after = ground.spec.aid is not None and ground.spec.aid.arm is Arm.AFTER
    if after:
        first = scoring.answer(first_values(values))
    known = after or item in before
    return AidedCase(
        patient=scoring.patients[item],
        item=item,
        advice_right=scoring.right(item, advice),
        final_right=scoring.right(item, final),
        followed=final == advice,
        first_right=scoring.right(item, first) if known else None,
        agreed=known and first == advice,
    )


def _unaided(
    store: Store, ground: Ground, scoring: _Scoring
) -> Mapping[str, Value | None]:
    """Return the same reader's answers to the same questions without any advice."""
    found: dict[str, Value | None] = {}
    for row in readings.session_rows(store):
        if row.reader != ground.session.reader or row.withdrawn:
            continue
        other = ground_of(store, row.id)
        same = (other.spec.asked, other.spec.task) == (
            ground.spec.asked,
            ground.spec.task,
        )
        if row.kind is not ground.session.kind or other.spec.aid or not same:
            continue
        tasks = readings.tasks_of(store, row.id)
        for task, standing in zip(tasks, standings_of(store, other), strict=True):
            if standing.complete and task.item in scoring.patients:
                found[task.item] = scoring.answer(standing.values)
    return found
