"""A session that another store sealed: opened here, and its answers written back.

It needs nothing but its file: no data set, no network and no key. Its answers are kept
like any session's and go back in a file that only the store it came from can merge.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.case import Dataset, DatasetImage, ImageRef, View
from viewer.domain.counting import counted
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.plain import made
from viewer.domain.reading import SessionId
from viewer.imaging.png import is_bare_png
from viewer.services.readings.sealed_plan import PLAN, SealedImage, SealedPlan
from viewer.services.readings.sealing import content_sha256
from viewer.services.sessions.ground import Ground, SessionSpec, ground_of
from viewer.services.sessions.seal import (
    AGAIN,
    ANSWERS,
    FORMAT,
    SESSION,
    Seal,
    SealedAnswers,
    chained,
)
from viewer.services.sessions.standings import standings_of
from viewer.settings import Settings
from viewer.store import cases, reading_audit, readings
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import session_lock
from viewer.store.looks import looks_of
from viewer.store.readings import NewSession
from viewer.studies.catalog import study_named
from viewer.writers.files import write_atomically
from viewer.writers.verify.archive import MANIFEST, BundleError, opened

_FOLDER: Final = "sessions"
"""Where the images of sealed sessions lie, below the data folder."""


@dataclass(frozen=True, slots=True)
class WrittenAnswers:
    """A file of answers, and how many cases of the session it has locked."""

    path: Path
    planned: int
    locked: int

    @property
    def sentence(self) -> str:
        """How many cases are locked, in words."""
        cases = counted(self.planned, "case")
        return f"{self.locked} of {cases} locked in {self.path.name}"


def open_sealed(settings: Settings, path: Path) -> SessionId:
    """Register a sealed session in the store, or find it there; return it.

    Raises
    ------
    UnreadableInputError
        For a file that is not a sealed session, or was changed.
    WrongUseError
        For one of another version, of this very store, or whose reader has withdrawn.
    """
    seal, members = _read(path)
    _check_version(seal)
    with open_store(settings.store) as store:
        if store.name == seal.store:
            raise WrongUseError(
                "This session was sealed from this very store.",
                f"Continue session {seal.session} here, or open the file with another "
                "store.",
            )
        work = f"sealed {seal.signature}"
        for row in readings.session_rows(store, work=work):
            if row.withdrawn:
                raise WrongUseError(
                    "The reader of this session has withdrawn.", "Open another one."
                )
            _unpacked(settings.home, seal, members)  # those that were deleted come back
            return row.id
        return _registered(store, settings.home, seal, members, work)


def write_answers(store: Path, session: SessionId, path: Path) -> WrittenAnswers:
    """Write the answers of a sealed session to a file for the store it came from.

    Raises
    ------
    WrongUseError
        If the reader has withdrawn, or nothing is answered yet.
    SessionHeldError
        If a window has the session open.
    """
    with open_store(store) as opened_store, session_lock(store, session, utc_now()):
        ground = ground_of(opened_store, session)
        if ground.session.withdrawn:
            raise WrongUseError(
                f"The reader of session {session} has withdrawn.", "Open another one."
            )
        data = _answers(opened_store, ground)
        sha256 = hashlib.sha256(data).hexdigest()
        with opened_store.transaction():
            reading_audit.note_event(
                opened_store, "answers", session, file_sha256=sha256
            )
        write_atomically(path, data)
        standings = standings_of(opened_store, ground)
    return WrittenAnswers(path, len(standings), sum(s.complete for s in standings))


def is_sealed(store: Path, session: SessionId) -> bool:
    """Tell whether a session came from another store's sealed file."""
    with open_store(store) as opened_store:
        return ground_of(opened_store, session).spec.seal is not None


def _answers(store: Store, ground: Ground) -> bytes:
    session, seal = ground.session, ground.spec.seal
    acts = () if seal is None else reading_audit.acts_of(store, session.id)[seal.acts :]
    if seal is None or not acts:
        raise WrongUseError(
            f"Nothing in session {session.id} is answered yet.",
            "Answer at least one case first.",
        )
    chain = chained(seal, acts)
    answers = SealedAnswers(
        kind=ANSWERS,
        format=FORMAT,
        program=viewer.__version__,
        seal=seal,
        reader=session.reader,
        consents=reading_audit.consents_of(store, session.id),
        acts=chain,
        looks=looks_of(store, session.id),
        written_at=utc_now(),
        head=chain[-1].sha256,
    ).whole()
    text = json.dumps(asdict(answers), indent=1, sort_keys=True, ensure_ascii=False)
    return f"{text}\n".encode()


