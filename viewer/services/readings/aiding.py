"""Readers who see a model's answers: which are shown, and what they do to readers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.aid import Aid, Arm, first_values, latest_values
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import answer_of_json, type_of
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, PlaceKind, PlaceQuestion
from viewer.domain.form_values import values_as_json, values_of_json
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.plain import made, plain
from viewer.domain.reading import Material, Withheld
from viewer.domain.reading_history import Standing
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome
from viewer.domain.run import Condition, Trial
from viewer.metrics import aided
from viewer.metrics.aided import AidedCase
from viewer.metrics.estimate import Estimate
from viewer.metrics.seeding import generator
from viewer.services.readings.replies import (
    SAID_ABSENT,
    answer_of,
    spec_of_reader,
    trials_of_reader,
)
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, readings, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.readings import PlannedTask
from viewer.store.trials import ScoredTrial

_HITS: Final = frozenset({Outcome.FULL, Outcome.FULL_FALLBACK})
_HOW: Final = "Choose a model whose answers are of the kind that readers place."


def with_advice(
    store: Store,
    aid: Aid,
    tasks: Sequence[PlannedTask],
    condition: Condition,
    seed: int,
    form: Form,
) -> list[PlannedTask]:
    """Return cases with a model's answers to them; a case without one shows none.

    Raises
    ------
    WrongUseError
        If the run did not ask the model under the condition, or its answers are of
        another kind than readers place.
    """
    context = RunContext(
        runs.run_spec(store, aid.run), cases.dataset_of_run(store, aid.run)
    )
    asked = {
        one.trial.item: one
        for one in trials.scored_trials(store, aid.run)
        if one.trial.model == aid.model
        and one.trial.condition.name == condition.name
        and one.trial.repeat == 0
    }
    told = {t.item: one for t in tasks if (one := asked.get(t.item)) and _place(one)}
    if not told:
        raise WrongUseError(
            f"Run {aid.run} has no answer of '{aid.model}' to these cases.",
            "Choose a run of the same data set and grid, and one of its models.",
        )
    wrong = _drawn(sorted(told), aid.wrong, seed)
    return [
        _advised(
            context,
            aid,
            task,
            told.get(task.item),
            form,
            seed if task.item in wrong else None,
        )
        for task in tasks
    ]


def _place(one: ScoredTrial) -> Answer | None:
    """Return where a trial's answer is, None if it names no place."""
    found = answer_of_json(one.parsed) if one.parsed else None
    return found if isinstance(found, Answer) else None


def _drawn(items: Sequence[str], share: float, seed: int) -> frozenset[str]:
    """Return the cases whose answer is replaced, drawn by the seed."""
    order = generator(seed, "wrong advice").permutation(len(items))
    return frozenset(items[i] for i in order[: round(share * len(items))])


def _advised(
    context: RunContext,
    aid: Aid,
    task: PlannedTask,
    one: ScoredTrial | None,
    form: Form,
    wrong: int | None,
) -> PlannedTask:
    """Return a case with its advice, a wrong one drawn by the seed ``wrong``."""
    place = _place(one) if one else None
    if one is None or place is None:
        return task
    question = next(q for q in form.questions if isinstance(q, PlaceQuestion))
    kind = type_of(place)
    if kind not in question.kinds:
        raise WrongUseError(
            f"'{aid.model}' answers with a {kind.replace('_', ' ')}, and readers place "
            f"a {' or '.join(question.kinds)}.",
            _HOW,
        )
    if wrong is not None:
        place = _wrong(context, one.trial, PlaceKind(kind), wrong) or place
    advice = values_as_json({question.id: place})
    if aid.arm is Arm.AFTER:
        return replace(task, withheld=_json(Withheld(advice=advice)))
    return replace(task, material=_json(Material(advice=advice)))


def _json(document: Material | Withheld) -> str:
    return json.dumps(plain(document), sort_keys=True, ensure_ascii=False)


def _wrong(
    context: RunContext, trial: Trial, kind: PlaceKind, seed: int
) -> Answer | None:
    """Return a place that is a miss, drawn by the seed; None if there is none."""
    grid = context.places.grid(trial.condition)
    geometry = context.images[trial.image].geometry
    field = context.places.field(geometry)
    order = generator(seed, "wrong advice", trial.item).permutation(
        grid.rows * grid.columns
    )
    for number in order.tolist():
        cell = Cell(*divmod(number, grid.columns))
        place = _in_cell(kind, cell, _box(grid, cell, field), geometry.size)
        if _is_right(context, trial, place) is False:
            return place
    return None


