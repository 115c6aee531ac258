"""Which of a model's answers readers are shown, when, and which are made wrong."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from viewer.domain.aid import Aid, Arm, DrawnAs, asked_in
from viewer.domain.answer import Answer, ChoiceAnswer
from viewer.domain.answer_json import answer_as_json, any_answer_of_json, type_of
from viewer.domain.choice import letter_of
from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, PlaceKind, PlaceQuestion
from viewer.domain.form_values import values_as_json
from viewer.domain.item import item_of
from viewer.domain.plain import made, plain
from viewer.domain.reading import Material, Withheld
from viewer.domain.run import Condition, RunStatus, Trial
from viewer.metrics.seeding import generator
from viewer.services.readings.advised_places import Places, kept_map
from viewer.services.readings.replies import ADAPTER as READER
from viewer.services.sessions.ground import material_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.readings import PlannedTask
from viewer.studies.catalog import PLACING
from viewer.studies.reading_tasks import Choice

FEW: Final = 20
"""With fewer cases an interval of a share spans more than 40 points."""
T = TypeVar("T")
_PLACED: Final = {
    PlaceKind.CELL: "cells",
    PlaceKind.POINT: "points",
    PlaceKind.BOXES: "boxes",
    PlaceKind.MASK: "masks",
}


@dataclass(frozen=True)
class Shown:
    """How a reader's cases show a model's answers: those under a condition.

    ``form`` asks beside them; ``reader`` counts the readers of the same work from 0.
    """

    aid: Aid
    condition: Condition
    seed: int
    form: Form
    reader: int = 0


@dataclass(frozen=True, slots=True)
class _Advice:
    """A model's answer as values, and the place that is drawn if it is another one."""

    values: str
    drawn: str = ""


@dataclass(frozen=True)
class Advised:
    """Cases with a model's answers: ``answered`` of them, ``wrong`` ones on purpose.

    ``kind`` is what it answers with, such as heat_map or choice. ``passed_over`` were
    drawn to be wrong, but no answer to them would be.
    """

    tasks: tuple[PlannedTask, ...]
    kind: str
    answered: int
    wrong: int
    passed_over: int = 0

    @property
    def sentence(self) -> str:
        """How many cases show an answer, and how many a wrong one."""
        of = "" if self.answered == len(self.tasks) else f" of {len(self.tasks):,}"
        told = f"{self.answered:,}{of} cases show an answer of the model"
        if not self.wrong:
            return f"{told}."
        few = "; with so few, only large effects will show" if self.wrong < FEW else ""
        left = counted(self.passed_over, "case")
        passed = f" No answer would be wrong in {left}, which keep the model's own."
        return (
            f"{told}, {self.wrong:,} of them made wrong on purpose{few}."
            f"{passed if self.passed_over else ''}"
        )


@dataclass(frozen=True, slots=True)
class AidSource:
    """A model of a run whose answers can be shown."""

    run: int
    model: str


def aid_sources(
    store: Path, dataset: str, study: str = PLACING
) -> tuple[AidSource, ...]:
    """Return the models that finished runs of a study asked about a data set.

    The newest run comes first; readers are none of them.
    """
    with open_store(store) as opened:
        return tuple(
            AidSource(run.id, profile.name)
            for run in runs.run_summaries(opened, include_adhoc=False)[::-1]
            if (run.study, run.dataset) == (study, dataset)
            and run.status is RunStatus.FINISHED
            for profile in runs.run_spec(opened, run.id).models
            if profile.adapter != READER
        )


