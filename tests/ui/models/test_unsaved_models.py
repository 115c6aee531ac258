"""Models that were changed and not saved are not lost without asking."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tests.ui.models.conftest import LISTED, MODELS
from tests.ui.models.test_models_workspace import choose, field, row, text
from viewer.ui.application.action_spec import Place
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.models import ModelsWorkspace

Kind = QMessageBox.StandardButton
_SAVED = 'model = "m"\ntemperature = 0.5\ncolour = "orange"\n'
CHANGED = MODELS.replace('model = "m"\n', _SAVED)


@pytest.fixture
def window(context: AppContext, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(context)
    models = ModelsWorkspace(context)
    made.add_models(models, models)
    qtbot.addWidget(made)
    made.show()
    made.enter(Place.MODELS)
    qtbot.waitUntil(lambda: len(models.list.models.rows) == LISTED)
    yield made
    models._drafts.clear()


@pytest.fixture
def models(window: MainWindow) -> ModelsWorkspace:
    found = window.findChild(ModelsWorkspace)
    assert isinstance(found, ModelsWorkspace)
    return found


def question(window: MainWindow) -> QMessageBox:
    (box,) = window.findChildren(QMessageBox)
    return box


def press(window: MainWindow, kind: Kind) -> None:
    button = question(window).button(kind)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_that_nothing_is_asked_where_every_model_is_saved(
    window: MainWindow, models: ModelsWorkspace
) -> None:
    choose(models, "here")
    field(models, "temperature").setText("0.5")
    field(models, "temperature").setText("")
    assert not row(models, "here").edited
    assert window.close()
    assert window.findChildren(QMessageBox) == []


def test_that_cancel_keeps_window_and_changes(
    window: MainWindow, models: ModelsWorkspace, context: AppContext
) -> None:
    choose(models, "here")
    field(models, "temperature").setText("0.5")
    assert not window.close()
    assert "here" in question(window).text()
    assert not window.close()
    press(window, Kind.Cancel)
    assert window.isVisible()
    assert row(models, "here").edited
    assert text(context) == MODELS


def test_that_save_keeps_the_changes_and_closes(
    window: MainWindow, models: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(models, "here")
    field(models, "temperature").setText("0.5")
    assert not window.close()
    press(window, Kind.Save)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert text(context) == CHANGED


def test_that_discard_closes_and_leaves_the_file_as_it_is(
    window: MainWindow, models: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(models, "here")
    field(models, "temperature").setText("0.5")
    assert not window.close()
    press(window, Kind.Discard)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert text(context) == MODELS


def test_that_what_cannot_be_saved_keeps_the_window_and_is_shown(
    window: MainWindow, models: ModelsWorkspace, context: AppContext
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    choose(models, "here")
    field(models, "temperature").setText("warm")
    choose(models, "large")
    window.context.actions.enter(Place.READ)
    assert not window.close()
    press(window, Kind.Save)
    assert window.isVisible()
    assert window.place is Place.MODELS
    current = models.list.current
    assert current is not None
    assert current.key == "here"
    assert "temperature" in told[0].what
    assert text(context) == MODELS


def test_that_several_models_are_named_and_saved_together(
    window: MainWindow, models: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(models, "here")
    field(models, "temperature").setText("0.5")
    choose(models, "large")
    field(models, "seconds").setText("2")
    assert not window.close()
    assert "2 models" in question(window).text()
    assert question(window).button(Kind.Save).text() == "Save all"
    press(window, Kind.Save)
    qtbot.waitUntil(lambda: not window.isVisible())
    assert text(context) == CHANGED.replace(
        "seconds = 0.6\n", 'seconds = 2.0\ncolour = "purple"\n'
    )