def _box(grid: Grid, cell: Cell, field: BoxPx) -> BoxPx:
    """Return a cell's rectangle in native pixels."""
    width = (field.x1 - field.x0) / grid.columns
    height = (field.y1 - field.y0) / grid.rows
    left, top = field.x0 + cell.column * width, field.y0 + cell.row * height
    return BoxPx(left, top, left + width, top + height)


def _in_cell(kind: PlaceKind, cell: Cell, box: BoxPx, size: SizePx) -> Answer:
    """Return a place of a kind that fills a cell."""
    if kind is PlaceKind.CELL:
        return CellAnswer(cell)
    if kind is PlaceKind.POINT:
        return PointAnswer(PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2))
    if kind is PlaceKind.BOXES:
        return BoxesAnswer((box,))
    pixels = np.zeros((size.rows, size.columns), dtype=bool)
    pixels[round(box.y0) : round(box.y1), round(box.x0) : round(box.x1)] = True
    return MaskAnswer(Mask.of_array(pixels))


def _is_right(context: RunContext, trial: Trial, place: Answer | None) -> bool | None:
    """Tell whether a place is a hit; None if it cannot be scored."""
    denied = Unparsed(Status.DENIED_FINDING, SAID_ABSENT)
    outcome = context.score(context.turn(trial), place or denied).outcome
    return None if outcome is None else outcome in _HITS


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
    """Return the effects on every reader of a session's work, () if none was aided."""
    with open_store(store) as opened:
        first = ground_of(opened, session)
        if first.spec.aid is None:
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


def _aided(store: Store, ground: Ground, dataset: Dataset) -> Iterator[AidedCase]:
    """Yield the locked cases that had an answer and can be scored."""
    context = RunContext(spec_of_reader(ground), dataset)
    asked = trials_of_reader(ground, dataset)
    before = _unaided(store, ground, asked)
    tasks = readings.tasks_of(store, ground.session.id)
    for position, standing in enumerate(standings_of(store, ground)):
        advice = _advice(store, ground, tasks[position], position)
        if not standing.complete or advice is None:
            continue
        trial = asked[tasks[position].item]
        yield _case(ground, context, trial, standing, advice, before)


def _advice(
    store: Store, ground: Ground, task: PlannedTask, position: int
) -> Answer | None:
    """Return the place that a case showed, None without one."""
    withheld = readings.withheld_at(store, ground.session.id, position)
    told = (
        made(Material, json.loads(task.material), where="the case").advice
        or made(Withheld, json.loads(withheld), where="the case").advice
    )
    values = values_of_json(told) if told else {}
    return next((one for one in values.values() if isinstance(one, Answer)), None)


def _case(
    ground: Ground,
    context: RunContext,
    trial: Trial,
    standing: Standing,
    advice: Answer,
    before: Mapping[str, Answer | None],
) -> AidedCase:
    assert ground.spec.aid is not None  # noqa: S101 - `effects` looked
    final = answer_of(ground.form, latest_values(standing.values))
    first = before.get(trial.item)
    if ground.spec.aid.arm is Arm.AFTER:
        first = answer_of(ground.form, first_values(standing.values))
    known = ground.spec.aid.arm is Arm.AFTER or trial.item in before
    return AidedCase(
        patient=trial.patient,
        item=trial.item,
        advice_right=bool(_is_right(context, trial, advice)),
        final_right=bool(_is_right(context, trial, final)),
        followed=final == advice,
        first_right=bool(_is_right(context, trial, first)) if known else None,
        agreed=known and first == advice,
    )


def _unaided(
    store: Store, ground: Ground, asked: Mapping[str, Trial]
) -> Mapping[str, Answer | None]:
    """Return the same reader's answers to the same questions without any advice."""
    found: dict[str, Answer | None] = {}
    for row in readings.session_rows(store):
        if row.reader != ground.session.reader or row.withdrawn:
            continue
        other = ground_of(store, row.id)
        same = other.spec.asked == ground.spec.asked and other.places is not None
        if row.kind is not ground.session.kind or other.spec.aid or not same:
            continue
        tasks = readings.tasks_of(store, row.id)
        for task, standing in zip(tasks, standings_of(store, other), strict=True):
            if standing.complete and task.item in asked:
                found[task.item] = answer_of(other.form, standing.values)
    return found
