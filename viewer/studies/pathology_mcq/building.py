"""From an image with its caption to three questions (Sun 2024, 3.2; E003-15).

A model describes the image in the light of its caption, then asks three questions of
the description. The paper does not print its prompts; these are ours. Questions that
enough models guess without the image are taken out afterwards (``guessing``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from viewer.domain.answer import Status, Unparsed
from viewer.domain.choice import letter_of, option_of
from viewer.studies.json_documents import documents
from viewer.studies.pathology_mcq.templates import ASK_THREE, DESCRIBE, PROMPTS
from viewer.studies.prompts import BUILT_IN, OwnPrompts, fill

QUESTIONS: Final = 3
OPTIONS: Final = 4
NUMBERED: Final = "built-"
"""How numbers of built questions begin, so that none is that of a published one."""


@dataclass(frozen=True, slots=True)
class Built:
    """A question a model made: ``correct`` counts the options from 0.

    ``explanations`` say for every option why it is right or wrong.
    """

    question: str
    options: tuple[str, ...]
    correct: int
    explanations: tuple[str, ...]


def description_prompt(caption: str, prompts: OwnPrompts = BUILT_IN) -> str:
    """Return the words that ask for a detailed description of a captioned image."""
    return fill(PROMPTS.text(DESCRIBE, prompts), {"caption": caption})


def questions_prompt(description: str, prompts: OwnPrompts = BUILT_IN) -> str:
    """Return the words that ask for three questions about a described image."""
    return fill(PROMPTS.text(ASK_THREE, prompts), {"description": description})


def read_questions(text: str) -> tuple[Built, ...] | Unparsed:
    """Return the three questions in a reply, or what is wrong with it.

    Each needs a question, four different options, an answer among them, and an
    explanation for each option; fewer than three questions are an error.
    """
    lists = [found for found in documents(text) if isinstance(found, list)]
    if not lists:
        return Unparsed(Status.UNPARSED, "no_json_list")
    entries = lists[-1]
    if len(entries) != QUESTIONS:
        return Unparsed(Status.UNPARSED, "not_three_questions")
    built = [question_of(entry) for entry in entries]
    wrong = next((one for one in built if isinstance(one, Unparsed)), None)
    return wrong or tuple(one for one in built if isinstance(one, Built))


def table_rows(
    image: str, built: Sequence[Built], first: int = 1
) -> Iterator[Mapping[str, object]]:
    """Yield questions about an image as data.json has them, numbered from ``first``."""
    for number, one in enumerate(built, first):
        options = [f"{letter_of(i)}) {text}" for i, text in enumerate(one.options)]
        yield {
            "No": f"{NUMBERED}{number}",
            "img": image,
            "question": one.question,
            "options": options,
            "answer": options[one.correct],
            "explanation": one.explanations[one.correct],
            "explanations": list(one.explanations),
        }


def question_of(entry: object) -> Built | Unparsed:
    """Return the question that an entry of the list is, or what is wrong with it."""
    if not isinstance(entry, dict):
        return Unparsed(Status.UNPARSED, "no_question")
    question = str(entry.get("question") or "").strip()
    options, explanations = (_texts(entry.get(k)) for k in ("options", "explanations"))
    if not question:
        return Unparsed(Status.UNPARSED, "no_question")
    if len(options) != OPTIONS or len({one.casefold() for one in options}) != OPTIONS:
        return Unparsed(Status.UNPARSED, "not_four_options")
    if len(explanations) != OPTIONS:
        return Unparsed(Status.UNPARSED, "options_not_explained")
    correct = option_of(str(entry.get("answer") or "").strip())
    if correct is None or correct >= OPTIONS:
        return Unparsed(Status.OUT_OF_RANGE, "answer_outside_options")
    return Built(question, options, correct, explanations)


def _texts(value: object) -> tuple[str, ...]:
    texts = [str(one).strip() for one in value] if isinstance(value, list) else []
    return tuple(text for text in texts if text)
