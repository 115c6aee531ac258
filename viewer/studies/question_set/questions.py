"""A data set's items as questions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.item import Item
from viewer.domain.question_kinds import MEASURED, AnswerKind, TextMatch
from viewer.domain.study_words import spoken

Groups = Mapping[str, str]
"""What an item falls into, by the columns that the data set is tabulated by."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of a question that a model may see.

    ``grid`` is drawn on the image if a cell is asked for, else ""; ``template`` is the
    data set's own prompt, "" for the study's. ``size`` is that of the first image if a
    location is asked for.
    """

    key: str
    patient: str
    category: str
    kind: AnswerKind
    images: tuple[str, ...]
    question: str
    options: tuple[str, ...]
    grid: str
    template: str
    size: SizePx | None = None

    @property
    def field(self) -> BoxPx | None:
        """The native rectangle of the image that a place is asked for in."""
        if self.size is None:
            return None
        return BoxPx(0.0, 0.0, float(self.size.columns), float(self.size.rows))


def is_question(item: Item) -> bool:
    """Tell whether an item belongs to a question set."""
    return "answer_kind" in item.facts


def asked_of(item: Item) -> Asked:
    """Return the question of an item; WrongUseError if it is not of a question set."""
    facts, options = item.facts, item.facts.get("options")
    size = facts.get("size")
    if not is_question(item):
        raise WrongUseError(
            f"The item '{item.key}' is not of a question set.",
            "Import a question set, with overread import question-set.",
        )
    return Asked(
        item.key,
        item.patient,
        item.kind,
        AnswerKind(str(facts["answer_kind"])),
        item.images,
        str(facts["question"]),
        tuple(map(str, options)) if isinstance(options, list) else (),
        str(facts.get("grid", "")),
        str(facts.get("prompt", "")),
        SizePx(*size) if isinstance(size, list) else None,
    )


def questions_of(dataset: Dataset) -> tuple[Asked, ...]:
    """Return the questions of a data set; none at all raises WrongUseError."""
    found = tuple(asked_of(item) for item in dataset.items if is_question(item))
    if not found:
        raise WrongUseError(
            f"The data set '{dataset.name}' has no question of a question set.",
            "Import one with overread import question-set.",
        )
    return found


def is_judged(item: Item) -> bool:
    """Tell whether a judge decides if an answer is right."""
    return item.reference.get("match") == TextMatch.JUDGED


def groups_text(item: Item) -> str:
    """Return an item's groups as a JSON object."""
    return str(item.facts.get("groups", "{}"))


def groups_in_words(item: Item) -> str:
    """Return an item's groups as people read them: "view: frontal; age: over 60"."""
    groups = groups_of(item).items()
    return "; ".join(f"{spoken(name)}: {value}" for name, value in groups)


def groups_of(item: Item) -> Groups:
    """Return an item's groups, by the data set's columns."""
    found: Groups = json.loads(groups_text(item))
    return found


def wanted_numbers(item: Item) -> frozenset[str]:
    """Return the named numbers that are measured of an item's answers."""
    kind, wanted = asked_of(item).kind, item.reference.get("measured")
    known = frozenset(MEASURED[kind])
    return known & frozenset(wanted) if isinstance(wanted, list) else known
