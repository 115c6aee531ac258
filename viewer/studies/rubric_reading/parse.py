"""From a reply to its text and boxes, or to the reason why there is none (E001-09).

Any text is an answer; that it is wrong is for a reader to say. Boxes are asked for and
never forced: a text without any is whole. A reply that the token limit cut short is a
failure, for nobody can say what it would have come to.
"""

from collections.abc import Sequence
from typing import Final

from viewer.domain.answer import ReportAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx
from viewer.studies.boxes_in_text import read_boxes
from viewer.studies.refusing import TRUNCATED_FINISHES, declines, withheld
from viewer.studies.reply_text import without_reasoning

CUT_SHORT: Final = "token_limit"
"""The reason of a reply that a limit of tokens cut short."""
_LIMIT_FINISHES: Final = TRUNCATED_FINISHES | {
    "model_context_window_exceeded",
    "context_length_exceeded",
}
_LONGEST_REFUSAL: Final = 60
"""Words; a longer text that declines a part has answered."""


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
