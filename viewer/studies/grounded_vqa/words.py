"""Display names of the study's questions, perturbations and ways to ask."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.item import Item
from viewer.domain.study_words import RIGHTS, StudyWords, spoken
from viewer.studies.grounded_vqa.arms import (
    CONTOUR,
    CROP,
    LOBA,
    LOCATED,
    PLAIN,
    TEXT_SHAM,
    change_of,
    is_perturbed,
    is_sham,
    perturbation_of,
    way_of,
)
from viewer.studies.grounded_vqa.edits import NO, YES
from viewer.studies.grounded_vqa.items import (
    SOURCE,
    Unreadable,
    anatomy_of,
    question_of,
    source_of,
)
from viewer.studies.grounded_vqa.request import words_of
from viewer.studies.grounded_vqa.visual import Arm
from viewer.studies.grounded_vqa.vocabulary import NO_FINDING, canonical
from viewer.studies.prompts import BUILT_IN

EDITS: Final[Mapping[str, str]] = {
    Arm.DONOR: "healthy donor",
    Arm.OWN: "own region",
    Arm.SAME: "same finding",
}
"""What is pasted into an image."""
_TESTS: Final[Mapping[str, str]] = {
    "tpt-anatomy": "a different anatomy",
    "tpt-disease": "a different finding",
    TEXT_SHAM: "the same in other words (sham)",
    Arm.DONOR: f"{EDITS[Arm.DONOR]} pasted",
    Arm.OWN: f"{EDITS[Arm.OWN]} pasted (sham)",
    Arm.SAME: f"{EDITS[Arm.SAME]} pasted (sham)",
}
_WAYS: Final[Mapping[str, str]] = {
    PLAIN: "as asked",
    CONTOUR: "region outlined",
    CROP: "region enlarged",
    LOCATED: "region located first",
}


def condition_words(name: str) -> str:
    """Return the change of a condition, such as "region outlined"."""
    test, way = perturbation_of(name), way_of(name)
    parts = [_TESTS[test]] if test in _TESTS else []
    if not parts or way != PLAIN:
        parts.append(_way_words(way))
    return ", ".join(parts)


def _way_words(way: str) -> str:
    if way.startswith(LOBA):
        return f"region highlighted, weight {way.removeprefix(LOBA)}"
    return _WAYS.get(way, spoken(way))


def task_of(finding: str) -> str:
    """Return whether a question is open, or closed: answered with yes or no."""
    return finding if finding == _OPEN else _CLOSED


def words_asked(item: Item, trial: str, condition: str) -> str:
    """Return a trial's question as the data set or the paper's templates word it."""
    question = question_of(item)
    if isinstance(question, Unreadable):
        return ""
    return words_of(question, change_of(trial, condition), BUILT_IN)


def truth_of(item: Item, _trial: str, condition: str) -> str:
    """Return the right answer of a trial after what was changed in it."""
    question = question_of(item)
    if isinstance(question, Unreadable):
        return ""
    if not question.closed:
        labels = dict.fromkeys(map(canonical, question.labels))
        return ", ".join(labels) or NO_FINDING
    yes = is_sham(condition) if is_perturbed(condition) else question.yes
    return YES if yes else NO


_OPEN, _CLOSED = "any finding", "closed"
WORDS: Final = StudyWords(
    view="question kind",
    views="question kinds",
    rate="accuracy",
    verdicts=RIGHTS,
    names={
        _CLOSED: "Closed questions (yes or no)",
        _OPEN: "Any finding (open question)",
        "abnormality": "Open, finding present",
        "normal": "Open, nothing present",
        "positive": "Closed, finding present",
        "hallucinated": "Closed, finding absent",
    },
    numbers={
        "mean_tp": "Findings named correctly, mean",
        "mean_fp": "Findings named wrongly, mean",
        "mean_fn": "Findings missed, mean",
        "mean_outside_paste": "Finding outside the paste, mean",
    },
    condition=condition_words,
    task=task_of,
    strata={"anatomy": anatomy_of, SOURCE: source_of},
    asked={"question": words_asked, "truth": truth_of},
)
