"""Tasks that a scripted model proposes for each synthetic study, scores and tags.

Everything is periodic in the study's index, so that a run's results have a closed form:
of five tasks the one with the highest score has the risk flag, so that the next one is
the best; two of the sums that the model writes are wrong, and one is missing.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from viewer.domain.task_selection import NO_TAG, TAGS, Category, Source
from viewer.services.synthetic.phantom.study_tasks import (
    BROAD,
    COMPARE,
    MEASURE,
    REASONING,
)

PROPOSER: Final = "proposes"
"""The model that proposes, scores and tags."""
CANDIDATES: Final = 5
_CATEGORIES: Final = (*Category, Category.BROAD, Category.REASONING)
_CRITERIA: Final = (
    "Clinical relevance",
    "Answerability",
    "Complexity/Reasoning",
    "Clarity/Precision",
)
_QUALITIES: Final = (
    ((5, 5, 5, 5), "Yes", 20),
    ((5, 5, 5, 4), "No", 15),
    ((5, 4, 4, 4), "No", 12),
    ((4, 4, 3, 3), "No", 14),
    ((2, 2, 2, 2), "No", None),
)
"""Scores, risk flag and the sum as the model writes it, by rank."""
_SIGNS: Final = "blunting – haze – lines – shift – thickening"
"""Five values, which come to Multiple."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposed task; ``rank`` is the rank of its scores in the study, from 0."""

    category: Category
    source: Source
    task: str
    region: str
    rank: int


def proposed(index: int, *, temporal: bool) -> tuple[Proposed, ...]:
    """Return the tasks of the study at ``index``, in the order of the reply.

    With ``temporal``, for a study with a prior, the third compares with it.
    """
    third = COMPARE if temporal else MEASURE
    first, second = BROAD[index % len(BROAD)], BROAD[(index + 1) % len(BROAD)]
    words = (first, REASONING[0], third, second, REASONING[1])
    sources = tuple(Source)
    return tuple(
        Proposed(category, sources[n % 2], task, region, (n - index) % CANDIDATES)
        for n, (category, (task, region)) in enumerate(
            zip(_CATEGORIES, words, strict=True)
        )
    )


def replies(study: str, tasks: tuple[Proposed, ...]) -> Mapping[str, str]:
    """Return the model's reply to each step of a study's curation."""
    return dict(_replies(study, tasks))


def _replies(study: str, tasks: tuple[Proposed, ...]) -> Iterator[tuple[str, str]]:
    listed = [
        {"category": str(one.category), "source": str(one.source), "task": one.task}
        for one in tasks
    ]
    yield f"{study}|propose", json.dumps(listed, ensure_ascii=False)
    for n, one in enumerate(tasks, 1):
        yield f"{study}|score {n}", _scored(one.rank)
        yield f"{study}|tag {n}", _tagged(one)


def _scored(rank: int) -> str:
    scores, risk, conclusion = _QUALITIES[rank]
    lines = [
        f"- {name}: {score} - by its place"
        for name, score in zip(_CRITERIA, scores, strict=True)
    ]
    lines.append(f"- Risk flag: {risk} - by its place")
    return "\n".join([*lines, *([f"Conclusion: {conclusion}"] if conclusion else [])])


def _tagged(one: Proposed) -> str:
    compares = one.task == COMPARE[0]
    values = {
        **dict.fromkeys(TAGS, NO_TAG),
        "tag_anatomical_region": one.region,
        "tag_imaging_finding": _SIGNS if one.category is Category.BROAD else NO_TAG,
        "tag_temporal_context": "comparison with prior" if compares else "current",
        "tag_question_type": str(one.category).replace("_", " "),
    }
    return "\n".join(f"{tag}: {value}" for tag, value in values.items())
