"""The composition root: what opens, and in which order."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import Furnished
from viewer import app
from viewer.domain.errors import OverreadError
from viewer.services.synthetic.demo_process import DemoProcess, DemoProgress
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place


def test_that_the_window_has_every_workspace(qtbot: QtBot, settings: Settings) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    assert list(window.switch.buttons) == [
        "window.read",
        "window.measure",
        "window.review",
        "window.models",
    ]
    known = [spec for spec, _ in window.context.actions]
    assert {"file.batch", "ask.ask", "tool.length"} <= {spec.id for spec in known}


def test_that_the_window_of_an_image_is_told_only_beside_images(
    qtbot: QtBot, settings: Settings
) -> None:
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    window.context.status.show_window("W 350 L 40")
    for place in (Place.MEASURE, Place.MODELS, Place.READ):
        window.enter(place)
        seen = not window.status.window_text.isHidden()
        assert seen is (place is Place.READ)


_FIRST_OPENING = """
import sys, threading
from importlib.abc import MetaPathFinder
from pathlib import Path
from viewer import app
from viewer.settings import Settings
from viewer.ui.window.first_pages import import_pages

class Noting(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if threading.current_thread() is threading.main_thread():
            print(name)

app.make_application()
home = Path(sys.argv[1])
window = app.build_window(Settings(home, home / "store.sqlite"))
app.furnish(window)
import_pages()
sys.meta_path.insert(0, Noting())
for command in ("file.draw_questions", "edit.settings", "window.palette"):
    window.context.actions.run(command)
window.close()
"""


def test_that_pages_are_imported_before_they_are_first_shown(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_OPENING, tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []


def test_that_other_threads_let_the_window_go_on_soon(settings: Settings) -> None:
    app.build_window(settings)
    assert sys.getswitchinterval() == pytest.approx(0.0005)


class Shown(QObject):
    """Notes every widget that comes up as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.windows: list[QObject] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        shows = event.type() is QEvent.Type.Show
        if shows and isinstance(watched, QWidget) and watched.isWindow():
            self.windows.append(watched)
        return False


def test_that_nothing_flashes_up_while_the_window_is_furnished(
    qtbot: QtBot, qapp: QApplication, settings: Settings
) -> None:
    noted = Shown()
    qapp.installEventFilter(noted)
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    qapp.removeEventFilter(noted)
    assert noted.windows == []


class Made(DemoProcess):
    """A process that only tells of steps, or of what went wrong."""

    def __init__(self, *steps: DemoProgress | OverreadError) -> None:
        self.steps = steps

    def follow(self, tell: Callable[[DemoProgress], None]) -> None:
        for step in self.steps:
            if isinstance(step, OverreadError):
                raise step
            tell(step)


def test_that_the_radiograph_comes_first_and_phantoms_join(
    qtbot: QtBot, settings: Settings
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    root = settings.home / "demo"
    (root / "phantom").mkdir(parents=True)
    app.DemoMaker(made.window, Made(DemoProgress(1, 13))).start()
    qtbot.waitUntil(lambda: len(made.read.opened) == 2)
    assert made.read.opened == [root / "radiograph", root / "phantom"]
    assert made.read.shown == [root / "radiograph"]
    assert made.window.status.work.text.text() == ""


def test_that_a_demo_made_before_opens_at_once(
    qtbot: QtBot, settings: Settings
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    root = settings.home / "demo"
    root.mkdir(parents=True)
    (root / "demo.json").touch()
    folders = [root / "radiograph", root / "phantom"]
    app.DemoMaker(made.window, Made()).start()
    assert made.read.shown == folders
    qtbot.wait(50)
    assert made.read.opened == folders


def test_that_a_demo_that_cannot_be_made_is_a_notice(
    qtbot: QtBot, settings: Settings
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    error = OverreadError("The disk is full.", "Free some space.")
    app.DemoMaker(made.window, Made(DemoProgress(1, 13), error)).start()
    qtbot.waitUntil(lambda: made.window.notice_bar.isVisibleTo(made.window))
    assert made.read.opened == [settings.home / "demo" / "radiograph"]
    assert made.window.status.work.text.text() == ""


class Endless(DemoProcess):
    """A process that makes phantoms until it is stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def follow(self, tell: Callable[[DemoProgress], None]) -> None:
        tell(DemoProgress(3, 13))
        self.stopped.wait(300)

    def stop(self) -> None:
        self.stopped.set()


def test_that_making_phantoms_can_be_stopped(qtbot: QtBot, settings: Settings) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    process = Endless()
    app.DemoMaker(made.window, process).start()
    line = made.window.status.work
    qtbot.waitUntil(lambda: line.text.text() == "Making phantoms · 3 of 13")
    assert line.stop.isVisibleTo(made.window)
    line.stop.click()
    assert process.stopped.is_set()
    qtbot.waitUntil(lambda: line.text.text() == "")
    assert not line.stop.isVisibleTo(made.window)
    assert made.read.opened == [settings.home / "demo" / "radiograph"]


_STARTED = """
import sys, threading
from importlib.abc import MetaPathFinder
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from viewer import app
from viewer.services.starting.head_start import begin
from viewer.settings import read_settings

LATER = {"viewer.ui.panels.asking.answering", "viewer.ui.workspaces.measure"}

class Noting(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name in LATER:
            print(name, threading.current_thread() is threading.main_thread())

def look():
    if LATER <= sys.modules.keys():
        QApplication.closeAllWindows()

sys.meta_path.insert(0, Noting())
app.make_application()
clock = QTimer(interval=20)
clock.timeout.connect(look)
clock.start()
app.open_window((), read_settings(), begin((), read_settings(), demo=False))
"""


def test_that_what_comes_after_the_image_is_imported_beside_the_window() -> None:
    """The window answers meanwhile."""
    command = [sys.executable, "-c", _STARTED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == [
        "viewer.ui.panels.asking.answering False",
        "viewer.ui.workspaces.measure False",
    ]
