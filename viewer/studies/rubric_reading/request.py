"""What a model is asked, and shown, for one task."""

from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.case import Dataset
from viewer.domain.exchange import ImagePart, TextPart
from viewer.domain.geometry import BoxPx
from viewer.domain.report_study import StudyImage
from viewer.imaging.resample import shrunk, shrunk_size
from viewer.studies.prompts import OwnPrompts, asked_with
from viewer.studies.rubric_reading.asking import task_text
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.plan import Asked, task_named, tasks_of
from viewer.studies.rubric_reading.templates import PROMPTS, SYSTEM, whole_template
from viewer.studies.steps import Longest, PredictedBoxes, Question, Sources, Turn

WITH_BOXES: Final = "task_with_boxes"
WITHOUT_BOXES: Final = "task"
ANSWER: Final = "answer"
"""What the only question of a task is called."""


def asked_of(turn: Turn) -> Asked:
    """Return the task that a trial asks."""
    return task_named(turn.item, turn.trial.item)


def prompts(texts: OwnPrompts) -> tuple[tuple[str, str], ...]:
    """Return the name and text of a task with boxes and without."""
    return tuple(
        (name, whole_template(texts, boxes=boxes))
        for name, boxes in ((WITH_BOXES, True), (WITHOUT_BOXES, False))
    )


def question(turn: Turn, sources: Sources, params: Params) -> Question:
    """Return the question of a trial: its images in their order, then the words."""
    asked, model = asked_of(turn), turn.trial.model
    boxes = params.asks_boxes_of(model)
    images = asked.shown_to(model, params).images
    pictures = tuple(_picture(image, sources, params) for image in images)
    prompts = params.prompts
    words = TextPart(task_text(asked.task.task, images, prompts, boxes=boxes))
    return Question(
        asked_with(PROMPTS.text(SYSTEM, prompts), (*pictures, words)),
        WITH_BOXES if boxes else WITHOUT_BOXES,
        whole_template(prompts, boxes=boxes),
    )


def fields_of(turn: Turn, params: Params) -> tuple[BoxPx, ...]:
    """Return the native rectangle of each image shown; the whole of it is sent."""
    images = asked_of(turn).shown_to(turn.trial.model, params).images
    return tuple(BoxPx(0, 0, i.size.columns, i.size.rows) for i in images)


def predicted_boxes(
    turn: Turn, answer: ReportAnswer, params: Params
) -> tuple[PredictedBoxes, ...]:
    """Return the boxes of an answer, image by image."""
    images = asked_of(turn).shown_to(turn.trial.model, params).images
    fields = fields_of(turn, params)
    return tuple(
        PredictedBoxes(
            ANSWER,
            i,
            field,
            tuple(b for b in answer.boxes if b.image == i),
            image.key,
        )
        for i, (image, field) in enumerate(zip(images, fields, strict=True))
    )


def longest(dataset: Dataset, params: Params) -> tuple[Longest, ...]:
    """Return the longest question of the data set: of all views, with boxes."""
    asked = max(tasks_of(dataset.items), key=_weight, default=None)
    if asked is None:
        return (Longest(whole_template(params.prompts, boxes=True)),)
    prompts = params.prompts
    words = task_text(asked.task.task, asked.study.images, prompts, boxes=True)
    known = {image.key: image.geometry for image in dataset.images}
    sizes = tuple(
        shrunk_size(known[image.key], params.longest_side) for image in _seen(asked)
    )
    return (Longest(f"{PROMPTS.text(SYSTEM, prompts)}\n{words}", sizes),)


def _weight(asked: Asked) -> tuple[int, int]:
    return len(_seen(asked)), len(asked.task.task)


def _seen(asked: Asked) -> tuple[StudyImage, ...]:
    """Return the images that a task may show."""
    images = asked.study.images
    return images if asked.task.temporal else tuple(i for i in images if not i.prior)


def _picture(image: StudyImage, sources: Sources, params: Params) -> ImagePart:
    return sources.picture(shrunk(sources.raster(image.key), params.longest_side))
