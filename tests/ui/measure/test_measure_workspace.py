"""From a run in the store to a trial that a person wants to see."""

import csv
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run, misjudge
from tests.helpers.window_story import found
from viewer.domain.answer import Status
from viewer.domain.run import ModelStopped, RunEnded
from viewer.services.inspecting.runs import run_table, run_table_script, trial_rows
from viewer.services.reporting.figures import write_report
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.plan_run import plan_run
from viewer.services.viewing.decoding import LocalDecoder
from viewer.services.worker.background import WorkerEvent, WorkerReply
from viewer.settings import Settings
from viewer.store import runs
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.word_reviews import ShowWords
from viewer.ui.panels.measure.film_picture import FilmPictures
from viewer.ui.tables.chart_bars import BarChart
from viewer.ui.widgets import theme
from viewer.ui.workspaces.measure import MeasureWorkspace


@pytest.fixture
def run(settings: Settings, tmp_path: Path) -> int:
    return finished_run(settings.store, tmp_path / "images")


@pytest.fixture
def workspace(run: int, settings: Settings, qtbot: QtBot) -> MeasureWorkspace:
    del run
    return _shown(settings, qtbot)


def _shown(settings: Settings, qtbot: QtBot) -> MeasureWorkspace:
    made = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    return made


def _wait_for_film(workspace: MeasureWorkspace, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(workspace.film.model.trials), timeout=20_000)


def test_that_a_batch_that_ends_offers_its_results(
    workspace: MeasureWorkspace, run: int, qtbot: QtBot
) -> None:
    workspace.hide()
    counts = {Status.SCORED_CORRECT: 30, Status.UNPARSED: 2}
    message = workspace._context.worker.message
    message.emit(WorkerReply(1, {"run": run}, ""))
    with qtbot.waitSignal(workspace._context.notices.posted) as posted:
        message.emit(WorkerEvent(RunEnded(run, counts, cancelled=False)))
    notice = posted.args[0]
    assert notice.what == f"Run {run} has ended: 32 trials, 2 unreadable."
    workspace._context.actions.handle({"window.measure": workspace.show})
    notice.offer.act()
    assert workspace.isVisible()
    qtbot.waitUntil(lambda: workspace.results.table.shown.rowCount() > 0)
    assert workspace.runs.selected is not None
    assert workspace.runs.selected.id == run


