"""Points and lines in panels, three beside one another."""

from math import ceil
from typing import TYPE_CHECKING, Final

from viewer.domain.figure import PlotFigure, PlotPanel
from viewer.domain.styles import Ground
from viewer.writers.figures_style import (
    PAGE_MM,
    SMALL_PT,
    page,
    say_none,
    titled,
)
from viewer.writers.recorded import made

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_ACROSS: Final = 3
_PANEL_MM: Final = 56.0
_KEY_MM: Final = 8.0


def draw_plots(figure: PlotFigure, ground: Ground) -> "Page":
    """Draw points or lines."""
    down = ceil(len(figure.panels) / _ACROSS) or 1
    sheet = page(PAGE_MM, _KEY_MM + _PANEL_MM * down, between=0.06)
    across = min(_ACROSS, len(figure.panels)) or 1
    for place, panel in enumerate(figure.panels):
        axes = sheet.add_subplot(down, across, place + 1)
        _draw(axes, figure, panel, ground)
    _key(sheet, figure, ground)
    return sheet


def _draw(axes: "Axes", figure: PlotFigure, panel: PlotPanel, ground: Ground) -> None:
    title, colour = titled(panel.title, panel.code, ground)
    axes.set_title(title, color=colour)
    if not any(series.x for series in panel.series):
        say_none(axes, ground)
        return
    for series in panel.series:
        look = figure.styles[series.name]
        axes.plot(
            series.x,
            series.y,
            color=look.colour_on(ground),
            marker=look.marker,
            markersize=2.4,
            linewidth=0.8 if figure.joined else 0.0,
            alpha=1.0 if figure.joined else 0.75,
            clip_on=not figure.identity or figure.scale is not None,
        )
    if figure.identity:
        axes.axline((0, 0), slope=1, color=ground.soft, linewidth=0.5, linestyle="--")
        ends = figure.scale or _ends(panel)
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
    if figure.y_range:
        axes.set_ylim(*figure.y_range)
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)


def _ends(panel: PlotPanel) -> tuple[float, float]:
    """Return the limits of both axes, so that y = x is their diagonal.

    A value corrected for its bias may be below 0.
    """
    values = [v for series in panel.series for v in (*series.x, *series.y)]
    return 1.05 * min((*values, 0.0)), 1.05 * max((*values, 0.0)) or 1.0


def _key(sheet: "Page", figure: PlotFigure, ground: Ground) -> None:
    from matplotlib.lines import Line2D

    handles = [
        made(
            Line2D,
            [],
            [],
            color=look.colour_on(ground),
            marker=look.marker,
            linewidth=0,
            markersize=3,
            label=name,
        )
        for name, look in figure.styles.items()
    ]
    if handles:
        sheet.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(6, len(handles)),
            frameon=False,
            fontsize=SMALL_PT,
        )
