"""The cases of a session: what may be shown before a lock, and what after it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from viewer.domain.aid import Arm, advised_values, prefilled, stages_alone
from viewer.domain.answer import Answer, CellAnswer, Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form, Option, Part, first_id
from viewer.domain.form_values import (
    Canvas,
    Values,
    values_as_json,
    values_of_json,
)
from viewer.domain.plain import made
from viewer.domain.reading import (
    Act,
    LockedError,
    Material,
    Reveal,
    SessionId,
    SessionKind,
    ShownExhibit,
    Suggestion,
    Task,
    Withheld,
)
from viewer.domain.reading_history import Standing
from viewer.metrics.regions import region
from viewer.services.readings.suggestion import suggest
from viewer.services.sessions.ground import (
    TRAINING,
    Ground,
    ground_of,
    material_of,
)
from viewer.services.sessions.standings import planned_at, standing_at, standings_of
from viewer.store import case_images, readings
from viewer.store.case_images import SeenImage
from viewer.store.database import Store, open_store
from viewer.store.readings import NewReading, PlannedTask, ReviewedAnswer
from viewer.studies.reading_tasks import ReadingTask


def queue(store: Path, session: SessionId) -> tuple[Task, ...]:
    """Return every case of a session in order; raises for an unknown session."""
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        return tuple(
            _task(opened, ground, seen, standing)
            for seen, standing in zip(
                _seen(opened, ground), standings_of(opened, ground), strict=True
            )
        )


def task(store: Path, session: SessionId, position: int) -> Task:
    """Return one case in its current state; raises if it is unknown."""
    with open_store(store) as opened:
        return task_in(opened, ground_of(opened, session), position)


def task_in(store: Store, ground: Ground, position: int) -> Task:
    """Return one case of a session in its current state; raises if it is unknown."""
    seen = _seen_at(store, ground, position)
    return _task(store, ground, seen, standing_at(store, ground, position))


class _Seen:
    """A case with its images and, in a review, the reviewed trial."""

    def __init__(
        self,
        position: int,
        planned: PlannedTask,
        images: Mapping[str, SeenImage],
        trial: ReviewedAnswer | None,
    ) -> None:
        self.position, self.planned = position, planned
        self.images, self.trial = images, trial
        self.material = material_of(planned)

    def image_named(self, key: str) -> SeenImage:
        """Return one of its images; one that the data set lost raises WrongUseError."""
        if key not in self.images:
            raise WrongUseError(
                f"Case {self.position + 1} shows the image '{key}', which the data set "
                "no longer has.",
                "Register its folder again.",
            )
        return self.images[key]

    @property
    def image(self) -> SeenImage:
        """The image that places are drawn on."""
        return self.image_named(self.planned.image)


def _seen(store: Store, ground: Ground) -> tuple[_Seen, ...]:
    session = ground.session.id
    tasks = readings.tasks_of(store, session)
    images = _images(store, ground, tasks)
    reviewed = readings.reviewed_answers(store, session)
    return tuple(
        _Seen(position, planned, images, reviewed.get(position))
        for position, planned in enumerate(tasks)
    )


def _images(
    store: Store, ground: Ground, tasks: Sequence[PlannedTask]
) -> Mapping[str, SeenImage]:
    """Return every image that some cases show, by key."""
    keys = {task.image for task in tasks}
    keys |= {one.image for task in tasks for one in material_of(task).exhibits}
    session, made = ground.session, ground.spec.made
    return case_images.images_named(store, session.dataset_id, keys, made)


def _seen_at(store: Store, ground: Ground, position: int) -> _Seen:
    planned = planned_at(store, ground, position)
    images = _images(store, ground, [planned])
    reviewed = readings.reviewed_answers(store, ground.session.id, position)
    return _Seen(position, planned, images, reviewed.get(position))


def _task(store: Store, ground: Ground, seen: _Seen, standing: Standing) -> Task:
    form, planned = ground.form_of(seen.planned), seen.planned
    shows_answer = Part.ANSWER in form.shown
    stage = form.stages[min(standing.stage, len(form.stages) - 1)]
    asked = [question.id for question in stage]
    shown = _advice(store, ground, seen, standing)
    advice = values_of_json(shown.advice) if shown.advice else {}
    acceptable = advised_values(advice, asked)
    return Task(
        position=seen.position,
        image=seen.image.ref,
        finding=planned.finding,
        view=planned.view,
        canvas=ground.canvas(seen.image.geometry),
        state=standing.state,
        stage=standing.stage,
        values=prefilled(standing.values, asked),
        comment=standing.comment,
        active_ms=standing.active_ms,
        # An answer in words is the material's text.
        answer=(
            _drawn(shown, advice) or answer_shown(seen.trial)
            if shows_answer and not ground.task
            else None
        ),
        answer_text=_answer_text(seen) if shows_answer else "",
        options=_options(store, ground, seen, standing),
        others=(
            others_of(store, ground, planned)
            if Part.OTHER_READERS in form.shown
            else ()
        ),
        question=seen.material.question,
        exhibits=tuple(_exhibits(store, ground, seen, standing)),
        texts=seen.material.texts,
        asked=seen.material.asked,
        training=planned.view == TRAINING,
        advice=acceptable,
        arm=_arm(ground, seen, form, shown=bool(acceptable)),
    )


def _arm(ground: Ground, seen: _Seen, form: Form, *, shown: bool) -> Arm | None:
    """Return when a case shows a model's answer, None if its session shows none."""
    # A part of a sealed session may end before a question is asked again.
    again = any(first_id(name) != name for name in seen.material.asked)
    if again or stages_alone(form) < len(form.stages):
        return Arm.AFTER
    # A sealed session does not say which model's answers are ``shown``.
    return Arm.FROM_START if shown or ground.spec.aid is not None else None


