"""The window's composition root: who is made, from what, and in which order."""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from viewer.domain.errors import WrongUseError
from viewer.settings import FIRST_IMAGE_VARIABLE, Settings
from viewer.ui.desk import Desk, WorkerBridge
from viewer.ui.jobs import run_in_background
from viewer.ui.main_window import MainWindow

if TYPE_CHECKING:
    from viewer.services.bench import WindowSpeeds
    from viewer.services.bench_samples import Samples

_LATER_MS: Final = 150
"""After this the first image is on its way, and the rest of the window is added."""
_SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def has_display() -> bool:
    """Return whether a window can be opened here."""
    return sys.platform != "linux" or any(os.environ.get(name) for name in _SCREENS)


def open_window(paths: Sequence[Path], settings: Settings, *, demo: bool) -> int:
    """Open the window and stay until it is closed; return the exit code.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders to open; without any, those opened last.
    settings : Settings
        The folders in use.
    demo : bool
        Whether to make the demo collection, where it is not made yet, and open it.

    Raises
    ------
    WrongUseError
        Where there is no display.
    """
    if not has_display():
        raise WrongUseError(
            "There is no display to open the window on.",
            "Set DISPLAY, or use the command line: overread --help.",
        )
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends Qt's loop; none is lost
    application = make_application()
    window = build_window(settings)
    window.crash.install()
    window.show()
    QTimer.singleShot(0, lambda: _open_first(window, paths, demo=demo))
    code = application.exec()
    window.crash.uninstall()
    return code


def measure_window(samples: "Samples") -> "WindowSpeeds":
    """Measure the window for ``doctor --bench``; off screen where there is no display.

    Parameters
    ----------
    samples : Samples
        The files to measure with; settings and store lie in their ``home``.
    """
    from viewer.ui.window_bench import measure_window as measure

    if not has_display():
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    make_application()
    window = build_window(Settings(samples.home, samples.home / "store.sqlite"))
    _add_read(window)
    return measure(window, samples)


def make_application() -> QApplication:
    """Return the application, made if there is none."""
    known = QApplication.instance()
    application = known if isinstance(known, QApplication) else QApplication([])
    application.setApplicationName("overread")
    application.setApplicationDisplayName("Overread")
    return application


def build_window(settings: Settings) -> MainWindow:
    """Return the window, still without workspaces."""
    return MainWindow(Desk(settings, WorkerBridge(settings.store)))


def furnish(window: MainWindow) -> None:
    """Add both workspaces; they import what a window alone does without."""
    _add_read(window)
    _add_measure(window)


def _add_read(window: MainWindow) -> None:
    from viewer.ui.read_workspace import ReadWorkspace

    read = ReadWorkspace(window.desk)
    window.add_read(read, read)


def _add_measure(window: MainWindow) -> None:
    from viewer.ui.interrupted_runs import InterruptedRuns
    from viewer.ui.measure_workspace import MeasureWorkspace

    measure = MeasureWorkspace(window.desk)
    measure.trial_chosen.connect(window.open_trial)
    window.add_measure(measure, measure)
    InterruptedRuns(window.desk, measure.resume, window).look()


def _open_first(window: MainWindow, paths: Sequence[Path], *, demo: bool) -> None:
    """Open what the start is about, and only then add what nobody looks at yet."""
    _add_read(window)
    _report_first_image(window)
    if paths:
        window.open_paths(paths)
    elif not demo:
        window.reopen()
    if demo:
        DemoMaker(window).start()
    QTimer.singleShot(_LATER_MS, lambda: _finish_furnishing(window))


def _report_first_image(window: MainWindow) -> None:
    if os.environ.get(FIRST_IMAGE_VARIABLE):
        from viewer.ui.first_image import FirstImage

        FirstImage(window, Path(os.environ[FIRST_IMAGE_VARIABLE]))


def _finish_furnishing(window: MainWindow) -> None:
    _add_measure(window)
    window.return_to_workspace()


@dataclass(frozen=True, slots=True)
class DemoProgress:
    """Steps of the demo collection that are done, and all of them."""

    done: int
    total: int


class DemoMaker(QObject):
    """Makes the demo collection beside the window, and opens what is ready."""

    _progressed = Signal(object)
    """DemoProgress"""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shown: tuple[Path, ...] = ()
        self._progressed.connect(self._show_progress)

    def start(self) -> None:
        """Open what was made before; make and register the rest in the background."""
        root = self._root
        ready = [root / "radiograph", root / "phantom"]
        if (root / "demo.json").exists():
            self._show(ready)
        run_in_background(self._make, self._finish)

    @property
    def _root(self) -> Path:
        return self._window.desk.settings.home / "demo"

    def _make(self) -> tuple[Path, ...]:
        from viewer.services.batch_form import dataset_names
        from viewer.services.demo import prepare_demo
        from viewer.services.demo_run import NAME, register_demo
        from viewer.store.database import open_store

        settings = self._window.desk.settings
        collection = prepare_demo(settings.home, self._tell)
        if NAME not in dataset_names(settings.store):
            with open_store(settings.store) as store:
                register_demo(store, settings.home, self._tell)
        return collection.radiograph, collection.phantom

    def _tell(self, done: int, total: int) -> None:
        self._progressed.emit(DemoProgress(done, total))

    def _show_progress(self, event: DemoProgress) -> None:
        self._show([self._root / "radiograph"])
        text = f"Making phantoms · {event.done} of {event.total}"
        self._window.desk.status.show_work(text)

    def _show(self, folders: Sequence[Path]) -> None:
        if not self._shown:
            self._shown = tuple(folders)
            self._window.open_paths(folders)

    def _finish(self, folders: tuple[Path, ...]) -> None:
        self._window.desk.status.show_work("")
        missing = [folder for folder in folders if folder not in self._shown]
        self._window.open_paths(missing, show=not self._shown)