def with_advice(store: Store, shown: Shown, tasks: Sequence[PlannedTask]) -> Advised:
    """Return cases with a model's places; a case without one shows none.

    Raises
    ------
    WrongUseError
        If the run did not ask the model under the condition, the places stand for none
        of the kind that readers place, or there are too few for the wrong ones or arms.
    """
    aid = shown.aid
    context = RunContext(
        runs.run_spec(store, aid.run), cases.dataset_of_run(store, aid.run)
    )
    asked: dict[str, tuple[Trial, Answer]] = _answered(store, shown, _place)
    told = {t.item: asked[t.item] for t in tasks if t.item in asked}
    question = next(q for q in shown.form.questions if isinstance(q, PlaceQuestion))

    def misplaced(item: str) -> _Advice | None:
        trial, answer = told[item]
        places = Places(context, trial)
        moved = places.misplaced(answer, question.kinds[0], shown.seed)
        return None if moved is None else _of_place(places, moved, question, shown)

    own = {
        item: one
        for item, (trial, answer) in told.items()
        if (one := _of_place(Places(context, trial), answer, question, shown))
    }
    kind = type_of(next(iter(told.values()))[1]) if told else ""
    if told and not own:
        raise WrongUseError(
            f"'{aid.model}' answers with a {kind.replace('_', ' ')}, which stands for "
            f"none of the {_PLACED[question.kinds[0]]} that readers place.",
            "Let readers place a cell or a point, or choose another model.",
        )
    wrong = _made_wrong(own, shown, misplaced)
    return _armed(shown, tasks, own | wrong.advice, wrong, kind)


def with_chosen(
    store: Store, shown: Shown, tasks: Sequence[PlannedTask], choice: Choice
) -> Advised:
    """Return cases with the options that a model chose; one without shows none.

    A run that did not ask the model under the condition raises WrongUseError, and so do
    too few answers for the wrong ones or the arms.
    """
    dataset = cases.dataset_of_run(store, shown.aid.run)
    items = {item.key: item for item in dataset.items}
    asked = _answered(store, shown, _letter)
    chosen = {t.item: asked[t.item][1] for t in tasks if t.item in asked}
    by_item = {task.item: task for task in tasks}

    def other(item: str) -> _Advice | None:
        right = choice.right(item_of(items, item))
        key = _other(by_item[item], choice, right, shown.seed)
        return None if key is None else _chosen(choice, key)

    wrong = _made_wrong(chosen, shown, other)
    own = {item: _chosen(choice, key) for item, key in chosen.items()}
    return _armed(shown, tasks, own | wrong.advice, wrong, "choice")


def _chosen(choice: Choice, key: str) -> _Advice:
    return _Advice(values_as_json({choice.question: key}))


def _answered(
    store: Store, shown: Shown, read: Callable[[object], T | None]
) -> dict[str, tuple[Trial, T]]:
    """Return the model's first answers under the condition, as read, by item."""
    wanted = (shown.aid.model, shown.condition.name, 0)
    found: dict[str, tuple[Trial, T]] = {}
    for one in trials.scored_trials(store, shown.aid.run):
        trial = one.trial
        asked = trial.model, trial.condition.name, trial.repeat
        if not one.parsed or asked != wanted:
            continue
        answer = read(any_answer_of_json(one.parsed))
        if answer is not None:
            found[trial.item] = trial, answer
    return found


def _place(answer: object) -> Answer | None:
    return answer if isinstance(answer, Answer) else None


def _letter(answer: object) -> str | None:
    return letter_of(answer.option) if isinstance(answer, ChoiceAnswer) else None


@dataclass(frozen=True)
class _Wrong:
    """Answers made wrong by item, and how many drawn items have no wrong answer."""

    advice: dict[str, _Advice]
    passed_over: int = 0


