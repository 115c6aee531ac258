"""Display names of the study's splits and conditions."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.study_words import RIGHTS, StudyWords, spoken
from viewer.studies.pathology_mcq.arms import BUILDING, PLAIN, corruption_of
from viewer.studies.pathology_mcq.params import KINDS, Arm

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
)
