"""Two models compared on the screen: choose, declare, look, filter, open, export."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, plan_and_finish, two_models
from viewer.domain.forest import ForestFigure, ForestRow
from viewer.domain.image import Raster
from viewer.domain.styles import rgb_of, sides_of
from viewer.imaging.answer_overlay import REFERENCE
from viewer.services.comparing.runs import compare
from viewer.services.comparing.sides import Side
from viewer.services.viewing.decoding import LocalDecoder
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.actions import SPECS
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.comparing.film import PairPictures
from viewer.ui.panels.comparing.page import ComparePage
from viewer.ui.panels.comparing.plot import ComparePlot
from viewer.ui.widgets import theme
from viewer.ui.workspaces.measure import MeasureWorkspace


@pytest.fixture
def sides(settings: Settings, tmp_path: Path) -> tuple[Side, Side]:
    with open_store(settings.store) as store:
        return two_models(store, tmp_path / "d")


@pytest.fixture
def page(sides: tuple[Side, Side], settings: Settings, qtbot: QtBot) -> ComparePage:
    made = ComparePage(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    made.open([sides[0].run])
    qtbot.waitUntil(lambda: bool(made.choice.outlook.text()), timeout=20_000)
    return made


def compared(page: ComparePage, qtbot: QtBot) -> ComparePage:
    QTest.mouseClick(page.choice.compare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.statistics is not None, timeout=30_000)
    qtbot.waitUntil(lambda: bool(page.film.model.items), timeout=20_000)
    return page


def wait_for_items(page: ComparePage, n: int, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(page.film.model.items) == n, timeout=20_000)


def test_that_two_models_of_the_selected_run_are_offered(
    page: ComparePage, sides: tuple[Side, Side]
) -> None:
    assert page.choice.sides == sides
    assert "exploratory" in page.choice.outlook.text()
    assert page.choice.declare.text() == "Declare 1 finding first"
    assert page.choice.declare.isVisible()
    assert not page.choice.export.isEnabled()
    page.choice.swap.click()
    assert page.choice.sides == (sides[1], sides[0])


def test_that_another_pair_takes_the_comparison_before_away(
    page: ComparePage, sides: tuple[Side, Side], qtbot: QtBot
) -> None:
    shown = compared(page, qtbot).comparison
    page.open([sides[0].run])
    qtbot.wait(200)
    assert page.comparison is shown
    page.choice.swap.click()
    assert page.comparison != shown
    assert page.hint.isVisible()
    assert not page.summary.text()
    assert not page.choice.export.isEnabled()


def test_that_the_page_shows_the_counts_the_figure_and_the_flips(
    page: ComparePage, settings: Settings, sides: tuple[Side, Side], qtbot: QtBot
) -> None:
    compared(page, qtbot)
    with open_store(settings.store) as store:
        expected = compare(store, *sides)
    table = expected.groups[-1].table
    texts = [button.text() for button in page.cells.buttons.values()]
    assert texts == [
        str(n) for n in (table.both, table.only_first, table.only_second, table.neither)
    ]
    assert len(page.film.model.items) == len(expected.flips)
    assert page.summary.text().startswith("Of 40 items says-d4 (run 1) hits")
    assert page.family.text().startswith("Exploratory")
    outlook = page.choice.outlook
    qtbot.waitUntil(lambda: outlook.text().startswith("First compared"))
    for words in (
        "Clopper-Pearson by patient, of differences, 95 %, 4 patients",
        "No McNemar test: a patient has several pairs",
        "Sign flips by patient",
    ):
        assert words in page.told.text()
    figure = page.plot.figure
    assert figure is not None
    names = [row.name for row in figure.rows]
    assert names == ["Edema", "mean over findings", "all items"]
    qtbot.waitUntil(lambda: page.plot.drawn, timeout=20_000)
    assert "of differences, 95 %" in page.plot.caption.text()


def test_that_a_cell_and_a_cause_filter_the_items(
    page: ComparePage, qtbot: QtBot
) -> None:
    compared(page, qtbot)
    flips = len(page.film.model.items)
    page.cells.buttons[False, False].click()
    neither = int(page.cells.buttons[False, False].text())
    wait_for_items(page, flips + neither, qtbot)
    page.cause.setCurrentIndex(1)
    wait_for_items(page, flips, qtbot)
    assert page.cause.currentText() == f"Answer ({flips})"
    for button in page.cells.buttons.values():
        button.setChecked(False)
    wait_for_items(page, 0, qtbot)


def test_that_a_family_declared_first_makes_it_confirmatory(
    page: ComparePage, qtbot: QtBot
) -> None:
    page.choice.declare.click()
    qtbot.waitUntil(lambda: not page.choice.declare.isVisible(), timeout=20_000)
    assert page.choice.outlook.text().startswith("Declared")
    compared(page, qtbot)
    assert page.family.text().startswith("Confirmatory")


def test_that_an_item_tells_why_and_leads_to_its_case_with_both_answers(
    page: ComparePage, qtbot: QtBot
) -> None:
    compared(page, qtbot)
    model = page.film.model
    first = model.index(0)

    def is_drawn() -> bool:
        return isinstance(model.data(first, Qt.ItemDataRole.DecorationRole), QPixmap)

    qtbot.waitUntil(is_drawn, timeout=20_000)
    story = str(model.data(first, Qt.ItemDataRole.ToolTipRole))
    assert "Why: answer: D4 → " in story
    assert "says-d4, run 1: D4" in story
    with qtbot.waitSignal(page.trial_chosen) as caught:
        page.film.view.setCurrentIndex(first)
        QTest.keyClick(page.film.view, Qt.Key.Key_Return)
    pair = model.items[0].pair
    assert caught.args[0].trial == pair.first.id
    assert caught.args[0].beside == (pair.second.id,)
    page.return_to_item()
    assert page.film.view.currentIndex().row() == 0


def colours_of(raster: Raster) -> set[tuple[int, ...]]:
    return {tuple(int(v) for v in pixel) for pixel in raster.pixels.reshape(-1, 3)}


def test_that_both_answers_are_drawn_each_in_its_colour(
    settings: Settings, sides: tuple[Side, Side]
) -> None:
    pictures = PairPictures(settings.store, LocalDecoder())
    with open_store(settings.store) as store:
        found = compare(store, *sides)
        other = plan_and_finish(store, a_spec([D4], params={"grids": [16]}))
        twice = compare(store, sides[0], Side(other, "says-d4"))
    for comparison in (found, twice):
        for pair in comparison.pairing.scored[:4]:
            ref = comparison.images[pair.first.image]
            drawn = colours_of(pictures.draw(pair, ref, 144).raster)
            looks = sides_of([comparison.first.model, comparison.second.model])
            inks = {rgb_of(look.colour) for look in looks}
            assert len(inks) == 2
            assert inks | {REFERENCE} <= drawn


def test_that_the_files_are_written_where_a_person_says(
    page: ComparePage, tmp_path: Path, qtbot: QtBot
) -> None:
    compared(page, qtbot)
    page.export_to(tmp_path / "out")
    wanted = tmp_path / "out" / "differences.svg"
    qtbot.waitUntil(wanted.exists, timeout=30_000)
    assert (tmp_path / "out" / "items.csv").exists()


def test_that_what_was_asked_is_told(page: ComparePage, qtbot: QtBot) -> None:
    compared(page, qtbot)
    tree = page.asked.settings
    rows = [tree.topLevelItem(i) for i in range(tree.topLevelItemCount())]
    names = {row.text(0) for row in rows if row is not None}
    assert "model: adapter" in names
    different = tree.topLevelItemCount()
    page.asked.all.click()
    assert tree.topLevelItemCount() > different
    assert "identical text" in page.asked.prompts.toPlainText()
    assert page.asked.images.text() == "Images sent: 4 with the same bytes."


def test_that_without_a_run_it_says_so(settings: Settings, qtbot: QtBot) -> None:
    page = ComparePage(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(page)
    page.open([])
    qtbot.waitUntil(lambda: bool(page.choice.outlook.text()), timeout=20_000)
    assert page.choice.outlook.text() == "There is no run to compare yet."
    assert not page.choice.compare.isEnabled()
    page.compare()
    page.declare()
    assert page.choice.sides is None


def test_that_the_same_side_twice_cannot_be_compared(
    page: ComparePage, qtbot: QtBot
) -> None:
    page.choice.second.setCurrentIndex(page.choice.first.currentIndex())
    qtbot.waitUntil(lambda: not page.choice.compare.isEnabled(), timeout=20_000)
    assert "two different" in page.choice.outlook.text()


def test_that_it_is_drawn_again_in_the_other_theme(
    page: ComparePage, qapp: QApplication, qtbot: QtBot
) -> None:
    compared(page, qtbot)
    qtbot.waitUntil(lambda: page.plot.drawn, timeout=20_000)
    theme.apply(qapp, theme.LIGHT)
    qtbot.waitUntil(lambda: theme.LIGHT.models[0] in page.plot.caption.text())
    theme.apply(qapp, theme.DARK)
    qtbot.waitUntil(lambda: page.plot.drawn, timeout=20_000)
    assert theme.DARK.models[0] in page.plot.caption.text()


def test_that_measure_opens_the_page_on_two_selected_runs_and_esc_leaves(
    settings: Settings, sides: tuple[Side, Side], qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        other = plan_and_finish(store, a_spec([UNIFORM], repeats=10))
    context = AppContext(settings, WorkerBridge(settings.store))
    measure = MeasureWorkspace(context)
    qtbot.addWidget(measure)
    measure.resize(1200, 800)
    measure.show()
    runs = measure.runs
    qtbot.waitUntil(lambda: runs.model.rowCount() == 2, timeout=20_000)
    assert SPECS["run.compare"].text == "Compare runs…"
    runs.view.selectAll()
    measure.handlers()["run.compare"]()
    page = measure.comparing.page
    assert page is not None
    assert measure.comparing.shown
    qtbot.waitUntil(lambda: page.choice.sides is not None, timeout=20_000)
    assert page.choice.sides == (Side(other, "uniform"), sides[0])
    measure.refresh()
    qtbot.waitUntil(lambda: runs.model.rowCount() == 2, timeout=20_000)
    assert measure.comparing.shown
    compared(page, qtbot)
    measure.handlers()["edit.copy"]()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("condition\tfinding\tpatients")
    assert len(lines) == 4
    with qtbot.waitSignal(measure.trial_chosen):
        page.film.view.setCurrentIndex(page.film.model.index(0))
        QTest.keyClick(page.film.view, Qt.Key.Key_Return)
    measure.return_to_row()
    assert measure.comparing.shown
    runs.view.setFocus()
    QTest.keyClick(runs.view, Qt.Key.Key_Escape)  # from beside the page as well
    qtbot.waitUntil(lambda: not measure.comparing.shown)
    measure.comparing.open()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not measure.comparing.shown


def test_that_the_page_is_imported_beside_the_window(
    settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(settings.store).close()
    measure = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(measure)
    monkeypatch.delitem(sys.modules, "viewer.ui.panels.comparing.page")
    measure.comparing.open()
    assert not measure.comparing.shown
    qtbot.waitUntil(lambda: measure.comparing.shown)


def test_that_a_difference_without_an_interval_is_told_as_one(
    qtbot: QtBot,
) -> None:
    plot = ComparePlot()
    qtbot.addWidget(plot)
    row = ForestRow("Edema", 3, 1.0, None, 1.0, 0.0, "p = 1.0000 · one patient")
    both = replace(row, interval=(-0.5, 1.0), note="p = 1.0000")
    figure = ForestFigure("", "a", "b", "none: one patient gives no interval", (row,))
    plot.show_figure(replace(figure, rows=(row, both)))
    plot.show()
    qtbot.waitUntil(lambda: plot.drawn, timeout=20_000)
    alone, other = plot.accessibleDescription().split("; ")
    assert alone == "Edema: +100.0 points, no interval, p = 1.0000 · one patient"
    assert other == "Edema: +100.0 points, from -50.0 to 100.0, p = 1.0000"
    assert "one patient gives no interval" in plot.caption.text()


@pytest.mark.parametrize("width", [440, 700, 1100])
def test_that_what_stands_beside_a_difference_is_whole_at_any_width(
    width: int, qtbot: QtBot
) -> None:
    plot = ComparePlot()
    qtbot.addWidget(plot)
    note = "p = 0.0312, Holm 0.1250"
    row = ForestRow("Edema", 3, 0.4, (0.1, 0.7), 0.9, 0.5, note)
    plot.show_figure(ForestFigure("", "a", "b", "BCa, 95 %", (row,)))
    plot.resize(width, 300)
    plot.show()
    qtbot.waitUntil(lambda: plot.drawn, timeout=20_000)
    assert plot._plots is not None
    box = plot._plots[1].getViewBox()

    def ends_inside() -> bool:
        (text,) = (i for i in box.addedItems if hasattr(i, "setPlainText"))
        words = text.mapRectToScene(text.boundingRect())
        around = box.sceneBoundingRect()
        return bool(
            text.toPlainText() == note
            and words.right() <= around.right() + 1
            and words.left() >= box.mapViewToScene(QPointF(0.7, 0)).x()
        )

    qtbot.waitUntil(ends_inside)
    plot.resize(width + 60, 300)
    qtbot.waitUntil(ends_inside)
