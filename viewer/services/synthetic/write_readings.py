"""Synthetic studies with reports, tasks, answers and grades on disk (ReXecution)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.domain.rubric import Dimension, Grade
from viewer.domain.task_selection import SelectedTask, selection_as_json
from viewer.imaging.png import encode_png
from viewer.services.synthetic.phantom.chest_reports import (
    ChestReport,
    earlier,
    report_of,
)
from viewer.services.synthetic.phantom.patient import (
    Finding,
    PhantomPatient,
    make_patient,
)
from viewer.services.synthetic.phantom.projection import Projection, project
from viewer.services.synthetic.phantom.rays import Bools, spacing_mm
from viewer.services.synthetic.phantom.study_tasks import tasks_of
from viewer.services.synthetic.write_patients import signed
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

_FILES: Final = {View.FRONTAL: ("pa", "PA"), View.LATERAL: ("lateral", "LATERAL")}
_PRIOR_EVERY: Final = 3
"""One study of three has a study before it."""
_DATES: Final = ("2020-03-01", "2020-02-01")


@dataclass(frozen=True)
class WrittenStudy:
    """A study on disk: its key, its tasks, and the locations on its PA image.

    ``boxes`` has for each finding the bounding box of its shadow, in thousandths of
    width and height: left, top, right, bottom; none for a shadow that falls between the
    pixels of a small image.
    """

    key: str
    tasks: tuple[SelectedTask, ...]
    images: int
    report: ChestReport
    boxes: dict[str, tuple[int, int, int, int]]
    has_prior: bool


def write_study(root: Path, seed: int, index: int, size: SizePx) -> WrittenStudy:
    """Write a patient's study with its prior, if it has one; return its truth."""
    patient, key = make_patient(seed, index), f"study{index + 1:05d}"
    frontal = project(patient, View.FRONTAL, size)
    lateral = project(patient, View.LATERAL, size)
    _write(root / key / "pa.png", frontal, size)
    _write(root / key / "lateral.png", lateral, size)
    case = _case(patient, key)
    changed: Finding | None = None
    if index % _PRIOR_EVERY == 0:
        before, changed = earlier(patient)
        _write(root / key / "prior_pa.png", project(before, View.FRONTAL, size), size)
        images = [{"file": "prior_pa.png", "view": "PA"}]
        case["prior"] = {"date": _DATES[1], "images": images}
    report = report_of(patient, frontal, changed)
    case |= {"indication": report.indication, "findings": report.findings}
    write_atomically(root / key / "case.json", _json(case))
    tasks = tasks_of(key, patient, temporal=changed is not None)
    images_there = len(_FILES) + (changed is not None)
    shadows = {f: frontal.masks[f] for f in sorted(patient.findings)}
    boxes = {str(f): _box(shadow) for f, shadow in shadows.items() if shadow.any()}
    return WrittenStudy(
        key, tasks, images_there, report, boxes, has_prior=changed is not None
    )


def write_tasks(root: Path, studies: Sequence[WrittenStudy]) -> None:
    """Write the selected tasks of all studies."""
    tasks = [task for study in studies for task in study.tasks]
    write_atomically(root / "tasks.json", selection_as_json(tasks))


def write_grades(root: Path, grades: Sequence[Grade]) -> None:
    """Write readers' grades in the importer's format."""
    header = ("reader", "model", "item", "image", *Dimension, *_WORDED)
    rows = [_row(grade) for grade in grades]
    write_atomically(root / "grades.csv", csv_bytes(header, rows))


_COMMENTED: Final = Dimension.EXECUTION
_WORDED: Final = ("codes", "concerns", "abstained", f"comment_{_COMMENTED}")


def write_answers(root: Path, model: str, answers: dict[str, object]) -> None:
    """Write a scripted model's answers, by trial name."""
    write_atomically(root / "answers" / f"{model}.json", _json(answers))


def _write(path: Path, projection: Projection, size: SizePx) -> None:
    values = signed(projection, spacing_mm(size))
    grey = np.asarray(values >> 4, dtype=np.uint8)
    write_atomically(path, encode_png(Raster(grey)))


def _case(patient: PhantomPatient, key: str) -> dict[str, object]:
    files = [{"file": f"{name}.png", "view": view} for name, view in _FILES.values()]
    who = f"patient{patient.index + 1:05d}"
    return {"id": key, "patient": who, "date": _DATES[0], "images": files}


def _box(shadow: Bools) -> tuple[int, int, int, int]:
    rows, columns = np.nonzero(shadow.any(axis=1))[0], np.nonzero(shadow.any(axis=0))[0]
    high, wide = shadow.shape
    return (
        int(1000 * columns[0] // wide),
        int(1000 * rows[0] // high),
        int(-(-1000 * (columns[-1] + 1) // wide)),
        int(-(-1000 * (rows[-1] + 1) // high)),
    )


def _row(grade: Grade) -> list[object]:
    scores = [grade.scores.get(dimension) for dimension in Dimension]
    abstained = {None: "", True: "yes", False: "no"}[grade.abstained]
    return [
        *(grade.reader, grade.model, grade.item, grade.image, *scores),
        *("; ".join(grade.codes), "; ".join(grade.concerns), abstained),
        grade.comments.get(_COMMENTED, ""),
    ]


def _json(document: object) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"
