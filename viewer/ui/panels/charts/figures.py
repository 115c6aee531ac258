"""The page of a run's figures: one is chosen, looked at and written for print."""

from pathlib import Path
from typing import Any, Final, Self

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.figure import (
    Figure,
    GalleryFigure,
    HeatFigure,
    PlotFigure,
    RateFigure,
    StackFigure,
    StripFigure,
)
from viewer.domain.figure_order import by_relative_difference
from viewer.domain.grid import grids_in_words
from viewer.services.figures import RunFigures, export_figure, run_figures
from viewer.ui import theme
from viewer.ui.desk import Desk
from viewer.ui.errands import Errands
from viewer.ui.long_choice import LongChoice
from viewer.ui.panels.charts.order import OrderChoice
from viewer.ui.panels.charts.pictures import (
    draw_gallery,
    draw_heat,
    draw_strip,
    gallery_height,
    heat_height,
)
from viewer.ui.panels.charts.plots import draw_plots, plot_height
from viewer.ui.panels.charts.rates import draw_rates
from viewer.ui.panels.charts.stacks import draw_stacks, stack_height
from viewer.ui.panels.charts.worded import is_worded, worded_page
from viewer.ui.panels.tell import tell_error
from viewer.ui.plain_text import Label

_PANEL_PX: Final = 230
_LEAST_PX: Final = 240


