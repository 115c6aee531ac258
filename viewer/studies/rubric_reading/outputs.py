"""What the models delivered, and what went into them, whoever graded it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import ReportAnswer, Status
from viewer.domain.errors import TOO_LONG
from viewer.domain.item import Item
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.domain.rubric import Grades
from viewer.domain.run import RunSpec
from viewer.studies.json_documents import found_documents
from viewer.studies.rubric_reading.asking import box_difference
from viewer.studies.rubric_reading.params import Params
from viewer.studies.rubric_reading.parse import CUT_SHORT
from viewer.studies.rubric_reading.plan import Asked, tasks_of

_FENCES: Final = re.compile(r"```(?:json)?\s*```")
"""What is left of a code block whose JSON is gone."""
_EXCERPT: Final = 60
"""Words of an output that an error card shows."""


def outputs_table(results: Sequence[TrialResult]) -> Table:
    """Return for each model what was planned and what came of it (E001-09).

    Of the token limit are replies that were cut short, and questions that were longer
    than the model's context.
    """
    header = (
        *("model", "n_planned", "n_delivered", "n_token_limit", "n_refused"),
        *("n_unparsed", "n_failed", "n_excluded", "n_pending"),
        *("n_with_boxes", "n_annotated_images", "n_boxes"),
    )
    models = dict.fromkeys(result.model for result in results)
    rows = tuple(
        (model, *_counts([r for r in results if r.model == model])) for model in models
    )
    return Table("outputs", header, rows)


def inputs_table(items: Sequence[Item], spec: RunSpec, params: Params) -> Table:
    """Return which images each model was shown for each task (E001-07)."""
    header = ("item", "model", "rule", "images", "boxes_asked", "excluded")
    rows = (
        (*(asked.name, model.name), *_shown(asked, model.name, params))
        for asked in tasks_of(items)[: spec.limit]
        for model in spec.models
    )
    return Table("inputs", header, tuple(rows))


def prompts_table() -> Table:
    """Return what the two prompts differ in (E001-08)."""
    difference = box_difference()
    rows = (
        ("with boxes", difference.only_with),
        ("without boxes", difference.only_without),
    )
    return Table("prompt_difference", ("only", "words"), rows)


def error_cards(
    results: Sequence[TrialResult], grades: Grades, items: Sequence[Item]
) -> Table:
    """Return a card for each grade with words about it (E001-17, -18, figure 4).

    Words are concerns, codes, or a comment on a dimension.
    """
    header = (
        *("item", "task", "model", "reader", "image", "codes", "concerns", "excerpt"),
        *("comments", "repeat"),
    )
    texts = {
        (r.model, r.item, r.repeat): r.said.text
        for r in results
        if isinstance(r.said, ReportAnswer)
    }
    return Table("error_cards", header, tuple(_cards(texts, grades, items)))


def without_boxes(text: str) -> str:
    """Return the words of an output without the JSON that tells its boxes."""
    words, place = "", 0
    for found in found_documents(text):
        if "box" in str(found.document):
            words, place = f"{words}{text[place : found.start]}", found.end
    return _FENCES.sub("", f"{words}{text[place:]}").strip() or text


def excerpt(text: str, words: int = _EXCERPT) -> str:
    """Return the first words of a text."""
    parts = text.split()
    return " ".join(parts[:words]) + (" …" if len(parts) > words else "")


def _cards(
    texts: Mapping[tuple[str, str, int], str], grades: Grades, items: Sequence[Item]
) -> Iterator[tuple[object, ...]]:
    tasks = {asked.name: asked.task.task for asked in tasks_of(items)}
    for grade in grades.grades:
        text = texts.get(grade.output)
        if text is None or not (grade.concerns or grade.codes or grade.comments):
            continue
        yield (
            *(grade.item, tasks.get(grade.item, ""), grade.model, grade.reader),
            grade.image,
            "; ".join(grade.codes),
            "; ".join(grade.concerns),
            excerpt(without_boxes(text)),
            "; ".join(f"{d.words}: {words}" for d, words in grade.comments.items()),
            grade.repeat,
        )


def _shown(asked: Asked, model: str, params: Params) -> tuple[object, ...]:
    given = asked.shown_to(model, params)
    keys = " ".join(image.key for image in given.images)
    return given.rule, keys, params.asks_boxes_of(model), given.reason


def _counts(results: Sequence[TrialResult]) -> tuple[int, ...]:
    statuses = [result.score.status for result in results]
    said = [r.said for r in results if isinstance(r.said, ReportAnswer)]
    cut = sum(r.score.reason == CUT_SHORT for r in results)
    overflown = sum(r.score.reason == TOO_LONG for r in results)
    unread = {Status.UNPARSED, Status.AMBIGUOUS, Status.TRUNCATED}
    unreadable = sum(status in unread for status in statuses) - cut
    return (
        *(len(results), len(said), cut + overflown, statuses.count(Status.REFUSED)),
        *(unreadable, statuses.count(Status.PROVIDER_ERROR) - overflown),
        statuses.count(Status.EXCLUDED) - _ungraded(results),
        statuses.count(Status.PENDING),
        sum(bool(answer.boxes) for answer in said),
        sum(len({box.image for box in answer.boxes}) for answer in said),
        sum(len(answer.boxes) for answer in said),
    )


def _ungraded(results: Sequence[TrialResult]) -> int:
    """Count delivered outputs that no reader graded: they are not left out."""
    return sum(
        r.score.status is Status.EXCLUDED and isinstance(r.said, ReportAnswer)
        for r in results
    )
