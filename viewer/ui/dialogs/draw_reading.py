"""Drawing questions off the GUI thread; data sets are read once and kept."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.import_reading import Seldom

if TYPE_CHECKING:
    from viewer.domain.case import Dataset
    from viewer.services.importing.draw_questions import Drawn

_DRAW: Final = "draw"


@dataclass(frozen=True)
class ToDraw:
    """What to draw, as a person chose it; ``changes`` differ from the preset."""

    sources: tuple[str, ...]
    preset: str
    seed: int
    changes: dict[str, object] = field(default_factory=dict)


class DrawReading(QObject):
    """One drawing at a time; a new one stops the one before."""

    progressed = Signal(object)
    """FilesRead, emitted in the drawing's thread"""

    def __init__(self, store: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._store, self._background_tasks = store, BackgroundTasks(self)
        self._stop = Event()
        self._datasets: dict[str, Dataset] = {}

    @property
    def is_under_way(self) -> bool:
        """Whether something is being drawn."""
        return _DRAW in self._background_tasks

    def draw(
        self,
        wanted: ToDraw,
        then: "Callable[[Drawn], None]",
        failed: Callable[[Exception], None],
    ) -> None:
        """Draw questions, telling how far it is."""
        self.stop()
        self._stop = stop = Event()
        told = Seldom(self.progressed.emit)

        def work() -> "Drawn":
            from viewer.services.importing.draw_questions import Drawn, drawing

            parts = (
                drawing(
                    source,
                    wanted.preset,
                    wanted.changes,
                    wanted.seed,
                    progress=told,
                    stop=stop,
                )
                for source in self._read(wanted.sources)
            )
            return Drawn(tuple(parts))

        self._background_tasks.start(_DRAW, work, then, failed)

    def _read(self, names: tuple[str, ...]) -> "list[Dataset]":
        from viewer.services.importing.draw_questions import source_dataset

        known = self._datasets
        self._datasets = {
            name: known.get(name) or source_dataset(self._store, name) for name in names
        }
        return list(self._datasets.values())

    def stop(self) -> None:
        """End the drawing under way; nobody is told of it any more."""
        self._stop.set()
        self._background_tasks.cancel_all()
