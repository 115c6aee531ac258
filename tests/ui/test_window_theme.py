"""A theme looks as if the window had one sheet, though each part has its own."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QThreadPool
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from viewer import app
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.widgets import theme
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


def test_that_a_hidden_workspace_has_the_theme_before_it_is_shown(
    window: MainWindow, qapp: QApplication
) -> None:
    theme.apply(qapp, theme.LIGHT)
    hidden = window.stack.widget(1)
    assert hidden is not None
    assert theme.DARK.accent in hidden.styleSheet()
    window.enter(Place.MEASURE)
    assert window.stack.currentWidget() is hidden
    assert theme.LIGHT.accent in hidden.styleSheet()


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
