"""The page of figures: every one can be looked at, copied and written."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tests.helpers.measure_store import finished_run
from tests.helpers.sample_figures import SAMPLES
from viewer.domain.figure import Figure, HeatFigure, RateFigure, Step, StripFigure
from viewer.services.figures import RunFigures
from viewer.settings import Settings
from viewer.ui import theme
from viewer.ui.desk import Desk, WorkerBridge
from viewer.ui.measure_workspace import MeasureWorkspace
from viewer.ui.panels.charts.figures import FiguresPage
from viewer.ui.panels.charts.words import is_faint, lines_of

pytestmark = pytest.mark.statement("E000-28")


@pytest.fixture
def page(settings: Settings, qtbot: QtBot) -> FiguresPage:
    made = FiguresPage(Desk(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    return made


@pytest.mark.parametrize("figure", SAMPLES, ids=lambda figure: figure.head.name)
@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT], ids=lambda p: p.name)
def test_that_every_kind_of_figure_is_drawn_in_both_themes(
    page: FiguresPage, figure: Figure, palette: theme.Palette, qapp: QApplication
) -> None:
    theme.apply(qapp, palette)
    page.show_figures((figure,))
    qapp.processEvents()
    assert page.words.startswith(figure.head.caption)
    picture = page.picture()
    ground = QColor(palette.panel).rgb()
    shown = {
        picture.pixel(x, y)
        for x in range(0, picture.width(), 3)
        for y in range(0, picture.height(), 3)
    }
    assert ground in shown
    assert len(shown) > 3


def test_that_a_runs_figures_are_chosen_copied_and_written(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    finished_run(settings.store, tmp_path / "images")
    workspace = MeasureWorkspace(Desk(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(workspace)
    workspace.resize(1300, 900)
    workspace.show()
    workspace.pages.setCurrentIndex(2)
    figures = workspace.figures
    qtbot.waitUntil(lambda: figures.figure is not None, timeout=60_000)
    assert workspace.film.isHidden()
    names = [figures.choice.itemText(i) for i in range(figures.choice.count())]
    assert names[:3] == [
        "Figure 1 · Study overview",
        "Figure 2 · Hit rate by finding, 8 × 8 grid",
        "Figure 3 · Classes of error",
    ]
    figures.choice.setCurrentIndex(1)
    figures.copy()
    assert not QGuiApplication.clipboard().pixmap().isNull()
    figures.export_to(tmp_path / "out")
    written = {f"fig2_hit_rates_8.{kind}" for kind in ("svg", "pdf", "csv")}
    out = tmp_path / "out"
    qtbot.waitUntil(
        lambda: out.is_dir() and {p.name for p in out.iterdir()} == written,
        timeout=60_000,
    )
    workspace.pages.setCurrentIndex(0)
    assert not workspace.film.isHidden()
    again = MeasureWorkspace(Desk(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(again)
    workspace.pages.setCurrentIndex(2)
    again.recall(workspace.choices)
    assert again.pages.currentIndex() == 2


def test_that_the_figure_looked_at_stays_when_the_run_goes_on(
    page: FiguresPage,
) -> None:
    page.show_figures(SAMPLES)
    page.choice.setCurrentIndex(3)
    page.show_figures(SAMPLES[2:])
    assert page.figure is SAMPLES[3]


def test_that_groups_are_ordered_by_two_series_that_a_person_chooses(
    page: FiguresPage, tmp_path: Path, qtbot: QtBot
) -> None:
    page.show_figures(SAMPLES)
    assert page.order.isHidden()
    page.choice.setCurrentIndex(1)
    assert not page.order.isHidden()
    page.order.above.setCurrentText("CNN")
    page.order.below.setCurrentText("a")
    assert "(CNN − a) / a" in page.words
    shown = page.figure
    assert isinstance(shown, RateFigure)
    assert shown.panels[0].groups == ("Edema", "Cardiomegaly")
    page.order.above.setCurrentText("b")
    page.order.below.setCurrentText("chance")
    shown = page.figure
    assert isinstance(shown, RateFigure)
    assert shown.panels[0].groups == ("Cardiomegaly", "Edema")
    page.export_to(tmp_path)
    table = tmp_path / "fig2.csv"
    qtbot.waitUntil(table.is_file, timeout=20_000)
    assert table.read_text().splitlines()[1].startswith(",Cardiomegaly,a")


def test_that_groups_that_are_no_findings_keep_their_order(page: FiguresPage) -> None:
    figure = next(one for one in SAMPLES if isinstance(one, RateFigure))
    kept = replace(figure, in_order=True)
    page.show_figures((kept,))
    assert page.order.isHidden()
    assert page.figure is kept


def test_that_a_figure_without_chance_is_ordered_by_its_series(
    page: FiguresPage,
) -> None:
    rates = next(f for f in SAMPLES if isinstance(f, RateFigure))
    bare = [replace(panel, published=()) for panel in rates.panels]
    page.show_figures((replace(rates, baseline_name="", panels=tuple(bare)),))
    assert page.order.chosen == ("a", "b")
    alone = tuple(replace(p, series=p.series[:1]) for p in bare)
    page.show_figures((replace(rates, baseline_name="", panels=alone),))
    assert page.order.isHidden()


def test_that_only_a_figure_of_one_grid_is_called_by_it(page: FiguresPage) -> None:
    (first, *_) = SAMPLES
    numbered = replace(first.head, name="fig_02", number="", title="A case")
    on_grid = replace(numbered, number="Figure 2", grid="8")
    page.show_figures((replace(first, head=numbered), replace(first, head=on_grid)))
    names = [page.choice.itemText(i) for i in range(2)]
    assert names == ["A case", "Figure 2 · A case, 8 × 8 grid"]


def test_that_a_run_without_figures_says_under_its_name_what_they_need(
    page: FiguresPage,
) -> None:
    page._show(3, RunFigures((), ("Figure 5 needs two models.",)))
    assert page.words == "Figure 5 needs two models."
    page._show(4, RunFigures(SAMPLES, ("Figure 5 needs two models.",)))
    told = "Some figures are missing. Figure 5 needs two models."
    (label,) = (one for one in page.findChildren(QLabel) if one.text() == told)
    assert not label.isHidden()
    page._show(5, RunFigures(SAMPLES))
    assert label.isHidden()
    page._show(6, RunFigures(SAMPLES, ("Figure 5 needs two.", "Figure 6 needs masks.")))
    head, *listed = label.text().splitlines()
    assert head == "Some figures are missing."
    assert listed == ["•  Figure 5 needs two.", "•  Figure 6 needs masks."]
    assert not label.isHidden()


@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT], ids=lambda p: p.name)
def test_that_a_figure_of_words_alone_is_as_high_as_they_are(
    page: FiguresPage, palette: theme.Palette, qapp: QApplication
) -> None:
    theme.apply(qapp, palette)
    strip = next(f for f in SAMPLES if isinstance(f, StripFigure))
    steps = tuple(Step(f"Step {n}", None, "Is it there?\n\nNo.") for n in range(4))
    page.show_figures((replace(strip, steps=steps),))
    qapp.processEvents()
    labels = page._page.findChildren(QLabel)
    assert [one.text() for one in labels[:2]] == ["1 · Step 0", "Is it there?\n\nNo."]
    words = labels[1::2]
    assert max(one.height() for one in words) < 6 * page.fontMetrics().height()
    assert words[0].mapTo(page, words[0].rect().topLeft()).y() < page.height() / 3
    assert words[0].font().pointSizeF() > page.font().pointSizeF()
    assert len({one.x() for one in words}) == 3, "three beside one another"
    assert page.picture().pixelColor(2, 2) == QColor(palette.panel)
    assert page.export.isEnabled()


def test_that_a_colour_that_is_faint_on_its_ground_is_told_by_a_hollow_sign(
    qapp: QApplication,
) -> None:
    theme.apply(qapp, theme.LIGHT)
    assert is_faint("#F7F7F7")
    assert "◻" in lines_of("#F7F7F7", "3")
    assert "◼" in lines_of("#0072B2", "5")
    theme.apply(qapp, theme.DARK)
    assert not is_faint("#F7F7F7")


def test_that_a_page_without_figures_offers_nothing_to_export(
    page: FiguresPage,
) -> None:
    page.show_figures(())
    assert page.figure is None
    assert not page.export.isEnabled()
    page.copy()
    page.ask_where_to_export()
    assert page.words == ""


def test_that_heat_maps_of_long_and_short_names_are_equally_large(
    page: FiguresPage, qapp: QApplication
) -> None:
    heat = next(f for f in SAMPLES if isinstance(f, HeatFigure))
    names = {panel.column for panel in heat.panels}
    longest = {max(names): "a-rather-long-model-name-qwen2.5-vl-72b-instruct-awq-local"}
    panels = [
        replace(panel, column=longest.get(panel.column, panel.column))
        for panel in heat.panels
    ]
    page.show_figures((replace(heat, panels=tuple(panels)),))
    qapp.processEvents()
    boxes = [i for i in page._page.ci.items if hasattr(i, "viewRange")]
    widths = [box.width() for box in boxes]
    assert max(widths) - min(widths) <= 2, widths
