"""From a reply to its text and boxes, or to the reason why there is none (E001-09).

Any text is an answer; that it is wrong is for a reader to say. Boxes are asked for and
never forced: a text without any is whole. A reply that the token limit cut short is a
failure, for nobody can say what it would have come to.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from viewer.domain.answer import LabelledBox, ReportAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx
from viewer.studies.json_documents import documents
from viewer.studies.refusing import TRUNCATED_FINISHES, declines, withheld
from viewer.studies.reply_text import without_reasoning

CUT_SHORT: Final = "token_limit"
"""The reason of a reply that a limit of tokens cut short."""
_LIMIT_FINISHES: Final = TRUNCATED_FINISHES | {
    "model_context_window_exceeded",
    "context_length_exceeded",
}
_LARGEST: Final = 1000
"""Of coordinates as they are asked for, whatever the image's size."""
_LONGEST_REFUSAL: Final = 60
"""Words; a longer text that declines a part has answered."""


@dataclass(frozen=True, slots=True)
class ReadBoxes:
    """The boxes of a text, and a sentence for each that is none."""

    boxes: tuple[LabelledBox, ...]
    problems: tuple[str, ...]


def parse(
    reply: ModelReply, fields: Sequence[BoxPx], *, may_abstain: bool = False
) -> ReportAnswer | Unparsed:
    """Read a reply.

    Parameters
    ----------
    reply : ModelReply
        The reply.
    fields : sequence of BoxPx
        For each image sent the native rectangle that was sent of it.
    may_abstain : bool
        Whether declining is an answer, as it is where a task cannot be answered.
    """
    if kept_back := withheld(reply):
        return kept_back
    if reply.finish_reason.casefold() in _LIMIT_FINISHES:
        return Unparsed(Status.TRUNCATED, CUT_SHORT)
    text = without_reasoning(reply.text)
    if not text:
        return Unparsed(Status.UNPARSED, "empty")
    boxes = read_boxes(text, fields).boxes
    short = len(text.split()) <= _LONGEST_REFUSAL
    if short and not boxes and not may_abstain and declines(text, beside_answer=True):
        return Unparsed(Status.REFUSED, "declined")
    return ReportAnswer(text, boxes)


def read_boxes(text: str, fields: Sequence[BoxPx]) -> ReadBoxes:
    """Return the boxes of a text in native pixels, in the order they are named."""
    boxes: list[LabelledBox] = []
    problems: list[str] = []
    for number, entry in enumerate(_entries(text), 1):
        found = _box(entry, fields)
        if isinstance(found, LabelledBox):
            boxes.append(found)
        else:
            problems.append(f"Box {number} is not drawn: {found}.")
    return ReadBoxes(tuple(boxes), tuple(problems))


def _entries(text: str) -> Iterator[Mapping[object, object]]:
    """Yield every object that has a box, in lists and under ``boxes``."""
    for document in documents(text):
        inside = document.get("boxes") if isinstance(document, dict) else document
        parts = inside if isinstance(inside, list) else [document]
        yield from (part for part in parts if isinstance(part, dict) and "box" in part)


def _box(entry: Mapping[object, object], fields: Sequence[BoxPx]) -> LabelledBox | str:
    """Return a box, or in a clause why it is none."""
    image = entry.get("image", 1 if len(fields) == 1 else None)
    if isinstance(image, bool) or not isinstance(image, int):
        return "it names no image"
    if not 1 <= image <= len(fields):
        return f"there is no image {image}"
    numbers = _numbers(entry["box"])
    if numbers is None:
        return "it does not have four numbers"
    x0, y0, x1, y1 = numbers
    if not (0 <= x0 < x1 <= _LARGEST and 0 <= y0 < y1 <= _LARGEST):
        return f"its corners are not in order from 0 to {_LARGEST}"
    label = entry.get("label")
    words = label.strip() if isinstance(label, str) else ""
    return LabelledBox(_native(numbers, fields[image - 1]), words, image - 1)


def _numbers(value: object) -> tuple[float, float, float, float] | None:
    if not isinstance(value, list) or len(value) != 4:
        return None
    if any(isinstance(n, bool) or not isinstance(n, int | float) for n in value):
        return None
    x0, y0, x1, y1 = (float(n) for n in value)
    return (x0, y0, x1, y1) if all(map(isfinite, (x0, y0, x1, y1))) else None


def _native(numbers: tuple[float, float, float, float], field: BoxPx) -> BoxPx:
    x0, y0, x1, y1 = numbers
    width, height = field.x1 - field.x0, field.y1 - field.y0
    return BoxPx(
        field.x0 + x0 * width / _LARGEST,
        field.y0 + y0 * height / _LARGEST,
        field.x0 + x1 * width / _LARGEST,
        field.y0 + y1 * height / _LARGEST,
    )
