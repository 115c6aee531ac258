"""Questions as items of a data set: drawn ones, and those of published rows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from viewer.domain.answer import Unparsed
from viewer.domain.finding_names import plain_name
from viewer.domain.geometry import SizePx
from viewer.domain.item import Item
from viewer.domain.plain import made, plain
from viewer.domain.reference import Mask
from viewer.studies.grounded_vqa.parse import read_labels, read_yes_no
from viewer.studies.grounded_vqa.questions import Kind, Question
from viewer.studies.grounded_vqa.templates import templates
from viewer.studies.grounded_vqa.vocabulary import (
    EIGHT,
    FINDINGS,
    TRACHEA,
    canonical,
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why an item of a data set is not a question of this study, as a stable word."""

    reason: str


def item_of(question: Question, rule: str, threshold: float, area: Mask) -> Item:
    """Return a drawn question as an item, with the rule that its truth came of.

    ``area`` is its anatomy's mask, with which a located region is compared.
    """
    return Item(
        key=question.key,
        patient=question.patient,
        kind=question.kind.value,
        images=(question.image,),
        facts={
            "question": question.text,
            "anatomy": question.anatomy,
            "finding": question.finding,
            "template": question.template,
        },
        reference={
            "labels": list(question.labels),
            "rule": rule,
            "threshold": threshold,
            "area": plain(area),
        },
    )


def question_of(item: Item, known: Iterable[str] = FINDINGS) -> Question | Unreadable:
    """Return an item as a question, or why it is not one.

    A published row gives anatomy and finding only in its text, and its truth only in
    the answer's text.
    """
    if "question" not in item.facts or len(item.images) != 1:
        return Unreadable("no_question")
    if "anatomy" in item.facts:
        return _drawn(item)
    return _published(item, tuple(known))


SOURCE: Final = "source"
"""The fact that names the data set that an item is from, where there are several."""


def source_of(item: Item) -> str:
    """Return the data set that an item is from, "" where there is one."""
    return str(item.facts.get(SOURCE, ""))


def anatomy_of(item: Item) -> str:
    """Return the anatomy that an item asks about, "" if it is not a question."""
    question = question_of(item)
    return "" if isinstance(question, Unreadable) else question.anatomy


def area_of(item: Item) -> Mask | None:
    """Return the mask of the anatomy that an item asks about, None without one."""
    area = item.reference.get("area")
    return made(Mask, area, where="the item") if area else None


def native_size(item: Item) -> SizePx:
    """Return the size of an item's image where its reference says it.

    Elsewhere a thousandth is a pixel, in which first passes write their boxes: whether
    a box is named, and where of the whole, does not depend on the size.
    """
    area = area_of(item)
    return area.size if area else SizePx(1000, 1000)


@dataclass(frozen=True, slots=True)
class About:
    """The subject of a question's text, and the template it follows.

    ``finding`` is "" for an open question.
    """

    anatomy: str
    finding: str
    template: int


def asked_about(text: str) -> About | None:
    """Return the subject of a question's text, None if it follows no template."""
    for kind in ("open", "closed"):
        for i, pattern in enumerate(_patterns(kind)):
            match = pattern.fullmatch(text.strip())
            if match:
                return About(match["anatomy"], match.groupdict().get("disease", ""), i)
    return None


@lru_cache(maxsize=2)
def _patterns(kind: str) -> tuple[re.Pattern[str], ...]:
    """Return the templates as patterns; an article and a question mark may differ."""
    return tuple(
        re.compile(
            re.escape(words.rstrip("?").replace("the {anatomy}", "{anatomy}"))
            .replace(r"\{anatomy\}", "(?:the )?(?P<anatomy>.+?)")
            .replace(r"\{disease\}", "(?P<disease>.+?)")
            + r"\s*[?.]*",
            re.IGNORECASE,
        )
        for words in templates(kind)
    )


def _drawn(item: Item) -> Question:
    labels = item.reference.get("labels", [])
    return Question(
        key=item.key,
        image=item.images[0],
        patient=item.patient,
        kind=Kind(item.kind),
        anatomy=str(item.facts["anatomy"]),
        finding=str(item.facts["finding"]),
        template=int(str(item.facts["template"])),
        text=str(item.facts["question"]),
        labels=tuple(map(str, labels)) if isinstance(labels, list) else (),
    )


def _published(item: Item, known: tuple[str, ...]) -> Question | Unreadable:
    text, answer = str(item.facts["question"]), str(item.reference.get("answer", ""))
    about = asked_about(text)
    if about is None:
        return Unreadable("unknown_template")
    finding = canonical(about.finding, known)
    truth = _truth(answer, finding, known)
    if truth is None:
        return Unreadable("truth_unreadable")
    kind, labels = truth
    anatomy = _named(about.anatomy, item)
    whole = (item.key, item.images[0], item.patient, kind, anatomy)
    return Question(*whole, finding, about.template, text, labels)


def _named(anatomy: str, item: Item) -> str:
    """Return an anatomy as its mask is called, however the question spells it."""
    areas = item.reference.get("areas")
    known = (*(areas if isinstance(areas, list) else ()), *EIGHT, TRACHEA)
    spellings = {plain_name(str(name)): str(name) for name in reversed(known)}
    return spellings.get(plain_name(anatomy), anatomy)


def _truth(
    answer: str, finding: str, known: tuple[str, ...]
) -> tuple[Kind, tuple[str, ...]] | None:
    if finding:
        closed = read_yes_no(answer, finding)
        if isinstance(closed, Unparsed):
            return None
        return (Kind.POSITIVE, (finding,)) if closed.yes else (Kind.HALLUCINATED, ())
    opened = read_labels(answer, known)
    if isinstance(opened, Unparsed):
        return None
    return (Kind.ABNORMALITY if opened.labels else Kind.NORMAL), opened.labels
