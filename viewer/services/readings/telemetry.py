"""What was on screen in a session whose reader agreed: kept, replayed, exported."""

import hashlib
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reading import Consent, SessionId
from viewer.domain.telemetry import ASKED, TELEMETRY, VERSION, Look, clock_problem
from viewer.metrics.dwell import dwell_ms
from viewer.services.readings.cases import task
from viewer.services.readings.opening import sessions
from viewer.services.sessions.ground import Ground, ground_of, refuse_sealed
from viewer.services.sessions.seal import moment
from viewer.store import looks, reading_audit, readings, withdrawing
from viewer.store.database import Store, open_store
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes


def decision(store: Path, number: SessionId) -> bool | None:
    """Return whether a session's reader agreed to be recorded, None if undecided.

    Where a session does not ask for it, the answer is no.
    """
    with open_store(store) as opened:
        return _decision(opened, ground_of(opened, number))


def _decision(store: Store, ground: Ground) -> bool | None:
    if not ground.spec.telemetry:
        return False
    return reading_audit.decision_on(store, ground.session.id, _consent(given=True))


def _consent(*, given: bool) -> Consent:
    return Consent.on(TELEMETRY, VERSION, ASKED, given=given)


def decide(store: Path, number: SessionId, *, given: bool) -> int:
    """Record whether a session's reader agrees to be recorded.

    To take the consent back deletes for good what was recorded; returns the number of
    rows that are gone.

    Raises
    ------
    WrongUseError
        If the session does not ask for it, or the reader has withdrawn.
    """
    with open_store(store) as opened:
        ground = ground_of(opened, number)
        _check_asked(ground)
        with withdrawing.purging(opened):
            reading_audit.note_consent(opened, number, _consent(given=given))
            return 0 if given else looks.delete_looks(opened, number)


def _check_asked(ground: Ground) -> None:
    number = ground.session.id
    if ground.session.withdrawn:
        raise WrongUseError(
            f"The reader of session {number} has withdrawn.", "Open another session."
        )
    if not ground.spec.telemetry:
        raise WrongUseError(
            f"Session {number} does not record what is on screen.",
            "Open a session with this choice.",
        )


def record(
    store: Path, number: SessionId, seen: Sequence[Look], *, seal: bool = False
) -> None:
    """Store what was on screen, in its order.

    With ``seal`` the audit gets the hash of all that it has none of yet.

    Raises
    ------
    WrongUseError
        If the session does not ask for it, its reader has not agreed or has withdrawn,
        or a look is not of one of its cases.
    """
    with open_store(store) as opened, opened.transaction():
        add_record(opened, ground_of(opened, number), seen, seal=seal)


def forget_if_declined(store: Store, number: SessionId) -> None:
    """Delete what was recorded if a session's reader took the consent back elsewhere.

    Inside :func:`viewer.store.withdrawing.purging`.
    """
    if reading_audit.decision_on(store, number, _consent(given=True)) is False:
        looks.delete_looks(store, number)


def add_record(
    store: Store, ground: Ground, seen: Sequence[Look], *, seal: bool
) -> None:
    """Store what was on screen, as :func:`record` does, inside a transaction."""
    _check_asked(ground)
    number = ground.session.id
    if not _decision(store, ground):
        raise WrongUseError(
            f"The reader of session {number} has not agreed to be recorded.",
            "Ask the reader first; the answers count either way.",
        )
    planned = len(readings.tasks_of(store, number))
    for count, look in enumerate(seen, 1):
        _check(look, count, planned)
    looks.add_looks(store, number, seen)
    if seal:
        reading_audit.note_looks(store, number)


def _check(look: Look, count: int, planned: int) -> None:
    sight = look.sight
    numbers = [value for value in asdict(sight).values() if value is not None]
    whole = (look.position, look.duration_ms, sight.viewport, sight.image, sight.slice)
    moment(look.start)
    known = look.position < planned and min(whole) >= 0 and sight.zoom > 0
    if not known or not all(map(math.isfinite, numbers)):
        raise WrongUseError(
            f"Row {count} of the screen recording belongs to no case, or is invalid.",
            "It was changed; use what the program wrote.",
        )


@dataclass(frozen=True)
class Replay:
    """What was on screen at a case: its images with their sizes, and looks in order.

    ``problem`` says in a sentence if a clock was set back meanwhile.
    """

    images: tuple[ImageRef, ...]
    sizes: tuple[SizePx, ...]
    looks: tuple[Look, ...]
    problem: str = ""


def replayable(store: Path) -> Mapping[SessionId, Sequence[int]]:
    """Return the recorded cases of the sessions whose recording may be looked at.

    Not while their reader reads, whom it would influence, and not where they were
    sealed elsewhere.
    """
    with open_store(store) as opened:
        recorded = looks.cases_with_looks(opened)
    return {
        one.id: recorded[one.id]
        for one in sessions(store)
        if one.id in recorded and one.finished and not one.visiting
    }