def _advice(
    store: Store, ground: Ground, seen: _Seen, standing: Standing
) -> Material | Withheld:
    """Return what has a model's answers; nothing as long as they are hidden."""
    form = ground.form_of(seen.planned)
    if stages_alone(form) <= standing.stage and stages_alone(form) < len(form.stages):
        return _withheld(store, ground, seen)
    return seen.material


def _drawn(shown: Material | Withheld, advice: Values) -> Answer | None:
    """Return the place to be drawn of a model's answers, None without one."""
    if shown.drawn:
        found = answer_of_json(shown.drawn)
        return None if isinstance(found, Unparsed) else found
    return next((one for one in advice.values() if isinstance(one, Answer)), None)


def _exhibits(
    store: Store, ground: Ground, seen: _Seen, standing: Standing
) -> Iterator[ShownExhibit]:
    """Yield what a case shows at its stage."""
    exhibits = seen.material.exhibits
    if ground.task is not None and standing.stage > 0:
        exhibits += _withheld(store, ground, seen).later
    for one in exhibits:
        if one.image:
            found = seen.image_named(one.image)
            yield ShownExhibit(one, found.ref, ground.canvas(found.geometry))
        else:
            yield ShownExhibit(one)


def _options(
    store: Store, ground: Ground, seen: _Seen, standing: Standing
) -> dict[str, tuple[Option, ...]]:
    """Return the case's own options for every stage up to the current one."""
    known = seen.material.options
    if standing.stage > 0:
        known = {**known, **_withheld(store, ground, seen).options}
    stages = ground.form_of(seen.planned).stages[: standing.stage + 1]
    return {
        question.id: known[first_id(question.id)]
        for questions in stages
        for question in questions
        if first_id(question.id) in known
    }


def answer_shown(trial: ReviewedAnswer | None) -> Answer | None:
    """Return where a reviewed answer is, None if it names no place."""
    if trial is None or not trial.parsed:
        return None
    answer = answer_of_json(trial.parsed)
    if answer is None or isinstance(answer, Unparsed):
        return None
    if isinstance(answer, CellAnswer):  # without the words that tell how it was read
        return CellAnswer(answer.cell)
    return answer


