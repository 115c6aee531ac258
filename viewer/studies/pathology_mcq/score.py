"""The verdict on one chosen option (Sun 2024, 4.1; E003-01)."""

from dataclasses import replace
from typing import Final

from viewer.domain.answer import AnyAnswer, ChoiceAnswer, Status, Unparsed
from viewer.domain.choice import letter_of
from viewer.domain.result import Score

OFFICIAL: Final = "official"
"""The name of the number that says what the authors' script reads (E003-05)."""


def score(answer: ChoiceAnswer | Unparsed, correct: int) -> Score:
    """Return the verdict; what could not be read keeps its status and reason.

    Options are compared by index, from 0. The authors compare texts, so that either of
    two equal options is right there.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    right = answer.option == correct
    status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    return Score(status, answer=letter_of(answer.option))


def score_beside(answer: AnyAnswer | Unparsed, correct: int, official: int) -> Score:
    """Return the verdict with the number of the script's own reading beside it.

    An answer of another type, such as a person's, chooses no option.
    """
    if not isinstance(answer, ChoiceAnswer | Unparsed):
        answer = Unparsed(Status.UNPARSED, "no_option")
    return replace(score(answer, correct), numbers=((OFFICIAL, float(official)),))
