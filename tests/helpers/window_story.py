"""The real window over a small collection, and the hands that use it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListWidget, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.phantom_folders import write_phantom
from viewer import app
from viewer.domain.geometry import SizePx
from viewer.domain.result import Outcome
from viewer.domain.run import RunStatus
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import dataset_names
from viewer.services.starting.head_start import HeadStart
from viewer.services.synthetic.demo import NAME as DEMO
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.panels.measure.filmstrip import Filmstrip
from viewer.ui.widgets import theme
from viewer.ui.window.first_pages import import_pages
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.read import ReadWorkspace

PATIENCE_MS = 300_000
"""Far more than anything takes; a loaded machine is slow, not broken."""
_SIZE = SizePx(250, 200)
_TABS = 150
_SETTLED_MS = 400
PICTURES_VARIABLE = "OVERREAD_SCREENSHOTS"
"""Names a folder, which must exist: each step of a story leaves a picture there."""
Child = TypeVar("Child", bound=QWidget)


@dataclass(frozen=True, eq=False)
class Story:
    """The window, its workspaces, and the folder of the collection."""

    qtbot: QtBot
    window: MainWindow
    read: ReadWorkspace
    measure: MeasureWorkspace
    folder: Path

    def wait(self, condition: Callable[[], object]) -> None:
        """Keep the window running until something is true."""
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    def open_collection(self) -> None:
        """Open the folder, as a drop or the file dialog does, and wait for an image.

        Its reference is shown, which it is not by itself.
        """
        self.window.open_paths([self.folder])
        self.window.context.actions["overlays.reference"].trigger()
        self.wait(lambda: self.read.lightbox.active.shown is not None)
        self.wait(self.is_ready)

    def is_ready(self) -> bool:
        """Return whether the references are read, and the finding one of them."""
        asked = self.read.ask.asked_finding == "Airspace Opacity"
        return asked and self.read.ask.ask.isEnabled()

    def open_collection_again(self) -> None:
        """Open the folder once more, without waiting."""
        self.window.open_paths([self.folder])

    def wait_for_answer(self) -> None:
        """Wait until an answer about the image is drawn with its outcome."""
        self.wait(lambda: not self.read.answering.asking.questions.running)
        self.wait(lambda: self.read.lightbox.view.answer_items)

    def saw(self) -> WhatModelSaw:
        """Wait for the page What the model saw."""
        self.wait(lambda: self.read.findChild(WhatModelSaw) is not None)
        return found(self.read, WhatModelSaw)

    def batch_page(self) -> BatchDialog:
        """Wait for the page Batch…, filled with what there is to choose from."""
        self.wait(lambda: self.window.findChild(BatchDialog) is not None)
        page = found(self.window, BatchDialog)
        self.wait(lambda: page.models.count() and page.preset.count())
        self.wait(page.dataset.count)
        return page

    def wait_for_results(self) -> None:
        """Wait until the run is finished and its table and trials are shown."""
        self.wait(self._is_finished)
        self.wait(lambda: not self.measure.report.is_computing)
        self.wait(self.measure.results.table.shown.rowCount)
        self.wait(lambda: self.film.model.trials)

    def _is_finished(self) -> bool:
        run = self.measure.runs.selected
        return run is not None and run.status is RunStatus.FINISHED

    @property
    def film(self) -> Filmstrip:
        """The trials of the row chosen in Measure."""
        return self.measure.film

    def shows_miss(self) -> bool:
        """Return whether the first trial of the row chosen in Measure is a miss."""
        trials = self.film.model.trials
        return bool(trials) and trials[0].score.outcome is Outcome.MISS

    def picture(self, step: str) -> None:
        """Keep a picture of a step, where a folder for them is named."""
        folder = os.environ.get(PICTURES_VARIABLE)
        if folder:
            self.qtbot.wait(_SETTLED_MS)
            picture = _what_is_seen(self.window)
            percent = round(100 * picture.devicePixelRatio())
            picture.save(f"{folder}/{step}_{theme.current().name}_{percent}.png")

    def press(self, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
        """Press a key where the keyboard is."""
        held = Qt.KeyboardModifier.NoModifier
        for modifier in modifiers:
            held |= modifier
        target = QApplication.focusWidget() or QApplication.activeWindow()
        QTest.keyClick(target or self.window, key, held)

    def type(self, text: str) -> None:
        """Type over what a field holds."""
        self.press(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(QApplication.focusWidget() or self.window, text)

    def tab_to(self, widget: QWidget) -> None:
        """Press Tab until a widget has the keyboard; each must be reached so."""
        for _ in range(_TABS):
            if widget.hasFocus():
                return
            self.press(Qt.Key.Key_Tab)
        raise AssertionError(f"Tab does not reach {widget.accessibleName()!r}")


def open_story(qtbot: QtBot, settings: Settings, folder: Path) -> Story:
    """Make a collection of two patients, register it, and open the window."""
    write_phantom(make_phantom, folder, 2, 0, _SIZE, compress=False)
    with open_store(settings.store) as store:
        import_dataset(store, "chexlocalize", folder, "two patients")
    return open_window(qtbot, settings, folder)


def open_window(qtbot: QtBot, settings: Settings, folder: Path) -> Story:
    """Open the window on the store as it is; ``folder`` is what a story opens."""
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    window.show()
    qtbot.waitExposed(window)
    read, measure = found(window, ReadWorkspace), found(window, MeasureWorkspace)
    return Story(qtbot, window, read, measure, folder)


def open_demo(qtbot: QtBot, settings: Settings, begun: HeadStart) -> Story:
    """Open the window on the demo collection, and wait until all of it is made."""
    window = app.build_window(settings, begun.decoder)
    qtbot.addWidget(window)
    app.furnish(window)
    import_pages()
    window.show()
    qtbot.waitExposed(window)
    assert begun.demo is not None
    app.DemoMaker(window, begun.demo).start()
    read, measure = found(window, ReadWorkspace), found(window, MeasureWorkspace)
    story = Story(qtbot, window, read, measure, settings.home / "demo" / "phantom")
    story.wait(lambda: story.read.lightbox.active.shown is not None)
    story.wait(lambda: DEMO in dataset_names(settings.store))
    return story


def _what_is_seen(window: QWidget) -> QPixmap:
    """Return the whole screen, or the uppermost window where there is no screen."""
    if QGuiApplication.platformName() == "offscreen":
        return (QApplication.activeWindow() or window).grab()
    return window.screen().grabWindow(0)


def found(parent: QWidget, kind: type[Child]) -> Child:
    """Return the part of that class."""
    child = parent.findChild(kind)
    assert isinstance(child, kind)
    return child


def drag(
    view: ImageView,
    start: QPoint,
    end: QPoint,
    turn: Callable[[], object] = lambda: None,
) -> None:
    """Press the left button, move and let go, as a hand does; ``turn`` after each."""
    kinds = QMouseEvent.Type
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    steps = (
        (kinds.MouseButtonPress, start, left, left),
        (kinds.MouseMove, (start + end) / 2, none, left),
        (kinds.MouseMove, end, none, left),
        (kinds.MouseButtonRelease, end, left, none),
    )
    target = view.viewport()
    for kind, at, button, held in steps:
        there = QPointF(target.mapToGlobal(at))
        keys = Qt.KeyboardModifier.NoModifier
        event = QMouseEvent(kind, QPointF(at), there, button, held, keys)
        QApplication.sendEvent(target, event)
        turn()


def click(widget: QWidget, at: QPoint | None = None) -> None:
    """Click the left button in the middle of a widget, or at a point of it."""
    middle = widget.rect().center() if at is None else at
    QTest.mouseClick(
        widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle
    )


def click_row(view: QAbstractItemView, index: QModelIndex) -> None:
    """Click an entry of a list or table."""
    view.scrollTo(index)
    click(view.viewport(), view.visualRect(index).center())


def tick(models: QListWidget, *names: str) -> None:
    """Tick these models and no others."""
    for row in range(models.count()):
        item = models.item(row)
        on = item.text().partition(" ")[0] in names
        item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
