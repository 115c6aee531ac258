"""The basis of a session: its form, its study, and the source of its cases."""

import json
from dataclasses import dataclass
from typing import Final, Self

from viewer.domain.aid import Aid
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form
from viewer.domain.form_json import form_as_json, form_of_json
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import made, plain
from viewer.domain.reading import Material, SessionId
from viewer.domain.run import Condition, RunSpec
from viewer.services.sessions.seal import Seal
from viewer.store import readings
from viewer.store.database import Store
from viewer.store.readings import PlannedTask, StoredSession
from viewer.studies.catalog import places_of, study_named
from viewer.studies.places import Places
from viewer.studies.reading_tasks import HasReadings, ReadingTask
from viewer.studies.study import Study

TRAINING: Final = "training"
"""The view of a case that does not count."""
_READER_NAME_LENGTH = 80


@dataclass(frozen=True)
class SessionSpec:
    """How a session's cases were chosen and are asked; kept as JSON.

    ``asked`` are the settings of the run that is reviewed, or of the run that the
    reader's answers will be. ``cap`` is how many misses of each stratum are reviewed,
    ``reader_index`` which of the counterbalanced orders the reader got. ``task`` is the
    study's task that is read, "" if findings are placed; ``panel`` is the group of
    readers that the reader belongs to. ``aid`` are the answers shown beside the cases.
    ``seal`` is that of a session which another store sealed for this machine; its
    cases' truth is there. With ``telemetry`` the reader is asked whether what is on
    screen may be recorded. ``made`` is the name under which images are registered that
    were made for its cases, "" without any.
    """

    asked: RunSpec
    condition: Condition
    seed: int
    views: tuple[str, ...] = ()
    cap: int | None = None
    reader_index: int = 0
    task: str = ""
    panel: str = ""
    aid: Aid | None = None
    seal: Seal | None = None
    telemetry: bool = False
    made: str = ""

    def as_json(self) -> str:
        """Return the spec as JSON; :meth:`of_json` reads back an equal one."""
        return json.dumps(plain(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> Self:
        """Return the spec that :meth:`as_json` wrote."""
        document = json.loads(text)
        # Stores of version 6 kept here what cases show; what a session asks is fixed.
        document.pop("material", None)
        return made(cls, document, where="the session")


@dataclass(frozen=True)
class Ground:
    """A session with everything read from it."""

    session: StoredSession
    form: Form
    spec: SessionSpec
    study: Study
    places: Places | None
    """None if the study's task asks for no places of a grid."""

    def canvas(self, geometry: ImageGeometry) -> Canvas:
        """Return where a reader draws on an image."""
        if self.places is None:
            size = geometry.size
            return Canvas(geometry, Grid(8, 8), BoxPx(0, 0, size.columns, size.rows))
        grid = self.places.grid(self.spec.condition)
        return Canvas(geometry, grid, self.places.field(geometry))

    def form_of(self, task: PlannedTask) -> Form:
        """Return the questions that a case asks."""
        return self.form.narrowed(material_of(task).asked)

    @property
    def task(self) -> ReadingTask | None:
        """The study's task that is read, None if findings are placed."""
        return reading_task(self.study, self.spec.task) if self.spec.task else None


def ground_of(store: Store, session: int) -> Ground:
    """Return the basis of a session; an unknown number raises WrongUseError."""
    row = readings.session_row(store, session)
    form = form_of_json(json.loads(row.form))
    spec = SessionSpec.of_json(row.spec)
    asked = spec.asked
    places = None if spec.task else places_of(asked.study, asked.preset, asked.params)
    return Ground(row, form, spec, study_named(asked.study), places)


def material_of(task: PlannedTask) -> Material:
    """Return what a case shows beside its questions."""
    return made(Material, json.loads(task.material), where="the case")


def reading_task(study: Study, name: str) -> ReadingTask:
    """Return a study's task for people; an unknown one raises WrongUseError."""
    tasks = study.reading_tasks if isinstance(study, HasReadings) else ()
    found = next((task for task in tasks if task.name == name), None)
    if found is None:
        raise WrongUseError(
            f"{study.title} has no task '{name}' for readers.",
            f"It has {', '.join(task.name for task in tasks) or 'none'}.",
        )
    return found


def refuse_sealed(ground: Ground) -> None:
    """Raise WrongUseError for a session whose truth another store has."""
    if ground.spec.seal is not None:
        raise WrongUseError(
            f"Session {ground.session.id} was sealed elsewhere, and its answers count "
            "there.",
            f"Write them with overread export session {ground.session.id} --out FILE, "
            "and send the file back.",
        )


def continued(store: Store, session: SessionId, *, telemetry: bool) -> SessionId:
    """Return a session to continue, unless it lacks a record that is wanted now."""
    if telemetry and not ground_of(store, session).spec.telemetry:
        raise WrongUseError(
            f"Session {session} of this reader was opened without screen "
            "recording, and continues without it.",
            "Turn recording off, or read under another name.",
        )
    return session


def form_text(form: Form) -> str:
    """Return a form as the store keeps it."""
    return json.dumps(form_as_json(form), sort_keys=True, ensure_ascii=False)


def reader_name(name: str) -> str:
    """Return a reader's name without spaces around it; no name raises."""
    stripped = " ".join(name.split())
    if not stripped or len(stripped) > _READER_NAME_LENGTH:
        raise WrongUseError(
            "A session needs a reader's name.",
            f"Write a name or a pseudonym of up to {_READER_NAME_LENGTH} characters.",
        )
    return stripped
