"""Reading with a model's answers: when they are shown, and which of them are wrong."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.form import (
    AGAIN,
    ChoiceQuestion,
    Form,
    LikertQuestion,
    Part,
    PlaceQuestion,
    RevealedChoiceQuestion,
    first_id,
)
from viewer.domain.form_values import Value, Values


class Arm(StrEnum):
    """When a reader sees a model's answer."""

    AFTER = "after"
    """Once the reader's own answer is locked; it may then be changed."""
    FROM_START = "from_start"
    BOTH = "both"
    """Each in half of a reader's cases; the halves swap between readers."""


class DrawnAs(StrEnum):
    """What is drawn of a model's answer that is a place."""

    OWN = "own"
    """What it answered with: a cell, a point, boxes, a mask or a heat map."""
    PLACED = "placed"
    """The place of the reader's kind that it stands for."""


@dataclass(frozen=True, slots=True)
class Aid:
    """Which answers readers see beside a case: those of a run's ``model``.

    ``wrong`` is the share, from 0 to 1, of the cases with an answer that show a
    deliberately wrong one instead; the seed of the session draws them.
    """

    run: int
    model: str
    arm: Arm
    wrong: float = 0.0
    drawn_as: DrawnAs = DrawnAs.OWN

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= 1:
            raise WrongUseError(
                f"A share of {self.wrong:g} wrong answers cannot be drawn.",
                "Choose 0 to 1.",
            )


_SHOWN: Final[Mapping[Arm, str]] = {
    Arm.AFTER: "Once your own answer is locked you see a model's answer. You may then "
    "keep your answer, take the model's, or give another one.",
    Arm.FROM_START: "Beside each case you see a model's answer from the start.",
    Arm.BOTH: "In half of the cases you see a model's answer from the start. In the "
    "others you see it once your own answer is locked, and may then keep your answer, "
    "take the model's, or give another one.",
}
_MAY_BE_WRONG: Final = "The model's answers may be wrong."
_MADE_WRONG: Final = (
    "The model's answers may be wrong, and some were made wrong on purpose to learn "
    "how they influence readers."
)
_CONSENT: Final = (
    "I know that some of the answers shown are wrong on purpose, and I take part "
    "voluntarily."
)


def aided_form(form: Form, aid: Aid, advised: Collection[str] = ()) -> Form:
    """Return a form whose readers see a model's answer, and are told what it is.

    After a locked first answer the questions ``advised`` are asked again; without any
    these are all places, choices and scales. Readers agree to wrong answers, if some
    are made so.
    """
    told = _MADE_WRONG if aid.wrong else _MAY_BE_WRONG
    aided = replace(
        form,
        name=f"{form.name}_{aid.arm}",
        shown=form.shown | {Part.ANSWER},
        briefing=_joined(form.briefing, f"{_SHOWN[aid.arm]} {told}"),
        consent=_joined(form.consent, _CONSENT if aid.wrong else ""),
    )
    if aid.arm is Arm.FROM_START:
        return aided
    again = tuple(
        replace(question, id=f"{question.id}{AGAIN}")
        for question in form.questions
        if isinstance(question, _ASKED_AGAIN)
        and (not advised or question.id in advised)
    )
    return replace(
        aided,
        questions=(*form.questions, *again),
        breaks=form.breaks | {again[0].id},
    )


_ASKED_AGAIN: Final = (
    PlaceQuestion,
    ChoiceQuestion,
    RevealedChoiceQuestion,
    LikertQuestion,
)


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def stages_alone(form: Form) -> int:
    """Return how many stages are locked before a question is asked again."""
    return sum(not stage[0].id.endswith(AGAIN) for stage in form.stages)


def asked_in(form: Form, asked: Collection[str], arm: Arm) -> tuple[str, ...]:
    """Return the questions of a case with its model's answer shown in one arm.

    ``asked`` are those of the case without a model, () for all of the form.
    """
    return tuple(
        question.id
        for question in form.questions
        if (not asked or first_id(question.id) in asked)
        and (arm is Arm.AFTER or not question.id.endswith(AGAIN))
    )


def first_values(values: Values) -> Values:
    """Return the answers that were locked before a model's answer was shown."""
    return {name: one for name, one in values.items() if not name.endswith(AGAIN)}


def latest_values(values: Values) -> Values:
    """Return the answers that count: where a question was asked again, the second."""
    latest: dict[str, Value] = dict(first_values(values))
    for name, one in values.items():
        if name.endswith(AGAIN):
            latest[first_id(name)] = one
    return latest


def prefilled(values: Values, asked: Collection[str]) -> Values:
    """Return answers with the first one wherever one of ``asked`` is asked again."""
    first = {
        name: values[first_id(name)]
        for name in asked
        if name.endswith(AGAIN) and first_id(name) in values
    }
    return {**first, **values}


def advised_values(
    advice: Mapping[str, Value], asked: Collection[str]
) -> Mapping[str, Value]:
    """Return a model's answers by those of the questions asked now that they answer."""
    return {name: advice[first_id(name)] for name in asked if first_id(name) in advice}
