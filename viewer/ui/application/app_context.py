"""The context shared by every part of the window, made by `viewer.app`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt, Signal

from viewer.domain.case import ImageRef
from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.settings import Settings
from viewer.ui.application.action_set import Actions
from viewer.ui.application.changes import Changes
from viewer.ui.application.notices import Notices
from viewer.ui.application.status_bar import StatusFields
from viewer.ui.application.undo import UndoStack

if TYPE_CHECKING:
    from viewer.domain.run import RunSpec
    from viewer.services.commands import FigureCommand
    from viewer.services.worker.background import AskCommand
    from viewer.ui.application.run_states import RunStates


class Worker(Protocol):
    """A background worker as the window needs it; every number returned is an id."""

    def start(self) -> None:
        """Start the process; earlier commands wait for it."""

    def ask(self, command: "AskCommand") -> int:
        """Ask one question; its reply and its events follow as messages."""

    def run_batch(self, spec: "RunSpec", concurrency: int) -> int:
        """Plan a run and start it."""

    def resume(self, run: int, concurrency: int) -> int:
        """Continue a run."""

    def pause(self, run: int) -> int:
        """Pause a run once its requests in flight are answered."""

    def cancel(self, run: int) -> int:
        """Cancel a run once its requests in flight are answered."""

    def tidy(self, run: int) -> int:
        """Delete what a killed run left at its providers."""

    def look(self, ref: ImageRef) -> int:
        """Look for text in an image's pixels; the reply is a PixelLook."""

    def figures(self, run: int) -> int:
        """Ask for the list of a run's figures."""

    def draw_figure(self, command: "FigureCommand") -> int:
        """Ask for a figure as a picture or another file."""

    def write_bundle(self, run: int, path: Path) -> int:
        """Write a run's bundle; the reply comes once it is written."""

    def model_states(self) -> int:
        """Ask which models are held in memory, or could be."""

    def load_model(self, name: str) -> int:
        """Load a model; its steps follow as messages, then the reply."""

    def unload_model(self, name: str) -> int:
        """Unload a model once its questions in flight are answered."""

    def cancel_load(self, name: str) -> int:
        """Stop the loading of a model."""

    def probe_model(self, name: str) -> int:
        """Probe a model's endpoint."""

    def cancel_probe(self, name: str) -> int:
        """Stop the test of a model's endpoint."""

    def list_models(self, table: Mapping[str, object]) -> int:
        """Ask the server in a profile's table for its models."""

    def find_models(self, *, ask: bool) -> int:
        """Ask for the models of servers on this machine."""

    def calibrate(self, name: str) -> int:
        """Calibrate a model's coordinate convention; its steps follow as messages."""

    def check_model(self, name: str) -> int:
        """Check what a model does with a known mark; its steps follow as messages."""

    def cancel_calibration(self, name: str) -> int:
        """Stop a calibration or a check."""

    def close(self) -> None:
        """End the input; the worker stores what is in flight and exits."""


Listener = Callable[[object], None]
"""Gets each WorkerMessage, on a thread of the worker's."""


def _background_worker(store: Path, listener: Listener) -> Worker:
    from viewer.services.worker.background import BackgroundWorker

    return BackgroundWorker(store, listener)