def replay(store: Path, number: SessionId, position: int) -> Replay:
    """Return what was on screen at a case of a session.

    Raises
    ------
    WrongUseError
        If nothing was recorded, or the data set no longer has one of the images.
    """
    with open_store(store) as opened:
        seen = looks.looks_of(opened, number, position)
    if not seen:
        raise WrongUseError(
            f"Nothing was recorded of case {position + 1} in session {number}.",
            "Choose another case.",
        )
    shown = task(store, number, position)
    canvases = [one.canvas for one in shown.exhibits if one.image is not None]
    sizes = tuple(one.size for one in canvases if one) or (shown.canvas.size,)
    if max(look.sight.image for look in seen) >= len(sizes):
        raise WrongUseError(
            f"Case {position + 1} of session {number} lacks images that were shown.",
            "Register its data set again.",
        )
    return Replay(shown.images, sizes, seen, clock_problem(seen))


def write_dwell_maps(store: Path, number: SessionId, folder: Path) -> tuple[Path, ...]:
    """Write for how long each pixel of each image was in sight; return the files.

    ``case1_image2.npy`` has float64 (rows, columns) in seconds; slices and viewports
    are added up. Raises as :func:`export_telemetry` and :func:`replay` do.
    """
    with open_store(store) as opened:
        refuse_sealed(ground_of(opened, number))
        positions = looks.cases_with_looks(opened).get(number, [])
    files: dict[str, bytes] = {}
    for position in positions:
        shown = replay(store, number, position)
        for image in sorted({look.sight.image for look in shown.looks}):
            data = io.BytesIO()
            np.save(data, dwell_map(shown, image))
            files[f"case{position + 1}_image{image + 1}.npy"] = data.getvalue()
    for name, content in files.items():
        write_atomically(folder / name, content)
    return tuple(folder / name for name in files)


def dwell_map(
    shown: Replay, image: int, most: int | None = None
) -> npt.NDArray[np.float64]:
    """Return for how many seconds each pixel of an image was in sight.

    Parameters
    ----------
    shown : Replay
        What was on screen at a case.
    image : int
        Its image, from 0.
    most : int, optional
        A larger image is divided into so many elements along its longer side, of which
        each stands for its centre.

    Returns
    -------
    ndarray of float64, (rows, columns)
        Slices and viewports are added up.
    """
    size = shown.sizes[image]
    longer = max(size.rows, size.columns)
    scale = min(1.0, (most or longer) / longer)
    timed = [
        (_scaled(one.sight.seen, scale), one.duration_ms)
        for one in shown.looks
        if one.sight.image == image
    ]
    rows, columns = (max(1, round(n * scale)) for n in (size.rows, size.columns))
    return dwell_ms(timed, SizePx(rows, columns)) / 1000


def _scaled(box: BoxPx, scale: float) -> BoxPx:
    return BoxPx(*(scale * edge for edge in (box.x0, box.y0, box.x1, box.y1)))


@dataclass(frozen=True, slots=True)
class Exported:
    """A table of what was on screen; ``problem`` as a Replay's."""

    path: Path
    rows: int
    problem: str = ""


def export_telemetry(store: Path, number: SessionId, path: Path) -> Exported:
    """Write what was on screen in a session as CSV; the columns are in docs/formats.md.

    Raises
    ------
    WrongUseError
        If nothing was recorded in the session, or it was sealed elsewhere.
    """
    with open_store(store) as opened:
        ground = ground_of(opened, number)
        refuse_sealed(ground)
        seen = looks.looks_of(opened, number)
        if not seen:
            raise WrongUseError(
                f"Nothing on screen was recorded in session {number}.",
                "Choose a session that asked for it, and whose reader agreed.",
            )
        data = _csv(ground, seen)
        sha256 = hashlib.sha256(data).hexdigest()
        with opened.transaction():
            reading_audit.note_event(opened, "export", number, file_sha256=sha256)
    write_atomically(path, data)
    return Exported(path, len(seen), clock_problem(seen))


def _csv(ground: Ground, seen: Sequence[Look]) -> bytes:
    rows = [_row(ground, look) for look in seen]
    return csv_bytes(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _row(ground: Ground, look: Look) -> dict[str, object]:
    sight = asdict(look.sight)
    return {
        "session": ground.session.id,
        "reader": ground.session.reader,
        "case": look.position + 1,
        "start": look.start,
        "duration_ms": look.duration_ms,
        **sight,
        **{name: sight[name] + 1 for name in ("viewport", "image", "slice")},
        "inverted": int(look.sight.inverted),
    }
