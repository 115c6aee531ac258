"""Every control has a name, is reached by Tab and is shown whole."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QScrollBar,
    QTabWidget,
    QToolBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run
from tests.helpers.window_story import Story, open_window
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.application.notices import Notice
from viewer.ui.application.preferences import Keymap
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.dialogs.settings_page import SettingsPage
from viewer.ui.panels.charts.chart import ChartPanel
from viewer.ui.window.notice_bar import NoticeBar

_CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)
_SEEN = (ImageView, ChartPanel, NoticeBar)
"""What is seen and no control; a screen reader says what it shows."""
_WITH_PARTS = (QAbstractSpinBox, QComboBox, QAbstractItemView)
_SIZES = (QSize(1280, 800), QSize(1024, 768), QSize(780, 480))
"""The last is less than a screen of 1600 × 1000 at 200 %."""
_PLACES = (Place.READ, Place.MEASURE, Place.REVIEW, Place.MODELS)
_DIALOGS = (
    "edit.settings", "edit.keys", "file.batch", "file.import_dataset",
    "file.draw_questions", "file.import_predictions", "file.import_replies",
    "hang.protocols", "image.tags", "dataset.words", "help.shortcuts", "help.display",
)  # fmt: skip
_NAMED = "胸部正位片 of a ward whose data set has a name of sixty letters"
_STOPS = 400
_DRAWN_MS = 100


def _controls(root: QWidget) -> Iterator[QWidget]:
    """Yield the controls on screen, without what a control consists of."""
    for widget in root.findChildren(QWidget):
        part = isinstance(widget.parentWidget(), _WITH_PARTS)
        own = widget.objectName().startswith("qt_")
        bar = isinstance(widget, QScrollBar | QHeaderView)
        left_out = part or own or bar or not widget.isVisible()
        if isinstance(widget, _CONTROLS) and not left_out:
            yield widget


def _name(widget: QWidget) -> str:
    """Return what a screen reader calls a control.

    Qt calls a combo box after what is chosen in it, which says nothing of its purpose;
    its label does.
    """
    if isinstance(widget, QComboBox):
        labels = widget.window().findChildren(QLabel)
        named = (label.text() for label in labels if label.buddy() is widget)
        return widget.accessibleName() or next(named, "")
    told = QAccessible.queryAccessibleInterface(widget)
    return told.text(QAccessible.Text.Name) if told else ""


def _where(widget: QWidget) -> str:
    parents: list[str] = []
    above: QWidget | None = widget
    while above is not None and len(parents) < 4:
        parents.append(type(above).__name__)
        above = above.parentWidget()
    return f"{' in '.join(parents)}: {_name(widget)!r}"


def _reached(root: QWidget) -> set[QWidget]:
    """Return all that Tab reaches, once around."""
    reached: set[QWidget] = set()
    for _ in range(_STOPS):
        QTest.keyClick(QApplication.focusWidget() or root, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        if focused is None or focused in reached:
            return reached
        reached.add(focused)
    raise AssertionError("Tab never comes around.")


def _is_left_out(widget: QWidget) -> bool:
    """Tell whether Tab may pass a control by.

    A tool bar's buttons are in the menus, a field's have a key in the field, and of
    radio buttons only the chosen one is a stop.
    """
    parent = widget.parentWidget()
    return isinstance(parent, QToolBar | QLineEdit) or isinstance(widget, QRadioButton)


def _problems(root: QWidget) -> Iterator[str]:
    reached = _reached(root)
    # Words that changed meanwhile, such as those of the status bar, are laid out first.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    for widget in _controls(root):
        if not _name(widget):
            yield f"unnamed: {_where(widget)}"
        stops = {widget, widget.focusProxy()} & reached
        if widget.isEnabled() and not stops and not _is_left_out(widget):
            yield f"not reached: {_where(widget)}"
        button = isinstance(widget, QAbstractButton)
        if button and widget.width() < widget.minimumSizeHint().width():
            yield f"cut: {_where(widget)}"
    for shown in root.findChildren(QWidget):
        silent = not (_name(shown) and shown.accessibleDescription())
        if isinstance(shown, _SEEN) and shown.isVisible() and silent:
            yield f"not told: {_where(shown)}"
    for label in root.findChildren(QLabel):
        if label.isVisible() and label.text() and _is_cut(label):
            yield f"cut: {_where(label)} {label.text()[:60]!r}"


def _is_cut(label: QLabel) -> bool:
    if label.wordWrap():
        return label.height() < label.heightForWidth(label.width()) - 2
    return label.width() < label.sizeHint().width() - 1


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    finished_run(settings.store, tmp_path / _NAMED)
    made = open_window(qtbot, settings, tmp_path / _NAMED)
    made.window.open_paths([made.folder])
    made.wait(lambda: made.read.lightbox.active.shown is not None)
    return made


def _of_workspaces(story: Story) -> Iterator[str]:
    window = story.window
    window.context.notices.post(Notice("Something.", "", details="at length"))
    for size in _SIZES:
        window.resize(size)
        for place in _PLACES:
            window.enter(place)
            QTest.qWait(_DRAWN_MS)
            if window.size() != size:
                yield f"{place} needs {window.width()} × {window.height()}"
            pages = story.measure.pages if place is Place.MEASURE else QTabWidget()
            for page in range(max(1, pages.count())):
                pages.setCurrentIndex(page)
                QTest.qWait(_DRAWN_MS)
                for line in _problems(window):
                    yield f"{place}, page {page} at {size.width()}: {line}"


def _of_dialogs(story: Story) -> Iterator[str]:
    window = story.window
    for action in _DIALOGS:
        window.enter(Place.READ)
        before = set(_on_screen())
        window.context.actions[action].trigger()
        story.wait(partial(_has_opened, before))
        QTest.qWait(_DRAWN_MS)
        for dialog in set(_on_screen()) - before:
            least = dialog.minimumSizeHint().expandedTo(dialog.minimumSize())
            room = dialog.screen().availableSize().expandedTo(least)
            if least != least.boundedTo(_SIZES[-1]):
                yield f"{action} needs {least.width()} × {least.height()}"
            if dialog.size() != dialog.size().boundedTo(room):
                yield f"{action} opens at {dialog.width()} × {dialog.height()}"
            for size in (dialog.size(), dialog.size().boundedTo(_SIZES[-1])):
                dialog.resize(size)
                QTest.qWait(_DRAWN_MS)
                for line in _problems(dialog):
                    yield f"{action} at {size.width()}: {line}"
            dialog.close()


def _of_settings(story: Story) -> Iterator[str]:
    """Yield the problems of each section, with keys of a file with a long name."""
    story.window.context.actions.use_keys(Keymap(_NAMED, _NAMED, {"image.fit": "="}))
    story.window.context.actions["edit.settings"].trigger()
    (page,) = story.window.findChildren(SettingsPage)
    page.use(page.settings, f"The settings are those of {_NAMED}.")
    for at in range(page.sections.count()):
        page.sections.setCurrentRow(at)
        page.keys.tree.setCurrentIndex(page.keys.tree.indexAt(QPoint(60, 60)))
        page.keys.press("W")
        QTest.qWait(_DRAWN_MS)
        for line in _problems(page):
            yield f"{page.sections.item(at).text()}: {line}"


def _has_opened(before: set[QWidget]) -> bool:
    return bool(set(_on_screen()) - before)


def _on_screen() -> list[QWidget]:
    return [w for w in QApplication.topLevelWidgets() if w.isVisible()]


@pytest.mark.parametrize("parts", [_of_workspaces, _of_dialogs, _of_settings])
def test_that_each_control_is_named_reached_by_tab_and_whole(
    story: Story, parts: Callable[[Story], Iterator[str]]
) -> None:
    assert "\n".join(parts(story)) == ""


@pytest.mark.proof
def test_that_it_holds_at_200_percent_too() -> None:
    """Qt reads the scale when the application is made, so this takes a process."""
    walk = [sys.executable, "-m", "pytest", "-q", "-m", "not proof", __file__]
    scaled = {**os.environ, "QT_SCALE_FACTOR": "2"}
    done = subprocess.run(walk, env=scaled, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
