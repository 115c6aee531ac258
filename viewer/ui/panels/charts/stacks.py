"""Counts as stacked bars on the screen."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from viewer.domain.figure import StackFigure
from viewer.domain.styles import style_of
from viewer.ui import theme
from viewer.ui.panels.charts.words import (
    brush_of,
    folded,
    is_faint,
    lines_of,
    tick_axis,
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
