"""What another process writes is on the pages a moment later, and nothing else is."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize
from pytestqt.qtbot import QtBot

from tests.helpers.line_process import CommandProcess
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    finish,
    finished_run,
    planned,
    write_images,
)
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunStatus
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.store.watching import StoreWatch
from viewer.ui.application import changes
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.models import ModelsWorkspace
from viewer.ui.workspaces.review import ReviewWorkspace

_TOP = QPoint(1, 1)
_MODEL = '[[model]]\nname = "{}"\nadapter = "scripted"\nanswer = "D4"\n'


@pytest.fixture
def context(settings: Settings, qtbot: QtBot) -> Iterator[AppContext]:
    del qtbot  # the application
    made = AppContext(settings, WorkerBridge(settings.store))
    yield made
    made.changes.stop()
    made.worker.close()


@pytest.fixture
def command_line(tmp_path: Path, settings: Settings) -> Iterator[CommandProcess]:
    """A second process with the window's home."""
    home = {"OVERREAD_HOME": str(settings.home)}
    with CommandProcess(tmp_path / "aside.txt", home) as process:
        yield process


def _measure(context: AppContext, qtbot: QtBot, runs: int) -> MeasureWorkspace:
    made = MeasureWorkspace(context)
    qtbot.addWidget(made)
    made.resize(1200, 500)
    made.show()
    qtbot.waitUntil(lambda: len(made.runs.model.runs) == runs)
    return made


def _another(settings: Settings, folder: Path, answer: str) -> int:
    with open_store(settings.store) as store:
        model = ModelProfile(f"says-{answer}", "scripted", {"answer": answer})
        return planned(store, folder, a_spec([model]))


def test_that_a_commit_of_another_connection_is_a_change_and_a_look_is_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite"
    watch = StoreWatch(path)
    assert not watch.has_changed(), "there is no store yet, and none is made"
    assert not path.exists()
    with open_store(path) as store:
        assert watch.has_changed()
        assert not watch.has_changed()
        store.rows("SELECT * FROM dataset")
        assert not watch.has_changed()
        with store.transaction():
            store.execute("UPDATE store_mark SET name = name")
        assert [watch.has_changed(), watch.has_changed()] == [True, False]
    watch.close()


@pytest.mark.skipif(os.name == "nt", reason="an open file is not replaced there")
def test_that_a_store_put_in_anothers_place_is_a_change(tmp_path: Path) -> None:
    path, other = tmp_path / "store.sqlite", tmp_path / "other.sqlite"
    for each in (path, other):
        open_store(each).close()
    watch = StoreWatch(path)
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    other.replace(path)
    assert [watch.has_changed(), watch.has_changed()] == [True, False]
    path.unlink()
    assert not watch.has_changed()
    path.write_bytes(b"no store at all, but long enough to be looked at" * 99)
    assert not watch.has_changed()
    watch.close()