def _made_wrong(
    told: Collection[str], shown: Shown, wrong: Callable[[str], _Advice | None]
) -> _Wrong:
    """Return the answers that are replaced, drawn by the seed; no answer raises.

    One that ``wrong`` has no wrong answer for is passed over, and another is drawn.
    """
    aid = shown.aid
    if not told:
        raise WrongUseError(
            f"Run {aid.run} has no answer of '{aid.model}' to these cases.",
            "Choose a run of the same data set and grid, and one of its models.",
        )
    items, count = sorted(told), round(aid.wrong * len(told))
    if aid.wrong and not count:
        raise WrongUseError(
            f"{aid.wrong:.0%} of {counted(len(items), 'answer')} is less than one "
            "wrong answer.",
            "Choose a larger share, 0 %, or more cases.",
        )
    if aid.arm is Arm.BOTH and len(items) < 2:
        raise WrongUseError(
            "One case cannot be divided between two arms.",
            "Choose one arm, or more cases.",
        )
    found: dict[str, _Advice] = {}
    passed_over = 0
    for i in generator(shown.seed, "wrong advice").permutation(len(items)):
        if len(found) == count:
            break
        if advice := wrong(items[i]):
            found[items[i]] = advice
        else:
            passed_over += 1
    if count and not found:
        raise WrongUseError(
            "No answer to these cases can be made wrong: any would be right.",
            "Choose 0 % wrong answers, or other cases.",
        )
    return _Wrong(found, passed_over)


def _of_place(
    places: Places, own: Answer, question: PlaceQuestion, shown: Shown
) -> _Advice | None:
    """Return a place as advice; None if it stands for none of the reader's kind."""
    kind = question.kinds[0]
    placed = places.as_kind(own, kind)
    if placed is None:
        return None
    values = values_as_json({question.id: placed})
    if shown.aid.drawn_as is DrawnAs.PLACED or type_of(own) == kind:
        return _Advice(values)
    return _Advice(values, answer_as_json(kept_map(own)))


def _other(task: PlannedTask, choice: Choice, right: str, seed: int) -> str | None:
    """Return a wrong option of a case, drawn by the seed; None if it has none."""
    options = {**material_of(task).options, **_withheld(task).options}
    wrong = [o.key for o in options[choice.question] if o.key != right]
    if not wrong:
        return None
    drawn = generator(seed, "wrong advice", task.item).integers(len(wrong))
    return wrong[int(drawn)]


def _withheld(task: PlannedTask) -> Withheld:
    return made(Withheld, json.loads(task.withheld), where="the case")


def _armed(
    shown: Shown,
    tasks: Sequence[PlannedTask],
    advice: Mapping[str, _Advice],
    wrong: _Wrong,
    kind: str,
) -> Advised:
    """Return cases with their advice, each in its arm."""
    first = _from_start(shown, tasks, advice, wrong.advice)
    armed = tuple(
        _with(
            task,
            shown.form,
            Arm.FROM_START if task.item in first else Arm.AFTER,
            advice.get(task.item, _Advice("")),
        )
        for task in tasks
    )
    return Advised(armed, kind, len(advice), len(wrong.advice), wrong.passed_over)


def _from_start(
    shown: Shown,
    tasks: Sequence[PlannedTask],
    advice: Collection[str],
    wrong: Collection[str],
) -> frozenset[str]:
    """Return the cases that show the answer from the start.

    Of both arms it is half of the wrong answers, of the others and of the cases without
    one, drawn by the seed; the next reader gets the other half.
    """
    items = sorted({task.item for task in tasks})
    if shown.aid.arm is not Arm.BOTH:
        return frozenset(items if shown.aid.arm is Arm.FROM_START else ())
    order = generator(shown.seed, "arms").permutation(len(items))
    mixed = [items[i] for i in order]
    mixed.sort(key=lambda item: (item in wrong, item in advice))
    return frozenset(mixed[shown.reader % 2 :: 2])


def _with(task: PlannedTask, form: Form, arm: Arm, told: _Advice) -> PlannedTask:
    material = material_of(task)
    asked = asked_in(form, material.asked, arm)
    if arm is Arm.FROM_START:
        shown = replace(material, asked=asked, advice=told.values, drawn=told.drawn)
        return replace(task, material=_json(shown))
    withheld = _withheld(task)
    return replace(
        task,
        material=_json(replace(material, asked=asked)),
        withheld=_json(replace(withheld, advice=told.values, drawn=told.drawn)),
    )


def _json(document: Material | Withheld) -> str:
    return json.dumps(plain(document), sort_keys=True, ensure_ascii=False)
