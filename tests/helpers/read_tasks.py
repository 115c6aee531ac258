"""Every task that people do: a store to do it on, and how a session of it is opened."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from tests.helpers.reviewed_run import DATASET, MODELS, missed_run
from tests.helpers.secret_words import hide_names, hide_truth, secret_model
from tests.helpers.task_stores import imported, phantom
from viewer.domain.aid import Aid, Arm
from viewer.domain.form_catalog import ANATOMY, PARTIAL, READER_TASK, VERDICT
from viewer.domain.reading import SessionId, SessionKind
from viewer.services.readings import cases, recording
from viewer.services.readings.agreeing import open_adjudication
from viewer.services.readings.opening import (
    open_error_review,
    open_reader_study,
    sessions,
)
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task

FIRST_READER: Final = "Other"
"""Who reads first, where others read after somebody."""
_OF_PEOPLE: Final = ("grades.csv", "experts.csv")
"""Files that bring the answers of people who are not in the store."""
_FORMATS: Final = {
    "rubric_reading": "report-studies",
    "pathology_mcq": "pathmmu",
    "evidence_diagnosis": "medsyn",
    "grounded_vqa": "vindr",
}


@dataclass(frozen=True)
class Material:
    """What a task is done on: a study's synthetic collection, and whether it was run.

    Secret words stand for its models, and for what is right.
    ``study`` is "" for findings on radiographs. ``settings`` is the file of the run, if
    it is another than the study's own.
    """

    study: str
    size: int
    run: bool = True
    settings: str = ""

    def write(self, folder: Path) -> Path:
        """Write the collection into a folder; return it."""
        phantom(folder, self.study, self.size)
        for name in _OF_PEOPLE:
            (folder / name).unlink(missing_ok=True)
        if self.settings:
            shutil.copy(folder / self.settings, folder / "study.toml")
        hide_names(folder / "study.toml")
        hide_truth(folder, self.study)
        return folder

    def store(self, folder: Path) -> Path:
        """Make a store beside a folder; return it."""
        if not self.study:
            missed_run(store := folder.with_suffix(".sqlite"), self.size)
            return store
        return imported(self.write(folder), _FORMATS[self.study], run=self.run)


Opens = Callable[[Path, str], SessionId]
"""Opens a session in a store for a reader."""


@dataclass(frozen=True)
class ReadTask:
    """A task, and how a reader begins it, or goes on with it."""

    material: Material
    open: Opens


def _of_study(wanted: TaskWanted, model: str = "", arm: Arm | None = None) -> Opens:
    def opens(store: Path, reader: str) -> SessionId:
        aid = Aid(1, model, arm, wrong=0.5) if arm else None
        return open_task(store, replace(wanted, aid=aid), reader)

    return opens


def _placing(store: Path, reader: str, arm: Arm | None = None) -> SessionId:
    aid = Aid(1, MODELS[0], arm, wrong=0.5) if arm else None
    return open_reader_study(store, DATASET, READER_TASK, reader, aid=aid)


def _review(store: Path, reader: str) -> SessionId:
    return open_error_review(store, 1, reader)


def _settling(store: Path, reader: str) -> SessionId:
    """Open the disagreements of two readers, also those that another has settled."""
    if reader == FIRST_READER:
        return _review(store, reader)
    known = sessions(store)
    for name, verdict in (("One", PARTIAL), ("Two", ANATOMY)):
        if name not in {one.reader for one in known}:
            session = _review(store, name)
            for task in cases.queue(store, session):
                recording.lock(store, session, task.position, {VERDICT: verdict})
    for one in known:
        settled = one.kind is SessionKind.ADJUDICATION and one.finished
        if settled and not one.withdrawn:
            recording.withdraw(store, one.id)
    return open_adjudication(store, 1, reader)


def _again(store: Path, reader: str) -> SessionId:
    """Open what is validated again once somebody has validated it."""
    task = "validation" if reader == FIRST_READER else "revalidation"
    return open_task(store, _wanted("evidence_diagnosis", task), reader)


_wanted = partial(TaskWanted, dataset="people")
_PANEL: Final = _wanted("pathology_mcq", "panel", panel="I")
_RADIOGRAPHS: Final = Material("", 20)
_QUESTIONS: Final = Material("pathology_mcq", 8)
_CASES: Final = Material("evidence_diagnosis", 4, run=False)
_STUDIES: Final = Material("rubric_reading", 2)

READ_TASKS: Final[Mapping[str, ReadTask]] = {
    "curation": ReadTask(
        replace(_STUDIES, size=6, settings="curation.toml"),
        _of_study(_wanted("rubric_reading", "selection", run=1)),
    ),
    "grading": ReadTask(
        _STUDIES, _of_study(_wanted("rubric_reading", "grading", run=1))
    ),
    "panel": ReadTask(_QUESTIONS, _of_study(_PANEL)),
    "panel, then a model": ReadTask(
        _QUESTIONS, _of_study(_PANEL, secret_model("knows"), Arm.AFTER)
    ),
    "panel beside a model": ReadTask(
        _QUESTIONS, _of_study(_PANEL, secret_model("knows"), Arm.FROM_START)
    ),
    "validity": ReadTask(_QUESTIONS, _of_study(_wanted("pathology_mcq", "validity"))),
    "outlines": ReadTask(
        Material("grounded_vqa", 8, run=False),
        _of_study(_wanted("grounded_vqa", "anatomies")),
    ),
    "edited images": ReadTask(
        Material("grounded_vqa", 6),
        _of_study(_wanted("grounded_vqa", "edited_images", run=1)),
    ),
    "differential": ReadTask(
        _CASES, _of_study(_wanted("evidence_diagnosis", "differential"))
    ),
    "validation": ReadTask(
        _CASES, _of_study(_wanted("evidence_diagnosis", "validation"))
    ),
    "validation again": ReadTask(replace(_CASES, size=10), _again),
    "judging": ReadTask(
        Material("evidence_diagnosis", 3),
        _of_study(_wanted("evidence_diagnosis", "judging", run=1)),
    ),
    "error review": ReadTask(_RADIOGRAPHS, _review),
    "adjudication": ReadTask(_RADIOGRAPHS, _settling),
    "placing": ReadTask(_RADIOGRAPHS, _placing),
    "placing, then a model": ReadTask(_RADIOGRAPHS, partial(_placing, arm=Arm.AFTER)),
    "placing beside a model": ReadTask(
        _RADIOGRAPHS, partial(_placing, arm=Arm.FROM_START)
    ),
    "placing in both arms": ReadTask(_RADIOGRAPHS, partial(_placing, arm=Arm.BOTH)),
}
"""Each task that people do, alone or with a model's answers, by its name in tests."""
