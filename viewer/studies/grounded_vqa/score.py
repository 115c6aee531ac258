"""Verdicts on replies; the tables count over many (E002-07)."""

from collections.abc import Iterable
from typing import Final

from viewer.domain.answer import LabelsAnswer, Status, Unparsed, YesNoAnswer
from viewer.domain.result import Score
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING

_ALONE: Final = frozenset({NO_FINDING})
"""The labels of an image, and of an answer, without a finding."""


def score_closed(answer: YesNoAnswer | Unparsed, *, yes: bool) -> Score:
    """Return the verdict on a closed question's reply."""
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    right = answer.yes == yes
    return Score(_status(right=right), answer="Yes" if answer.yes else "No")


def score_open(answer: LabelsAnswer | Unparsed, truth: Iterable[str]) -> Score:
    """Return the verdict on an open question's reply: right if all labels match.

    ``numbers`` counts its labels that are right, wrong and missed; where there is no
    finding the label is No finding.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    named, wanted = frozenset(answer.labels), frozenset(truth)
    found, true = named or _ALONE, wanted or _ALONE
    counts = {"tp": found & true, "fp": found - true, "fn": true - found}
    return Score(
        _status(right=named == wanted),
        answer=", ".join(answer.labels) or NO_FINDING,
        numbers=tuple((name, float(len(of))) for name, of in counts.items()),
    )


def _status(*, right: bool) -> Status:
    return Status.SCORED_CORRECT if right else Status.SCORED_WRONG
