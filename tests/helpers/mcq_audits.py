"""Closed forms of the pathmmu2024 pack's audits, and what they are made of."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt

from tests.helpers.by_patient import ci_of
from tests.helpers.mcq_pack import (
    BERT,
    CORRUPTED,
    MODELS,
    REFUSED,
    RIGHT,
    UNREAD,
    WRONG,
    Made,
    Question,
    asked_in,
    authors_reading,
)

SUBSETS = ("Overall", "PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
PARTS = {"val": ("val",), "tiny": ("test_tiny",), "all": ("test_tiny", "test")}
READERS = (("I", "Ann"), ("I", "Ben"), ("II", "Cem"), ("II", "Dia"))
BRACKET = (0.018, 0.033)
"""Of resamples: where the 2.5th percentile of 10,000 others lies, five SD around."""
Between = tuple[float, float]
Cell = str | int | float | Fraction | Between | None
Row = Mapping[str, Cell]


def columns_of(made: Made) -> Iterator[tuple[str, list[Question]]]:
    yield "Overall_val", [q for q in made.questions if q.split == "val"]
    for subset in SUBSETS:
        for part in ("tiny", "all"):
            own = [q for q in made.questions if is_within(q, part, subset)]
            yield f"{subset}_{part}", own


def scopes_of(made: Made, condition: str) -> Iterator[tuple[str, str, list[Question]]]:
    """Yield every column that holds a question of a condition."""
    asked = made.planned(condition)
    for subset in SUBSETS:
        for part in PARTS:
            if own := [q for q in asked if is_within(q, part, subset)]:
                yield part, subset, own


def is_within(question: Question, part: str, subset: str) -> bool:
    return question.split in PARTS[part] and subset in {"Overall", question.subset}


def rate_of(
    made: Made, own: Sequence[Question], model: str, condition: str
) -> Fraction:
    worths = [made.of(model, condition, question).worth for question in own]
    return mean_of([Fraction(worth == RIGHT) for worth in worths])


def chance_of(own: Sequence[Question]) -> Fraction:
    return mean_of([Fraction(1, len(q.written)) for q in own])


def val_letter(made: Made) -> int:
    counts = Counter(q.correct for q in made.questions if q.split == "val")
    return min(one for one in counts if counts[one] == max(counts.values()))


def always_of(own: Sequence[Question], letter: int) -> Fraction:
    return mean_of([Fraction(q.correct == letter) for q in own])


def all_tiny(own: Sequence[Question]) -> bool:
    return all(q.split == "test_tiny" for q in own)


def group_score(own: Sequence[Question], group: str) -> Fraction:
    """Return a group's score: its members are wrong at every fourth question."""
    members = [place for place, (of, _) in enumerate(READERS) if of == group]
    return mean_of(
        [mean_of([Fraction((q.number + m) % 4 != 0) for q in own]) for m in members]
    )


def experts_mean(own: Sequence[Question]) -> Fraction:
    return mean_of([group_score(own, "I"), group_score(own, "II")])


