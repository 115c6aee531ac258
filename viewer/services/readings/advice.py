"""Which of a model's answers readers are shown, and which of them are made wrong."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    ChoiceAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import any_answer_of_json, type_of
from viewer.domain.choice import letter_of
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, PlaceKind, PlaceQuestion
from viewer.domain.form_values import values_as_json
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.item import item_of
from viewer.domain.plain import made, plain
from viewer.domain.reading import Material, Withheld
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome
from viewer.domain.run import Condition, Trial
from viewer.metrics.seeding import generator
from viewer.services.readings.replies import SAID_ABSENT
from viewer.services.sessions.ground import material_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import Store
from viewer.store.readings import PlannedTask
from viewer.store.trials import ScoredTrial
from viewer.studies.reading_tasks import Choice

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
    asked = _answered(store, aid, condition)
    told = {t.item: one for t in tasks if (one := asked.get(t.item)) and _place(one)}
    wrong = _drawn(told, aid, seed)
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
    found = any_answer_of_json(one.parsed) if one.parsed else None
    # How it was read would tell it from a drawn one, and from a reader's own click.
    place = CellAnswer(found.cell) if isinstance(found, CellAnswer) else found
    return place if isinstance(place, Answer) else None


def _answered(store: Store, aid: Aid, condition: Condition) -> dict[str, ScoredTrial]:
    """Return the model's first answers under a condition, by item."""
    return {
        one.trial.item: one
        for one in trials.scored_trials(store, aid.run)
        if one.trial.model == aid.model
        and one.trial.condition.name == condition.name
        and one.trial.repeat == 0
    }


def _drawn(told: Collection[str], aid: Aid, seed: int) -> frozenset[str]:
    """Return the cases whose answer is replaced, drawn by the seed; none raises."""
    if not told:
        raise WrongUseError(
            f"Run {aid.run} has no answer of '{aid.model}' to these cases.",
            "Choose a run of the same data set and grid, and one of its models.",
        )
    items = sorted(told)
    order = generator(seed, "wrong advice").permutation(len(items))
    return frozenset(items[i] for i in order[: round(aid.wrong * len(items))])


def with_chosen(
    store: Store,
    aid: Aid,
    tasks: Sequence[PlannedTask],
    condition: Condition,
    seed: int,
    choice: Choice,
) -> tuple[PlannedTask, ...]:
    """Return cases with the options that a model chose; one without shows none.

    A run that did not ask the model under the condition raises WrongUseError.
    """
    items = {item.key: item for item in cases.dataset_of_run(store, aid.run).items}
    asked = _answered(store, aid, condition)
    chosen = {
        task.item: key
        for task in tasks
        if (one := asked.get(task.item)) and (key := _key(one))
    }
    wrong = _drawn(chosen, aid, seed)
    told: list[PlannedTask] = []
    for task in tasks:
        key = chosen.get(task.item, "")
        if task.item in wrong:
            right = choice.right(item_of(items, task.item))
            key = _other(task, choice, right, seed)
        advice = values_as_json({choice.question: key}) if key else ""
        told.append(_with(task, aid, advice) if advice else task)
    return tuple(told)


def _key(one: ScoredTrial) -> str:
    """Return the letter of the option that a trial chose, "" without one."""
    found = any_answer_of_json(one.parsed) if one.parsed else None
    return letter_of(found.option) if isinstance(found, ChoiceAnswer) else ""


def _other(task: PlannedTask, choice: Choice, right: str, seed: int) -> str:
    """Return a wrong option of a case, drawn by the seed."""
    options = {**material_of(task).options, **_withheld(task).options}
    wrong = [o.key for o in options[choice.question] if o.key != right]
    drawn = generator(seed, "wrong advice", task.item).integers(len(wrong))
    return wrong[int(drawn)]


def _withheld(task: PlannedTask) -> Withheld:
    return made(Withheld, json.loads(task.withheld), where="the case")


def _with(task: PlannedTask, aid: Aid, advice: str) -> PlannedTask:
    """Return a case whose advice is shown from the start, or after the first lock."""
    if aid.arm is Arm.AFTER:
        return replace(task, withheld=_json(replace(_withheld(task), advice=advice)))
    return replace(task, material=_json(replace(material_of(task), advice=advice)))


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
    return _with(task, aid, advice)


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
        if is_right(context, trial, place) is False:
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


def is_right(context: RunContext, trial: Trial, place: Answer | None) -> bool | None:
    """Tell whether a place is a hit; None if it cannot be scored."""
    denied = Unparsed(Status.DENIED_FINDING, SAID_ABSENT)
    outcome = context.score(context.turn(trial), place or denied).outcome
    return None if outcome is None else outcome in _HITS
