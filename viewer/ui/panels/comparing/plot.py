"""Both rates of each finding as paired dots, and their difference as a forest plot."""

from typing import Any, Final

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from viewer.domain.escapes import visible
from viewer.domain.forest import ForestFigure, ForestRow
from viewer.ui.application.background_tasks import run_for
from viewer.ui.panels.charts.chart import still_plot
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, as_html

_LEAST: Final = 4
"""Rows that there is room for at least, so that few do not stand far apart."""
_BESIDE_NAME: Final = 16
_SYMBOLS: Final = {
    "o": "o", "D": "d", "^": "t1", "s": "s", "v": "t",
    "P": "+", "X": "x", "<": "t3", "*": "star", ">": "t2",
}  # fmt: skip
"""pyqtgraph's names of the markers of print."""
_RATES_PX: Final = 130
_STEPS: Final = 2.5
"""Numbers under the differences on either side of 0: few, for narrow windows too."""
_BESIDE_NOTE: Final = 14
"""What a note's margins take of the width."""
_DIFFERENCES_PX: Final = 110
"""Width in which differences can still be told apart."""


class ComparePlot(QWidget):
    """Two charts over the same rows; pyqtgraph is imported for the first one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Rates of both sides and their differences")
        self.figure: ForestFigure | None = None
        self._plots: tuple[Any, Any] | None = None
        self._importing = self._stale = False
        self._again = QTimer(self, singleShot=True, interval=0)
        self._again.timeout.connect(self._draw_again)
        self.caption = Label()
        self.caption.setTextFormat(Qt.TextFormat.RichText)
        self.caption.setWordWrap(True)
        self.caption.setFont(theme.caption_font(self.font()))
        self._row = QHBoxLayout()
        self._row.setSpacing(0)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addLayout(self._row, 1)
        box.addWidget(self.caption)

    def show_figure(self, figure: ForestFigure) -> None:
        """Draw a figure in the current theme."""
        self.figure, self._stale = figure, False
        self.caption.setText(_caption(figure))
        self.setAccessibleDescription("; ".join(map(_words, figure.rows)))
        if self._plots is not None:
            _paint(*self._plots, figure)
        elif not self._importing:
            self._importing = True
            run_for(self, _import_pyqtgraph, self._draw_first, self._fail)

    @property
    def drawn(self) -> bool:
        """Whether the charts are on the screen."""
        return self._plots is not None

    def _draw_first(self, _: None) -> None:
        self._plots = _new_plot(), _new_plot()
        for plot, stretch in zip(self._plots, (5, 6), strict=True):
            self._row.addWidget(plot, stretch)
        self._plots[1].getViewBox().sigResized.connect(self._make_room)
        if self.figure is not None:
            _paint(*self._plots, self.figure)

    def _make_room(self, _: object) -> None:
        if self.figure is not None and self._plots is not None:
            _spread(self._plots[1], self.figure)

    def _fail(self, error: Exception) -> None:
        raise error

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Draw again, once, where the theme changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._stale = True
            self._again.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw again where the theme changed since this was looked at."""
        super().showEvent(event)
        self._again.start()

    def _draw_again(self) -> None:
        if self._stale and self.isVisible() and self.figure is not None:
            self.show_figure(self.figure)


def _import_pyqtgraph() -> None:
    import pyqtgraph  # noqa: F401 - used once it is imported


def _caption(figure: ForestFigure) -> str:
    first, second = figure.looks
    return (
        f'<span style="color:{first.colour}">{first.sign}</span>'
        f" {as_html(figure.first)} &nbsp; "
        f'<span style="color:{second.colour}">{second.sign}</span>'
        f" {as_html(figure.second)} &nbsp; "
        f"whiskers at the right: {as_html(figure.interval)} · "
        "p by sign flips of patients"
    )


def _words(row: ForestRow) -> str:
    ends = [f"{100 * end:.1f}" for end in row.interval or ()]
    reach = f", from {' to '.join(ends)}" if ends else ", no interval"
    return f"{row.name}: {100 * row.value:+.1f} points{reach}, {row.note}"


def _new_plot() -> Any:  # noqa: ANN401 - pyqtgraph has no types
    plot = still_plot()
    plot.invertY(True)
    for name in ("left", "bottom"):
        plot.getAxis(name).setStyle(
            tickFont=theme.caption_font(plot.font()), hideOverlappingLabels=False
        )
    return plot


def _paint(rates: Any, differences: Any, figure: ForestFigure) -> None:  # noqa: ANN401
    for plot in (rates, differences):
        _style_axes(plot, figure)
    _paint_rates(rates, figure)
    _paint_differences(differences, figure)


def _style_axes(plot: Any, figure: ForestFigure) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    colours = theme.current()
    plot.clear()
    plot.setBackground(colours.panel)
    for name in ("left", "bottom"):
        plot.getAxis(name).setPen(colours.line)
        plot.getAxis(name).setTextPen(colours.muted)
    for y in range(len(figure.rows)):
        plot.addItem(pg.InfiniteLine(y, angle=0, pen=colours.line))
    bottom = max(_LEAST, len(figure.rows)) - 0.5
    plot.setYRange(-0.6, bottom, padding=0)