def _read(path: Path) -> tuple[Seal, Mapping[str, bytes]]:
    """Return a file's seal and its members, whose bytes the seal names."""
    try:
        bundle, problems = opened(path.read_bytes())
    except (OSError, BundleError) as error:
        raise _no_session(path) from error
    if bundle is None or bundle.manifest.get("format") != SESSION:
        raise _no_session(path)
    members = {n: data for n, data in bundle.members.items() if n != MANIFEST}
    try:
        seal = made(Seal, bundle.manifest.get("seal"), where=path.name)
    except WrongUseError as error:
        raise _changed(path) from error
    if problems or content_sha256(members) != seal.content_sha256:
        raise _changed(path)
    return seal, members


def _no_session(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} is not a sealed session.",
        "Name a file that overread export session wrote.",
    )


def _changed(path: Path) -> UnreadableInputError:
    return UnreadableInputError(f"{path.name} was changed after it was sealed.", AGAIN)


def _check_version(seal: Seal) -> None:
    """Raise WrongUseError if this program would ask or store something else."""
    known = study_named(seal.study).version
    if (seal.format, seal.program) != (FORMAT, viewer.__version__):
        raise WrongUseError(
            f"This session was sealed by Overread {seal.program}; this is "
            f"{viewer.__version__}.",
            "Install the same version on both machines.",
        )
    if seal.study_version != known:
        raise WrongUseError(
            f"This session is of version {seal.study_version} of its study; here it "
            f"is {known}.",
            "Install the same version on both machines.",
        )


def _registered(
    store: Store, home: Path, seal: Seal, members: Mapping[str, bytes], work: str
) -> SessionId:
    plan, images = _unpacked(home, seal, members)
    name, folder = f"sealed session {seal.content_sha256[:8]}", _folder(home, seal)
    dataset = Dataset(name, "sealed", folder, images, (), seal.content_sha256)
    spec = SessionSpec.of_json(plan.spec)
    asked = replace(spec.asked, dataset=name)
    spec = replace(spec, asked=asked, seal=seal, made="")
    new = NewSession(
        kind=plan.kind,
        reader=seal.reader,
        # Nobody chose it, so that no list of data sets offers it.
        dataset=cases.add_dataset(store, dataset, adhoc=True),
        work=work,
        form=plan.form,
        spec=spec.as_json(),
        tasks=plan.tasks,
        visiting=True,
        consents=plan.consents,
        acts=tuple((act.position, act.as_new()) for act in plan.acts),
    )
    return readings.create_session(store, new, beside=())


def _folder(home: Path, seal: Seal) -> Path:
    return home / _FOLDER / seal.content_sha256


def _unpacked(
    home: Path, seal: Seal, members: Mapping[str, bytes]
) -> tuple[SealedPlan, tuple[DatasetImage, ...]]:
    """Return a file's plan, and its images once they are in the data folder."""
    try:
        plan = made(SealedPlan, json.loads(members[PLAN]), where=PLAN)
        SessionSpec.of_json(plan.spec)
        for act in plan.acts:
            act.as_new()
        folder = _folder(home, seal)
        return plan, tuple(_image(folder, o, members[o.file]) for o in plan.images)
    except (KeyError, ValueError, WrongUseError) as error:
        raise UnreadableInputError(
            "The sealed session cannot be read.", AGAIN
        ) from error


def _image(folder: Path, one: SealedImage, data: bytes) -> DatasetImage:
    """Write an image to the data folder and return it as one of a data set."""
    if not is_bare_png(data):
        raise WrongUseError(f"{one.file} is no plain PNG.", AGAIN)
    path = folder / Path(one.file).name
    write_atomically(path, data)
    return DatasetImage(
        key=one.key,
        patient="",
        study="",
        view=View.UNKNOWN,
        ref=ImageRef(path, 0),
        geometry=ImageGeometry(SizePx(one.rows, one.columns)),
        sha256=hashlib.sha256(data).hexdigest(),
    )
