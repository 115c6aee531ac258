"""Samples of lmms-eval, JSON lines that it writes with ``--log_samples``.

Written after https://docs.lmms-lab.com/docs/latest/releases/lmms-eval-0.7 ("Flattened
JSONL Log Output") and the source, loggers/evaluation_tracker.py of
https://github.com/EvolvingLMMs-Lab/lmms-eval: ``doc_id`` counts the rows of the task's
data, ``resps`` are what the model said and ``filtered_resps`` what the task's filters
left of it, each ``["text"]`` or in older versions ``[["text"]]``; ``resps`` are missing
where both are the same. Numbers are written as text, a likelihood as
``["-1.5", "False"]``. A ``doc`` with ``item``, which lmms-eval itself leaves out, says
more than a number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from viewer.domain.written_reply import WrittenReply
from viewer.readers.replies.found import FoundReplies, made_replies
from viewer.readers.replies.rows import Row

_PAIR: Final = 2
_NAMED: Final = ("item", "condition", "repeat", "step", "role")


def is_sample(row: Mapping[str, Any]) -> bool:
    """Tell whether a line is a sample."""
    return "doc_id" in row and ("resps" in row or "filtered_resps" in row)


def replies_of(file: Path, rows: Sequence[Row]) -> FoundReplies:
    """Return the replies in the samples of a task."""
    found = made_replies(file, map(_row, rows))
    return FoundReplies(tuple(map(_placed, found.replies)), found.problems)


def _row(row: Row) -> Row:
    sample, doc = row.values, row.values.get("doc")
    fields = doc if isinstance(doc, dict) else {}
    named = {name: fields[name] for name in _NAMED if name in fields}
    reply = _first(sample.get("resps"))
    if reply is None:
        reply = _first(sample.get("filtered_resps"))
    return Row(row.place, {"item": sample.get("doc_id"), **named, "reply": reply})


def _first(replies: object) -> str | None:
    """Return the first text of nested lists; likelihoods are none."""
    while isinstance(replies, list) and replies:
        if _is_likelihood(replies):
            return None
        replies = replies[0]
    return replies if isinstance(replies, str) else None


def _is_likelihood(pair: Sequence[object]) -> bool:
    """Tell whether a list is a logarithm and whether it is the most likely text's."""
    if len(pair) != _PAIR or str(pair[1]) not in {"True", "False"}:
        return False
    try:
        return float(str(pair[0])) <= 0
    except ValueError:
        return False


def _placed(reply: WrittenReply) -> WrittenReply:
    number = int(reply.item) if reply.item.isdecimal() else None
    return replace(reply, position=number)
