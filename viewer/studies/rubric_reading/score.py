"""The verdict on one output, from readers' grades only."""

from viewer.domain.answer import ReportAnswer, Status, Unparsed
from viewer.domain.result import Score
from viewer.domain.rubric import LEVELS
from viewer.studies.rubric_reading.final import FinalScores, Measure
from viewer.studies.rubric_reading.params import ContentOrder

UNGRADED = "ungraded"
"""The reason of an output without grades."""


def score(
    answer: ReportAnswer | Unparsed,
    final: FinalScores | None = None,
    order: ContentOrder = ContentOrder.AVERAGE_FIRST,
) -> Score:
    """Return the verdict; correct is an output whose Content is exactly 5.

    An unreadable output keeps its status and reason; an ungraded one is neither right
    nor wrong.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    spelled, boxes = spelling(answer), (("boxes", float(len(answer.boxes))),)
    if final is None:
        return Score(Status.EXCLUDED, UNGRADED, spelled, numbers=boxes)
    values = {measure: final.value(measure, order) for measure in Measure}
    numbers = tuple((str(m), v) for m, v in values.items() if v is not None)
    perfect = values[Measure.CONTENT] == LEVELS[-1]
    status = Status.SCORED_CORRECT if perfect else Status.SCORED_WRONG
    return Score(status, "", spelled, numbers=(*boxes, *numbers))


def spelling(answer: ReportAnswer) -> str:
    """Return an output as in tables: the length of its text and number of boxes."""
    words, boxes = len(answer.text.split()), len(answer.boxes)
    return f"{_several(words, 'word')}, {_several(boxes, 'box', 'boxes')}"


def _several(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
