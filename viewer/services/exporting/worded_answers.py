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
    own = ("parsed", "status", "reason")
    for *known, text, status, reason in asked.each(*_KNOWN, *strata, *own):
        said = any_answer_of_json(text) if text else None
        yield (*known, *_columns(said, status, reason), text)


def _columns(
    said: AnyAnswer | Unparsed | None, status: str, reason: str
) -> tuple[str, str, str, str]:
    """Return status, reason, kind and text of a parsed answer."""
    if said is None or isinstance(said, Unparsed):
        return status, reason, "", ""
    return status, reason, type_of(said), in_words(said)


def in_words(said: AnyAnswer) -> str:
    """Return an answer as a person would write it; "" for a location.

    An option is its letter in the data set's order.
    """
    if isinstance(said, ChoiceAnswer):
        return letter_of(said.option)
    if isinstance(said, YesNoAnswer):
        return "Yes" if said.yes else "No"
    if isinstance(said, LabelsAnswer):
        return "; ".join(said.labels)
    if isinstance(said, RankedAnswer):
        return "; ".join(said.entries)
    return said.text if isinstance(said, ReportAnswer) else ""
