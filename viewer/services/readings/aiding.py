"""What a model's answers do to the readers who see them."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.aid import Arm, first_values, latest_values, stages_alone
from viewer.domain.answer import Answer
from viewer.domain.case import Dataset
from viewer.domain.form_values import Value, Values, values_of_json
from viewer.domain.item import item_of
from viewer.domain.plain import made
from viewer.domain.reading import Material, Withheld
from viewer.metrics import aided
from viewer.metrics.aided import AidedCase
from viewer.metrics.estimate import Estimate
from viewer.services.readings.advised_places import Places, is_right
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
    """What a model's answers did to a reader in one arm.

    ``cases`` had an answer, which was ``wrong`` in so many of them; ``tempted`` and
    ``helped`` are how many count for over-trust and under-trust. Each estimate has its
    interval by patient.
    """

    reader: str
    arm: Arm
    cases: int
    wrong: int
    tempted: int
    helped: int
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
        return tuple(
            effect
            for row in readings.session_rows(opened, work=first.session.work)
            if not row.withdrawn
            for effect in _effects(opened, ground_of(opened, row.id), dataset)
        )


def _effects(store: Store, ground: Ground, dataset: Dataset) -> Iterator[Effect]:
    """Yield a reader's effects in each arm that a case was locked in; in one at least.

    A reader who has locked nothing has one too, so that nobody is missing.
    """
    by_arm: dict[Arm, list[AidedCase]] = defaultdict(list)
    for arm, one in _aided(store, ground, dataset):
        by_arm[arm].append(one)
    aid = ground.spec.aid
    if not by_arm and aid is not None:
        by_arm[aid.arm] = []
    for arm in sorted(by_arm):
        yield _effect(ground.session.reader, arm, by_arm[arm])


def _effect(reader: str, arm: Arm, read: Sequence[AidedCase]) -> Effect:
    return Effect(
        reader,
        arm,
        len(read),
        sum(not one.advice_right for one in read),
        len(aided.tempted(read)),
        len(aided.helpable(read)),
        aided.gain(read),
        aided.automation_bias(read),
        aided.over_trust(read),
        aided.under_trust(read),
    )


@dataclass(frozen=True)
class _Scoring:
    """How a session's answers are found in its values, and which are right or alike."""

    answer: Callable[[Values], Value | None]
    right: Callable[[str, Value | None], bool]
    alike: Callable[[str, Value | None, Value | None], bool]
    patients: Mapping[str, str]


def _scoring(ground: Ground, dataset: Dataset) -> _Scoring:
    if ground.task is not None and ground.task.choice is not None:
        return _of_choice(ground.task.choice, dataset)
    context = RunContext(spec_of_reader(ground), dataset)
    asked = trials_of_reader(ground, dataset)

    def right(item: str, answer: Value | None) -> bool:
        place = answer if isinstance(answer, Answer) else None
        return bool(is_right(context, asked[item], place))

    def alike(item: str, one: Value | None, other: Value | None) -> bool:
        if not isinstance(one, Answer) or not isinstance(other, Answer):
            return one == other
        places = Places(context, asked[item])
        return one == other or places.cell_of(one) == places.cell_of(other)

    return _Scoring(
        lambda values: answer_of(ground.form, values),
        right,
        alike,
        {name: trial.patient for name, trial in asked.items()},
    )


def _of_choice(choice: Choice, dataset: Dataset) -> _Scoring:
    items = {item.key: item for item in dataset.items}
    return _Scoring(
        lambda values: values.get(choice.question),
        lambda name, answer: answer == choice.right(item_of(items, name)),
        lambda _, one, other: one == other,
        {item.key: item.patient for item in dataset.items},
    )


def _aided(
    store: Store, ground: Ground, dataset: Dataset
) -> Iterator[tuple[Arm, AidedCase]]:
    """Yield the locked cases that had an answer, each with its arm."""
    scoring = _scoring(ground, dataset)
    before = _unaided(store, ground, scoring)
    tasks = readings.tasks_of(store, ground.session.id)
    for position, standing in enumerate(standings_of(store, ground)):
        task = tasks[position]
        advice = _advice(store, ground, task, position)
        if not standing.complete or advice is None or task.view == TRAINING:
            continue
        form = ground.form_of(task)
        after = stages_alone(form) < len(form.stages)
        arm = Arm.AFTER if after else Arm.FROM_START
        yield arm, _case(arm, scoring, task.item, standing.values, advice, before)


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
    arm: Arm,
    scoring: _Scoring,
    item: str,
    values: Values,
    advice: Value,
    before: Mapping[str, Value | None],
) -> AidedCase:
    final, first = scoring.answer(latest_values(values)), before.get(item)
    if arm is Arm.AFTER:
        first = scoring.answer(first_values(values))
    known = arm is Arm.AFTER or item in before
    return AidedCase(
        patient=scoring.patients[item],
        item=item,
        advice_right=scoring.right(item, advice),
        final_right=scoring.right(item, final),
        followed=scoring.alike(item, final, advice),
        first_right=scoring.right(item, first) if known else None,
        agreed=known and scoring.alike(item, first, advice),
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
        if other.spec.aid or _asks(other) != _asks(ground):
            continue
        tasks = readings.tasks_of(store, row.id)
        for task, standing in zip(tasks, standings_of(store, other), strict=True):
            if standing.complete and task.item in scoring.patients:
                found[task.item] = scoring.answer(standing.values)
    return found


def _asks(ground: Ground) -> tuple[object, ...]:
    """Return what makes two sessions ask the same questions of their common cases."""
    spec, session = ground.spec, ground.session
    return (session.kind, session.dataset, spec.asked.study, spec.task, spec.condition)
