"""What is deleted or restored in the window is told first, and then done."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QInputDialog, QMessageBox
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run
from viewer.services.housekeeping.backup import back_up, content_of
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs import housekeeping
from viewer.ui.workspaces.measure import MeasureWorkspace


@pytest.fixture
def measure(settings: Settings, tmp_path: Path, qtbot: QtBot) -> MeasureWorkspace:
    finished_run(settings.store, tmp_path / "images")
    made = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    qtbot.waitUntil(lambda: made.runs.selected is not None)
    return made


def _question(qtbot: QtBot) -> QMessageBox:
    def open_boxes() -> list[QMessageBox]:
        widgets = QApplication.topLevelWidgets()
        return [w for w in widgets if isinstance(w, QMessageBox) and w.isVisible()]

    qtbot.waitUntil(lambda: bool(open_boxes()), timeout=20_000)
    return open_boxes()[0]


def _press(box: QMessageBox, words: str) -> None:
    next(b for b in box.buttons() if b.text().replace("&", "") == words).click()


def test_that_a_run_goes_once_the_user_has_seen_what_goes(
    measure: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    (delete,) = (a for a in measure.runs.view.actions() if a.text() == "Delete run…")
    delete.trigger()
    box = _question(qtbot)
    assert "run 1: grid_localization on tiny" in box.informativeText()
    assert box.defaultButton().text().replace("&", "") == "Cancel"
    _press(box, "Cancel")
    assert content_of(settings.store).runs == 1
    delete.trigger()
    _press(_question(qtbot), "Delete")
    qtbot.waitUntil(lambda: measure.runs.selected is None, timeout=20_000)
    assert content_of(settings.store).runs == 0


def test_that_a_data_set_is_chosen_by_name_and_goes_with_its_runs(
    measure: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    context = measure._context
    commands = housekeeping.handlers(measure, context)
    commands["dataset.delete"]()
    qtbot.waitUntil(lambda: bool(measure.findChildren(QInputDialog)), timeout=20_000)
    (dialog,) = measure.findChildren(QInputDialog)
    assert dialog.comboBoxItems() == ["tiny"]
    dialog.accept()
    with qtbot.waitSignal(context.notices.posted, timeout=20_000) as posted:
        _press(_question(qtbot), "Delete")
    assert posted.args[0].what == "Deleted: the data set 'tiny'."
    assert content_of(settings.store).images == 0


def test_that_a_backup_is_restored_after_both_contents_are_told(
    measure: MeasureWorkspace, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    context = measure._context
    back_up(settings.store, tmp_path / "copy.sqlite")
    housekeeping._ask_to_restore(measure, context, tmp_path / "copy.sqlite")
    box = _question(qtbot)
    assert box.informativeText().count("1 run") == 2
    with qtbot.waitSignal(context.notices.posted, timeout=20_000) as posted:
        _press(box, "Restore")
    assert posted.args[0].what.startswith("The backup was restored")


def test_that_a_store_is_compacted_from_the_menu(
    measure: MeasureWorkspace, qtbot: QtBot
) -> None:
    context = measure._context
    with qtbot.waitSignal(context.notices.posted, timeout=20_000) as posted:
        housekeeping.handlers(measure, context)["store.compact"]()
    assert "compacted" in posted.args[0].what
