"""Grouped bars of rates on the screen: whiskers, chance, printed values as diamonds."""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush

from viewer.domain.figure import RateFigure, RatePanel
from viewer.domain.report import BarSeries
from viewer.domain.styles import model_style
from viewer.ui import theme
from viewer.ui.panels.charts.words import brush_of, folded, lines_of, tick_axis
from viewer.ui.plain_text import as_html

_GROUP: Final = 0.8
_TOP: Final = 1.06
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def draw_rates(page: Any, figure: RateFigure) -> str:  # noqa: ANN401 - pyqtgraph's
    """Draw a figure on a GraphicsLayoutWidget; return its key as rich text."""
    for row, panel in enumerate(figure.panels):
        plot = page.addPlot(row=row, col=0)
        tick_axis(plot, [_group_words(panel, i) for i in range(len(panel.groups))])
        plot.getAxis("left").setTicks([[(i / 5, f"{20 * i} %") for i in range(6)]])
        if panel.title:
            plot.setTitle(as_html(panel.title), color=theme.current().text, size="9pt")
        _draw_panel(plot, panel, figure, row)
        plot.setXRange(-0.5, len(panel.groups) - 0.5, padding=0)
        plot.setYRange(0, _TOP, padding=0)
    return _key(figure)


def _draw_panel(
    plot: Any,  # noqa: ANN401 - pyqtgraph has no types
    panel: RatePanel,
    figure: RateFigure,
    row: int,
) -> None:
    width = _GROUP / max(1, len(panel.series))
    for i, series in enumerate(panel.series):
        x = np.arange(len(panel.groups)) + (i + 0.5) * width - _GROUP / 2
        plot.addItem(_bars(series, x, width, _brush(figure, row, i)))
        plot.addItem(_whiskers(series, x))
        plot.addItem(_chance(panel.baselines[i], x, width))
    for item in _printed(panel):
        plot.addItem(item)


def _group_words(panel: RatePanel, i: int) -> str:
    """Return a group's name and how many trials its bars have."""
    counts = [series.counts[i] for series in panel.series]
    same = counts[:1] if len(set(counts)) == 1 else counts
    return f"{folded(panel.groups[i])}\nn = {' · '.join(map(str, same))}"


def _brush(figure: RateFigure, row: int, i: int) -> QBrush:
    """Return a series' brush: its model's colour, of a finer grid hatched."""
    if not figure.one_model:
        return brush_of(model_style(i))
    return brush_of(replace(model_style(row), hatch="/" if i else ""))


def _bars(series: BarSeries, x: Any, width: float, brush: QBrush) -> Any:  # noqa: ANN401
    import pyqtgraph as pg

    there = [i for i, value in enumerate(series.values) if value is not None]
    return pg.BarGraphItem(
        x=[x[i] for i in there],
        height=[series.values[i] for i in there],
        width=0.9 * width,
        brush=brush,
        pen=pg.mkPen(brush.color()),
    )


def _whiskers(series: BarSeries, x: Any) -> Any:  # noqa: ANN401
    import pyqtgraph as pg

    ends = [
        (at, value, min(error, value), min(error, 1 - value))
        for at, value, error in zip(x, series.values, series.errors, strict=True)
        if value is not None and error is not None
    ]
    at, y, below, above = np.array(ends, dtype=float).reshape(-1, 4).T
    pen = pg.mkPen(theme.current().text)
    return pg.ErrorBarItem(x=at, y=y, bottom=below, top=above, beam=0.05, pen=pen)


def _chance(values: tuple[float | None, ...], x: Any, width: float) -> Any:  # noqa: ANN401
    """Return a dash over each bar at the rate of chance."""
    import pyqtgraph as pg

    ends = [
        (at + side * width / 2, value)
        for at, value in zip(x, values, strict=True)
        if value is not None
        for side in (-1, 1)
    ]
    across, up = np.array(ends, dtype=float).reshape(-1, 2).T
    pen = pg.mkPen(theme.current().text, width=1.5, style=Qt.PenStyle.DashLine)
    return pg.PlotCurveItem(x=across, y=up, connect="pairs", pen=pen)


def _printed(panel: RatePanel) -> list[Any]:
    """Return printed values as open diamonds, each with the letter of whose it is."""
    import pyqtgraph as pg

    colours = theme.current()
    people = tuple(dict.fromkeys(mark.who for mark in panel.published))
    items: list[Any] = []
    for mark in panel.published:
        place = people.index(mark.who)
        slot = (place + 0.5) / len(people) - 0.5
        at = panel.groups.index(mark.group) + _GROUP * slot
        label = pg.TextItem(
            _LETTERS[place], colours.text, anchor=(0.5, 1.2), fill=colours.panel
        )
        label.setPos(at, mark.value)
        items += [_diamond(at, mark.value), label]
    return items


def _diamond(x: float, y: float) -> Any:  # noqa: ANN401
    import pyqtgraph as pg

    colours = theme.current()
    return pg.ScatterPlotItem(
        x=[x],
        y=[y],
        symbol="d",
        size=10,
        pen=pg.mkPen(colours.text, width=1.5),
        brush=pg.mkBrush(colours.panel),
    )


def _key(figure: RateFigure) -> str:
    """Return what bars, whiskers, dashes and diamonds are, as rich text."""
    names = [series.name for series in figure.panels[0].series]
    if figure.one_model:
        bars = [f"{'▨' if i else '◼'} {name}" for i, name in enumerate(names)]
    else:
        bars = [
            lines_of(_brush(figure, 0, i).color().name(), name)
            for i, name in enumerate(names)
        ]
    marks = [mark for panel in figure.panels for mark in panel.published]
    people = enumerate(dict.fromkeys(mark.who for mark in marks))
    who = ", ".join(f"{_LETTERS[i]} {name}" for i, name in people)
    printed = [f"◇ published: {who}"] if who else []
    chance = [f"╌ {figure.baseline_name}"] if figure.baseline_name else []
    whisker = [f"┼ ± {figure.error_name}"] if figure.error_name else []
    parts = [*bars, *whisker, *chance, *printed]
    return " &nbsp; ".join(parts)
