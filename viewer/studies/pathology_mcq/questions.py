"""A data set's items as multiple-choice questions."""

from dataclasses import dataclass

from viewer.domain.errors import WrongUseError
from viewer.domain.item import Item


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of a question that a model may see: text, options, images."""

    key: str
    patient: str
    subset: str
    split: str
    images: tuple[str, ...]
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mcq(Asked):
    """A question with its truth; ``correct`` counts the options from 0.

    ``written`` and ``answer`` are the options and the answer as the table writes them,
    for reading replies as the authors' script does. ``explanation`` is of the answer,
    ``explanations`` are of every option; "" and none if the table has none.
    """

    correct: int
    written: tuple[str, ...]
    answer: str
    explanation: str = ""
    explanations: tuple[str, ...] = ()


def asked_of(item: Item) -> Asked:
    """Return the question of an item; WrongUseError if it has none."""
    return Asked(*_asked(item))


def mcq_of(item: Item) -> Mcq:
    """Return an item with its truth; WrongUseError if it has none."""
    truth = item.reference
    correct, written = truth.get("option"), truth.get("written")
    asked = _asked(item)
    if not isinstance(correct, int):
        raise WrongUseError(
            f"The item '{item.key}' does not say which option is correct.",
            "Import its data set again, with an answer to each question.",
        )
    texts = _texts(written) or asked[-1]
    answer, why = (str(truth.get(key, "")) for key in ("answer", "explanation"))
    return Mcq(*asked, correct, texts, answer, why, _texts(truth.get("explanations")))


def mcqs_of(items: tuple[Item, ...]) -> dict[str, Mcq]:
    """Return every item with its truth, by its key."""
    return {item.key: mcq_of(item) for item in items}


def _asked(
    item: Item,
) -> tuple[str, str, str, str, tuple[str, ...], str, tuple[str, ...]]:
    facts = item.facts
    options = facts.get("options")
    if not isinstance(options, list):
        raise _no_question(item)
    return (
        item.key,
        item.patient,
        str(facts.get("subset", item.kind)),
        str(facts.get("split", "")),
        item.images,
        str(facts.get("question", "")),
        tuple(map(str, options)),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _no_question(item: Item) -> WrongUseError:
    return WrongUseError(
        f"The item '{item.key}' is not a multiple-choice question.",
        "Import a data set of such questions, for example with overread import "
        "pathmmu.",
    )
