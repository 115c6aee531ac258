"""From all predictions of the store to the case behind a number, and back."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.random_results import MODELS, random_results
from viewer.domain.answer import Status
from viewer.domain.result import Outcome, Score
from viewer.domain.run import TrialDone
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.services.inspecting.predictions.view import COUNTS, By, ResultsView
from viewer.services.worker.background import WorkerEvent
from viewer.settings import Settings
from viewer.store import trials
from viewer.store.database import open_store
from viewer.store.trials import Verdict
from viewer.ui.application.action_spec import Place
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.measure import results_groups_panel
from viewer.ui.panels.measure.results_groups_panel import summary_words
from viewer.ui.panels.measure.results_tour import TourBar
from viewer.ui.tables.results_groups_view import PLOT, GroupsView, NumberChosen
from viewer.ui.widgets.some_of import SomeOf
from viewer.ui.workspaces import measure as measure_workspace
from viewer.ui.workspaces.measure import MeasureWorkspace


@pytest.fixture
def workspace(settings: Settings, qtbot: QtBot) -> MeasureWorkspace:
    random_results(settings.store, 3)
    made = _shown(settings, qtbot)
    _wait(made, qtbot, 48)
    made.groups.filters.boxes[By.CONDITION].setChecked(False)
    qtbot.waitUntil(lambda: made.groups.groups.by == (By.FINDING, By.MODEL))
    return made


def _by_condition(workspace: MeasureWorkspace, qtbot: QtBot) -> GroupsView:
    """Show one condition in a row, so that rows have rates."""
    workspace.groups.filters.boxes[By.CONDITION].setChecked(True)
    qtbot.waitUntil(lambda: By.CONDITION in workspace.groups.groups.by)
    return _wait(workspace, qtbot, 48)


def test_that_rows_have_rates_at_first(settings: Settings, qtbot: QtBot) -> None:
    random_results(settings.store, 3)
    shown = _shown(settings, qtbot)
    _wait(shown, qtbot, 48)
    groups = shown.groups.groups
    assert groups.by == (By.FINDING, By.CONDITION, By.MODEL)
    assert all(map(groups.has_rate, range(len(groups.keys))))


def _shown(settings: Settings, qtbot: QtBot) -> MeasureWorkspace:
    made = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(made)
    made.resize(1300, 900)
    made.pages.setCurrentIndex(1)
    made.show()
    return made


def _wait(workspace: MeasureWorkspace, qtbot: QtBot, n: int) -> GroupsView:
    """Wait until so many predictions are shown, and the film has its trials."""
    table = workspace.groups.table
    qtbot.waitUntil(
        lambda: workspace.groups.groups.total.n_planned == n, timeout=20_000
    )
    qtbot.waitUntil(lambda: bool(workspace.film.title), timeout=20_000)
    return table


def _tick(choice: SomeOf, text: str) -> None:
    """Tick what a menu offers."""
    names = {action.text(): action for action in choice.menu().actions()}
    names[text].trigger()


def test_that_the_selected_runs_predictions_are_grouped_and_lead_to_their_trials(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    assert workspace.groups.groups.by == (By.FINDING, By.MODEL)
    assert [key[1] for key in workspace.groups.groups.keys] == [*MODELS, *MODELS]
    table.choose(("Fracture", MODELS[1]), "n_unparsed")
    tally = workspace.groups.groups.tally(3)
    words = f"Fracture · {MODELS[1]} · {tally.n_unparsed} unparsed"
    qtbot.waitUntil(lambda: workspace.film.title == words, timeout=20_000)
    qtbot.waitUntil(
        lambda: len(workspace.film.model.trials) == tally.n_unparsed, timeout=20_000
    )
    kinds = {trial.score.status for trial in workspace.film.model.trials}
    assert kinds <= {Status.UNPARSED, Status.AMBIGUOUS}


def test_that_filters_go_across_runs_and_say_when_a_rate_would_mislead(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    _wait(workspace, qtbot, 48)
    filters = workspace.groups.filters
    filters.runs.setCurrentIndex(0)
    _wait(workspace, qtbot, 96)
    assert "no rate over all of them" in workspace.groups.summary.text()
    assert "incomplete" in workspace.groups.summary.text()
    filters.boxes[By.PATIENT].setChecked(True)
    filters.patient.setText("T2 (ot")
    _wait(workspace, qtbot, 8)
    patients = {key[-1] for key in workspace.groups.groups.keys}
    assert patients == {"patient2 (other)"}
    _tick(filters.choices["outcome"], "partial")
    qtbot.waitUntil(lambda: "counts only" in workspace.groups.summary.text())
    filters.reset.click()
    _wait(workspace, qtbot, 96)
    filters.patient.setText("nobody")
    qtbot.waitUntil(
        lambda: workspace.groups.summary.text() == "No prediction matches the filters."
    )
    assert not workspace.groups.export.isEnabled()


def test_that_several_values_pass_until_every_one_does_again(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    _wait(workspace, qtbot, 48)
    choice = workspace.groups.filters.choices["model"]
    _tick(choice, MODELS[0])
    _wait(workspace, qtbot, 24)
    assert choice.text() == MODELS[0]
    menu = choice.menu()
    menu.popup(choice.mapToGlobal(choice.rect().bottomLeft()))
    menu.setActiveAction(menu.actions()[3])
    QTest.keyClick(menu, Qt.Key.Key_Space)
    assert menu.isVisible()
    _wait(workspace, qtbot, 48)
    assert choice.text() == f"{MODELS[0]} + 1"
    at = menu.actionGeometry(menu.actions()[2]).center()
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=at)
    assert menu.isVisible()
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    _wait(workspace, qtbot, 24)
    assert workspace.groups.filters.wanted.models == (MODELS[1],)
    workspace.groups.refresh()
    qtbot.wait(100)
    assert workspace.groups.filters.wanted.models == (MODELS[1],)
    _tick(choice, "Every model")
    _wait(workspace, qtbot, 48)
    assert choice.text() == "Every model"


def test_that_a_column_stays_sorted_and_the_row_current(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    table = _by_condition(workspace, qtbot)
    model = table.model_
    table.horizontalHeader().setSortIndicator(
        model.columns.index("hit_rate"), Qt.SortOrder.DescendingOrder
    )
    rates = [model.groups.tally(model.group_at(row)).rate for row in range(4)]
    assert rates == sorted(rates, key=lambda rate: -(rate or 0))
    key = ("Edema", "grid=8", MODELS[1])
    table.choose(key, "k")
    workspace.groups.filters.runs.setCurrentIndex(0)
    _wait(workspace, qtbot, 96)
    assert model.sorted_by == ("hit_rate", True)
    chosen = table.chosen
    assert chosen == NumberChosen(model.groups.row_of(key) or 0, "k")


def test_that_rows_are_copied_and_exported_at_full_precision(
    workspace: MeasureWorkspace, tmp_path: Path, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 2
    assert lines[0].split("\t") == list(workspace.groups.groups.header)
    workspace.groups.copy.click()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 5
    workspace.groups.export_to(tmp_path / "predictions.csv")
    qtbot.waitUntil((tmp_path / "predictions.csv").exists, timeout=5_000)
    written = (tmp_path / "predictions.csv").read_text().splitlines()
    assert written[0].split(",") == list(workspace.groups.groups.header)
    assert len(written) == 5
    table.selectAll()
    names = {action.text(): action for action in table.actions()}
    names["Copy rows as CSV"].trigger()
    assert QGuiApplication.clipboard().text().splitlines() == written


def test_that_a_rows_rate_is_told_with_its_interval(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    _by_condition(workspace, qtbot)
    told = "Clopper-Pearson"
    qtbot.waitUntil(
        lambda: told in workspace.groups.details.text(),
        timeout=20_000,
    )
    assert workspace.groups.details.text().startswith("This row: ")


@pytest.mark.statement("X-07")
def test_that_an_interval_names_its_method_where_it_is_pointed_at(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    table = _by_condition(workspace, qtbot)
    tips = {_cell(table, name, _TIP) for name in ("ci_low", "ci_high", PLOT)}
    (method,) = tips
    assert method.startswith("Clopper-Pearson")
    told = _cell(table, PLOT, Qt.ItemDataRole.AccessibleTextRole)
    assert told.startswith("0 to 100 %: ")
    assert told.endswith(f"({method})")
    workspace.groups.filters.boxes[By.PATIENT].setChecked(True)
    qtbot.waitUntil(lambda: By.PATIENT in workspace.groups.groups.by)
    table.sort_by("n", descending=True)
    table.model_.show_groups(workspace.groups.groups)
    assert _cell(table, "ci_low", Qt.ItemDataRole.DisplayRole) == ""
    assert _cell(table, "ci_low", _TIP) == "not estimable from one patient, 95 %"
    table.grab()


def _cell(table: GroupsView, name: str, role: Qt.ItemDataRole) -> str:
    model = table.model_
    return str(model.data(model.index(0, model.columns.index(name)), role))


_TIP = Qt.ItemDataRole.ToolTipRole


@pytest.mark.statement("X-07")
def test_that_rates_of_many_predictions_are_shown_before_their_intervals(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    random_results(settings.store, 3)
    monkeypatch.setattr(results_groups_panel, "AT_ONCE", 0)
    workspace = _shown(settings, qtbot)
    groups, seen = workspace.groups, list[tuple[bool, bool]]()
    groups.table.model_.modelReset.connect(
        lambda: seen.append((groups.groups.lacks_intervals, groups.export.isEnabled()))
    )
    chosen = list[object]()
    groups.number_chosen.connect(chosen.append)
    qtbot.waitUntil(lambda: bool(seen) and seen[-1][1], timeout=20_000)
    (early, could), *_, (late, can) = seen
    assert (could, can) == (False, True)
    assert (early, late) == (True, False)
    assert len(chosen) == 1
    ends = groups.table.model_.columns.index("ci_high")
    assert groups.table.columnWidth(ends) == groups.table.sizeHintForColumn(ends)


def test_that_n_and_p_walk_over_the_disagreements(
    workspace: MeasureWorkspace, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    bar = workspace.findChild(TourBar)
    assert bar is not None
    bar.kinds.setCurrentIndex(1)
    for by in (By.FINDING, By.MODEL):
        workspace.groups.filters.boxes[by].setChecked(False)
    qtbot.waitUntil(lambda: list(workspace.groups.groups.keys) == [()])
    actions = workspace._context.actions
    actions.handle(workspace.handlers(), Place.MEASURE)
    actions.enter(Place.MEASURE)
    workspace.addActions([actions["tour.next"], actions["tour.previous"]])
    table.setFocus()
    reached = list[int]()
    workspace.trial_chosen.connect(lambda event: reached.append(event.trial))
    for _ in range(2):
        with qtbot.waitSignal(workspace.trial_chosen, timeout=20_000):
            QTest.keyClick(table, Qt.Key.Key_N)
    with qtbot.waitSignal(workspace.trial_chosen, timeout=20_000):
        QTest.keyClick(table, Qt.Key.Key_P)
    assert reached[2] == reached[0] != reached[1]
    qtbot.waitUntil(lambda: "Disagreement 1 of" in bar.words.text())
    assert all(model in bar.words.text() for model in MODELS)
    bar.kinds.setCurrentIndex(2)
    bar.on.click()
    qtbot.waitUntil(lambda: "No disagreement" in bar.words.text())


def test_that_the_tour_says_that_its_answers_were_deleted(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    _wait(workspace, qtbot, 48)
    tour, said = workspace.predictions.tour, list[str]()
    tour.told.connect(said.append)
    tour.step(1)
    qtbot.waitUntil(lambda: tour._at == 0 and "words" not in tour._background_tasks)
    for run in ("1", "2"):
        delete(settings, Target(Kind.RUN, run))
    tour.step(1)
    qtbot.waitUntil(lambda: said[-1].startswith("These answers were deleted."))


def test_that_what_another_process_settled_is_counted_at_once(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    _wait(workspace, qtbot, 48)
    before = workspace.groups.groups.total
    assert before.n_pending
    hit = Score(Status.SCORED_CORRECT, "", "D4", 0.75, Outcome.FULL)
    with open_store(settings.store) as other, other.transaction():
        pending = other.rows(
            "SELECT id FROM trial WHERE run_id = 2 AND status = 'pending'"
        )
        found = [(row["id"], Verdict(hit, "1")) for row in pending]
        trials.settle(other, found)
    qtbot.waitUntil(lambda: not workspace.groups.groups.total.n_pending)
    after = workspace.groups.groups.total
    assert after.k == before.k + before.n_pending
    assert "incomplete" not in workspace.groups.summary.text()


def test_that_the_table_follows_a_run_that_goes_on(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    table.choose(("Fracture", MODELS[0]), "n_pending")
    before = workspace.groups.groups.total
    with open_store(settings.store) as store, store.transaction():
        row = store.rows("SELECT * FROM trial WHERE run_id = 2 AND status = 'pending'")[
            0
        ]
        trials.settle(store, [(row["id"], Verdict(Score(Status.REFUSED), "1"))])
    event = TrialDone(
        *(2, row["id"], row["item"], row["condition"], 0, row["model"]),
        *(Score(Status.REFUSED), "", False, 5),
    )
    workspace._context.worker.message.emit(WorkerEvent(event))
    qtbot.waitUntil(
        lambda: workspace.groups.groups.total.n_pending == before.n_pending - 1
    )
    assert table.chosen is not None
    assert table.chosen.column == "n_pending"
    assert workspace.groups.groups.keys[table.chosen.group] == ("Fracture", MODELS[0])


def test_that_an_unfinished_table_wears_a_watermark(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    marked = _below_the_rows(table)
    with open_store(settings.store) as store, store.transaction():
        rows = store.rows("SELECT id FROM trial WHERE status = 'pending'")
        refused = [(r["id"], Verdict(Score(Status.REFUSED), "1")) for r in rows]
        trials.settle(store, refused)
    workspace.groups.refresh()
    qtbot.waitUntil(lambda: not workspace.groups.groups.total.n_pending)
    assert _colours(marked) > _colours(_below_the_rows(table)) == 1


def _below_the_rows(table: GroupsView) -> QImage:
    image = table.viewport().grab().toImage()
    top = table.rowViewportPosition(3) + table.rowHeight(3) + 4
    return image.copy(0, top, image.width(), image.height() - top)


def _colours(image: QImage) -> int:
    colours = {
        image.pixel(x, y)
        for x in range(0, image.width(), 3)
        for y in range(0, image.height(), 3)
    }
    return len(colours)


def test_that_grouping_and_order_are_remembered(
    workspace: MeasureWorkspace, settings: Settings, qtbot: QtBot
) -> None:
    table = _wait(workspace, qtbot, 48)
    filters = workspace.groups.filters
    filters.boxes[By.FINDING].setChecked(False)
    filters.boxes[By.VIEW].setChecked(True)
    filters.runs.setCurrentIndex(0)
    table.horizontalHeader().setSortIndicator(
        table.model_.columns.index("k"), Qt.SortOrder.DescendingOrder
    )
    kept = workspace.choices
    again = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(again)
    again.recall(kept)
    again.show()
    table = _wait(again, qtbot, 96)
    assert again.groups.groups.by == (By.VIEW, By.MODEL)
    assert table.model_.sorted_by == ("k", True)
    assert again.choices == kept


def test_that_a_large_run_shows_its_predictions_before_its_report(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(measure_workspace, "_LARGE", 40)
    random_results(settings.store, 3)
    workspace = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(workspace)
    workspace.show()
    _wait(workspace, qtbot, 48)
    assert workspace.pages.currentIndex() == 1
    assert workspace.results.table.shown.rowCount() == 0
    workspace.runs.select(1)
    qtbot.waitUntil(lambda: workspace.groups.filters.run == 1)


def test_that_a_store_without_a_run_says_what_to_do(
    settings: Settings, qtbot: QtBot
) -> None:
    workspace = _shown(settings, qtbot)
    qtbot.wait(300)
    assert workspace.runs.selected is None
    assert workspace.groups.groups.total.n_planned == 0


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ((5,), "Run 5 is left out: its reader withdrew."),
        ((5, 7), "Runs 5 and 7 are left out: their readers withdrew."),
    ],
)
def test_that_runs_whose_reader_withdrew_are_told(
    runs: tuple[int, ...], words: str
) -> None:
    none = ResultsView((), [], np.zeros((0, len(COUNTS)), np.int64), left_out=runs)
    assert summary_words(none) == f"No prediction matches the filters. {words}"
    one = ResultsView((), [()], np.eye(1, len(COUNTS), dtype=np.int64), left_out=runs)
    assert summary_words(one).endswith(f" · {words}")