class FiguresPage(QWidget):
    """The paper's figures of a run: a choice above, words below.

    They are worked out in the background when the page is first looked at.
    """

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._store = desk, desk.settings.store
        self._errands = Errands(self)
        self._run: int | None = None
        self._figures: tuple[Figure, ...] = ()
        self._page: Any = None
        self.choice, self.export = LongChoice(), QPushButton("Export figure…")
        self.order = OrderChoice()
        self._title, self._key, self._caption = Label(), Label(), Label()
        self._missing = Label()
        self._area = QScrollArea()
        self._prepare()
        self._lay_out()

    @property
    def figure(self) -> Figure | None:
        """The figure on the screen, its groups in the order chosen."""
        place = self.choice.currentIndex()
        if not 0 <= place < len(self._figures):
            return None
        figure = self._figures[place]
        order = self.order.chosen
        if isinstance(figure, RateFigure) and order is not None:
            return by_relative_difference(figure, *order)
        return figure

    @property
    def words(self) -> str:
        """What stands under the figure, or in its place."""
        page = self._area.widget()
        return page.text() if isinstance(page, QLabel) else str(self._caption.text())

    @property
    def table(self) -> Self:
        """What has the focus here, and is copied, as the tables of other pages are."""
        return self

    def show_run(self, run: int) -> None:
        """Work out the figures of a run and show the one that was looked at."""
        if run != self._run:
            self._missing.hide()
            self.show_figures(())
        self._run = run
        self._title.setText(f"Working out the figures of run {run} …")
        self._errands.start(
            "figures",
            lambda: _figures_of(self._store, run),
            lambda found: self._show(run, found),
            self._fail,
        )

    def picture(self) -> QImage:
        """Return the figure as it stands on the screen; null without one."""
        return QImage() if self._page is None else self._page.grab().toImage()

    def copy(self) -> None:
        """Copy the figure as a picture, as it stands on the screen."""
        if self._page is not None:
            QGuiApplication.clipboard().setImage(self.picture())
            self._desk.notices.say("The figure is copied as a picture.")

    def export_to(self, folder: Path) -> None:
        """Write the figure as SVG, PDF and CSV into a folder."""
        figure = self.figure
        if figure is not None:
            self._errands.start(
                ("export", figure.head.name),
                lambda: export_figure(figure, folder),
                lambda files: self._desk.notices.say(
                    f"{', '.join(path.name for path in files)} are written."
                ),
                self._fail,
            )

    def ask_where_to_export(self) -> None:
        """Let a person choose the folder to write the figure into."""
        if self.figure is None:
            return
        dialog = QFileDialog(self, "Export figure")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(lambda name: self.export_to(Path(name)))
        dialog.open()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Draw again where the theme changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.figure is not None:
            self._draw()

    def _prepare(self) -> None:
        self.choice.setAccessibleName("Figure")
        self.choice.setSizeAdjustPolicy(LongChoice.SizeAdjustPolicy.AdjustToContents)
        self.choice.currentIndexChanged.connect(self._choose)
        self.order.changed.connect(self._draw)
        self.export.setToolTip(
            "Write this figure as SVG, PDF and CSV into a folder you choose"
        )
        self.export.clicked.connect(self.ask_where_to_export)
        self._title.setFont(theme.title_font(self.font()))
        for label in (self._key, self._caption, self._missing):
            label.setFont(theme.caption_font(self.font()))
            label.setWordWrap(True)
        self._key.setTextFormat(Qt.TextFormat.RichText)
        self._caption.setTextFormat(Qt.TextFormat.PlainText)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setAccessibleName("The figure")

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self.order)
        head.addWidget(self.choice)
        head.addWidget(self.export)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 8, 0, 0)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self._missing)
        self._missing.hide()
        box.addWidget(self._area, 1)
        box.addWidget(self._key)
        box.addWidget(self._caption)
        self.setFocusProxy(self.choice)
        self.show_figures(())

    def _show(self, run: int, found: RunFigures) -> None:
        figures = found.figures
        words = f"Figures of run {run}" if figures else f"Run {run} has no figure yet."
        self._title.setText(words)
        self.show_figures(figures)
        why = " ".join(found.missing)
        if not figures:
            self._say(why)
        self._missing.setText(_listed(found.missing))
        self._missing.setVisible(bool(figures and why))

    def _say(self, why: str) -> None:
        """Say in the middle of the page what a figure needs."""
        label = Label(why, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._area.setWidget(label)

    def show_figures(self, figures: tuple[Figure, ...]) -> None:
        """Offer figures; the one that was looked at stays."""
        chosen = self.figure.head.name if self.figure else ""
        names = [figure.head.name for figure in figures]
        self._figures = figures
        self.choice.blockSignals(True)
        self.choice.clear()
        for figure in figures:
            self.choice.addItem(_name(figure))
        self.choice.setCurrentIndex(names.index(chosen) if chosen in names else 0)
        self.choice.blockSignals(False)
        for widget in (self.choice, self.export):
            widget.setEnabled(bool(figures))
        self._choose()

    def _choose(self) -> None:
        """Offer the orders of the chosen figure, and draw it."""
        place = self.choice.currentIndex()
        self.order.offer(self._figures[place] if self._figures else None)
        self._draw()

    def _draw(self) -> None:
        """Draw the chosen figure in the theme in use, on a page of its own."""
        figure = self.figure
        if figure is None:
            self._area.setWidget(QWidget())
            self._page = None
            self._key.clear()
            self._caption.clear()
            return
        self._page, key = _page_of(figure)
        self._area.setWidget(self._page)
        self._key.setText(key)
        self._key.setVisible(bool(key))
        self._caption.setText(figure.head.words)

    def _fail(self, error: Exception) -> None:
        self._title.setText("The figures could not be worked out.")
        tell_error(self._desk, error)


def _figures_of(store: Path, run: int) -> RunFigures:
    """Return a run's figures; the first chart's library is imported meanwhile."""
    import pyqtgraph  # noqa: F401 - used once it is imported

    return run_figures(store, run)


def _listed(missing: tuple[str, ...]) -> str:
    """Return why figures are missing: a sentence, or a list where they are several."""
    head = "Some figures are missing."
    if len(missing) < 2:
        return " ".join((head, *missing)) if missing else ""
    return "\n".join((head, *(f"•  {why}" for why in missing)))


def _name(figure: Figure) -> str:
    """Return what a figure is called in the list, and what tells it from others."""
    head = figure.head
    apart = [grids_in_words(f"grid={head.grid}")] if head.grid else []
    if isinstance(figure, HeatFigure):
        first, *more = dict.fromkeys(panel.row for panel in figure.panels)
        apart = [f"{first} …" if more else first]
    called = ", ".join((head.title, *apart))
    return f"{head.number} · {called}" if head.number else called


def _page_of(figure: Figure) -> tuple[Any, str]:
    """Return a page of its own with a figure, and its key."""
    if isinstance(figure, StripFigure) and is_worded(figure):
        return worded_page(figure), ""
    import pyqtgraph as pg

    page = pg.GraphicsLayoutWidget()
    page.setBackground(theme.current().panel)
    page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    key, height = _drawn(page, figure)
    page.setMinimumHeight(max(_LEAST_PX, height))
    return page, key


def _drawn(page: Any, figure: Figure) -> tuple[str, int]:  # noqa: ANN401
    """Draw a figure; return its key and the height that it needs."""
    if isinstance(figure, RateFigure):
        return draw_rates(page, figure), _PANEL_PX * len(figure.panels)
    if isinstance(figure, StackFigure):
        return draw_stacks(page, figure), stack_height(figure)
    if isinstance(figure, HeatFigure):
        return draw_heat(page, figure), heat_height(figure)
    if isinstance(figure, GalleryFigure):
        return draw_gallery(page, figure), gallery_height(figure)
    if isinstance(figure, PlotFigure):
        return draw_plots(page, figure), plot_height(figure)
    return draw_strip(page, figure), _LEAST_PX
