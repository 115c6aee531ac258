"""A worker that draws figures at once, in this process, from some that are at hand."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.helpers.window_parts import IdleWorker
from viewer.domain.errors import OverreadError
from viewer.services.commands import FigureCommand
from viewer.services.reporting.figures import RunFigures
from viewer.services.worker.background import WorkerReply
from viewer.services.worker.figures import drawn, listed
from viewer.ui.application.app_context import Listener, WorkerBridge


class FiguresAtHand(IdleWorker):
    """Answers as a worker does; ``found`` are the figures of every run."""

    def __init__(self, store: Path, listener: Listener, found: RunFigures) -> None:
        super().__init__(store, listener)
        self.found = found

    @property
    def drawn(self) -> list[FigureCommand]:
        """What was to be drawn."""
        told = (what[1] for what in self.told if isinstance(what, tuple) and what[1:])
        return [one for one in told if isinstance(one, FigureCommand)]

    def figures(self, run: int) -> int:
        return self._reply(super().figures(run), lambda: listed(self.found))

    def draw_figure(self, command: FigureCommand) -> int:
        number = super().draw_figure(command)
        return self._reply(number, lambda: drawn(self.found, command))

    def _reply(self, number: int, work: Callable[[], Mapping[str, object]]) -> int:
        try:
            self.listener(WorkerReply(number, work(), ""))
        except OverreadError as error:
            self.listener(WorkerReply(number, None, f"{error.what} {error.how}"))
        return number


class AtHand:
    """Makes that worker for a bridge; keeps it to be looked at."""

    def __init__(self, *figures: object) -> None:
        self.found = RunFigures(figures)  # type: ignore[arg-type]
        self.worker: FiguresAtHand | None = None

    def bridge(self, store: Path) -> WorkerBridge:
        """Return a bridge to a worker with the figures."""
        return WorkerBridge(store, self._make)

    def _make(self, store: Path, listener: Listener) -> FiguresAtHand:
        self.worker = FiguresAtHand(store, listener, self.found)
        return self.worker
