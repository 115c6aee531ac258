"""Display names of the study's splits and conditions."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.choice import letter_of
from viewer.domain.item import Item
from viewer.domain.study_words import RIGHTS, Pair, StudyWords, spoken
from viewer.studies.pathology_mcq.arms import BUILDING, PLAIN, corruption_of
from viewer.studies.pathology_mcq.params import KINDS, Arm
from viewer.studies.pathology_mcq.questions import mcq_of

_CONDITIONS: Final[Mapping[str, str]] = {
    PLAIN: "with its image",
    Arm.TEXT_ONLY: "text only",
    Arm.NOISE: "noise instead of the image",
    Arm.MISMATCH: "another question",
    BUILDING.name: "making questions",
}
_KINDS: Final[Mapping[str, str]] = {
    "bubble": "air bubbles",
    "defocus": "defocus blur",
    "jpeg": "JPEG compression",
    "motion": "motion blur",
    "pixelate": "pixelation",
    "saturate": "saturation",
}
"""Kinds of corruption whose name is not a word for them."""


def condition_words(name: str) -> str:
    """Return the change of a condition, such as "defocus blur, level 3"."""
    if name in _CONDITIONS:
        return _CONDITIONS[name]
    kind, dash, level = name.rpartition("-")
    if not (dash and kind in KINDS and level.isdecimal()):
        return spoken(name)
    kind, severity = corruption_of(name)
    return f"{_KINDS.get(kind, kind)}, level {severity}"


def explained(item: Item, condition: str) -> tuple[Pair, ...]:
    """Return the explanation of the right option, and those of every option (E003-12).

    Each stands below its option. There is none where another question is asked over the
    item's options, or questions are made: the explanations are not about those.
    """
    if condition in {Arm.MISMATCH, BUILDING.name}:
        return ()
    mcq = mcq_of(item)
    texts = ((mcq.correct, mcq.explanation), *enumerate(mcq.explanations))
    named = (
        (f"({letter_of(i)}) {mcq.options[i]}: {_VERDICTS[i == mcq.correct]}", text)
        for i, said in texts
        if (text := said.strip())
    )
    return tuple(dict.fromkeys(named))  # a table may give the right one's twice


_VERDICTS: Final = {True: "right", False: "wrong"}
WORDS: Final = StudyWords(
    finding="subset",
    findings="subsets",
    view="split",
    views="splits",
    rate="accuracy",
    verdicts=RIGHTS,
    names={
        "train": "Training",
        "val": "Validation",
        "test_tiny": "Test-tiny",
        "test": "Test",
    },
    condition=condition_words,
    explained=explained,
)