def _answer_text(seen: _Seen) -> str:
    if seen.material.text or seen.trial is None:
        return seen.material.text
    return seen.trial.answer


def reveal(store: Path, session: SessionId, position: int) -> Reveal:
    """Return the revealed parts of a locked case, and record that they were shown.

    What is locked as unsure stays hidden until it is resolved.

    Raises
    ------
    LockedError
        Before the last stage is locked.
    """
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        with opened.transaction():
            standing = standing_at(opened, ground, position)
            if not standing.complete:
                raise LockedError(
                    "This case is not locked yet.", "Answer and lock it first."
                )
            if standing.unresolved or not ground.form.revealed:
                return Reveal(position)
            if not standing.revealed:
                row = NewReading(
                    Act.REVEALED, standing.stage, standing.values, standing.comment
                )
                readings.add_reading(opened, session, position, row)
        seen = _seen_at(opened, ground, position)
        if ground.task is not None:
            return _reveal_task(opened, ground, ground.task, seen, standing)
        return _reveal(opened, ground, seen)


def _reveal_task(
    store: Store, ground: Ground, task: ReadingTask, seen: _Seen, standing: Standing
) -> Reveal:
    """Return what is computed from the answers, and what the data set says is right."""
    computed = task.after_lock(seen.material, standing.values)
    told = Part.TRUTH in ground.form.revealed
    truth = _withheld(store, ground, seen, truth=True).truth if told else ()
    return Reveal(seen.position, truth=(*computed, *truth))


def _withheld(
    store: Store, ground: Ground, seen: _Seen, *, truth: bool = False
) -> Withheld:
    session = ground.session.id
    text = readings.withheld_at(store, session, seen.position, truth=truth)
    return made(Withheld, json.loads(text), where="the case")


def _reveal(store: Store, ground: Ground, seen: _Seen) -> Reveal:
    parts, planned = ground.form.revealed | ground.form.shown, seen.planned
    truth = case_images.truth_of(
        store, ground.session.dataset_id, planned.image, planned.finding
    )
    canvas = ground.canvas(seen.image.geometry)
    answer = answer_shown(seen.trial)
    return Reveal(
        position=seen.position,
        answer=answer if Part.ANSWER in parts else None,
        answer_text=_answer_text(seen) if Part.ANSWER in parts else "",
        reference=truth.reference if Part.REFERENCE in parts else None,
        suggestion=(
            _suggestion(answer, canvas, planned, truth)
            if Part.SUGGESTION in parts
            else None
        ),
        model=_model(store, ground, seen) if Part.MODEL in parts else "",
    )


def _model(store: Store, ground: Ground, seen: _Seen) -> str:
    """Return the model whose answer a case is about, "" without one."""
    found = readings.reviewed_trials(store, ground.session.id, seen.position)
    return found[seen.position].model if found else ""


def _suggestion(
    answer: Answer | None,
    canvas: Canvas,
    planned: PlannedTask,
    truth: case_images.Truth,
) -> Suggestion | None:
    if answer is None:
        return None
    covered = region(answer, canvas.grid, canvas.field, canvas.size)
    if covered is None:
        return None
    return suggest(
        covered, planned.finding, truth.anatomy, truth.reference, planned.view
    )


def others_of(store: Store, ground: Ground, planned: PlannedTask) -> tuple[Values, ...]:
    """Return the locked answers of a reviewed trial's readers, sorted by answer."""
    if planned.trial is None:
        return ()
    answers = [
        standing.values
        for session, position in readings.places_of_trial(store, planned.trial)
        if (of := ground_of(store, session)).session.kind is SessionKind.ERROR_REVIEW
        and of.session.run == ground.session.run
        and (standing := standing_at(store, of, position, comments=False)).complete
    ]
    return tuple(sorted(answers, key=values_as_json))
