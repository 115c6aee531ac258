"""Answers in words as table rows: how each trial's replies were parsed."""

from collections.abc import Iterable, Iterator
from typing import Final

from viewer.domain.answer import (
    AnyAnswer,
    ChoiceAnswer,
    LabelsAnswer,
    RankedAnswer,
    ReportAnswer,
    Unparsed,
    YesNoAnswer,
)
from viewer.domain.answer_json import any_answer_of_json, type_of
from viewer.domain.choice import letter_of
from viewer.results.frame import Frame

_KNOWN: Final = (
    *("item", "patient", "image", "view", "finding", "condition", "repeat", "model"),
)
_SAID: Final = ("status", "reason", "kind", "answer", "parsed")


def worded_header(strata: Iterable[str]) -> tuple[str, ...]:
    """Return the columns; ``parsed`` has the whole answer as JSON, with its boxes."""
    return (*_KNOWN, *strata, *_SAID)


def worded_rows(asked: Frame, strata: Iterable[str]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each trial; one without an answer keeps its status and reason."""
    columns = ("parsed", "status", "reason")
    for *known, text, status, reason in asked.each(*_KNOWN, *strata, *columns):
        answer = any_answer_of_json(text) if text else None
        yield (*known, *_columns(answer, status, reason), text)


def _columns(
    answer: AnyAnswer | Unparsed | None, status: str, reason: str
) -> tuple[str, str, str, str]:
    """Return status, reason, kind and text of a parsed answer."""
    if answer is None or isinstance(answer, Unparsed):
        return status, reason, "", ""
    return status, reason, type_of(answer), in_words(answer)


def in_words(answer: AnyAnswer) -> str:
    """Return an answer as a person would write it; "" for a location.

    An option is its letter in the data set's order.
    """
    if isinstance(answer, ChoiceAnswer):
        return letter_of(answer.option)
    if isinstance(answer, YesNoAnswer):
        return "Yes" if answer.yes else "No"
    if isinstance(answer, LabelsAnswer):
        return "; ".join(answer.labels)
    if isinstance(answer, RankedAnswer):
        return "; ".join(answer.entries)
    return answer.text if isinstance(answer, ReportAnswer) else ""
