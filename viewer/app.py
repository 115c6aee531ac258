"""The window's composition root: creates its parts in order and connects them."""

import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal
from PySide6.QtWidgets import QApplication
from shiboken6 import delete

from viewer.domain.errors import OverreadError
from viewer.services.running.stopping import ending_signals, is_hang_up
from viewer.services.starting.display import has_display
from viewer.services.synthetic.demo_process import (
    DemoProcess,
    DemoProgress,
    demo_folder,
    is_made,
)
from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.services.viewing.unpacking import UnpackedZips
from viewer.settings import FIRST_IMAGE_VARIABLE, Settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.jobs import finish_background_work, run_in_background
from viewer.ui.application.notices import Notice
from viewer.ui.application.tell import tell_error
from viewer.ui.window.collecting import GuiCollector, collect_all
from viewer.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from viewer.services.benchmarking.bench import WindowSpeeds
    from viewer.services.benchmarking.samples import Samples
    from viewer.services.starting.head_start import HeadStart
    from viewer.services.starting.running_window import Listener
    from viewer.ui.workspaces.read import ReadWorkspace

_LATER_MS: Final = 50
"""So long after the first image was painted the rest of the window is added."""
_SWITCH_S: Final = 0.0005
"""So long the window's thread waits for one that computes, again and again a turn."""
_LATEST_MS: Final = 1500
"""After this the rest of the window is added, whether there is an image or not."""