class WorkerBridge(QObject):
    """The background worker, whose messages arrive in the GUI thread.

    The process starts with the first command, so that a window opens without it.

    Parameters
    ----------
    store : Path
        The store's file.
    make : callable, optional
        Makes the worker from the store and its listener.
    """

    message = Signal(object)
    """WorkerMessage: WorkerReply, WorkerEvent, WorkerLoading or WorkerDied"""
    _arrived = Signal(object)

    def __init__(
        self,
        store: Path,
        make: Callable[[Path, Listener], Worker] = _background_worker,
    ) -> None:
        super().__init__()
        self._store, self._make = store, make
        self._worker: Worker | None = None
        # Emitted in the worker's thread; queued, it arrives in the window's own.
        self._arrived.connect(self.message, Qt.ConnectionType.QueuedConnection)

    def _started(self) -> Worker:
        if self._worker is None:
            self._worker = self._make(self._store, self._arrived.emit)
            self._worker.start()
        return self._worker

    def ask(self, command: "AskCommand") -> int:
        """Ask one question; its reply and its events follow as messages."""
        return self._started().ask(command)

    def run_batch(self, spec: "RunSpec", concurrency: int) -> int:
        """Plan a run and start it."""
        return self._started().run_batch(spec, concurrency)

    def resume(self, run: int, concurrency: int) -> int:
        """Continue a run."""
        return self._started().resume(run, concurrency)

    def pause(self, run: int) -> int:
        """Pause a run once its requests in flight are answered."""
        return self._started().pause(run)

    def cancel(self, run: int) -> int:
        """Cancel a run once its requests in flight are answered."""
        return self._started().cancel(run)

    def tidy(self, run: int) -> int:
        """Delete what a killed run left at its providers."""
        return self._started().tidy(run)

    def look(self, ref: ImageRef) -> int:
        """Ask the worker to look for text in an image; the reply is a PixelLook."""
        return self._started().look(ref)

    def figures(self, run: int) -> int:
        """Ask for the list of a run's figures."""
        return self._started().figures(run)

    def draw_figure(self, command: "FigureCommand") -> int:
        """Ask for a figure as a picture or another file."""
        return self._started().draw_figure(command)

    def write_bundle(self, run: int, path: Path) -> int:
        """Write a run's bundle; the reply comes once it is written."""
        return self._started().write_bundle(run, path)

    def model_states(self) -> int:
        """Ask which models are held in memory, or could be."""
        return self._started().model_states()

    def load_model(self, name: str) -> int:
        """Load a model; its steps follow as messages, then the reply."""
        return self._started().load_model(name)

    def unload_model(self, name: str) -> int:
        """Unload a model once its questions in flight are answered."""
        return self._started().unload_model(name)

    def cancel_load(self, name: str) -> int:
        """Stop the loading of a model."""
        return self._started().cancel_load(name)

    def probe_model(self, name: str) -> int:
        """Probe a model's endpoint."""
        return self._started().probe_model(name)

    def cancel_probe(self, name: str) -> int:
        """Stop the test of a model's endpoint."""
        return self._started().cancel_probe(name)

    def list_models(self, table: Mapping[str, object]) -> int:
        """Ask the server in a profile's table for its models."""
        return self._started().list_models(table)

    def find_models(self, *, ask: bool) -> int:
        """Ask for the models of servers on this machine."""
        return self._started().find_models(ask=ask)

    def calibrate(self, name: str) -> int:
        """Calibrate a model's coordinate convention; its steps follow as messages."""
        return self._started().calibrate(name)

    def check_model(self, name: str) -> int:
        """Check what a model does with a known mark; its steps follow as messages."""
        return self._started().check_model(name)

    def cancel_calibration(self, name: str) -> int:
        """Stop a calibration or a check."""
        return self._started().cancel_calibration(name)

    def close(self) -> None:
        """Close the worker's input, if there is a worker."""
        if self._worker is not None:
            self._worker.close()


@dataclass(frozen=True, eq=False)
class AppContext:
    """What the workspaces share.

    ``decoder`` reads images for the screen; the window's decodes in other processes.
    """

    settings: Settings
    worker: WorkerBridge
    decoder: Decoder = field(default_factory=LocalDecoder)
    actions: Actions = field(default_factory=Actions)
    notices: Notices = field(default_factory=Notices)
    status: StatusFields = field(default_factory=StatusFields)
    undo: UndoStack = field(default_factory=UndoStack)

    @cached_property
    def changes(self) -> Changes:
        """The object that signals when the store or the file of models was written."""
        return Changes(self.settings)

    @cached_property
    def run_states(self) -> "RunStates":
        """The state of each run; first asked for before a run can be started."""
        from viewer.ui.application.run_states import RunStates

        states = RunStates(self.worker)
        states.setParent(self.worker)  # ends with the window, as the worker does
        return states

    def end_with(self, window: QObject) -> None:
        """Delete the parts of the context together with the window.

        Otherwise they outlive it, kept alive by their signal connections, with every
        icon and handler, until Qt itself has ended.
        """
        for part in (
            self.worker, self.actions, self.notices, self.status, self.undo,
            self.changes,
        ):  # fmt: skip
            part.setParent(window)