def test_that_the_newest_run_shows_its_table_chart_and_film(
    workspace: MeasureWorkspace, run: int, settings: Settings, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    table = run_table(settings.store, run)
    assert workspace.results.table.results.table == table
    assert workspace.results.wanted["view"] == "all"
    chart = workspace.results.chart.chart
    assert isinstance(chart, BarChart)
    rates = {bar.model: bar.value for bar in chart.groups[0].bars}
    at = table.header.index
    assert rates == {
        row[at("model")]: row[at("hit_rate")]
        for row in table.rows
        if (row[0], row[1]) == ("Edema", "all")
    }
    for words in ("says-d4", "uniform", "by patient, 95 %", "random cell"):
        assert words in workspace.results.chart.caption


def test_that_nothing_of_one_run_stands_below_the_title_of_another(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    with open_store(settings.store) as store:
        other = plan_run(store, runs.run_spec(store, 1), new=True)
    workspace.refresh()
    qtbot.waitUntil(lambda: workspace.runs.model.row_of(other) is not None)
    workspace.runs.select(other)
    title = workspace.results._title.text()
    assert title == f"Computing the results of run {other} …"
    chart, table = workspace.results.chart, workspace.results.table
    assert not chart.isVisible()
    assert not table.isVisible()
    assert workspace.film.model.trials == ()
    qtbot.waitUntil(table.isVisible, timeout=20_000)


def test_that_a_run_whose_verdicts_do_not_match_their_replies_says_so(
    run: int, settings: Settings, qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        misjudge(store, run)
    doubt = _shown(settings, qtbot).results.doubt
    qtbot.waitUntil(doubt.isVisible, timeout=20_000)
    assert "1 of 24 (first: " in doubt.text()
    assert f"'overread rescore {run}' scores them again." in doubt.text()
    with open_store(settings.store) as store:
        rescore_run(store, run)
    again = _shown(settings, qtbot)
    _wait_for_film(again, qtbot)
    assert not again.results.doubt.isVisible()


def test_that_a_rows_trials_come_misses_first_and_a_click_chooses_one(
    workspace: MeasureWorkspace, run: int, settings: Settings, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    key = workspace.results.table.key
    assert key is not None
    shown = workspace.film.model.trials
    assert shown == trial_rows(
        settings.store,
        run,
        finding=key.finding,
        view=key.view,
        condition=key.condition,
        model=key.model,
    )
    hits = [trial.score.status is Status.SCORED_CORRECT for trial in shown]
    assert hits == sorted(hits)
    view = workspace.film.view
    with qtbot.waitSignal(workspace.trial_chosen) as caught:
        at = view.visualRect(workspace.film.model.index(1)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert caught.args[0].trial == shown[1].trial
    workspace.results.table.setFocus()
    workspace.return_to_row()
    assert workspace.results.table.key == key
    assert view.currentIndex().row() == 1
    with qtbot.waitSignal(workspace.trial_chosen):
        QTest.keyClick(view, Qt.Key.Key_Return)


def test_that_pictures_are_drawn_in_the_background(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    model = workspace.film.model
    n = len(model.trials)
    for row in range(n):
        model.data(model.index(row), Qt.ItemDataRole.DecorationRole)
    qtbot.waitUntil(lambda: model.pictures_drawn == n, timeout=20_000)
    for row in range(n):
        first = model.index(row)
        picture = model.data(first, Qt.ItemDataRole.DecorationRole)
        assert isinstance(picture, QPixmap)
        story = str(model.data(first, Qt.ItemDataRole.ToolTipRole))
        named = {line.partition(":")[0] for line in story.splitlines()}
        assert named >= {"Model", "Version", "Prompt", "Parameters", "Run"}


def test_that_a_picture_shows_the_answer_and_the_reference(
    run: int, settings: Settings
) -> None:
    everything = {"finding": "all", "view": "all", "condition": "all"}
    row = trial_rows(settings.store, run, **everything, model="says-d4")[0]
    raster = FilmPictures(settings.store, LocalDecoder()).draw(row, 144).raster
    colours = {tuple(int(v) for v in pixel) for pixel in raster.pixels.reshape(-1, 3)}
    assert raster.pixels.shape == (144, 144, 3)
    assert {(0xE6, 0x9F, 0x00), (0x56, 0xB4, 0xE9)} <= colours
    orange = (raster.pixels == (0xE6, 0x9F, 0x00)).all(axis=-1).nonzero()
    cell = 144 // 8
    assert set(orange[0] // cell) == {3}
    assert set(orange[1] // cell) == {3}


def test_that_a_copy_holds_the_selected_rows_and_the_export_every_row(
    workspace: MeasureWorkspace,
    run: int,
    settings: Settings,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    _wait_for_film(workspace, qtbot)
    table = workspace.results.table
    table.selectAll()
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    text = QGuiApplication.clipboard().text()
    assert len(text.splitlines()) == 1 + table.shown.rowCount()
    table.clearSelection()
    QGuiApplication.clipboard().clear()
    workspace.results.copy.click()
    assert QGuiApplication.clipboard().text() == text
    assert text.splitlines()[0].split("\t") == list(table.results.table.header)
    workspace.export_to(tmp_path / "results.csv")
    qtbot.waitUntil((tmp_path / "results.csv").exists, timeout=5000)
    with open_store(settings.store) as store:
        write_report(store, run, tmp_path / "report")
    written = (tmp_path / "results.csv").read_bytes()
    assert written == (tmp_path / "report" / "results.csv").read_bytes()
    rows = list(csv.reader(written.decode().splitlines()))
    assert len(rows) == 1 + len(table.results.table.rows)


def test_that_filters_narrow_table_and_chart_together(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    combo = workspace.results.filters["model"]
    combo.setCurrentIndex(combo.findData("uniform"))
    rows = workspace.results.table.shown.source_rows()
    model = workspace.results.table.results
    assert {model.key(row).model for row in rows} == {"uniform"}
    chart = workspace.results.chart.chart
    assert isinstance(chart, BarChart)
    assert {bar.model for group in chart.groups for bar in group.bars} == {"uniform"}


def test_that_the_chart_wears_the_theme(
    workspace: MeasureWorkspace, qapp: QApplication, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    dark = workspace.results.chart.grab().toImage().pixelColor(300, 60)
    theme.apply(qapp, theme.LIGHT)
    qtbot.wait(50)
    light = workspace.results.chart.grab().toImage().pixelColor(300, 60)
    assert light.lightness() > dark.lightness()


def test_that_an_empty_store_says_what_to_do_next(
    settings: Settings, qtbot: QtBot
) -> None:
    workspace = _shown(settings, qtbot)
    qtbot.wait(200)
    assert workspace.runs.selected is None
    assert set(workspace.handlers()) >= {"file.batch", "file.export", "run.resume"}


def test_that_why_a_run_asks_no_more_is_told_for_batches_only(
    workspace: MeasureWorkspace, run: int, settings: Settings, qtbot: QtBot
) -> None:
    del settings
    qtbot.waitUntil(lambda: workspace.runs.model.row_of(run) == 0, timeout=20_000)
    told: list[str] = []
    workspace._context.notices.posted.connect(lambda notice: told.append(notice.what))
    worker = workspace._context.worker
    worker.message.emit(WorkerReply(1, {"run": run}, ""))
    for stopped in (run, run + 1):
        sentence = f"The ceiling of run {stopped} is reached."
        worker.message.emit(WorkerEvent(ModelStopped(stopped, "m", sentence)))
    assert told == [f"The ceiling of run {run} is reached."]


def test_that_a_batch_whose_words_wait_leads_to_them(
    workspace: MeasureWorkspace, run: int, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: workspace.runs.model.row_of(run) == 0, timeout=20_000)
    notices = workspace._context.notices
    stopped = ModelStopped(run, "", "A question was not sent.", words_of="tiny")
    workspace._context.worker.message.emit(WorkerReply(1, {"run": run}, ""))
    with qtbot.waitSignal(notices.posted) as posted:
        workspace._context.worker.message.emit(WorkerEvent(stopped))
    (notice,) = posted.args
    assert notice.offer.words == "Review words…"
    assert notice.offer.act == ShowWords(workspace.window(), workspace._context, "tiny")


def close(page: BatchDialog, qtbot: QtBot) -> None:
    """Close a page and wait until Qt has deleted it."""
    gone: list[bool] = []
    page.destroyed.connect(lambda: gone.append(True))
    page.reject()
    qtbot.waitUntil(lambda: bool(gone))


def test_that_the_batch_page_comes_back_as_it_was_left(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    workspace.batches.open()
    page = found(workspace, BatchDialog)
    qtbot.waitUntil(lambda: page.models.count() > 0)
    page.seed.setValue(7)
    close(page, qtbot)
    workspace.batches.open()
    again = found(workspace, BatchDialog)
    qtbot.waitUntil(lambda: again.seed.value() == 7)
    assert again.form.models == ("asymmetry",)


def test_that_a_batch_page_closed_before_it_filled_is_forgotten(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    workspace.batches.open()
    empty = found(workspace, BatchDialog)
    close(empty, qtbot)
    workspace.batches.open()
    page = found(workspace, BatchDialog)
    qtbot.waitUntil(lambda: page.form.study == "grid_localization")
    assert page.form.models == ("asymmetry",)


def test_that_the_table_is_copied_as_a_script(
    workspace: MeasureWorkspace, run: int, settings: Settings, qtbot: QtBot
) -> None:
    _wait_for_film(workspace, qtbot)
    actions = workspace.results.table.actions()
    (script,) = [one for one in actions if one.text() == "Copy as Python script"]
    QGuiApplication.clipboard().clear()
    script.trigger()
    qtbot.waitUntil(lambda: bool(QGuiApplication.clipboard().text()), timeout=20_000)
    assert QGuiApplication.clipboard().text() == run_table_script(settings.store, run)
