"""Display names of the study's tasks, languages and ways to show a case."""

import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Final

from viewer.domain.study_words import RIGHTS, StudyWords, spoken
from viewer.studies.evidence_diagnosis.params import Arm

_ARMS: Final[Mapping[str, str]] = {
    f"{Arm.REFINED} {Arm.EXPERT}": "expert text, refined prompt",
    Arm.RAW: "raw images",
    Arm.EXPERT: "expert text",
    Arm.REMOVE_TEXT: "text removed",
    Arm.RANDOM_TEXT: "random text",
    Arm.REFINED: "refined prompt",
}
"""The longest name first: it begins as a shorter one does."""
_NAME: Final = re.compile(
    rf"({'|'.join(_ARMS)})(?: (with|without) (.+?))?(?: turned (\d+))?"
)


def condition_words(name: str) -> str:
    """Return how a condition shows a case, such as "raw images, without CT"."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        return spoken(name)
    arm, how, evidence, order = parts.groups()
    toggled = [f"{how} {evidence}"] if how else []
    turned = [f"options turned by {order}"] if order else []
    return ", ".join([_ARMS[arm], *toggled, *turned])


WORDS: Final = StudyWords(
    finding="question kind",
    findings="question kinds",
    view="language",
    views="languages",
    rate="accuracy",
    verdicts=RIGHTS,
    names={
        "ddx": "Differential",
        "fdx": "Final diagnosis, one of four",
        "open_fdx": "Final diagnosis, open",
        "extraction": "Preparation: extraction",
        "summaries": "Preparation: summaries",
        "distractors": "Preparation: distractors",
        "en": "English",
        "zh": "Chinese",
    },
    condition=condition_words,
    task=str,
    strata={"specialty": attrgetter("kind")},
    ungraded=(
        "A judge scores differentials and open diagnoses: name a model as judge in "
        "the batch."
    ),
)
