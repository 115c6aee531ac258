"""Points and lines in panels on the screen, three beside one another."""

from math import ceil
from typing import Any, Final

from viewer.domain.figure import PlotFigure, PlotPanel
from viewer.ui import theme
from viewer.ui.panels.charts.words import lines_of, quiet
from viewer.ui.plain_text import as_html

_ACROSS: Final = 3
_PANEL_PX: Final = 240
_POINT_PX: Final = 7
_BEFORE: Final = -0.04
"""Of the reach, room for points at 0."""
_MARKS: Final = {"o": "o", "^": "t1", "s": "s", "D": "d", "v": "t"}


def draw_plots(page: Any, figure: PlotFigure) -> str:  # noqa: ANN401 - pyqtgraph's
    """Draw a figure on a GraphicsLayoutWidget; return its key as rich text."""
    for place, panel in enumerate(figure.panels):
        plot = page.addPlot(row=place // _ACROSS, col=place % _ACROSS)
        _draw(plot, figure, panel)
    return " &nbsp; ".join(
        lines_of(_colour(figure, name), name, look.sign)
        for name, look in figure.styles.items()
    )


def plot_height(figure: PlotFigure) -> int:
    """Return the pixels that the panels need to be read."""
    return _PANEL_PX * ceil(len(figure.panels) / _ACROSS)


def _colour(figure: PlotFigure, name: str) -> str:
    return figure.styles[name].colour_on(theme.current().ground)


def _draw(plot: Any, figure: PlotFigure, panel: PlotPanel) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    quiet(plot)
    colours = theme.current()
    plot.setTitle(as_html(panel.title), color=colours.text, size="9pt")
    plot.setLabel("bottom", as_html(figure.x_label), color=colours.muted)
    plot.setLabel("left", as_html(figure.y_label), color=colours.muted)
    for side in ("bottom", "left"):
        plot.getAxis(side).enableAutoSIPrefix(False)
    for series in panel.series:
        colour = _colour(figure, series.name)
        plot.plot(
            series.x,
            series.y,
            pen=pg.mkPen(colour, width=1.5) if figure.joined else None,
            symbol=_MARKS[figure.styles[series.name].marker],
            symbolSize=_POINT_PX,
            symbolPen=None,
            symbolBrush=pg.mkBrush(colour),
        )
    if figure.y_range:
        plot.setYRange(*figure.y_range, padding=0)
    if figure.identity:
        values = [v for series in panel.series for v in (*series.x, *series.y)]
        reach = 1.05 * max((*values, 0.0)) or 1.0
        ends = figure.scale or (_BEFORE * reach, reach)
        plot.setXRange(*ends, padding=0)
        plot.setYRange(*ends, padding=0)
        plot.addItem(pg.InfiniteLine((0, 0), 45, pg.mkPen(colours.muted, width=1)))
