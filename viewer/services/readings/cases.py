"""The cases of a session: what may be shown before a lock, and what after it."""

from pathlib import Path

from viewer.domain.answer import Answer, CellAnswer, Unparsed
from viewer.domain.answer_json import answer_of_json
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Option, Part, RevealedChoiceQuestion
from viewer.domain.form_values import Canvas, Values, values_as_json
from viewer.domain.reading import (
    Act,
    LockedError,
    Reveal,
    SessionId,
    SessionKind,
    Suggestion,
    Task,
)
from viewer.domain.reading_history import Standing
from viewer.metrics.regions import region
from viewer.services.readings.ground import Ground, ground_of
from viewer.services.readings.standings import standing_at, standings_of
from viewer.services.readings.suggestion import suggest
from viewer.store import readings
from viewer.store.database import Store, open_store
from viewer.store.readings import NewReading, PlannedTask, ReviewedTrial, SeenImage


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
    """A case with its image and, in a review, the reviewed trial."""

    def __init__(
        self,
        position: int,
        planned: PlannedTask,
        image: SeenImage,
        trial: ReviewedTrial | None,
    ) -> None:
        self.position, self.planned = position, planned
        self.image, self.trial = image, trial


def _seen(store: Store, ground: Ground) -> tuple[_Seen, ...]:
    session = ground.session.id
    images = readings.images_of(store, session)
    reviewed = readings.reviewed_trials(store, session)
    return tuple(
        _Seen(position, planned, images[planned.image], reviewed.get(position))
        for position, planned in enumerate(readings.tasks_of(store, session))
    )


def _seen_at(store: Store, ground: Ground, position: int) -> _Seen:
    session = ground.session.id
    planned = readings.task_at(store, session, position)
    if planned is None:
        raise WrongUseError(
            f"Session {session} has no case {position + 1}.", "Choose one of its cases."
        )
    image = readings.image_of(store, ground.session.dataset_id, planned.image)
    trial = readings.reviewed_trial(store, session, position)
    return _Seen(position, planned, image, trial)


def _task(store: Store, ground: Ground, seen: _Seen, standing: Standing) -> Task:
    form, planned = ground.form, seen.planned
    canvas = ground.canvas(seen.image.geometry)
    shows_answer = Part.ANSWER in form.shown
    return Task(
        position=seen.position,
        image=seen.image.ref,
        finding=planned.finding,
        view=planned.view,
        canvas=canvas,
        state=standing.state,
        stage=standing.stage,
        values=standing.values,
        comment=standing.comment,
        active_ms=standing.active_ms,
        answer=_answer(seen.trial) if shows_answer else None,
        answer_text=_answer_text(ground, seen) if shows_answer else "",
        options=_options(ground, planned.item, standing.stage),
        others=(
            others_of(store, ground, planned)
            if Part.OTHER_READERS in form.shown
            else ()
        ),
    )


def _options(ground: Ground, item: str, stage: int) -> dict[str, tuple[Option, ...]]:
    """Return the case's own options for every stage up to the current one."""
    options = ground.material(item).options
    return {
        question.id: options[question.id]
        for questions in ground.form.stages[: stage + 1]
        for question in questions
        if isinstance(question, RevealedChoiceQuestion) and question.id in options
    }


def _answer(trial: ReviewedTrial | None) -> Answer | None:
    if trial is None or not trial.parsed:
        return None
    answer = answer_of_json(trial.parsed)
    if answer is None or isinstance(answer, Unparsed):
        return None
    if isinstance(answer, CellAnswer):  # without the words that tell how it was read
        return CellAnswer(answer.cell)
    return answer


def _answer_text(ground: Ground, seen: _Seen) -> str:
    if seen.trial is not None:
        return seen.trial.answer
    return ground.material(seen.planned.item).text


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
                    Act.REVEALED, ground.stages, standing.values, standing.comment
                )
                readings.add_reading(opened, session, position, row)
        return _reveal(opened, ground, _seen_at(opened, ground, position))


def _reveal(store: Store, ground: Ground, seen: _Seen) -> Reveal:
    parts, planned = ground.form.revealed | ground.form.shown, seen.planned
    truth = readings.truth_of(
        store, ground.session.dataset_id, planned.image, planned.finding
    )
    canvas = ground.canvas(seen.image.geometry)
    answer = _answer(seen.trial)
    return Reveal(
        position=seen.position,
        answer=answer if Part.ANSWER in parts else None,
        answer_text=_answer_text(ground, seen) if Part.ANSWER in parts else "",
        reference=truth.reference if Part.REFERENCE in parts else None,
        suggestion=(
            _suggestion(answer, canvas, planned, truth)
            if Part.SUGGESTION in parts
            else None
        ),
        model=seen.trial.model if seen.trial and Part.MODEL in parts else "",
    )


def _suggestion(
    answer: Answer | None, canvas: Canvas, planned: PlannedTask, truth: readings.Truth
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
        and (standing := standing_at(store, of, position)).complete
    ]
    return tuple(sorted(answers, key=values_as_json))