def _paint_rates(plot: Any, figure: ForestFigure) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    colours = theme.current()
    names = [*map(_name, figure.rows)]
    plot.getAxis("left").setTicks([[*enumerate(names)]])
    plot.getAxis("left").setTextPen(colours.text)
    metrics = QFontMetrics(theme.caption_font(plot.font()))
    widest = max(map(metrics.horizontalAdvance, names), default=0)
    plot.getAxis("left").setWidth(widest + _BESIDE_NAME)
    plot.setMinimumWidth(widest + _BESIDE_NAME + _RATES_PX)
    plot.getAxis("bottom").setTicks([[(0, "0"), (0.5, "50"), (1, "100 %")]])
    plot.setXRange(-0.06, 1.3, padding=0)
    known = [
        (y, row.first, row.second)
        for y, row in enumerate(figure.rows)
        if row.first is not None and row.second is not None
    ]
    for y, first, second in known:
        plot.plot([first, second], [y, y], pen=pg.mkPen(colours.muted, width=2))
    for which, look in enumerate(figure.looks, 1):
        plot.addItem(
            pg.ScatterPlotItem(
                x=[one[which] for one in known],
                y=[one[0] for one in known],
                symbol=_SYMBOLS[look.marker],
                size=12,
                pen=pg.mkPen(colours.panel),
                brush=pg.mkBrush(look.colour),
            )
        )


def _name(row: ForestRow) -> str:
    return visible(f"{row.name}   n = {row.n}" if row.n else row.name)


def _paint_differences(plot: Any, figure: ForestFigure) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    colours = theme.current()
    rows, reach = _drawable(figure), _reach(figure)
    plot.getAxis("left").setTicks([[]])
    plot.getAxis("left").setWidth(8)
    step = next((s for s in (0.02, 0.05, 0.1, 0.2, 0.25) if reach / s <= _STEPS), 0.5)
    ticks = [i * step for i in range(-4, 5) if abs(i * step) <= reach]
    plot.getAxis("bottom").setTicks([[(t, _points(t)) for t in ticks]])
    plot.setMinimumWidth(_DIFFERENCES_PX + _note_px(plot, figure))
    _spread(plot, figure)
    zero = pg.mkPen(colours.text, style=pg.QtCore.Qt.PenStyle.DashLine)
    plot.addItem(pg.InfiniteLine(0, angle=90, pen=zero))
    for y, row in rows:
        if row.interval:
            plot.plot(row.interval, [y, y], pen=pg.mkPen(colours.text, width=2))
        note = pg.TextItem(
            row.note, colours.muted, anchor=(0, 0.5), fill=pg.mkBrush(colours.panel)
        )
        note.setFont(theme.caption_font(plot.font()))
        note.setPos(reach * 1.04, y)
        plot.addItem(note)
    for summary, symbol in ((False, "s"), (True, "d")):
        mine = [(row.value, y) for y, row in rows if row.summary is summary]
        plot.addItem(
            pg.ScatterPlotItem(
                x=[x for x, _ in mine],
                y=[y for _, y in mine],
                symbol=symbol,
                size=10,
                pen=pg.mkPen(colours.panel),
                brush=pg.mkBrush(colours.text),
            )
        )


def _drawable(figure: ForestFigure) -> list[tuple[int, ForestRow]]:
    """Return the rows whose difference is known, each with its position."""
    # Only NaN differs from itself.
    return [(y, row) for y, row in enumerate(figure.rows) if row.value == row.value]


def _reach(figure: ForestFigure) -> float:
    """Return the extent of the differences and intervals from 0, with a margin."""
    rows = [row for _, row in _drawable(figure)]
    ends = [end for row in rows for end in (row.value, *(row.interval or ()))]
    furthest: float = max([0.05, *map(abs, ends)])
    return 1.1 * furthest


def _note_px(plot: Any, figure: ForestFigure) -> int:  # noqa: ANN401
    """Return the width of the widest note."""
    metrics = QFontMetrics(theme.caption_font(plot.font()))
    notes = [row.note for _, row in _drawable(figure) if row.note]
    return max(
        (metrics.horizontalAdvance(one) + _BESIDE_NOTE for one in notes), default=0
    )


def _spread(plot: Any, figure: ForestFigure) -> None:  # noqa: ANN401
    """Reserve room at the right for the widest note."""
    reach, notes = _reach(figure), _note_px(plot, figure)
    width = max(plot.getViewBox().width() - notes, _DIFFERENCES_PX)
    each = 2.04 * reach / width
    plot.setXRange(-reach, 1.04 * reach + each * notes, padding=0)


def _points(value: float) -> str:
    """Return a difference in points, such as "+5" or "−10"."""
    points = round(100 * value)
    return f"{points:+d}".replace("-", "−") if points else "0"
