"""How controls show a case: without its images, or its options alone."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.case import Dataset
from viewer.domain.controls import Control
from viewer.domain.evidence import EvidenceCase, Language
from viewer.domain.run import Condition, Trial
from viewer.studies.controls import GUESS
from viewer.studies.evidence_diagnosis.params import PREPARING, Arm, Task
from viewer.studies.evidence_diagnosis.people import PHYSICIANS
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.showing import (
    Modality,
    Showing,
    Textual,
    seed_of,
)

_OF_OPTIONS: Final[Mapping[Control, Showing]] = {
    Control.OPTIONS_ONLY: Showing(Modality.ABSENT, Textual.REMOVED),
    Control.SHUFFLED_OPTIONS: Showing().turned(1),
}
_GUESSES: Final[Mapping[str, str]] = {
    Language.ENGLISH: GUESS,
    Language.CHINESE: "本题没有提供图像。请猜测答案。",
}


def shown_under(trial: Trial, control: Control) -> Condition | None:
    """Return how a control shows a case, None where it makes no sense.

    Only raw images can be hidden; physicians and reports that are prepared are shown
    none, and only the final diagnosis among options has options. These are turned by
    one place in the shuffled control, which is another order for every case.
    """
    task, raw = Task(trial.finding), trial.condition.name == Arm.RAW
    if task in PREPARING or trial.model == PHYSICIANS.name or not raw:
        return None
    if control not in _OF_OPTIONS:
        return trial.condition
    shown = _OF_OPTIONS[control].condition(seed_of(trial.condition))
    return shown if task is Task.FDX else None


def image_kinds(dataset: Dataset) -> Mapping[str, str]:
    """Return the type of evidence that each image of a case is."""
    cases = (EvidenceCase.of_item(i) for i in dataset.items if not is_report(i))
    return {
        image: str(one.type)
        for case in cases
        for one in case.evidence
        for image in one.images
    }


def guess_words(prompt: str) -> str:
    """Return what asks to guess before a question about a case, "" for a judge's."""
    return _GUESSES.get(prompt.rpartition("_")[2], "")
