"""The studies by name; each is imported when it is first used."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from viewer.domain.errors import WrongUseError
from viewer.studies.asking import Turn
from viewer.studies.fields import did_you_mean
from viewer.studies.protocol import PlacingStudy, Study


def _study(module: str) -> Callable[[], Study]:
    """Return a loader of the ``STUDY`` of a module."""

    def load() -> Study:
        study: Study = import_module(module).STUDY
        return study

    return load


STUDIES: Mapping[str, Callable[[], Study]] = {
    "grid_localization": _study("viewer.studies.grid_localization.study"),
    "rubric_reading": _study("viewer.studies.rubric_reading.study"),
    "grounded_vqa": _study("viewer.studies.grounded_vqa.study"),
    "pathology_mcq": _study("viewer.studies.pathology_mcq.study"),
    "evidence_diagnosis": _study("viewer.studies.evidence_diagnosis.study"),
}
"""In the order of their papers, 000 to 004; the first is what a new batch asks."""
TITLES: Final[Mapping[str, str]] = {
    "grid_localization": "Grid localization",
    "rubric_reading": "Graded tasks",
    "grounded_vqa": "Grounded questions",
    "pathology_mcq": "Pathology questions",
    "evidence_diagnosis": "Diagnosis from several evidences",
}
"""What people call each study; a list of them reads none."""
Truth = Callable[[Turn, Any], Mapping[str, object]]
"""What is right of a trial as plain JSON values, from its item and the parameters."""


def _truth(module: str) -> Callable[[], Truth]:
    """Return a loader of the ``truth`` of a module."""

    def load() -> Truth:
        truth: Truth = import_module(module).truth
        return truth

    return load


TRUTHS: Final[Mapping[str, Callable[[], Truth]]] = {
    "rubric_reading": _truth("viewer.studies.rubric_reading.truth"),
    "grounded_vqa": _truth("viewer.studies.grounded_vqa.truth"),
    "pathology_mcq": _truth("viewer.studies.pathology_mcq.truth"),
    "evidence_diagnosis": _truth("viewer.studies.evidence_diagnosis.truth"),
}
"""Of studies about items, whose replies can be judged without this program."""


def truth_of(study: str, turn: Turn, params: Any) -> Mapping[str, object]:  # noqa: ANN401 - the study's own
    """Return what is right of a trial, nothing where no program can tell."""
    return TRUTHS[study]()(turn, params) if study in TRUTHS else {}


PLACING: Final = "grid_localization"
"""The study that single questions in Read are asked with, and readers' tasks."""


def known_findings() -> tuple[str, ...]:
    """Return the findings that any image may be asked about.

    The study itself stays unread: a window starts with this list.
    """
    findings: tuple[str, ...] = import_module(
        f"viewer.studies.{PLACING}.findings"
    ).KNOWN
    return findings


def placing_study(name: str = PLACING) -> PlacingStudy:
    """Return a study that places findings; one that does not raises WrongUseError."""
    return placing(study_named(name))


def placing(study: Study) -> PlacingStudy:
    """Return a study as one that places findings, else raise WrongUseError."""
    if not isinstance(study, PlacingStudy):
        raise WrongUseError(
            f"{study.title} places no finding on an image.",
            "Choose a run of a study that does.",
        )
    return study


def places_findings(study: str) -> bool:
    """Tell whether the answers of a study, by its name, are places on an image."""
    return isinstance(study_named(study), PlacingStudy)


def study_named(name: str) -> Study:
    """Return a study; an unknown name raises WrongUseError with the known ones."""
    if name not in STUDIES:
        raise WrongUseError(
            f"There is no study named '{name}'.",
            f"{did_you_mean(name, STUDIES)}The studies are {', '.join(STUDIES)}.",
        )
    return STUDIES[name]()
