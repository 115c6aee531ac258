"""Multiple-choice questions about a field of tissue, with known answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.tissue_scene import (
    Field,
    Nucleus,
    Tissue,
    make_field,
)

SUBSETS: Final = ("PubMed", "SocialPath", "EduContent", "Atlas", "PathCLS")
"""The subsets of Sun 2024, whose names the generated ones borrow."""
_SPLITS: Final = ("val", "test_tiny", "test", "test", "test")
_OTHERS: Final = ("Smooth muscle", "Hyaline cartilage", "Peripheral nerve", "Bone")
"""Tissues that no field is of."""


@dataclass(frozen=True, slots=True)
class TissueQuestion:
    """A question with its options' texts; ``correct`` is an index from 0."""

    text: str
    options: tuple[str, ...]
    correct: int
    explanation: str


@dataclass(frozen=True, slots=True)
class Tile:
    """A field with its questions, and its subset and split in a collection."""

    index: int
    subset: str
    split: str
    field: Field
    questions: tuple[TissueQuestion, ...]


def make_tile(seed: int, index: int, size: SizePx) -> Tile:
    """Return a tile of a collection's seed; it does not depend on how many there are.

    Five tiles in a row are of the five subsets; of 25 in a row five are ``val``, five
    ``test_tiny`` and fifteen ``test``. Every second tile has two questions.
    """
    rng = np.random.default_rng([seed, index, 2])
    subset = SUBSETS[index % len(SUBSETS)]
    tissues = tuple(Tissue)
    tissue = tissues[int(rng.integers(len(tissues)))]
    field = make_field(seed, index, tissue, size)
    questions = [_QUESTIONS[subset](field, rng)]
    if index % 2:
        questions.append(_mitoses_at_all(field, rng))
    split = _SPLITS[index // len(SUBSETS) % len(_SPLITS)]
    return Tile(index, subset, split, field, tuple(questions))


def _glands(field: Field, rng: np.random.Generator) -> TissueQuestion:
    n = len(field.glands)
    explanation = (
        f"{n} glands are cut across." if n else "There is no gland in the field."
    )
    return _number(
        "How many glands are cut across in this field?", n, 4, explanation, rng
    )


def _mitoses(field: Field, rng: np.random.Generator) -> TissueQuestion:
    n = field.counts[Nucleus.MITOSIS]
    explanation = f"{n} nuclei are dense figures without a membrane."
    return _number("How many mitotic figures are there?", n, 5, explanation, rng)


def _commonest(field: Field, rng: np.random.Generator) -> TissueQuestion:
    counts = field.counts
    most = max(counts, key=lambda kind: counts[kind])
    explanation = f"There are {counts[most]} of them, more than of any other kind."
    names = [kind.value for kind in Nucleus]
    return _one_of(
        "Which nuclei are the most numerous here?", names, most.value, explanation, rng
    )


def _glands_at_all(field: Field, rng: np.random.Generator) -> TissueQuestion:
    right = "Yes" if field.glands else "No"
    explanation = f"The field holds {len(field.glands)} glands."
    return _one_of(
        "Are there glands in this field?", ("Yes", "No"), right, explanation, rng
    )


def _mitoses_at_all(field: Field, rng: np.random.Generator) -> TissueQuestion:
    n = field.counts[Nucleus.MITOSIS]
    explanation = f"The field holds {n} mitotic figures."
    names = ("Present", "Absent (none seen)", "Not assessable (out of focus)")
    right = names[0] if n else names[1]
    return _one_of(
        "What is true of mitotic figures here?", names, right, explanation, rng
    )


def _tissue(field: Field, rng: np.random.Generator) -> TissueQuestion:
    names = (*(tissue.value for tissue in Tissue), *_OTHERS)
    explanation = f"The field was generated as {field.tissue.value.lower()}."
    text = "Which tissue does this field show?"
    return _one_of(text, names, field.tissue.value, explanation, rng)


_QUESTIONS: Mapping[str, Callable[[Field, np.random.Generator], TissueQuestion]] = {
    "PubMed": _glands,
    "SocialPath": _commonest,
    "EduContent": _mitoses,
    "Atlas": _glands_at_all,
    "PathCLS": _tissue,
}


def _number(
    text: str, n: int, count: int, explanation: str, rng: np.random.Generator
) -> TissueQuestion:
    """Return a question for a number, with consecutive numbers as options."""
    first = max(0, n - int(rng.integers(count)))
    options = tuple(str(first + i) for i in range(count))
    return TissueQuestion(text, options, n - first, explanation)


def _one_of(
    text: str,
    options: Sequence[str],
    right: str,
    explanation: str,
    rng: np.random.Generator,
) -> TissueQuestion:
    """Return a question with its options in random order."""
    shuffled = tuple(options[i] for i in rng.permutation(len(options)))
    return TissueQuestion(text, shuffled, shuffled.index(right), explanation)
