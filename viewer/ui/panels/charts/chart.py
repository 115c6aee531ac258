"""Rates as bars with their intervals; unjudged answers as counts."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.escapes import visible
from viewer.domain.figure import StackFigure
from viewer.domain.styles import looks_of, style_of
from viewer.ui.application.background_tasks import run_for
from viewer.ui.panels.charts.words import (
    brush_of,
    filled_sign,
    folded,
    is_faint,
    lines_of,
    tick_axis,
)
from viewer.ui.tables.chart_bars import Bar, BarChart, BarGroup, words_of_chart
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, as_html, describe

_GROUP_WIDTH: Final = 0.72
_AXIS_HEIGHT: Final = 56
_TOP: Final = 1.04
_LEAST_PX: Final = 120
"""Height in which stacked counts can still be told apart."""
_ROOM: Final = 6
"""Groups that there is room for at least, so that few bars do not grow fat."""
CAPTION: Final = "bars: {} · whiskers: Clopper-Pearson by patient, 95 %"
_CHANCE: Final = " · ▲ random cell"


class ChartPanel(QWidget):
    """A bar chart; pyqtgraph is imported, in the background, for the first one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Chart of the results")
        self._plot: Any = None
        self._importing = False
        self._chart: BarChart | StackFigure | None = None
        self._page: Any = None
        self._drawn: tuple[BarChart | StackFigure, theme.Palette] | None = None
        self._title, self._caption = Label(), Label()
        self._title.setFont(theme.title_font(self.font()))
        self._caption.setFont(theme.caption_font(self.font()))
        self._caption.setTextFormat(Qt.TextFormat.RichText)
        self._told = Label()
        self._told.setAlignment(Qt.AlignmentFlag.AlignTop)
        for label in (self._caption, self._told):
            label.setWordWrap(True)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 4)  # a frame stands below the key
        self._box.setSpacing(4)
        self._box.addWidget(self._title)
        self._box.addWidget(self._caption)
        self._box.addWidget(self._told)
        self._told.hide()
        self._room = QWidget()  # keeps the plot's place until it can be drawn
        self._box.insertWidget(1, self._room, 1)
        self._room.hide()

    @property
    def chart(self) -> BarChart | StackFigure | None:
        """The chart on the screen."""
        return self._chart

    @property
    def told(self) -> str:
        """The sentence under a chart of unjudged answers or in place of one, or ""."""
        return str(self._told.text())

    @property
    def caption(self) -> str:
        """What stands under the bars, as rich text."""
        return str(self._caption.text())

    def show_chart(self, chart: BarChart | StackFigure) -> None:
        """Draw a chart in the current theme; one without bars leaves the axes empty.

        Stacked counts stand in the place of rates that nobody can tell yet.
        """
        self._chart = chart
        self._title.show()
        self._caption.show()
        if isinstance(chart, StackFigure):
            self._title.setText(chart.head.title)
            self._told.setText(chart.head.words)
        else:
            self._title.setText(chart.title)
            self._told.clear()
            self._caption.setText(_key(chart))
        self._told.setVisible(bool(self._told.text()))
        self.setAccessibleName(self._title.text())
        describe(self, words_of_chart(chart))
        self._keep_words_whole()
        if self._plot is not None:
            self._draw(chart)
            return
        self._room.show()
        if not self._importing:
            self._importing = True
            run_for(self, _import_pyqtgraph, self._draw_first, self._fail)

    def show_words(self, words: str) -> None:
        """Show a sentence in place of a chart, where there is no rate to draw."""
        self._chart = self._drawn = None
        self._caption.clear()
        self.setAccessibleName("Chart")
        describe(self, words)
        self._told.setText(words)
        self._told.show()
        for one in (self._title, self._caption, self._plot, self._page, self._room):
            if one is not None:
                one.hide()
        self._keep_words_whole()

    def _draw_first(self, _: None) -> None:
        self._plot = _new_plot()
        self._room.hide()
        self._box.insertWidget(1, self._plot, 1)
        if self._chart is None:
            self._plot.hide()
        else:
            self._draw(self._chart)

    def _draw(self, chart: BarChart | StackFigure) -> None:
        """Draw bars on their plot, stacks on a page of their own."""
        if self._drawn == (chart, theme.current()):
            return
        self._drawn = chart, theme.current()
        if self._page is not None:
            self._page.deleteLater()
            self._page = None
        self._plot.setHidden(isinstance(chart, StackFigure))
        if isinstance(chart, StackFigure):
            self._page = _new_page()
            self._box.insertWidget(1, self._page, 1)
            self._caption.setText(draw_stacks(self._page, chart))
        else:
            _paint(self._plot, chart)
        self._keep_words_whole()

    def _keep_words_whole(self) -> None:
        """Give the key and the sentence their full height; the bars shrink."""
        for label in (self._caption, self._told):
            label.setMinimumHeight(max(0, label.heightForWidth(self.width())))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Make room for the lines that the words take at another width."""
        super().resizeEvent(event)
        self._keep_words_whole()

    def _fail(self, error: Exception) -> None:
        raise error

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Redraw if the theme changed."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._chart is not None:
            self.show_chart(self._chart)


def _import_pyqtgraph() -> None:
    import pyqtgraph  # noqa: F401 - used once it is imported


def _new_page() -> Any:  # noqa: ANN401 - pyqtgraph has no types
    import pyqtgraph as pg

    page = pg.GraphicsLayoutWidget()
    page.setBackground(theme.current().panel)
    page.setMinimumHeight(_LEAST_PX)
    page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return page


def still_plot() -> Any:  # noqa: ANN401 - pyqtgraph has no types
    """Return an empty plot that does not respond to the mouse or keyboard."""
    import pyqtgraph as pg

    plot = pg.PlotWidget()
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setMouseEnabled(x=False, y=False)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return plot


def _new_plot() -> Any:  # noqa: ANN401 - as above
    plot = still_plot()
    plot.getAxis("bottom").setHeight(_AXIS_HEIGHT)
    # a label wider than its place is still shown: a bar without a name says nothing
    plot.getAxis("bottom").setStyle(
        tickFont=theme.caption_font(plot.font()), hideOverlappingLabels=False
    )
    plot.getAxis("left").setTicks([[(i / 5, f"{20 * i} %") for i in range(6)]])
    return plot


def _paint(plot: Any, chart: BarChart) -> None:  # noqa: ANN401 - pyqtgraph has no types
    import pyqtgraph as pg

    colours = theme.current()
    plot.clear()
    plot.setBackground(colours.panel)
    for name in ("left", "bottom"):
        plot.getAxis(name).setPen(colours.line)
        plot.getAxis(name).setTextPen(colours.muted)
    plot.getAxis("bottom").setTicks([[*enumerate(map(_tick, chart.groups))]])
    for i in range(1, 6):
        plot.addItem(pg.InfiniteLine(i / 5, angle=0, pen=colours.line))
    for place in range(len(chart.models)):
        plot.addItem(_bars(chart, place))
    plot.addItem(_whiskers(chart, colours.text))
    plot.addItem(_random(chart, colours.text, colours.panel))
    plot.getViewBox().setRange(
        xRange=(-0.5, max(_ROOM, len(chart.groups)) - 0.5), yRange=(0, _TOP), padding=0
    )


def _tick(group: BarGroup) -> str:
    """Return a finding in lines of one or two words, and its number of trials."""
    counts = dict.fromkeys(bar.n for bar in group.bars)
    if len(counts) > 1:
        counts_text = " · ".join(str(bar.n) for bar in group.bars)
    else:
        counts_text = "".join(map(str, counts))
    head, _, tail = group.finding.rpartition(" ")
    return visible("\n".join(filter(None, (head, tail, f"n = {counts_text}"))))


def _placed(chart: BarChart) -> Iterable[tuple[float, Bar]]:
    """Yield every bar that has a rate, and the x of its centre."""
    width = _GROUP_WIDTH / max(1, len(chart.models))
    for i, group in enumerate(chart.groups):
        for bar in group.bars:
            if bar.value is not None:
                place = chart.models.index(bar.model)
                yield i + (place + 0.5) * width - _GROUP_WIDTH / 2, bar


def _bars(chart: BarChart, place: int) -> Any:  # noqa: ANN401
    import pyqtgraph as pg

    model = chart.models[place]
    brush = brush_of(looks_of(chart.models)[model])
    mine = [(x, b) for x, b in _placed(chart) if b.model == model]
    return pg.BarGraphItem(
        x=[x for x, _ in mine],
        height=[bar.value for _, bar in mine],
        width=0.9 * _GROUP_WIDTH / len(chart.models),
        brush=brush,
        pen=pg.mkPen(brush.color()),
    )


def _whiskers(chart: BarChart, colour: str) -> Any:  # noqa: ANN401
    import numpy as np
    import pyqtgraph as pg

    ends = [
        (x, bar.value, bar.value - bar.low, bar.high - bar.value)
        for x, bar in _placed(chart)
        if bar.value is not None and bar.low is not None and bar.high is not None
    ]
    # An empty list has one axis; four rows are unpacked all the same.
    x, y, below, above = np.array(ends, dtype=float).reshape(-1, 4).T
    return pg.ErrorBarItem(
        x=x, y=y, bottom=below, top=above, beam=0.05, pen=pg.mkPen(colour)
    )


def _random(chart: BarChart, edge: str, fill: str) -> Any:  # noqa: ANN401
    import pyqtgraph as pg

    marks = [(i, g.random) for i, g in enumerate(chart.groups) if g.random is not None]
    return pg.ScatterPlotItem(
        x=[x for x, _ in marks],
        y=[y for _, y in marks],
        symbol="t1",
        size=10,
        pen=pg.mkPen(fill),
        brush=pg.mkBrush(edge),
    )


def _key(chart: BarChart) -> str:
    """Return the models, and what bars, whiskers and triangles are, as rich text."""
    has_chance = any(group.random is not None for group in chart.groups)
    chance = _CHANCE if has_chance else ""
    return f"{_legend(chart)} &nbsp; {CAPTION.format(chart.rate)}{chance}"


def _legend(chart: BarChart) -> str:
    """Return the models with their colours, as rich text."""
    return " &nbsp; ".join(
        f'<span style="color:{look.colour}">{filled_sign(look)}</span> {as_html(model)}'
        for model, look in looks_of(chart.models).items()
    )


_TICKS: Final = 5


def draw_stacks(page: Any, figure: StackFigure) -> str:  # noqa: ANN401 - pyqtgraph's
    """Draw counts on a GraphicsLayoutWidget; return their key as rich text."""
    plot = page.addPlot(row=0, col=0)
    _draw_counts(plot, figure)
    ground = theme.current().ground
    return " &nbsp; ".join(
        lines_of(look.colour_on(ground), look.words, look.sign)
        for look in map(style_of, figure.segments)
    )


def _draw_counts(plot: Any, figure: StackFigure) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    tick_axis(plot, [folded(stack.group) for stack in figure.stacks])
    tallest = 1.0
    for at, stack in enumerate(figure.stacks):
        bottom = 0.0
        for name, n in zip(figure.segments, stack.counts, strict=True):
            plot.addItem(
                pg.BarGraphItem(
                    x=[at], y0=[bottom], height=[n], width=0.7, **_fill(name)
                )
            )
            bottom += n
        words = " + ".join(f"{n:g}" for n in stack.counts)
        label = pg.TextItem(words, theme.current().text, anchor=(0.5, 1))
        label.setPos(at, bottom)
        plot.addItem(label)
        tallest = max(tallest, bottom)
    plot.getAxis("left").setTicks([[(n, str(n)) for n in _whole_ticks(tallest)]])
    plot.setLabel("left", f"Number of {figure.unit}", color=theme.current().muted)
    plot.setXRange(-0.5, len(figure.stacks) - 0.5, padding=0)
    plot.setYRange(0, 1.12 * tallest, padding=0)


def _whole_ticks(tallest: float) -> range:
    """Return whole numbers from 0 up to the tallest bar, six or fewer."""
    step = next(s for s in _steps() if tallest / s <= _TICKS)
    return range(0, int(tallest) + 1, step)


def _steps() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    return (n * 10**power for power in itertools.count() for n in (1, 2, 5))


def _fill(segment: str) -> dict[str, Any]:
    import pyqtgraph as pg

    brush = brush_of(style_of(segment))
    color = brush.color().name()
    edge = theme.current().muted if is_faint(color) else color
    return {"brush": brush, "pen": pg.mkPen(edge)}
