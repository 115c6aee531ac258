"""Reading with a model's answers: when they are shown, and which of them are wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from viewer.domain.errors import WrongUseError
from viewer.domain.form import AGAIN, FlagQuestion, Form, Part, first_id
from viewer.domain.form_values import Value, Values


class Arm(StrEnum):
    """When a reader sees a model's answer."""

    AFTER = "after"
    """Once the reader's own answer is locked; it may then be changed."""
    FROM_START = "from_start"


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

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= 1:
            raise WrongUseError(
                f"A share of {self.wrong:g} wrong answers cannot be drawn.",
                "Choose 0 to 1.",
            )


def aided_form(form: Form, arm: Arm) -> Form:
    """Return a form whose readers see a model's answer.

    After a locked first answer the questions are asked again, but for flags.
    """
    shown = form.shown | {Part.ANSWER}
    if arm is Arm.FROM_START:
        return replace(form, name=f"{form.name}_{arm}", shown=shown)
    again = tuple(
        replace(question, id=f"{question.id}{AGAIN}")
        for question in form.questions
        if not isinstance(question, FlagQuestion)
    )
    return replace(
        form,
        name=f"{form.name}_{arm}",
        questions=(*form.questions, *again),
        shown=shown,
        breaks=frozenset({again[0].id}),
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


def advised(arm: Arm, advice: Mapping[str, Value]) -> Values:
    """Return a model's answers by the questions that they would answer."""
    suffix = AGAIN if arm is Arm.AFTER else ""
    return {f"{name}{suffix}": one for name, one in advice.items()}
