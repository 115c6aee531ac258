"""The page of figures: every one can be looked at, copied and saved, as in print."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from tests.helpers.proof_params import always
from tests.helpers.sample_figures import SAMPLES
from tests.helpers.tiny_study import finished_run
from tests.helpers.window_parts import IdleWorker
from viewer.domain.errors import OverreadError
from viewer.domain.figure import Figure, RateFigure
from viewer.domain.styles import DARK, LIGHT
from viewer.services.commands import FigureCommand
from viewer.services.reporting.figures import RunFigures
from viewer.services.worker.background import WorkerDied, WorkerReply
from viewer.services.worker.figures import drawn, listed
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext, Listener, WorkerBridge
from viewer.ui.panels.charts.figures import FiguresPage
from viewer.ui.panels.charts.words import is_faint, lines_of
from viewer.ui.widgets import theme
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.writers.figures_files import figure_picture, figure_script

pytestmark = pytest.mark.statement("E000-28")


drawn_once = cache(drawn)
"""Most tests look at the same few figures, each of which takes a while to draw."""


class FiguresAtHand(IdleWorker):
    """Answers as a worker does; ``found`` are the figures of every run."""

    def __init__(self, store: Path, listener: Listener, found: RunFigures) -> None:
        super().__init__(store, listener)
        self.found = found

    @property
    def drawn(self) -> list[FigureCommand]:
        """What was to be drawn."""
        told = (what[1] for what in self.told if isinstance(what, tuple) and what[1:])
        return [one for one in told if isinstance(one, FigureCommand)]

    def figures(self, run: int) -> int:
        return self._reply(super().figures(run), lambda: listed(self.found))

    def draw_figure(self, command: FigureCommand) -> int:
        number = super().draw_figure(command)
        return self._reply(number, lambda: drawn_once(self.found, command))

    def _reply(self, number: int, work: Callable[[], Mapping[str, object]]) -> int:
        try:
            self.listener(WorkerReply(number, work(), ""))
        except OverreadError as error:
            self.listener(WorkerReply(number, None, f"{error.what} {error.how}"))
        return number


class AtHand:
    """Makes that worker for a bridge; keeps it to be looked at."""

    def __init__(self, *figures: object) -> None:
        self.found = RunFigures(figures)  # type: ignore[arg-type]
        self.worker: FiguresAtHand | None = None

    def bridge(self, store: Path) -> WorkerBridge:
        """Return a bridge to a worker with the figures."""
        return WorkerBridge(store, self._make)

    def _make(self, store: Path, listener: Listener) -> FiguresAtHand:
        self.worker = FiguresAtHand(store, listener, self.found)
        return self.worker


Show = Callable[..., tuple[FiguresPage, FiguresAtHand]]
RATES = next(one for one in SAMPLES if isinstance(one, RateFigure))


@pytest.fixture
def show(settings: Settings, qtbot: QtBot) -> Show:
    """Show a page with figures of a run, and wait for the first of them."""

    def shown(*figures: Figure) -> tuple[FiguresPage, FiguresAtHand]:
        at_hand = AtHand(*figures)
        page = FiguresPage(AppContext(settings, at_hand.bridge(settings.store)))
        qtbot.addWidget(page)
        page.resize(1000, 700)
        page.show()
        page.show_run(3)
        qtbot.waitUntil(lambda: not page.view.picture.isNull() or not figures)
        assert at_hand.worker is not None
        return page, at_hand.worker

    return shown


def image(content: bytes) -> QImage:
    return QImage.fromData(content)


@pytest.mark.parametrize("place", always({1, 3, 7}, range(len(SAMPLES))))
@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT], ids=lambda p: p.name)
def test_that_the_window_shows_the_drawing_of_print_on_its_own_ground(
    show: Show, place: int, palette: theme.Palette, qapp: QApplication
) -> None:
    theme.apply(qapp, palette)
    figure = SAMPLES[place]
    page, worker = show(figure)
    wanted = worker.drawn[-1]
    assert wanted.ground == palette.name
    ground = DARK if palette is theme.DARK else LIGHT
    content = figure_picture(figure, "png", ground, wanted.dpi)
    assert page.view.picture == image(content)
    assert page.words.startswith(figure.head.caption)
    assert page.view.picture.width() <= page.view.page_px + 1


def test_that_a_picture_is_painted_pixel_for_pixel(show: Show, qtbot: QtBot) -> None:
    page, _ = show(RATES)
    qtbot.waitUntil(lambda: abs(page.view.picture.width() - page.view.page_px) <= 1)
    sheet = page.view.widget()
    assert sheet is not None
    seen = sheet.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    drawn = page.view.picture.convertToFormat(QImage.Format.Format_RGB32)
    assert seen.size() == drawn.size()
    assert seen == drawn


def test_that_another_theme_or_width_is_drawn_anew(
    show: Show, qtbot: QtBot, qapp: QApplication
) -> None:
    page, worker = show(RATES)
    qtbot.wait(300)
    assert {one.ground for one in worker.drawn} == {"dark"}
    theme.apply(qapp, theme.LIGHT)
    qtbot.waitUntil(lambda: worker.drawn[-1].ground == "light")
    before = worker.drawn[-1].dpi
    page.resize(700, 700)
    qtbot.waitUntil(lambda: worker.drawn[-1].dpi < before)
    page.hide()
    theme.apply(qapp, theme.DARK)
    qtbot.wait(50)
    assert worker.drawn[-1].ground == "light"
    page.show()
    qtbot.waitUntil(lambda: worker.drawn[-1].ground == "dark")


def test_that_a_figure_is_looked_at_more_closely_with_keys_and_wheel(
    show: Show, qtbot: QtBot
) -> None:
    page, worker = show(RATES)
    qtbot.wait(300)
    first, dpi = page.view.page_px, worker.drawn[-1].dpi
    page.view.setFocus()
    actions = {action.text(): action for action in page.view.actions()}
    actions["Zoom in"].trigger()
    assert page.view.page_px > first
    qtbot.waitUntil(lambda: worker.drawn[-1].dpi > dpi)
    actions["Fit to the width"].trigger()
    assert page.view.page_px == first
    wheel = QWheelEvent(
        QPointF(10, 10),
        QPointF(10, 10),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(page.view.viewport(), wheel)
    assert page.view.page_px < first


def test_that_the_menu_offers_to_copy_and_to_save(show: Show, qtbot: QtBot) -> None:
    page, worker = show(RATES)
    names = [one.text() for one in page.view.actions() if not one.isSeparator()]
    assert names == [
        *("Copy picture", "Copy as Python script", "Export figure…"),
        *("Zoom in", "Zoom out", "Fit to the width"),
    ]
    page.view.actions()[0].trigger()
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    page.copy()
    qtbot.waitUntil(lambda: not clipboard.image().isNull())
    printed = image(figure_picture(RATES, "png"))
    assert clipboard.image().size() == printed.size()
    page.copy_script()
    qtbot.waitUntil(lambda: clipboard.text().startswith("import"))
    ast.parse(clipboard.text())
    order = page.order.chosen
    assert order is not None
    assert worker.drawn[-1].order == order


def test_that_a_figure_is_saved_as_its_name_says(
    show: Show, qtbot: QtBot, tmp_path: Path
) -> None:
    figure = SAMPLES[0]
    page, _ = show(figure)
    for kind in ("svg", "PDF", "png", "csv", "py"):
        path = tmp_path / f"mine.{kind}"
        page.export_to(path)
        qtbot.waitUntil(path.is_file)
    assert (tmp_path / "mine.png").read_bytes() == figure_picture(figure, "png")
    assert (tmp_path / "mine.py").read_text() == figure_script(figure)
    assert (tmp_path / "mine.PDF").read_bytes().startswith(b"%PDF")
    page.export_to(tmp_path / "mine.docx")
    notices = page._context.notices
    with qtbot.waitSignal(notices.posted):
        page.export_to(tmp_path / "mine")
    assert not (tmp_path / "mine.docx").exists()
    assert page.view.words == "", "the figure stays"


def test_that_a_picture_that_cannot_be_drawn_says_why(show: Show, qtbot: QtBot) -> None:
    page, worker = show(RATES)
    qtbot.wait(300)
    worker.found = RunFigures(())
    page._draw()
    told = "Run 3 no longer has a figure 'fig2'. Choose another figure."
    qtbot.waitUntil(lambda: page.words == told)
    assert page.view.picture.isNull()


def test_that_a_worker_that_died_is_told_in_the_figures_place(
    show: Show, qtbot: QtBot
) -> None:
    page, worker = show(RATES)
    qtbot.wait(300)
    page._await("picture", 999, lambda _: None)
    worker.listener(WorkerDied("It ended."))
    qtbot.waitUntil(lambda: page.words == "It ended.")
    assert page.view.picture.isNull()


def test_that_one_picture_is_drawn_at_a_time_and_the_latest_wins(
    show: Show, qtbot: QtBot
) -> None:
    page, worker = show(*SAMPLES)
    qtbot.wait(300)
    kept: list[object] = []
    listener, worker.listener = worker.listener, kept.append
    n = len(worker.drawn)
    for place in (1, 2, 3):
        page.choice.setCurrentIndex(place)
    assert [one.name for one in worker.drawn[n:]] == [SAMPLES[1].head.name]
    assert page.view.words == "Drawing the figure …"
    worker.listener = listener
    (reply,) = kept
    assert isinstance(reply, WorkerReply)
    listener(reply)
    qtbot.waitUntil(lambda: not page.view.picture.isNull())
    assert [one.name for one in worker.drawn[n + 1 :]] == [SAMPLES[3].head.name]


def test_that_a_runs_figures_are_drawn_by_the_worker_copied_and_saved(
    settings: Settings, qtbot: QtBot, tmp_path: Path
) -> None:
    finished_run(settings.store, tmp_path / "images")
    bridge = WorkerBridge(settings.store)
    workspace = MeasureWorkspace(AppContext(settings, bridge))
    qtbot.addWidget(workspace)
    workspace.resize(1300, 900)
    workspace.show()
    workspace.pages.setCurrentIndex(2)
    figures = workspace.figures
    qtbot.waitUntil(lambda: not figures.view.picture.isNull(), timeout=60_000)
    assert workspace.film.isHidden()
    names = [figures.choice.itemText(i) for i in range(figures.choice.count())]
    assert names[:3] == [
        "Figure 1 · Study overview",
        "Figure 2 · Hit rate by finding, 8 × 8 grid",
        "Figure 3 · Classes of error",
    ]
    figures.choice.setCurrentIndex(1)
    out = tmp_path / "mine.svg"
    figures.export_to(out)
    qtbot.waitUntil(out.is_file, timeout=60_000)
    QGuiApplication.clipboard().clear()
    figures.copy()
    clipboard = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: not clipboard.pixmap().isNull(), timeout=60_000)
    workspace.pages.setCurrentIndex(0)
    assert not workspace.film.isHidden()
    again = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store)))
    qtbot.addWidget(again)
    workspace.pages.setCurrentIndex(2)
    again.recall(workspace.choices)
    assert again.pages.currentIndex() == 2
    bridge.close()


_ALONE = """
import sys, time
from pathlib import Path
from PySide6.QtWidgets import QApplication
from viewer.settings import read_settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.charts.figures import FiguresPage

