"""A captioned image on its way to three questions, as steps of a trial (E003-15).

A model describes the image with its caption before it, then asks three questions of
image and description (Sun 2024, 3.2, steps 2 and 3). What it makes is neither right nor
wrong; it is written as data.json and guessed at without the image afterwards.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from viewer.domain.answer import AnyAnswer, ReportAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.choice import letter_of
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import Message, ModelReply, TextPart
from viewer.domain.geometry import SizePx
from viewer.domain.item import Item
from viewer.domain.plain import made, plain
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Step
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.records import records
from viewer.results.spec import TRIALS, Cell, Key, ListSpec, Spec, TableSpec
from viewer.studies.pathology_mcq.arms import BUILDING
from viewer.studies.pathology_mcq.building import (
    Built,
    description_prompt,
    questions_prompt,
    read_questions,
    table_rows,
)
from viewer.studies.pathology_mcq.templates import ASK_THREE, DESCRIBE, PROMPTS
from viewer.studies.prompts import OwnPrompts
from viewer.studies.refusing import declines, is_cut, withheld
from viewer.studies.reply_text import without_reasoning
from viewer.studies.steps import Longest, Question, Sources, Turn

BUILT: Final = "built"
"""The reason of trials that made questions and are neither right nor wrong."""
BUILT_QUESTIONS: Final = "built_questions"
BUILT_SPECS: Final[tuple[Spec, ...]] = (
    TableSpec(
        BUILT,
        (Key("model"),),
        (
            Cell("size", ("images",)),
            Cell("sum", ("described_and_asked",), ("some",)),
            Cell("sum", ("questions",), ("made",)),
            Cell("size", ("without_questions",), where={"some": (False,)}),
        ),
        "Questions made",
        "Three questions for each image that a model described (Sun 2024, 3.2).",
        shown=(
            *("model", "images", "described_and_asked", "questions"),
            "without_questions",
        ),
    ),
    ListSpec(BUILT_QUESTIONS, frame=BUILT_QUESTIONS),
)
"""Of how many images each model made questions, and every question."""
_LONGEST_REFUSAL: Final = 60
"""Words; a longer text that declines a part has described the rest."""
_LONGEST_DESCRIPTION: Final = "morphology " * 400


def is_captioned(item: Item) -> bool:
    """Tell whether an item is an image with its caption."""
    return bool(item.facts.get("caption"))


def builds(turn: Turn) -> bool:
    """Tell whether a trial makes questions."""
    return turn.trial.condition.name == BUILDING.name


def next_step(turn: Turn) -> Step | None:
    """Return the next step; none after a description that cannot be used."""
    if not turn.so_far:
        return Step(DESCRIBE)
    described = isinstance(_description(turn), str)
    return Step(ASK_THREE) if described and len(turn.so_far) == 1 else None


def question(turn: Turn, step: Step, sources: Sources, prompts: OwnPrompts) -> Question:
    """Return the image with its caption, or with the description of it."""
    text = description_prompt(str(turn.item.facts["caption"]), prompts)
    described = _description(turn)
    if step.name == ASK_THREE and isinstance(described, str):
        text = questions_prompt(described, prompts)
    pictures = tuple(sources.picture(sources.raster(key)) for key in turn.item.images)
    message = Message("user", (*pictures, TextPart(text)))
    return Question((message,), step.name, PROMPTS.text(step.name, prompts))


def prompts(texts: OwnPrompts) -> tuple[tuple[str, str], ...]:
    """Return the name and template of both questions."""
    return tuple((name, PROMPTS.text(name, texts)) for name in (DESCRIBE, ASK_THREE))


def parse(turn: Turn) -> ReportAnswer | Unparsed:
    """Return the questions as JSON, or why there are none."""
    described = _description(turn)
    reply = turn.reply_to(ASK_THREE)
    if isinstance(described, Unparsed):
        return described
    if reply is None:
        return Unparsed(Status.UNPARSED, "nothing_asked")
    text = _text_of(reply)
    built = read_questions(text) if isinstance(text, str) else text
    if not isinstance(built, Unparsed):
        return ReportAnswer(json.dumps(plain(built), ensure_ascii=False))
    refused = isinstance(text, str) and _is_refusal(text)
    return Unparsed(Status.REFUSED, "declined") if refused else built


def score(answer: AnyAnswer | Unparsed) -> Score:
    """Return that questions were made: neither right nor wrong."""
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    n = len(_built(answer))
    numbers = (("questions", float(n)),)
    return Score(Status.EXCLUDED, BUILT, f"{n} questions", numbers=numbers)


def longest(
    dataset: Dataset, sizes: tuple[SizePx, ...], prompts: OwnPrompts
) -> tuple[Longest, ...]:
    """Return the longest of both questions, each with the largest image."""
    captions = [str(i.facts["caption"]) for i in dataset.items if is_captioned(i)]
    first = description_prompt(max(captions, key=len, default=""), prompts)
    second = questions_prompt(_LONGEST_DESCRIPTION, prompts)
    return tuple(Longest(text, sizes, 1) for text in (first, second))


def built_frames(results: Sequence[TrialResult]) -> dict[str, Frame]:
    """Return the trials with how much each made, and every question with its answer."""
    counts = [len(questions_of(one)) for one in results]
    header = (
        *("item", "subset", "split", "model", "number", "question"),
        *("options", "answer", "explanation"),
    )
    rows = (
        (*(one.item, one.finding, one.view, one.model, n), *_cells(made))
        for one in results
        for n, made in enumerate(questions_of(one), 1)
    )
    return {
        TRIALS: records(results).having(made=counts, some=[n > 0 for n in counts]),
        BUILT_QUESTIONS: frame_of_rows(header, rows),
    }


def questions_of(result: TrialResult) -> tuple[Built, ...]:
    """Return the questions that a trial made, none of another."""
    return _built(result.said)


def as_data_json(
    results: Sequence[TrialResult], items: Mapping[str, Item]
) -> dict[str, dict[str, list[object]]]:
    """Return the questions made, in the layout of data.json, by subset and split.

    Numbers go through all models' questions of a subset and split.
    """
    table: dict[str, dict[str, list[object]]] = {}
    for one in results:
        listed = table.setdefault(one.finding, {}).setdefault(one.view, [])
        image, built = items[one.item].images[0], questions_of(one)
        listed += table_rows(image, built, len(listed) + 1)
    return {
        subset: {split: rows for split, rows in splits.items() if rows}
        for subset, splits in table.items()
        if any(splits.values())
    }


def captioned(dataset: Dataset) -> tuple[Item, ...]:
    """Return the captioned images of a data set; none at all raises WrongUseError."""
    found = tuple(item for item in dataset.items if is_captioned(item))
    if not found:
        raise WrongUseError(
            f"The data set '{dataset.name}' has no image with a caption to make "
            "questions from.",
            "Import one with overread import captioned-tiles.",
        )
    return found


def _description(turn: Turn) -> str | Unparsed:
    """Return the description of the image, or why there is none."""
    reply = turn.reply_to(DESCRIBE)
    if reply is None:
        return Unparsed(Status.UNPARSED, "nothing_described")
    text = _text_of(reply)
    if isinstance(text, Unparsed):
        return text
    if not text:
        return Unparsed(Status.UNPARSED, "no_description")
    return Unparsed(Status.REFUSED, "declined") if _is_refusal(text) else text


def _text_of(reply: ModelReply) -> str | Unparsed:
    """Return a reply's text, or that it was withheld or truncated."""
    if kept_back := withheld(reply):
        return kept_back
    if is_cut(reply):
        return Unparsed(Status.TRUNCATED, "length")
    return without_reasoning(reply.text)


def _is_refusal(text: str) -> bool:
    short = len(text.split()) <= _LONGEST_REFUSAL
    return short and declines(text, beside_answer=False)


def _built(answer: object) -> tuple[Built, ...]:
    if not isinstance(answer, ReportAnswer):
        return ()
    return made(tuple[Built, ...], json.loads(answer.text), where="the questions made")


def _cells(built: Built) -> tuple[str, ...]:
    return (
        built.question,
        " | ".join(built.options),
        letter_of(built.correct),
        built.explanations[built.correct],
    )
