"""What radiologists do for the study: grade outputs, blinded to the model.

Banerjee 2025, 3.3 (E001-10 to -12, -18, -22 to -24): four dimensions of the text, and
two of each annotated image, once for each.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from viewer.domain.answer import LabelledBox, ReportAnswer
from viewer.domain.case import Dataset
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Option,
    Part,
    PlaceKind,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    TextQuestion,
)
from viewer.domain.form_values import Values
from viewer.domain.item import item_of
from viewer.domain.reading import Exhibit, Material
from viewer.domain.report_study import StudyImage
from viewer.domain.rubric import (
    CODE_WORDS,
    CONTENT,
    GRADES,
    OF_IMAGE,
    OF_TEXT,
    Dimension,
    RubricRow,
)
from viewer.studies.reading_tasks import (
    CaseRead,
    Entry,
    Output,
    ReadingCase,
    ReadingTask,
)
from viewer.studies.rubric_reading.plan import Asked, task_named
from viewer.studies.rubric_reading.selecting import SELECTION

CODES, CONCERNS, ABSTAINED, PLACE, PROBLEM = (
    *("codes", "concerns", "abstained", "place", "problem"),
)
_COMMENT: Final = "comment_"
_OF_OUTPUT: Final = (CODES, CONCERNS, ABSTAINED, PROBLEM)
_YES, _NO = "yes", "no"
_CONTENT_HELP: Final = "Content is the lowest of Process, Execution and Synthesis."


def grading_form(_: Dataset, rubric: Mapping[Dimension, RubricRow]) -> Form:
    """Return the rubric's questions, in the words that the data set grades by."""
    return Form(
        "rexecution_grading",
        "3",
        "Grading of outputs",
        (
            *_scales(OF_TEXT, rubric),
            *_scales(OF_IMAGE, rubric),
            ChecklistQuestion(
                CODES,
                "What went wrong?",
                tuple(
                    Option(code.value, words[0].upper() + words[1:])
                    for code, words in CODE_WORDS.items()
                ),
            ),
            RankedTextQuestion(CONCERNS, "Concerns, most serious first", 0, 10),
            ChoiceQuestion(
                ABSTAINED,
                "Does the output decline to answer?",
                (Option(_YES, "Yes"), Option(_NO, "No")),
                required=False,
            ),
            PlaceQuestion(
                PLACE,
                "Where on the image?",
                (PlaceKind.POINT, PlaceKind.BOXES),
                required=False,
            ),
            FlagQuestion(PROBLEM, "Something is wrong with this case"),
        ),
        shown=frozenset({Part.ANSWER}),
        revealed=frozenset({Part.TRUTH}),
    )


def _scales(
    dimensions: Sequence[Dimension], rubric: Mapping[Dimension, RubricRow]
) -> Iterator[Question]:
    """Yield a scale and a line for a comment, by dimension."""
    for dimension in dimensions:
        row = rubric[dimension]
        heading = f"{dimension.words}: {row.heading}"
        yield LikertQuestion(dimension.value, heading, row.anchors)
        yield TextQuestion(f"{_COMMENT}{dimension}", f"Comment on {dimension.words}")


def _cases(dataset: Dataset, outputs: Sequence[Output]) -> Iterator[ReadingCase]:
    """Yield the text of each output, then each of its annotated images."""
    items = {item.key: item for item in dataset.items}
    for output in outputs:
        if isinstance(output.answer, ReportAnswer):
            item = item_of(items, output.trial.item)
            asked = task_named(item, output.trial.item)
            yield from _of_output(output, output.answer.text, asked)


def _of_output(output: Output, said: str, asked: Asked) -> Iterator[ReadingCase]:
    boxes = {one.key: one.boxes for one in output.boxes if one.boxes}
    group = f"{output.trial.item} {output.id}"
    shown = tuple(_exhibit(image, boxes) for image in asked.study.images)
    text = (*(d.value for d in OF_TEXT), *(f"{_COMMENT}{d}" for d in OF_TEXT))
    told = Exhibit("Indication", asked.study.indication)
    material = Material(
        asked.task.task,
        said,
        (*shown, *((told,) if told.text else ())),
        asked=(*text, *_OF_OUTPUT, PLACE),
    )
    yield ReadingCase(
        asked.name, asked.study.images[0].key, material, group=group, output=output.id
    )
    pictures = [one for one in output.boxes if one.boxes and one.key]
    of_image = (*(d.value for d in OF_IMAGE), *(f"{_COMMENT}{d}" for d in OF_IMAGE))
    for one in pictures:
        first = [e for e in material.exhibits if e.image == one.key]
        rest = [e for e in material.exhibits if e.image != one.key]
        yield ReadingCase(
            asked.name,
            one.key,
            Material(
                asked.task.task,
                said,
                (*first, *rest),
                asked=(*of_image, CODES, CONCERNS, PLACE, PROBLEM),
                part=one.image + 1,
            ),
            group=group,
            output=output.id,
        )


def _exhibit(
    image: StudyImage, boxes: Mapping[str, tuple[LabelledBox, ...]]
) -> Exhibit:
    title = f"Prior {image.view}" if image.prior else image.view
    return Exhibit(title, image=image.key, boxes=boxes.get(image.key, ()))


def _grades(read: CaseRead) -> Iterator[Entry]:
    """Yield the grade of a text or an image, as ``grades.csv`` would bring it."""
    number = read.material.part or None
    dimensions = OF_IMAGE if number is not None else OF_TEXT
    values = read.values
    said = values.get(ABSTAINED)
    yield (
        GRADES,
        {
            "reader": read.reader,
            "model": read.model,
            "item": read.item,
            "image": number,
            "scores": {d.value: values[d.value] for d in dimensions},
            "codes": _lines(values, CODES),
            "concerns": _lines(values, CONCERNS),
            "comments": {
                d.value: words
                for d in dimensions
                if (words := values.get(f"{_COMMENT}{d}"))
            },
            "abstained": None if said is None else said == _YES,
            "repeat": read.repeat,
        },
    )


def _lines(values: Values, name: str) -> list[str]:
    found = values.get(name, ())
    return list(found) if isinstance(found, tuple) else []


def _content(_: Material, values: Values) -> tuple[Exhibit, ...]:
    """Return the Content of a text, which no reader enters (E001-11)."""
    scores = [values.get(dimension.value) for dimension in CONTENT]
    levels = [score for score in scores if isinstance(score, int)]
    if len(levels) < len(CONTENT):
        return ()
    return (Exhibit(f"Content {min(levels)}", _CONTENT_HELP),)


READING_TASKS: Final = (
    ReadingTask(
        "grading",
        "Grade the outputs",
        "Radiologists grade the outputs of a run in six dimensions, blinded to the "
        "model. Their grades are in the run's tables at once.",
        grading_form,
        _cases,
        _grades,
        _content,
        of_run=True,
        unit="outputs",
        case_s=120,
    ),
    SELECTION,
)
