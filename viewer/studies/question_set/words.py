"""Display names of the study's conditions and kinds of answers."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.controls import CONTROL_WORDS
from viewer.domain.question_kinds import ABSOLUTE_ERROR, AnswerKind
from viewer.domain.study_words import RIGHTS, StudyWords, spoken
from viewer.studies.question_set.params import Arm
from viewer.studies.question_set.questions import groups_in_words, groups_text

_CONDITIONS: Final[Mapping[str, str]] = {
    Arm.IMAGE: "with the image",
    **CONTROL_WORDS,
}


def condition_words(name: str) -> str:
    """Return what a condition does."""
    return _CONDITIONS.get(name) or spoken(name)


WORDS: Final = StudyWords(
    finding="category",
    findings="categories",
    view="answer kind",
    views="answer kinds",
    rate="accuracy",
    verdicts=RIGHTS,
    names={AnswerKind.YES_NO.value: "yes or no"},
    numbers={ABSOLUTE_ERROR: "absolute error"},
    condition=condition_words,
    strata={"groups": groups_text},
    spelled={"groups": groups_in_words},
)