def test_that_a_run_of_the_command_line_is_listed_at_once_and_what_is_chosen_stays(
    context: AppContext,
    command_line: CommandProcess,
    settings: Settings,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    run = finished_run(settings.store, tmp_path / "images")
    for answer in ("A1", "B2", "C3", "E5", "F6", "G7", "H8", "A8"):
        _another(settings, tmp_path / "images", answer)
    measure = _measure(context, qtbot, 9)
    measure.runs.select(run)
    qtbot.waitUntil(lambda: bool(measure.results.table.results.table.rows))
    view = measure.runs.view
    view.setFixedHeight(view.sizeHintForRow(0) * 3)
    view.scrollTo(measure.runs.model.index(4), view.ScrollHint.PositionAtTop)
    top = view.indexAt(_TOP).data()
    row = measure.results.table.currentIndex().row()
    images = write_images(tmp_path / "late", 2)
    command_line("import", "folder", images, "--name", "late", "--view", "frontal")
    study = tmp_path / "late.toml"
    study.write_text(
        'study = "grid_localization"\ndataset = "late"\nmodels = ["uniform"]\n'
    )
    command_line("run", study)
    qtbot.waitUntil(lambda: len(measure.runs.model.runs) == 10)
    newest = measure.runs.model.runs[0]
    qtbot.waitUntil(
        lambda: measure.runs.model.runs[0].status is RunStatus.FINISHED,
    )
    assert newest.dataset == "late"
    assert measure.runs.selected is not None
    assert measure.runs.selected.id == run
    assert view.indexAt(_TOP).data() == top
    assert measure.results.table.currentIndex().row() == row


def test_that_results_follow_a_run_that_another_process_asks_and_scores(
    context: AppContext, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    run = _another(settings, tmp_path / "images", "D4")
    measure = _measure(context, qtbot, 1)
    qtbot.waitUntil(lambda: bool(measure.results.table.results.table.rows))
    table = measure.results.table.results.table
    n = table.header.index("n_scored")
    assert not any(row[n] for row in table.rows)
    with open_store(settings.store) as store:
        finish(store, run)
    qtbot.waitUntil(
        lambda: any(row[n] for row in measure.results.table.results.table.rows)
    )
    before = measure.results.shown
    told: list[object] = []
    measure.results.row_chosen.connect(told.append)
    with open_store(settings.store) as store, store.transaction():
        store.execute("UPDATE store_mark SET name = name")
    qtbot.wait(2 * changes.LOOK_MS)
    assert measure.results.shown is before, "the same results stay as they are"
    assert told == [], "and so do their trials"


def test_that_nothing_is_read_again_while_nothing_is_written(
    context: AppContext, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    finished_run(settings.store, tmp_path / "images")
    measure = _measure(context, qtbot, 1)
    told: list[str] = []
    context.changes.store_written.connect(lambda: told.append("store"))
    context.changes.models_written.connect(lambda: told.append("models"))
    qtbot.waitUntil(lambda: told == ["store"], timeout=5_000)
    qtbot.wait(3 * changes.LOOK_MS)
    assert told == ["store"], "the first look, and no other"
    measure.hide()
    _another(settings, tmp_path / "images", "A1")
    qtbot.wait(2 * changes.LOOK_MS)
    assert told == ["store"], "nobody would see it"
    measure.show()
    qtbot.waitUntil(lambda: len(measure.runs.model.runs) == 2)
    assert told == ["store", "store"]


def test_that_the_batch_page_offers_what_came_and_keeps_what_was_chosen(
    context: AppContext, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    finished_run(settings.store, tmp_path / "images")
    measure = _measure(context, qtbot, 1)
    measure.batches.open()
    page = measure.findChild(BatchDialog)
    assert page is not None
    qtbot.waitUntil(lambda: page.preset.count() > 0 and page.form.dataset != "")
    chosen = page.form.dataset
    page.seed.setValue(11)
    page.further.set_values({"opacity": 0.5})
    ticked = page.form.models
    with open_store(settings.store) as store:
        planned(store, tmp_path / "others", replace(a_spec([D4]), dataset="late"))
    settings.models_file.write_text(_MODEL.format("mine"))
    qtbot.waitUntil(lambda: "late" in page.known)
    qtbot.waitUntil(lambda: any("mine" in name for name in _listed(page)))
    assert page.dataset.findData("late") >= 0
    assert (page.form.dataset, page.form.seed) == (chosen, 11)
    assert page.form.params["opacity"] == 0.5
    assert page.form.models == ticked
    page.close()


def _listed(page: BatchDialog) -> list[str]:
    return [page.models.item(row).text() for row in range(page.models.count())]


def test_that_models_of_another_program_are_listed_and_what_is_typed_stays(
    context: AppContext, settings: Settings, qtbot: QtBot
) -> None:
    settings.models_file.write_text(_MODEL.format("mine"))
    models = ModelsWorkspace(context)
    qtbot.addWidget(models)
    models.resize(QSize(1200, 800))
    models.show()
    qtbot.waitUntil(lambda: models.list.models.row_of("mine") is not None)
    models.list.choose(models.list.models.row_of("mine") or 0)
    name = models.profile.name
    name.setFocus()
    name.setText("half typ")
    name.textEdited.emit("half typ")
    name.setCursorPosition(4)
    editors = dict(models.profile.form.editors)
    with settings.models_file.open("a") as file:
        file.write("\n" + _MODEL.format("another"))
    qtbot.waitUntil(lambda: models.list.models.row_of("another") is not None)
    assert (name.text(), name.cursorPosition()) == ("half typ", 4)
    assert models.profile.form.editors == editors, "the form was not built again"
    assert models.list.current is not None
    assert models.list.current.key == "mine"
    settings.models_file.write_text(_MODEL.format("another"))
    qtbot.waitUntil(
        lambda: bool(models._drafts) and models._drafts["mine"].replaced is None
    )
    assert name.text() == "half typ", "deleted elsewhere, it is a new one here"


def test_that_review_offers_a_run_that_has_just_ended(
    context: AppContext, settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    review = ReviewWorkspace(context)
    qtbot.addWidget(review)
    review.show()
    qtbot.waitUntil(lambda: "no finished run" in review.start.run_words.text())
    finished_run(settings.store, tmp_path / "images")
    qtbot.waitUntil(lambda: review.start.runs.count() == 1)
    assert review.start.datasets.count() == 1
