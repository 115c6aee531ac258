"""What closed forms of the pathmmu2024 pack are made of: columns, rates, resamples."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from tests.helpers.mcq_pack import RIGHT, Made, Question

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
