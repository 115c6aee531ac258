"""Stacked bars on the screen: shares lying down, counts standing."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from viewer.domain.escapes import visible
from viewer.domain.figure import Stack, StackFigure
from viewer.domain.styles import ink_on, style_of
from viewer.ui import theme
from viewer.ui.panels.charts.words import (
    brush_of,
    folded,
    is_faint,
    lines_of,
    quiet,
    tick_axis,
)

_GAP: Final = 1.0
_ROW_PX: Final = 19
_NARROW: Final = 0.05
_TICKS: Final = 5
_RIGHT_PX: Final = 24
"""Room for half of the last number under the shares."""


def draw_stacks(page: Any, figure: StackFigure) -> str:  # noqa: ANN401 - pyqtgraph's
    """Draw a figure on a GraphicsLayoutWidget; return its key as rich text."""
    plot = page.addPlot(row=0, col=0)
    if figure.share:
        _draw_shares(plot, figure)
    else:
        _draw_counts(plot, figure)
    ground = theme.current().ground
    return " &nbsp; ".join(
        lines_of(look.colour_on(ground), look.words, look.sign)
        for look in map(style_of, figure.segments)
    )


def stack_height(figure: StackFigure) -> int:
    """Return the pixels that the bars need to be told apart, 0 for any height."""
    if not figure.share:
        return 0
    groups = len({stack.group for stack in figure.stacks})
    return 60 + _ROW_PX * (len(figure.stacks) + groups)


def _draw_shares(plot: Any, figure: StackFigure) -> None:  # noqa: ANN401
    import pyqtgraph as pg

    quiet(plot)
    plot.layout.setContentsMargins(0, 0, _RIGHT_PX, 0)
    plot.getAxis("bottom").setStyle(hideOverlappingLabels=False)
    ticks, at, group = [], 0.0, ""
    for stack in figure.stacks:
        if stack.group != group:
            group, at = stack.group, at + _GAP
            name = pg.TextItem(visible(group), theme.current().text, anchor=(0, 0.5))
            name.setPos(0, at - _GAP)
            plot.addItem(name)
        ticks.append((at, visible(_bar_name(stack))))
        _draw_bar(plot, figure, at, stack.counts)
        at += 1
    plot.getAxis("left").setTicks([ticks])
    plot.getAxis("bottom").setTicks([[(i / 5, f"{20 * i} %") for i in range(6)]])
    plot.invertY(True)
    plot.setXRange(0, 1, padding=0.01)
    plot.setYRange(-0.7, at - 0.4, padding=0)


def _bar_name(stack: Stack) -> str:
    """Return a bar's name and n; an average of shares has none."""
    return stack.name if stack.n is None else f"{stack.name}  n = {stack.n}"


def _draw_bar(
    plot: Any,  # noqa: ANN401 - pyqtgraph has no types
    figure: StackFigure,
    at: float,
    counts: tuple[float, ...],
) -> None:
    import pyqtgraph as pg

    whole, left = sum(counts), 0.0
    for name, count in zip(figure.segments, counts, strict=True):
        share = count / whole if whole else 0.0
        if share:
            plot.addItem(
                pg.BarGraphItem(
                    x0=[left], y=[at], height=0.82, width=[share], **_fill(name)
                )
            )
        if share >= _NARROW:
            plot.addItem(_number(f"{100 * share:.0f}", name, left + share / 2, at))
        left += share


def _number(text: str, segment: str, x: float, y: float) -> Any:  # noqa: ANN401
    """Return a share's number, on a plate of its own where the bar is hatched."""
    import pyqtgraph as pg

    look, colours = style_of(segment), theme.current()
    ink = colours.text if look.hatch else ink_on(look.colour_on(colours.ground))
    plate = pg.mkBrush(colours.panel) if look.hatch else None
    item = pg.TextItem(text, ink, anchor=(0.5, 0.5), fill=plate)
    item.setPos(x, y)
    return item


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
