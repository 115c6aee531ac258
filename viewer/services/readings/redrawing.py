"""Images made for a session's cases are drawn again where their files were deleted."""

import hashlib
from pathlib import Path
from threading import Event
from typing import Final

from viewer.domain.case import DatasetImage
from viewer.domain.errors import WrongUseError
from viewer.domain.reading import SessionId
from viewer.imaging.png import encode_png
from viewer.services.privacy.gate import open_gate
from viewer.services.readings.made_images import Progress, refuse_stopped
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import cases_of
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, readings, runs
from viewer.store.database import Store, open_store
from viewer.studies.reading_tasks import MadeImage
from viewer.writers.files import write_atomically

_CHANGED: Final = WrongUseError(
    "An edited image of this session was deleted, and would be drawn differently now.",
    "Withdraw from the session and begin another, or restore the file from a backup.",
)


def redraw_missing(
    store: Path,
    session: SessionId,
    *,
    progress: Progress | None = None,
    stop: Event | None = None,
) -> int:
    """Draw a session's images whose files are gone; return how many.

    ``progress`` is told which of how many is drawn; what is drawn before ``stop`` is
    set is kept.

    Raises
    ------
    CancelledError
        If it was stopped.
    WrongUseError
        If an image is not drawn as it was, such as where it has other black bars now.
    """
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        missing = _missing(opened, ground)
        if not missing:
            return 0
        run, makes = ground.session.run, _makes(opened, ground)
        assert run is not None  # noqa: S101 - images are made of a run
        dataset = cases.dataset_of_run(opened, run)
        spec = runs.run_spec(opened, run)
        sources = RunContext(spec, dataset, open_gate(opened, dataset)).sources()
        for number, image in enumerate(missing, 1):
            refuse_stopped(stop)
            if progress is not None:
                progress(number, len(missing))
            if image.key not in makes:
                raise _CHANGED
            png = encode_png(makes[image.key].make(sources))
            if hashlib.sha256(png).hexdigest() != image.sha256:
                raise _CHANGED
            write_atomically(image.ref.path, png)
        return len(missing)


def _missing(store: Store, ground: Ground) -> list[DatasetImage]:
    if not ground.spec.made:
        return []
    made = cases.dataset_named(store, ground.spec.made)
    return [image for image in made.images if not image.ref.path.is_file()]


def _makes(store: Store, ground: Ground) -> dict[str, MadeImage]:
    """Return how each image of a session is made, by its key."""
    session, spec = ground.session, ground.spec
    wanted = TaskWanted(
        spec.asked.study, spec.task, session.dataset, session.run, spec.seed
    )
    _, found = cases_of(store, wanted)
    makes = {(one.item, one.output): one.made for one in found if one.made is not None}
    planned = readings.tasks_of(store, session.id)
    return {
        task.image: makes[task.item, task.trial]
        for task in planned
        if (task.item, task.trial) in makes
    }