def mean_of(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


@cache
def weights_of(images: int) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(20240131)
    drawn: npt.NDArray[np.float64] = rng.multinomial(
        images, [1 / images] * images, size=40_000
    ).astype(np.float64)
    return drawn


GUESSED_BY = 3
PUBLISHED_SIZES = {
    ("val", "Overall"): (710, 510),
    ("tiny", "Overall"): (1156, None),
    ("all", "Overall"): (9677, 7213),
    ("tiny", "PubMed"): (281, None),
    ("all", "PubMed"): (3068, None),
    ("tiny", "SocialPath"): (235, None),
    ("all", "SocialPath"): (1855, None),
    ("tiny", "EduContent"): (255, None),
    ("all", "EduContent"): (1938, None),
    ("tiny", "Atlas"): (208, None),
    ("all", "Atlas"): (1007, None),
    ("tiny", "PathCLS"): (177, None),
    ("all", "PathCLS"): (1809, None),
    ("train", "Overall"): (23041, 16344),
}
"""Sun 2024, 3.2 and the head of Table 1."""


def official_rows(made: Made) -> Iterator[Row]:
    for condition, model in _first_asked_by_model(made):
        read = _authors(made, model, condition)
        typed = sum(made.of(model, condition, q).worth == RIGHT for q in read)
        k, n = sum(ok for ok, _ in read.values()), len(read)
        yield {
            "model": model,
            "condition": condition,
            "typed_k": typed,
            "typed_n": n,
            "official_k": k,
            "official_n": n,
            "official_at_random": sum(drawn for _, drawn in read.values()),
            "official_dropped": 0,
            "difference_points": 100 * Fraction(k - typed, n),
            "differing": len(list(_differing(made, model, condition))),
            "chance": chance_of(list(read)),
        }


def official_items_rows(made: Made) -> Iterator[Row]:
    for condition, model in _first_asked_by_model(made):
        for question, worth, ok, drawn in _differing(made, model, condition):
            yield {
                "model": model,
                "condition": condition,
                "item": question.key,
                "typed": status(made, model, condition, question),
                "official": "correct" if ok else "wrong",
                "why": "at random" if drawn else "read otherwise",
            }
            assert (worth == RIGHT) != ok


def _differing(
    made: Made, model: str, condition: str
) -> Iterator[tuple[Question, str, bool, bool]]:
    for question, (ok, drawn) in _authors(made, model, condition).items():
        worth = made.of(model, condition, question).worth
        if (worth == RIGHT) != ok:
            yield question, worth, ok, drawn


def _first_asked_by_model(made: Made) -> Iterator[tuple[str, str]]:
    """Yield condition and model in the order of the script's first question."""
    conditions = ("plain", "text_only", "noise", *CORRUPTED, "mismatch")
    seen: dict[str, None] = {}
    for question in _script_order(made.questions):
        for condition in conditions:
            if ("m0", condition, question.key) in made.said:
                seen.setdefault(condition)
    yield from (
        (condition, model) for condition in seen for model in asked_in(condition)
    )


def _script_order(questions: Sequence[Question]) -> Iterator[Question]:
    """Yield questions as eval/main.py reads its files, part by part."""
    for subset in ("PubMed", "PathCLS", "SocialPath", "Atlas", "EduContent"):
        splits = ["test_tiny", "test", "val"]
        if subset == "Atlas":
            splits = ["test", "test_tiny", "val"]
        for split in splits:
            for question in questions:
                if (question.subset, question.split) == (subset, split):
                    yield question


def _authors(
    made: Made, model: str, condition: str
) -> Mapping[Question, tuple[bool, bool]]:
    chance = Random(42)
    read = {}
    for question in _script_order(made.asked(condition)):
        reply = made.of(model, condition, question).reply
        told, drawn = authors_reading(reply, question, chance)
        truth = question.written[question.correct].split(")")[1].strip()
        read[question] = (told.lower() == truth.lower(), drawn)
    return read


def guesses_rows(made: Made) -> Iterator[Row]:
    for question in made.asked("text_only"):
        who = guessers(made, question)
        yield {
            "item": question.key,
            "subset": question.subset,
            "split": question.split,
            "asked": len(MODELS),
            "guessed": len(who),
            "models": " ".join(who),
            "guessable": int(len(who) >= GUESSED_BY),
        }


def guess_audit_rows(made: Made) -> Iterator[Row]:
    for subset in SUBSETS:
        own = [q for q in made.questions if subset in {"Overall", q.subset}]
        out = sum(len(guessers(made, q)) >= GUESSED_BY for q in own)
        yield {
            "subset": subset,
            "asked": len(own),
            "guessable": out,
            "kept": len(own) - out,
            "not_told": 0,
            "share": Fraction(out, len(own)),
            **ci_of(
                (len(guessers(made, q)) >= GUESSED_BY, q.image, q.key) for q in own
            ),
            "guessed_by": GUESSED_BY,
            "models": len(MODELS),
        }


def guessers(made: Made, question: Question) -> list[str]:
    return [m for m in MODELS if made.of(m, "text_only", question).worth == RIGHT]


def experts_rows(made: Made) -> Iterator[Row]:
    for part, subset, own in scopes_of(made, "plain"):
        tiny = [q for q in own if q.split == "test_tiny"]
        if tiny:
            named: Row = {"part": part, "subset": subset}
            for group in ("I", "II"):
                yield {
                    **named,
                    "group": group,
                    "score": group_score(tiny, group),
                    "members": 2,
                    "answered": len(tiny),
                    "items": len(own),
                }
            mean = {**named, "group": "mean", "score": experts_mean(tiny)}
            yield {**mean, "members": None, "answered": None, "items": None}


def sizes_rows(made: Made) -> Iterator[Row]:
    for (part, subset), (questions, images) in PUBLISHED_SIZES.items():
        own = [
            q
            for q in made.questions
            if q.split in PARTS.get(part, ("train",))
            and subset in {"Overall", q.subset}
        ]
        yield {
            "part": part,
            "subset": subset,
            "questions": len(own),
            "published": questions,
            "images": len({q.image for q in own}),
            "published_images": images,
        }


def status(made: Made, model: str, condition: str, question: Question) -> str:
    worth = made.of(model, condition, question).worth
    tied = "ambiguous" if model == BERT else "unparsed"
    return {
        RIGHT: "scored_correct",
        WRONG: "scored_wrong",
        REFUSED: "refused",
        UNREAD: tied,
    }[worth]
