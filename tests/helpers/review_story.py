"""The window in the workspace Review, and the keys of a reader."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.helpers.window_story import PATIENCE_MS, found
from viewer import app
from viewer.domain.reading import Task
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.review.page import ReviewPage
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.review import ReviewWorkspace


@dataclass(frozen=True, eq=False)
class ReviewStory:
    """The window and its workspace Review."""

    qtbot: QtBot
    window: MainWindow
    review: ReviewWorkspace

    @property
    def page(self) -> ReviewPage:
        """The page that shows a case."""
        return self.review.page

    @property
    def task(self) -> Task:
        """The case on the screen."""
        assert self.page.task is not None
        return self.page.task

    def wait(self, condition: Callable[[], object]) -> None:
        """Keep the window running until something is true."""
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    def begin(self, button: QAbstractButton, reader: str) -> None:
        """Say who reads, press a button of the start page and wait for a case."""
        self.wait(button.isEnabled)
        self.review.start.reader.setText(reader)
        button.click()
        self.wait(lambda: self.page.ready)

    def press(self, *keys: Qt.Key) -> None:
        """Press keys where the keyboard is; after each the case is shown."""
        for key in keys:
            target = QApplication.focusWidget()
            inside = target is not None and self.page.isAncestorOf(target)
            QTest.keyClick(target if inside and target else self.page.image, key)
            self.wait(lambda: self.page.ready or not self.review.reviewing)


def open_review(qtbot: QtBot, settings: Settings) -> ReviewStory:
    """Open the window on the store as it is, in the workspace Review."""
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app.furnish(window)
    window.show()
    qtbot.waitExposed(window)
    window.enter(Place.REVIEW)
    return ReviewStory(qtbot, window, found(window, ReviewWorkspace))


def words_on_screen(window: QWidget) -> Iterator[str]:
    """Yield every text that a person, or a screen reader, finds in a window."""
    yield window.windowTitle()
    yield QApplication.clipboard().text()
    for menu in window.findChildren(QMenu):
        yield from (a.text() for a in menu.actions() if a.isVisible())
        yield from (a.toolTip() for a in menu.actions() if a.isVisible())
    for widget in (window, *window.findChildren(QWidget)):
        if widget.isVisible():
            yield from _words_of(widget)


def held_by(page: QWidget) -> Iterator[str]:
    """Yield what the objects of a page hold in memory, but for the questions' form.

    That one is the same for every case, and has the names that are suggested.
    """
    for each in (page, *page.findChildren(QObject)):
        for name, value in vars(each).items():
            if name not in {"_form", "_session", "_stages", "_suggestions"}:
                yield repr(value)


def _words_of(widget: QWidget) -> Iterator[str]:
    yield widget.toolTip()
    yield widget.statusTip()
    yield widget.whatsThis()
    yield widget.accessibleName()
    yield widget.accessibleDescription()
    yield widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        yield widget.text()
    if isinstance(widget, QLineEdit):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(i) for i in range(widget.count()))
    owner: QObject = widget
    yield str(owner.property("text") or "")
