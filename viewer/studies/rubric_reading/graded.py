"""The frames of readers' grades, for tables 1 to 3 and related ones.

``scores`` has a row for each final score of an output, ``compared`` one for each task
and measure of two models, ``read twice`` one for each dimension of an output graded by
both readers, ``grades`` one for each dimension of a grade, ``texts`` and ``images`` one
for each output, ``codes`` one for each code given to an output, and ``cards`` one for
each grade with remarks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from viewer.domain.answer import ReportAnswer
from viewer.domain.result import TrialResult
from viewer.domain.rubric import (
    CODE_WORDS,
    LEVELS,
    Dimension,
    FailureCode,
    Grade,
    Grades,
)
from viewer.domain.task_selection import Answerable
from viewer.metrics.seeding import generator
from viewer.results.frame import Frame, frame_of, frame_of_rows
from viewer.studies.rubric_reading.final import (
    TESTED,
    FinalScores,
    Measure,
    final_scores,
    pairs,
)
from viewer.studies.rubric_reading.outputs import excerpt, without_boxes
from viewer.studies.rubric_reading.params import ContentOrder, Params
from viewer.studies.rubric_reading.plan import Asked

SCORES: Final = "scores"
COMPARED: Final = "compared"
READ_TWICE: Final = "read twice"
GRADES: Final = "grades"
TEXTS: Final = "texts"
IMAGES: Final = "images"
CODES: Final = "codes"
CARDS: Final = "cards"
_JITTER: Final = 0.3
"""Greatest shift of a point from its whole score, either way."""
_LOW: Final = 3
_Row = tuple[object, ...]


@dataclass(frozen=True)
class Graded:
    """The input of tables of grades.

    ``models`` are those of the run, in order; ``kinds`` says which tasks are
    unanswerable, ``patients`` has their patients (a task that is missing is its own
    patient); ``second`` is None if only one reader graded.
    """

    grades: Grades
    models: tuple[str, ...]
    kinds: Mapping[str, Answerable]
    patients: Mapping[str, str]
    params: Params
    seed: int
    main: str
    second: str | None


def grade_frames(given: Graded) -> dict[str, Frame]:
    """Return the frames of some grades."""
    finals = final_scores(given.grades.grades)
    return {
        SCORES: score_frame(finals),
        COMPARED: compared_frame(finals, given),
        READ_TWICE: twice_frame(given),
        GRADES: _grade_frame(given),
        TEXTS: text_frame(given.grades.grades, given.kinds),
        IMAGES: image_frame(finals, given.params),
        CODES: _code_frame(given.grades.grades, given.models),
    }


def score_frame(finals: Sequence[FinalScores]) -> Frame:
    """Return each output's final scores, Content in both orders (E001-12).

    ``half`` is a score as counted in figure 3: a mean of three readers rounded to the
    nearest half. A score is ``low`` below 3 (E001-13).
    """
    header = ("model", "item", "metric", "order", "value", "five", "low", "half")
    rows = (
        (
            *(final.model, final.item, measure.words, str(order), value),
            # round() takes ties to even, but means of two or three readers have none.
            *(value == LEVELS[-1], value < _LOW, round(2 * value) / 2),
        )
        for final in finals
        for order in ContentOrder
        for measure in Measure
        if (value := final.value(measure, order)) is not None
    )
    return frame_of_rows(header, rows)


def compared_frame(finals: Sequence[FinalScores], given: Graded) -> Frame:
    """Return the five measures of each two models' texts side by side, by task.

    If several repeats of a task were graded, their mean is compared; a model without a
    text has no value (E001-14).
    """
    texts: dict[str, dict[str, list[FinalScores]]] = {}
    for final in finals:
        of = texts.setdefault(final.model, {})
        if final.image is None:
            of.setdefault(final.item, []).append(final)
    there = [model for model in given.models if model in texts]
    order, of_two = given.params.content_order, len(given.models) == 2
    header = ("metric", "first", "second", "of_two", "patient", "one", "other")
    rows = (
        (
            *(measure.words, first, second, of_two, given.patients.get(item, item)),
            *(_mean(texts[m].get(item, ()), measure, order) for m in (first, second)),
        )
        for first, second in combinations(there, 2)
        for measure in TESTED
        for item in dict.fromkeys((*texts[first], *texts[second]))
    )
    return frame_of_rows(header, rows)


def twice_frame(given: Graded) -> Frame:
    """Return both readers' scores of what both graded (E001-16, figure 5).

    ``main`` and ``second`` are their scores with jitter so that no point hides another.
    The jitter depends on the output and the dimension, so that added grades move no
    other point.
    """
    header = (
        *("category", "item", "patient", "main_score", "second_score"),
        *("main", "second"),
    )
    rows = (
        (
            *(dimension.words, a.item, given.patients.get(a.item, a.item)),
            *(a.scores[dimension], b.scores[dimension]),
            *_shifted(dimension, a, b, given.seed),
        )
        for dimension in Dimension
        for a, b in pairs(given.grades, given.main, given.second or "")
        if dimension in a.scores
    )
    return frame_of_rows(header, rows)


def text_frame(grades: Sequence[Grade], kinds: Mapping[str, Answerable]) -> Frame:
    """Return the graded texts with whether they abstain from answering (E001-19).

    A task may be unanswerable from its images, or a trick question about something
    untrue: abstaining is ``appropriate`` only there. A text ``abstained`` if more than
    half of the readers with an opinion say so; without opinions, or with a tie, it is
    not ``told``. Tasks missing from ``kinds`` are answerable.
    """
    votes: dict[tuple[str, str, int], list[bool]] = {}
    for grade in grades:
        if grade.image is None:
            of = votes.setdefault(grade.output, [])
            of += [] if grade.abstained is None else [grade.abstained]
    header = ("model", "answerable", "told", "abstained", "appropriate")
    rows = (
        (model, *_abstention(kinds.get(item, Answerable.YES), of))
        for (model, item, _), of in votes.items()
    )
    return frame_of_rows(header, rows)


def image_frame(finals: Sequence[FinalScores], params: Params) -> Frame:
    """Return the annotated images by whether Style is high and Content low (E001-24).

    Boxes may be well drawn but in the wrong place; the thresholds are settings.
    """
    images = [final for final in finals if final.image is not None]
    style = [one.scores[Dimension.IMAGE_STYLE] >= params.high_style for one in images]
    low = [one.scores[Dimension.IMAGE_CONTENT] <= params.low_content for one in images]
    return frame_of(
        {
            "model": [one.model for one in images],
            "high_style": style,
            "low_content": low,
            "both": [a and b for a, b in zip(style, low, strict=True)],
        }
    )


def card_frame(
    results: Sequence[TrialResult], grades: Grades, asked: Sequence[Asked]
) -> Frame:
    """Return a card for each grade with remarks on an output (E001-17, -18, figure 4).

    Remarks are concerns, codes, or a comment on a dimension.
    """
    header = (
        *("item", "task", "model", "reader", "image", "codes", "meanings"),
        *("concerns", "excerpt", "comments", "repeat"),
    )
    texts = {
        (r.model, r.item, r.repeat): r.said.text
        for r in results
        if isinstance(r.said, ReportAnswer)
    }
    tasks = {one.name: one.task.task for one in asked}
    rows = (
        _card(grade, tasks.get(grade.item, ""), texts[grade.output])
        for grade in grades.grades
        if grade.concerns or grade.codes or grade.comments
    )
    return frame_of_rows(header, rows)


def _card(grade: Grade, task: str, text: str) -> _Row:
    return (
        *(grade.item, task, grade.model, grade.reader, grade.image),
        "; ".join(grade.codes),
        "; ".join(CODE_WORDS[code] for code in grade.codes),
        "; ".join(grade.concerns),
        excerpt(without_boxes(text)),
        "; ".join(f"{d.words}: {words}" for d, words in grade.comments.items()),
        grade.repeat,
    )


def _grade_frame(given: Graded) -> Frame:
    header = ("category", "reader", "output", "patient", "score")
    rows = (
        (
            *(dimension.words, grade.reader, (grade.output, grade.image)),
            *(given.patients.get(grade.item, grade.item), score),
        )
        for grade in given.grades.grades
        for dimension, score in grade.scores.items()
    )
    return frame_of_rows(header, rows)


def _code_frame(grades: Sequence[Grade], models: Sequence[str]) -> Frame:
    """Return every code for each model, and each output with that code (E001-23)."""
    every = (
        (m, str(code), CODE_WORDS[code], None) for m in models for code in FailureCode
    )
    given = (
        (grade.model, str(code), CODE_WORDS[code], grade.output)
        for grade in grades
        for code in grade.codes
    )
    header = ("model", "code", "meaning", "output")
    return frame_of_rows(header, (*every, *given))


def _abstention(kind: Answerable, votes: Sequence[bool]) -> _Row:
    agree = 2 * sum(votes)
    abstained = agree > len(votes)
    appropriate = abstained == (kind is not Answerable.YES)
    return str(kind), agree != len(votes), abstained, appropriate


def _mean(
    repeats: Sequence[FinalScores], measure: Measure, order: ContentOrder
) -> float | None:
    values = [final.value(measure, order) or 0.0 for final in repeats]
    return sum(values) / len(values) if values else None


def _shifted(
    dimension: Dimension, a: Grade, b: Grade, seed: int
) -> tuple[float, float]:
    which = (a.model, a.item, str(a.image), *([str(a.repeat)] if a.repeat else ()))
    rng = generator(seed, "figure 5", dimension, *which)
    dx, dy = rng.uniform(-_JITTER, _JITTER, 2)
    return a.scores[dimension] + float(dx), b.scores[dimension] + float(dy)
