"""From a reply to its text, boxes and pictures, or why there are none (E001-09).

Any text is an answer; readers decide whether it is wrong. Boxes are requested but not
required. A reply truncated by the token limit is a failure, because its end is unknown.
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
        The native rectangle that was sent, for each image.
    may_abstain : bool
        Whether declining is an answer, as for an unanswerable task.
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
    return ReportAnswer(text, boxes, sum(bool(one.data) for one in reply.pictures))