app = QApplication([])
settings = read_settings(Path(sys.argv[1]))
bridge = WorkerBridge(settings.store)
page = FiguresPage(AppContext(settings, bridge))
page.resize(900, 700)
page.show()
page.show_run(int(sys.argv[2]))
end = time.monotonic() + 120
while page.view.picture.isNull() and time.monotonic() < end:
    app.processEvents()
    time.sleep(0.01)
print(page.view.picture.isNull(), sorted({n.partition(".")[0] for n in sys.modules}
      & {"matplotlib", "pyqtgraph"}))
bridge.close()
"""


def test_that_a_window_with_a_figure_never_loads_what_draws_it(
    settings: Settings, tmp_path: Path
) -> None:
    run = finished_run(settings.store, tmp_path / "images")
    done = subprocess.run(
        [sys.executable, "-c", _ALONE, str(settings.store), str(run)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["False", "[]"]


def test_that_the_figure_looked_at_stays_when_the_run_goes_on(
    show: Show, qtbot: QtBot
) -> None:
    page, worker = show(*SAMPLES)
    page.choice.setCurrentIndex(3)
    worker.found = RunFigures(SAMPLES[2:])
    page.show_run(3)
    qtbot.waitUntil(lambda: page.choice.count() == len(SAMPLES) - 2)
    card = page.card
    assert card is not None
    assert card.name == SAMPLES[3].head.name


def test_that_groups_are_ordered_by_two_series_that_a_person_chooses(
    show: Show, tmp_path: Path, qtbot: QtBot
) -> None:
    page, _ = show(*SAMPLES)
    assert page.order.isHidden()
    page.choice.setCurrentIndex(1)
    assert not page.order.isHidden()
    page.order.above.setCurrentText("CNN")
    page.order.below.setCurrentText("a")
    qtbot.waitUntil(lambda: "(CNN − a) / a" in page.words)
    page.order.above.setCurrentText("b")
    page.order.below.setCurrentText("chance")
    qtbot.waitUntil(lambda: "(b − chance) / chance" in page.words)
    table = tmp_path / "fig2.csv"
    page.export_to(table)
    qtbot.waitUntil(table.is_file, timeout=20_000)
    assert table.read_text().splitlines()[1].startswith(",Cardiomegaly,a")


@pytest.mark.parametrize("place", [0, 1])
def test_that_nothing_above_a_figure_is_cut_off_in_a_narrow_window(
    show: Show, qtbot: QtBot, place: int
) -> None:
    long = "A title of a figure that is longer than a narrow window is wide " * 2
    named = [replace(one, head=replace(one.head, title=long)) for one in SAMPLES]
    page, _ = show(*named)
    page.choice.setCurrentIndex(place)
    page.resize(640, 700)
    qtbot.waitUntil(lambda: page.width() == 640)
    for widget in (page.choice, page.export, page.order.above, page.order.below):
        if widget.isVisible():
            right = widget.mapTo(page, widget.rect().topRight()).x()
            assert right < page.width()
            assert widget.width() >= widget.fontMetrics().averageCharWidth() * 10


def test_that_groups_that_are_no_findings_keep_their_order(show: Show) -> None:
    page, worker = show(replace(RATES, in_order=True))
    assert page.order.isHidden()
    assert worker.drawn[-1].order is None


def test_that_a_figure_without_chance_is_ordered_by_its_series(show: Show) -> None:
    bare = [replace(panel, published=()) for panel in RATES.panels]
    page, _ = show(replace(RATES, baseline_name="", panels=tuple(bare)))
    assert page.order.chosen == ("a", "b")
    alone = tuple(replace(p, series=p.series[:1]) for p in bare)
    page, _ = show(replace(RATES, baseline_name="", panels=alone))
    assert page.order.isHidden()


def test_that_only_a_figure_of_one_grid_is_called_by_it(show: Show) -> None:
    (first, *_) = SAMPLES
    numbered = replace(first.head, name="fig_02", number="", title="A case")
    on_grid = replace(numbered, number="Figure 2", grid="8")
    page, _ = show(replace(first, head=numbered), replace(first, head=on_grid))
    names = [page.choice.itemText(i) for i in range(2)]
    assert names == ["A case", "Figure 2 · A case, 8 × 8 grid"]


def test_that_a_run_without_figures_says_under_its_name_what_they_need(
    show: Show, qtbot: QtBot
) -> None:
    page, worker = show()
    worker.found = RunFigures((), ("Figure 5 needs two models.",))
    page.show_run(4)
    qtbot.waitUntil(lambda: page.words == "Figure 5 needs two models.")
    worker.found = RunFigures(SAMPLES, ("Figure 5 needs two models.",))
    page.show_run(5)
    told = "Some figures are missing. Figure 5 needs two models."

    def labels() -> list[QLabel]:
        return [one for one in page.findChildren(QLabel) if one.text() == told]

    qtbot.waitUntil(lambda: any(not one.isHidden() for one in labels()))
    (label,) = labels()
    worker.found = RunFigures(SAMPLES)
    page.show_run(6)
    qtbot.waitUntil(label.isHidden)
    sentences = ("Figure 5 needs two.", "Figure 6 needs masks.")
    worker.found = RunFigures(SAMPLES, sentences)
    page.show_run(7)
    qtbot.waitUntil(lambda: "\n" in label.text())
    head, *listed = label.text().splitlines()
    assert head == "Some figures are missing."
    assert listed == ["•  Figure 5 needs two.", "•  Figure 6 needs masks."]
    assert not label.isHidden()


def test_that_a_colour_that_is_faint_on_its_ground_is_told_by_a_hollow_sign(
    qapp: QApplication,
) -> None:
    theme.apply(qapp, theme.LIGHT)
    assert is_faint("#F7F7F7")
    assert "◻" in lines_of("#F7F7F7", "3")
    assert "◼" in lines_of("#0072B2", "5")
    theme.apply(qapp, theme.DARK)
    assert not is_faint("#F7F7F7")


def test_that_a_page_without_figures_offers_nothing_to_export(show: Show) -> None:
    page, worker = show()
    assert page.card is None
    assert not page.export.isEnabled()
    page.copy()
    page.ask_where_to_export()
    assert page.words == ""
    assert worker.drawn == []
