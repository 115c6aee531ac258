"""Heat maps over a mean image: one row per finding, columns reference and models."""

from typing import TYPE_CHECKING, Final

import numpy as np

from viewer.domain.figure import HeatFigure, HeatPanel
from viewer.domain.styles import Ground
from viewer.imaging.heat_overlay import colors, heat_overlay
from viewer.writers.figures_style import (
    PAGE_MM,
    SMALL_PT,
    bare,
    page,
    wrapped,
)
from viewer.writers.recorded import made

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_LARGEST_MM: Final = 42.0
_NAMES_MM: Final = 22.0
_AROUND_MM: Final = 8.0
_BAR_MM: Final = 9.0


def draw_heat(figure: HeatFigure, ground: Ground) -> "Page":  # noqa: ARG001 - a Draw
    """Draw heat maps under one colour scale."""
    rows = tuple(dict.fromkeys(panel.row for panel in figure.panels))
    columns = tuple(dict.fromkeys(panel.column for panel in figure.panels))
    side = min(_LARGEST_MM, (PAGE_MM - _NAMES_MM) / max(1, len(columns)))
    width = min(PAGE_MM, _NAMES_MM + side * len(columns))
    sheet = page(width, side * len(rows) + _AROUND_MM + _BAR_MM)
    high = [*([side] * len(rows)), _BAR_MM * 0.4]
    grid = sheet.add_gridspec(len(rows) + 1, len(columns), height_ratios=high)
    for panel in figure.panels:
        place = rows.index(panel.row), columns.index(panel.column)
        axes = sheet.add_subplot(grid[place])
        _draw(axes, panel, figure, first=place[0] == 0, left=place[1] == 0)
    _scale(sheet.add_subplot(grid[-1, :]), figure.greatest)
    return sheet


def _draw(
    axes: "Axes", panel: HeatPanel, figure: HeatFigure, *, first: bool, left: bool
) -> None:
    axes.imshow(heat_overlay(figure.background, panel.values, figure.greatest))
    bare(axes)
    if first:
        axes.set_title(panel.column, pad=3)
    if left:
        axes.set_ylabel(wrapped(panel.row), rotation=0, ha="right", va="center")
    from matplotlib.patheffects import withStroke

    axes.text(
        0.98,
        0.02,
        f"n = {panel.n}",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        color="white",
        fontsize=SMALL_PT,
        path_effects=[made(withStroke, linewidth=1.2, foreground="black")],
    )


def _scale(axes: "Axes", greatest: float) -> None:
    """Draw the shared colour scale, from none to the greatest share of any panel."""
    strip = colors(np.linspace(0, 1, 128)[None])
    end = 100 * (greatest or 1.0)
    axes.imshow(np.rint(strip).astype(np.uint8), extent=(0, end, 0, 1))
    axes.set_aspect("auto")
    axes.set_yticks([])
    axes.set_xlabel("Share of images or answers (%)", labelpad=1)
    axes.tick_params(axis="x", labelsize=SMALL_PT)
    axes.spines[:].set_visible(False)
