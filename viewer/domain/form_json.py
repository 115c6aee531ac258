"""A form whose questions are still JSON."""

from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    Part,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    RevealedChoiceQuestion,
    TextQuestion,
)
from viewer.domain.plain import Kinds, made, plain

_WHERE: Final = "the form"
_QUESTIONS: Final[Kinds[Question]] = Kinds(
    "type",
    {
        "choice": ChoiceQuestion,
        "checklist": ChecklistQuestion,
        "likert": LikertQuestion,
        "text": TextQuestion,
        "draft": DraftQuestion,
        "ranked_text": RankedTextQuestion,
        "place": PlaceQuestion,
        "revealed_choice": RevealedChoiceQuestion,
        "flag": FlagQuestion,
    },
)


@dataclass(frozen=True)
class _Document:
    """A form whose questions are not read yet."""

    name: str
    version: str
    title: str
    questions: tuple[dict[str, Any], ...]
    shown: frozenset[Part] = frozenset()
    revealed: frozenset[Part] = frozenset()
    comment: bool = True
    briefing: str = ""
    consent: str = ""
    breaks: frozenset[str] = frozenset()


def form_as_json(form: Form) -> dict[str, Any]:
    """Return a form as plain JSON values that :func:`form_of_json` takes back."""
    return {**plain(form), "questions": [_QUESTIONS.plain(q) for q in form.questions]}


def form_of_json(value: object) -> Form:
    """Return the form stored as JSON; WrongUseError for anything else."""
    document = made(_Document, value, where=_WHERE)
    questions = tuple(_QUESTIONS.made(q, where=_WHERE) for q in document.questions)
    return Form(**{**vars(document), "questions": questions})