def open_window(
    paths: Sequence[Path],
    settings: Settings,
    head_start: "HeadStart",
    notice: str = "",
    listener: "Listener | None" = None,
) -> int:
    """Open the window and stay until it is closed; return the exit code.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders to open; without any, those opened last.
    settings : Settings
        The folders in use.
    head_start : HeadStart
        Work begun before the window was imported: decoding the first image, and making
        the demo collection if it is to be opened.
    notice : str
        Shown to the user first, "" for nothing.
    listener : Listener, optional
        Takes the paths of later starts.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends Qt's loop; none is lost
    make_application()
    code = _stay_open(paths, settings, head_start, notice, listener)
    collect_all()
    return code


def _stay_open(
    paths: Sequence[Path],
    settings: Settings,
    head_start: "HeadStart",
    notice: str,
    listener: "Listener | None",
) -> int:
    window = build_window(settings, head_start.decoder)
    window.crash.install()
    import viewer.ui.workspaces.read  # noqa: F401 - before a window is seen to wait

    window.resize(window.size().boundedTo(window.screen().availableSize()))
    window.show()
    if notice:
        window.context.notices.post(Notice(notice))
    QTimer.singleShot(0, lambda: _open_first(window, paths, head_start.demo))
    attending = _attend(window, listener)
    code = QApplication.exec()
    for one in attending:
        one.stop()
    head_start.end()
    finish_background_work()
    window.crash.uninstall()
    delete(window)
    return code


class _Stops(Protocol):
    def stop(self) -> None: ...


def _attend(window: MainWindow, listener: "Listener | None") -> Sequence[_Stops]:
    """Return what attends to the window while it runs.

    It hears signals and later starts of the program, and logs when it did not answer.
    """
    from viewer.services.inspecting.blocks import keep_block
    from viewer.ui.window.incoming import IncomingPaths
    from viewer.ui.window.watchdog import Watchdog

    home = window.context.settings.home
    watchdog = Watchdog(lambda block: keep_block(block, home))
    incoming = (IncomingPaths(listener, window),) if listener is not None else ()
    return EndingSignals(window), watchdog, *incoming


def measure_window(samples: "Samples") -> "WindowSpeeds":
    """Time the window for ``doctor --bench``; off screen if there is no display.

    Parameters
    ----------
    samples : Samples
        The files to use; settings and store lie in their ``home``.
    """
    from viewer.ui.window.benchmark import measure_window as measure

    if not has_display():
        # Qt reads it when the application is made.
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    make_application()
    window = build_window(Settings(samples.home, samples.home / "store.sqlite"))
    _add_read(window)
    return measure(window, samples)


def make_application() -> QApplication:
    """Return the QApplication, created if there is none yet."""
    known = QApplication.instance()
    application = known if isinstance(known, QApplication) else QApplication([])
    application.setApplicationName("overread")
    application.setApplicationDisplayName("Overread")
    return application


def build_window(settings: Settings, decoder: Decoder | None = None) -> MainWindow:
    """Build the window, without workspaces yet.

    It starts its own decoding process unless ``decoder`` is given.
    """
    # Python's own 5 ms add up: the thread waits for each of Qt's calls of an override.
    sys.setswitchinterval(_SWITCH_S)
    worker = WorkerBridge(settings.store)
    return MainWindow(AppContext(settings, worker, decoder or LocalDecoder()))


def furnish(window: MainWindow) -> None:
    """Add every workspace; only now are the modules imported that a window needs."""
    GuiCollector(window)
    for step in _rest_of(window, _add_read(window)):
        step()


def _rest_of(
    window: MainWindow, read: "ReadWorkspace"
) -> Sequence[Callable[[], object]]:
    """Return the steps that add what is not visible before the first image."""
    return (
        read.furnish,
        partial(_add_imports, window),
        partial(_add_measure, window, read),
        partial(_add_review, window, read),
        partial(_add_models, window, read),
        partial(_delete_unpacked, window),
    )


def _import_rest(settings: Settings) -> None:
    """Import what the steps need, and read the store for the first time.

    That takes half a second. In a background thread the window answers meanwhile.
    """
    import viewer.ui.dialogs.housekeeping
    import viewer.ui.dialogs.imports
    import viewer.ui.panels.asking.answering
    import viewer.ui.window.interrupted_runs
    import viewer.ui.workspaces.measure
    import viewer.ui.workspaces.models
    import viewer.ui.workspaces.review  # noqa: F401 - all made in the steps
    from viewer.services.running.batch_form import model_states

    with contextlib.suppress(OverreadError):  # told by what shows the models
        model_states(settings)


def _add_read(window: MainWindow) -> "ReadWorkspace":
    from viewer.ui.workspaces.read import ReadWorkspace

    read = ReadWorkspace(window.context)
    window.add_read(read, read)
    window.stack.currentChanged.connect(
        lambda _: window.status.show_image_fields(
            shown=window.stack.currentWidget() is read
        )
    )
    return read


def _add_imports(window: MainWindow) -> None:
    from viewer.ui.dialogs import display_check, housekeeping, imports, word_reviews

    for page in (imports, word_reviews, housekeeping, display_check):
        window.context.actions.handle(page.handlers(window, window.context))


def _add_measure(window: MainWindow, read: "ReadWorkspace") -> None:
    from viewer.ui.window.interrupted_runs import InterruptedRuns
    from viewer.ui.workspaces.measure import MeasureWorkspace

    measure = MeasureWorkspace(window.context)
    measure.trial_chosen.connect(window.open_trial)
    read.browser.folder.batch_wanted.connect(measure.batches.open_on)
    window.add_measure(measure, measure)
    # The line of runs is made with the first that there is to show.
    window.context.run_states.changed.connect(lambda: window.batch)
    InterruptedRuns(window.context, window).look()


def _add_review(window: MainWindow, read: "ReadWorkspace") -> None:
    from viewer.ui.panels.measure.run_list import RunList
    from viewer.ui.workspaces.review import ReviewWorkspace

    review = ReviewWorkspace(window.context)
    read.browser.folder.read_wanted.connect(review.offer)
    for runs in window.findChildren(RunList):
        runs.read_wanted.connect(review.offer)
    window.add_review(review, review)


def _add_models(window: MainWindow, read: "ReadWorkspace") -> None:
    from viewer.ui.workspaces.models import ModelsWorkspace

    models = ModelsWorkspace(window.context)
    models.models_changed.connect(window.reload_models)
    models.connected.connect(lambda event: read.reload_models(event.name))
    window.add_models(models, models)


def _delete_unpacked(window: MainWindow) -> None:
    """Delete copies of ZIP files that nothing needs, in the background."""
    zips = UnpackedZips(window.context.settings)
    still_open = [Path(path) for path in window.remembered.paths]
    run_in_background(lambda: zips.delete_unneeded(still_open), lambda _: None)


def _open_first(
    window: MainWindow, paths: Sequence[Path], demo: DemoProcess | None = None
) -> None:
    """Open the first image, then add the parts that are not visible yet."""
    read = _add_read(window)
    _report_first_image(window)
    if demo is not None:
        DemoMaker(window, demo).start()
    elif paths:
        window.open_paths(paths)
    else:
        window.reopen()
    opening = demo is not None or paths or window.remembered.paths
    _furnish_later(window, read, _LATEST_MS if opening else 0)


def _furnish_later(window: MainWindow, read: "ReadWorkspace", latest_ms: int) -> None:
    from viewer.ui.panels.read.viewport import Viewport

    later = QTimer(window, singleShot=True, interval=latest_ms)
    later.timeout.connect(lambda: _finish_furnishing(window, read))

    def hurry(_: object) -> None:
        if later.isActive():
            later.start(_LATER_MS)

    for viewport in window.findChildren(Viewport):
        viewport.image_shown.connect(hurry)
        viewport.image_failed.connect(hurry)
    later.start()


def _report_first_image(window: MainWindow) -> None:
    if os.environ.get(FIRST_IMAGE_VARIABLE):
        from viewer.ui.window.first_image import FirstImage

        FirstImage(window, Path(os.environ[FIRST_IMAGE_VARIABLE]))


def _finish_furnishing(window: MainWindow, read: "ReadWorkspace") -> None:
    from viewer.ui.window.first_pages import import_pages

    # What was imported and made stays; no collection need look through it.
    steps: Sequence[Callable[[], object]] = (
        gc.freeze,
        partial(GuiCollector, window),
        *_rest_of(window, read),
        gc.freeze,
        window.return_to_workspace,
        partial(run_in_background, import_pages, lambda _: None, priority=-1),
    )
    run_for(
        window,
        partial(_import_rest, window.context.settings),
        lambda _: run_in_steps(window, steps),
        partial(tell_error, window.context),
    )


class DemoMaker(QObject):
    """Opens the finished part of the demo collection while the rest is being made."""

    _progressed = Signal(object)
    """DemoProgress"""

    def __init__(self, window: MainWindow, process: DemoProcess) -> None:
        super().__init__(window)
        self._window, self._process = window, process
        self._shown: tuple[Path, ...] = ()
        self._progressed.connect(self._show_progress)

    def start(self) -> None:
        """Open what exists already; the rest is added when it is finished."""
        if is_made(self._window.context.settings.home):
            self._show(self._folders)
        run_in_background(self._follow, self._finish, self._fail)

    @property
    def _folders(self) -> tuple[Path, Path]:
        root = demo_folder(self._window.context.settings.home)
        return root / "radiograph", root / "phantom"

    def _follow(self) -> None:
        self._process.follow(self._progressed.emit)

    def _show_progress(self, event: DemoProgress) -> None:
        self._show(self._folders[:1])
        text = f"Making phantoms · {event.done} of {event.total}"
        tip = "Stop making phantoms; the rest are made when the demo is next opened"
        self._window.context.status.show_work(text, self._process.stop, tip)

    def _show(self, folders: Sequence[Path]) -> None:
        if not self._shown:
            self._shown = tuple(folders)
            self._window.open_paths(folders)

    def _finish(self, _: None) -> None:
        self._window.context.status.show_work("")
        made = [folder for folder in self._folders if folder.exists()]
        missing = [folder for folder in made if folder not in self._shown]
        self._window.open_paths(missing, show=not self._shown)

    def _fail(self, error: Exception) -> None:
        self._window.context.status.show_work("")
        tell_error(self._window.context, error)


def run_in_steps(owner: QObject, steps: Sequence[Callable[[], object]]) -> None:
    """Run steps one by one, with input and painting handled in between.

    Parameters
    ----------
    owner : QObject
        Destroying it cancels the remaining steps.
    steps : sequence of callable
        Each runs in its own turn of the event loop, starting with the next one.
    """

    def step() -> None:
        steps[0]()
        run_in_steps(owner, steps[1:])

    if steps:
        QTimer.singleShot(0, owner, step)


class EndingSignals(QObject):
    """Closes the window without questions at the first signal; a second one kills it.

    The worker is notified as well: it stores what is in flight and exits by itself,
    even after the window. Qt's event loop waits in C, where Python signal handlers do
    not run, so a wake-up socket wakes Python.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(
            self._woken.fileno(), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._wake_python)
        self._before = {n: signal.signal(n, self._hear) for n in ending_signals()}
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.commitDataRequest.connect(self._finish_asking)

    def stop(self) -> None:
        """Stop handling signals."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._woken.close()
        self._wake.close()

    def _wake_python(self) -> None:
        with contextlib.suppress(OSError):
            self._woken.recv(64)

    def _hear(self, number: int, _: object) -> None:
        again = signal.SIG_IGN if is_hang_up(number) else signal.SIG_DFL
        signal.signal(number, again)
        QTimer.singleShot(0, self._end)

    def _end(self) -> None:
        self._window.keep()
        QApplication.exit(0)

    def _finish_asking(self) -> None:
        """Let the worker finish; the session may kill this process at any moment."""
        self._window.context.worker.close()
