"""A theme looks as if the window had one sheet, though each part has its own."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtGui import QImage, QPaintEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QStackedWidget, QWidget
from pytestqt.qtbot import QtBot

from viewer import app
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.widgets import theme
from viewer.ui.widgets.lighter import ProgressBar, Splitter
from viewer.ui.window.main_window import MainWindow

_TRIES = 5
"""On a busy machine something may still come up between two pictures."""
_DIALOGS = ("help.shortcuts", "help.about", "window.palette", "edit.settings")


@pytest.fixture
def window(qtbot: QtBot, settings: Settings) -> MainWindow:
    made = app.build_window(settings)
    qtbot.addWidget(made)
    app.furnish(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def _settle(window: MainWindow) -> None:
    """Wait until everything has the theme, and what workspaces read is there."""
    while window._unthemed.isActive():
        QApplication.processEvents()
    for _ in range(3):
        QThreadPool.globalInstance().waitForDone()
        QApplication.processEvents()


def _use_one_sheet(window: MainWindow) -> None:
    for part in window.parts():
        part.setStyleSheet("")
    window.setStyleSheet(theme._style_sheet(theme.current()))


def _workspaces(window: MainWindow) -> dict[str, QImage]:
    pictures = {}
    for place in (Place.READ, Place.MEASURE, Place.REVIEW, Place.MODELS):
        window.enter(place)
        _settle(window)
        pictures[str(place)] = window.grab().toImage()
    return pictures


def _dialogs(window: MainWindow) -> dict[str, QImage]:
    pictures = {}
    for name in _DIALOGS:
        window.context.actions[name].trigger()
        QApplication.processEvents()
        for dialog in window.findChildren(QDialog):
            if dialog.isVisible():
                pictures[f"{name} {type(dialog).__name__}"] = dialog.grab().toImage()
                dialog.close()
    return pictures


def _menus(window: MainWindow) -> dict[str, QImage]:
    pictures = {}
    for name, menu in window._menus.items():
        menu.ensurePolished()
        pictures[name] = menu.grab().toImage()
    return pictures


@pytest.mark.parametrize("look", [_workspaces, _dialogs, _menus])
@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
def test_that_parts_look_as_under_one_sheet(
    window: MainWindow,
    qapp: QApplication,
    palette: theme.Palette,
    look: Callable[[MainWindow], dict[str, QImage]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look(window)  # what was shown in another theme gets this one
    for other in (theme.LIGHT, theme.DARK, palette):
        theme.apply(qapp, other)
    for _ in range(_TRIES):
        window.setStyleSheet("")
        window.apply_to_parts()
        _settle(window)
        parts = look(window)
        with monkeypatch.context() as patched:
            # Else what is entered or opened would have a sheet of its own again.
            patched.setattr(theme, "apply_to", lambda _: False)
            _use_one_sheet(window)
            whole = look(window)
        different = [name for name in whole if parts[name] != whole[name]]
        if not different:
            break
    assert len(parts) >= 4
    assert different == []


def test_that_no_part_has_so_many_widgets_that_the_window_would_wait(
    window: MainWindow,
) -> None:
    """Qt computes the sheet of a widget in 50 to 100 µs."""
    parts = [part for part in window.parts() if not part.isWindow()]
    assert max(len(part.findChildren(QWidget)) for part in parts) < 150


def _has(palette: theme.Palette, part: QWidget) -> bool:
    return palette.accent in part.styleSheet()


def test_that_a_workspace_is_not_painted_until_it_has_the_theme(
    window: MainWindow, qapp: QApplication
) -> None:
    theme.apply(qapp, theme.LIGHT)
    while not window.updatesEnabled():
        window._apply_to_next()
    entered = window.stack.widget(1)
    assert entered is not None
    parts = [part for part in theme.held(entered) if part.isVisibleTo(entered)]
    assert parts
    assert all(_has(theme.DARK, part) for part in parts)
    window.enter(Place.MEASURE)
    assert window.stack.currentWidget() is entered
    assert not window.updatesEnabled()
    while not window.updatesEnabled():
        window._apply_to_next()
    assert all(_has(theme.LIGHT, part) for part in parts)
    _settle(window)
    window.enter(Place.READ)
    assert window.updatesEnabled()


def test_that_nothing_is_painted_until_all_that_is_seen_has_the_theme(
    window: MainWindow, qapp: QApplication
) -> None:
    seen = [part for part in window.parts() if part.isVisible()]
    assert len(seen) > 4
    theme.apply(qapp, theme.LIGHT)
    while not window.updatesEnabled():
        before = sum(_has(theme.LIGHT, part) for part in seen)
        assert before < len(seen)
        window._apply_to_next()
        assert sum(_has(theme.LIGHT, part) for part in seen) == before + 1
    assert all(_has(theme.LIGHT, part) for part in seen)
    _settle(window)
    assert all(_has(theme.LIGHT, part) for part in window.parts())


@pytest.mark.parametrize("kind", [QLabel, QDialog, QStackedWidget])
def test_that_what_a_workspace_is_given_later_has_the_theme(
    window: MainWindow, kind: type[QLabel | QDialog | QStackedWidget]
) -> None:
    workspace = window.stack.currentWidget()
    assert workspace is not None
    stack = workspace.findChild(QStackedWidget)
    assert isinstance(stack, QStackedWidget)
    owner = workspace if kind is QDialog else stack
    given = kind(owner)
    shown = QLabel(given) if isinstance(given, QStackedWidget) else given
    given.show()
    shown.show()
    QApplication.processEvents()
    assert _has(theme.DARK, shown)
    assert shown in list(window.parts())


@pytest.mark.parametrize("palette", theme.THEMES.values(), ids=lambda p: str(p.name))
def test_that_a_line_of_one_pixel_parts_what_stands_side_by_side(
    qtbot: QtBot, qapp: QApplication, palette: theme.Palette
) -> None:
    theme.apply(qapp, palette)
    splitter = Splitter()
    qtbot.addWidget(splitter)
    for _ in range(2):
        splitter.addWidget(QWidget())
    theme.apply_to(splitter)
    splitter.resize(101, 20)
    splitter.show()
    qtbot.waitExposed(splitter)
    row = splitter.grab().toImage()
    colors = [row.pixelColor(x, 10).name().upper() for x in range(101)]
    assert colors.count(palette.line) == 1
    assert colors[splitter.sizes()[0]] == palette.line


@pytest.mark.parametrize("command", ["help.shortcuts", "file.batch"])
def test_that_a_page_that_is_open_follows_the_theme_in_a_turn_of_its_own(
    window: MainWindow, qapp: QApplication, command: str
) -> None:
    window.context.actions[command].trigger()
    (page,) = (d for d in window.findChildren(QDialog) if d.isVisible())
    theme.apply(qapp, theme.LIGHT)
    assert theme.DARK.accent in page.styleSheet()
    _settle(window)
    assert theme.LIGHT.accent in page.styleSheet()
    assert all(theme.LIGHT.accent in part.styleSheet() for part in window.parts())


def test_that_progress_is_painted_with_the_next_picture_of_the_window(
    qtbot: QtBot,
) -> None:
    window, painted = _Painted(), list[str]()
    qtbot.addWidget(window)
    bar = ProgressBar(window)
    window.show()
    qtbot.waitExposed(window)
    QApplication.processEvents()
    window.painted = painted
    window.update()
    bar.setValue(40)
    bar.setMaximum(20)
    assert painted == []
    QApplication.processEvents()
    assert painted == ["once"]
    assert (bar.value(), bar.maximum()) == (-1, 20)
    bar.setValue(7)
    assert (bar.value(), bar.updatesEnabled()) == (7, True)


class _Painted(QWidget):
    """Notes when it is painted."""

    painted: list[str] | None = None

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.painted is not None:
            self.painted.append("once")
