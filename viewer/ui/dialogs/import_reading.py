"""Reading of a data set in the background: progress, content, or error."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from viewer.domain.case import View
from viewer.ui.application.background_tasks import BackgroundTasks

if TYPE_CHECKING:
    from viewer.services.importing.import_preview import ImportPreview

_TOLD_EVERY_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class FilesRead:
    """How many files, or images, of how many were read."""

    done: int
    every: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read, and as what; ``view`` None is what the files say."""

    format: str
    root: Path
    name: str
    view: View | None


class Reading(QObject):
    """One reading at a time; a new one stops the one before."""

    progressed = Signal(object)
    """FilesRead, emitted in the reading's thread"""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._background_tasks = BackgroundTasks(self)
        self._stop = Event()

    @property
    def is_under_way(self) -> bool:
        """Whether something is being read."""
        return "read" in self._background_tasks

    def look(
        self,
        root: Path,
        then: Callable[[tuple[str, ...]], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Find the formats that a folder or file looks like."""
        from viewer.services.importing.import_preview import formats_found

        self.stop()
        self._background_tasks.start("look", lambda: formats_found(root), then, failed)

    def read(
        self,
        wanted: Wanted,
        then: "Callable[[ImportPreview], None]",
        failed: Callable[[Exception], None],
    ) -> None:
        """Read a data set, telling how far it is."""
        from viewer.services.importing.import_preview import preview

        self.stop()
        self._stop = stop = Event()
        told = Seldom(self.progressed.emit)
        self._background_tasks.start(
            "read",
            lambda: preview(
                wanted.format, wanted.root, wanted.name, wanted.view, told, stop
            ),
            then,
            failed,
        )

    def stop(self) -> None:
        """End the reading under way; nobody is told of it any more."""
        self._stop.set()
        self._background_tasks.cancel_all()


class Seldom:
    """Tells of progress a few times a second, and of the last file or image."""

    def __init__(self, tell: Callable[[FilesRead], object]) -> None:
        self._tell, self._last = tell, 0.0

    def __call__(self, done: int, every: int) -> None:
        """Tell it now, if it is time or the last."""
        now = time.monotonic()
        if done == every or now - self._last >= _TOLD_EVERY_S:
            self._last = now
            self._tell(FilesRead(done, every))
