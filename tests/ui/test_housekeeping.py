"""What is deleted or restored in the window is told first, and then done."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QInputDialog, QMessageBox
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run
from tests.helpers.window_story import Story, open_window
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.services.housekeeping.backup import back_up, content_of
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.layout_memory import FILE
from viewer.ui.dialogs import housekeeping
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.models import ModelsWorkspace

A_LINE = Mark(MarkKind.LENGTH, (PointPx(1, 2), PointPx(9, 2)))
MODEL = """\
[[model]]
name = "mine"
adapter = "uniform"
"""


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
    # The page itself may be reading the store at that moment.
    assert posted.args[0].what.startswith("Deleted: the data set 'tiny'")
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


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    finished_run(settings.store, tmp_path / "images")
    made = open_window(qtbot, settings, tmp_path / "images")
    made.window.return_to_workspace()
    made.window.open_paths([made.folder])
    made.wait(lambda: made.read.lightbox.active.shown is not None)
    return made


def test_that_a_deleted_case_is_closed_and_forgotten(
    story: Story, settings: Settings, qtbot: QtBot
) -> None:
    window, read = story.window, story.read
    shown = read.lightbox.active.shown
    assert shown is not None
    gone, actions = shown.ref.path, window.context.actions
    kept = settings.home / FILE
    story.wait(lambda: kept.exists() and gone.name in kept.read_text())
    read._commands._marks.add(shown.ref, A_LINE, "length")
    actions["case.delete"].trigger()
    box = _question(qtbot)
    assert "the case 'patient00000' of the data set 'tiny'" in box.text()
    _press(box, "Delete")
    story.wait(lambda: len(read.open_now) == 3)
    assert gone not in read.open_now
    assert read._commands._marks.of(shown.ref) == ()
    assert not actions["edit.undo"].isEnabled()
    for viewport in read.lightbox._made:
        assert shown.ref not in viewport._cache
        assert viewport.shown is None or viewport.shown.ref != shown.ref
    assert shown.ref not in read.lightbox.ahead
    story.wait(lambda: gone.name not in kept.read_text())
    assert content_of(settings.store).images == 3
    assert gone.exists()


def test_that_a_deleted_reply_leaves_its_trial_to_be_asked_again(
    story: Story, settings: Settings, qtbot: QtBot
) -> None:
    window, measure = story.window, story.measure
    window.enter(Place.MEASURE)
    story.wait(lambda: measure.film.model.trials)
    (delete,) = measure.film.view.actions()
    before = content_of(settings.store).replies
    delete.trigger()  # no trial is chosen: nothing happens but a notice
    assert "Choose an answer first" in window.notice_bar.text.text()
    measure.film.select(measure.film.model.trials[0].trial)
    delete.trigger()
    box = _question(qtbot)
    assert "1 reply" in box.informativeText()
    _press(box, "Delete")
    story.wait(lambda: content_of(settings.store).replies == before - 1)


def test_that_a_model_goes_with_its_runs(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    settings.models_file.parent.mkdir(parents=True, exist_ok=True)
    settings.models_file.write_text(MODEL)
    story = open_window(qtbot, settings, tmp_path)
    story.window.enter(Place.MODELS)
    models = story.window.findChild(ModelsWorkspace)
    assert isinstance(models, ModelsWorkspace)
    story.wait(lambda: len(models.list.models.rows) > 3)
    purge = story.window.context.actions["model.purge"]
    assert purge in models.list.view.actions()
    models.list.choose(models.list.models.row_of("uniform") or 0)
    purge.trigger()
    assert "those of the program stay" in story.window.notice_bar.text.text()
    models.list.choose(models.list.models.row_of("mine") or 0)
    purge.trigger()
    box = _question(qtbot)
    assert "the profile of 'mine'" in box.informativeText()
    _press(box, "Delete")
    story.wait(lambda: "mine" not in settings.models_file.read_text())
    story.wait(lambda: models.list.models.row_of("mine") is None)
