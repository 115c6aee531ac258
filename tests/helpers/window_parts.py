"""Parts of a window that do next to nothing, for tests of what is around them."""

import os
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSplitter, QTreeWidget, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.run import RunSpec
from viewer.services.commands import FigureCommand
from viewer.services.worker.background import AskCommand
from viewer.services.worker.worker import _Worker
from viewer.settings import Settings
from viewer.ui.application.actions import HIDE, SHOW, Handlers
from viewer.ui.application.app_context import AppContext, Listener, WorkerBridge
from viewer.ui.application.layout_memory import Choices, KeptImage
from viewer.ui.window.main_window import MainWindow


class IdleWorker:
    """A worker without a process: it notes what it is told."""

    def __init__(self, store: Path, listener: Listener) -> None:
        self.store, self.listener = store, listener
        self.told: list[object] = []

    def _note(self, *what: object) -> int:
        self.told.append(what)
        return len(self.told)

    def start(self) -> None:
        self._note("start")

    def ask(self, command: AskCommand) -> int:
        return self._note("ask", command)

    def run_batch(self, spec: RunSpec, concurrency: int) -> int:
        return self._note("batch", spec, concurrency)

    def resume(self, run: int, concurrency: int) -> int:
        return self._note("resume", run, concurrency)

    def pause(self, run: int) -> int:
        return self._note("pause", run)

    def cancel(self, run: int) -> int:
        return self._note("cancel", run)

    def tidy(self, run: int) -> int:
        return self._note("tidy", run)

    def look(self, ref: ImageRef) -> int:
        return self._note("look", ref)

    def figures(self, run: int) -> int:
        return self._note("figures", run)

    def draw_figure(self, command: FigureCommand) -> int:
        return self._note("draw_figure", command)

    def write_bundle(self, run: int, path: Path) -> int:
        return self._note("bundle", run, path)

    def model_states(self) -> int:
        return self._note("states")

    def load_model(self, name: str) -> int:
        return self._note("load", name)

    def unload_model(self, name: str) -> int:
        return self._note("unload", name)

    def cancel_load(self, name: str) -> int:
        return self._note("cancel_load", name)

    def probe_model(self, name: str) -> int:
        return self._note("probe", name)

    def cancel_probe(self, name: str) -> int:
        return self._note("cancel_probe", name)

    def list_models(self, table: Mapping[str, object]) -> int:
        return self._note("list", dict(table))

    def find_models(self, *, ask: bool) -> int:
        return self._note("find", ask)

    def calibrate(self, name: str) -> int:
        return self._note("calibrate", name)

    def check_model(self, name: str) -> int:
        return self._note("check", name)

    def cancel_calibration(self, name: str) -> int:
        return self._note("cancel_calibration", name)

    def close(self) -> None:
        self._note("close")


class WorkerInThread:
    """The worker behind pipes as those of its process, which takes a second to start.

    In ``spawn_worker``'s place it leaves out that process, and nothing of its work.
    """

    def __init__(self, store: Path) -> None:
        (self._commands, stdin), (stdout, self._events) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        self._thread = threading.Thread(target=self._serve, args=(store,), daemon=True)
        self._thread.start()

    def _serve(self, store: Path) -> None:
        with (
            os.fdopen(self._commands, "rb") as commands,
            os.fdopen(self._events, "wb", buffering=0) as events,
        ):
            worker = _Worker(store, events)
            for frame in commands:
                worker.serve(frame)
            worker.finish()

    def wait(self, limit_s: float | None = None) -> int:
        """Wait until it has finished what is in flight."""
        self._thread.join(limit_s)
        return 0


class IdleReader(QWidget):
    """A workspace Read that notes what it should do."""

    def __init__(self) -> None:
        super().__init__()
        self.running = False
        self.did: list[str] = []
        self.opened: list[Path] = []
        self.shown: list[Path] = []
        self.answers: list[int] = []
        self.chosen: dict[str, object] = {}
        self.image = KeptImage()
        row, splitter = QHBoxLayout(self), QSplitter(self)
        self.filter, self.cases = QLineEdit(self), QTreeWidget(self)
        for widget in (self.filter, self.cases):
            splitter.addWidget(widget)
        row.addWidget(splitter)

    def handlers(self) -> Handlers:
        ids = ("tool.window", "tool.pan", "image.fit", "ask.ask", "edit.find")
        return {name: partial(self.did.append, name) for name in (*ids, HIDE, SHOW)}

    @property
    def open_now(self) -> tuple[Path, ...]:
        return tuple(self.opened)

    @property
    def choices(self) -> Choices:
        return dict(self.chosen)

    def recall(self, choices: Choices) -> None:
        self.chosen = dict(choices)

    @property
    def opened_lately(self) -> tuple[Path, ...]:
        return tuple(reversed(self.opened))

    @property
    def image_now(self) -> KeptImage:
        return self.image

    def open_paths(
        self,
        paths: Sequence[Path],
        *,
        show: bool = True,
        image: KeptImage | None = None,
    ) -> None:
        self.opened += paths
        self.shown += paths if show else []
        self.image = image or self.image

    def stop_running(self) -> bool:
        """Stop what a test says is running."""
        ran, self.running = self.running, False
        return ran

    def reload_models(self, *also: str) -> None:
        self.did.append(" ".join(("models", *also)))

    def show_answer(self, trial: int, beside: tuple[int, ...] = ()) -> None:
        self.answers += (trial, *beside)


class IdleMeasure(QWidget):
    """A workspace Measure that notes what it should do."""

    def __init__(self) -> None:
        super().__init__()
        self.did: list[str] = []

    def handlers(self) -> Handlers:
        ids = ("file.batch", "file.export", "edit.copy")
        return {name: partial(self.did.append, name) for name in ids}

    @property
    def choices(self) -> Choices:
        return {}

    def recall(self, choices: Choices) -> None:
        self.did += choices.keys() & {"measure"}

    def tour_handlers(self) -> Handlers:
        return {}

    def return_to_row(self) -> None:
        self.did.append("row")


class Furnished:
    """A window with both idle workspaces."""

    def __init__(self, settings: Settings) -> None:
        self.workers: list[IdleWorker] = []
        self.context = AppContext(settings, WorkerBridge(settings.store, self._make))
        self.window = MainWindow(self.context)
        self.read, self.measure = IdleReader(), IdleMeasure()
        self.window.add_read(self.read, self.read)
        self.window.add_measure(self.measure, self.measure)

    def _make(self, store: Path, listener: Listener) -> IdleWorker:
        self.workers.append(IdleWorker(store, listener))
        return self.workers[-1]
