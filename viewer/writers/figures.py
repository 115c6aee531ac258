"""Figures for print as SVG, with identical bytes for identical data.

matplotlib draws without a screen; the salt of its element ids is fixed and no date is
written. Text becomes outlines, so that it looks the same where the font is missing.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from viewer.domain.escapes import drawn
from viewer.domain.map_texts import with_texts
from viewer.domain.report import BarFigure, BarSeries
from viewer.domain.styles import LIGHT, Ground, Style, looks_of
from viewer.writers.figures_bars import (
    percent,
    room_for_counts,
    whiskers,
    write_counts,
)
from viewer.writers.figures_style import drawn_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_BARS_WIDTH = 0.82
_TEXT_PT: Final = 8.5
_COUNTS_PT: Final = 6.0
_KEY_INCH: Final = 1.2
"""What an entry of the key takes beside the others."""


def bar_figure_svg(figure: BarFigure) -> bytes:
    """Return grouped bars with whiskers, a baseline mark per group and n per bar.

    Rates are drawn in per cent. A bar without a value is left out, its n stays.
    """
    shown = with_texts(figure, drawn)
    looks = looks_of(series.name for series in shown.series)
    return _svg(shown, tuple(looks.items()))


@lru_cache(maxsize=32)
def _svg(figure: BarFigure, looks: tuple[tuple[str, Style], ...]) -> bytes:
    """Draw a figure once for window, report and bundle: it takes 0.2 s."""

    def draw(shown: BarFigure, ground: Ground) -> "Page":
        return _draw(shown, ground, dict(looks))

    options = {"text_pt": _TEXT_PT}
    return drawn_as(figure, draw, ("svg",), options=options)["svg"]


def _draw(figure: BarFigure, ground: Ground, looks: Mapping[str, Style]) -> "Page":
    from matplotlib.figure import Figure

    bars, keys = len(figure.groups) * len(figure.series), len(figure.series) + 2
    width = min(16.0, max(3.2 + 0.30 * max(1, bars), _KEY_INCH * keys))
    page = Figure(figsize=(width, 4.6), layout="constrained")
    axes = page.add_subplot()
    for i, series in enumerate(figure.series):
        look, n = looks[series.name], len(figure.series)
        _draw_series(axes, series, i, n, look, figure.error_name)
    _draw_baseline(axes, figure)
    _style_axes(axes, figure, ground)
    return page


def _draw_series(
    axes: "Axes",
    series: BarSeries,
    i: int,
    n_series: int,
    look: Style,
    error_name: str,
) -> None:
    width = _BARS_WIDTH / n_series
    x = np.arange(len(series.values)) - _BARS_WIDTH / 2 + (i + 0.5) * width
    heights, ends = percent(series.values), whiskers(series)
    sign = "" if series.limits else "± "
    axes.bar(
        x,
        np.nan_to_num(heights),
        width * 0.92,
        color=look.colour,
        hatch=look.hatch,
        edgecolor="white",
        linewidth=0.4,
        label=series.name,
        zorder=2,
    )
    drawn = ~np.isnan(heights) & ~np.isnan(ends).any(axis=0)
    axes.errorbar(
        x[drawn],
        heights[drawn],
        ends[:, drawn],
        fmt="none",
        ecolor=LIGHT.ink,
        elinewidth=0.8,
        capsize=1.8,
        label=f"{sign}{error_name}" if error_name and i == n_series - 1 else None,
        zorder=4,
    )
    write_counts(axes, x, series.counts, _COUNTS_PT, LIGHT.soft)


def _draw_baseline(axes: "Axes", figure: BarFigure) -> None:
    levels = percent(figure.baseline)
    x = np.arange(len(levels))
    half = _BARS_WIDTH / 2
    axes.hlines(
        levels,
        x - half,
        x + half,
        colors=LIGHT.ink,
        linewidth=1.1,
        linestyles=(0, (3, 2)),
        label=figure.baseline_name,
        zorder=5,
    )


def _style_axes(axes: "Axes", figure: BarFigure, ground: Ground) -> None:
    axes.set_title(figure.title, loc="left", fontsize=10, pad=26)
    axes.set_ylabel(f"{figure.y_label} (%)")
    axes.set_ylim(0, _top(figure))
    axes.set_xlim(-0.6, len(figure.groups) - 0.4)
    axes.set_xticks(
        np.arange(len(figure.groups)), figure.groups, rotation=24, ha="right"
    )
    axes.tick_params(axis="x", length=0, pad=room_for_counts(figure.series, _COUNTS_PT))
    axes.grid(axis="y", color=ground.line, linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.005),
        ncols=len(figure.series) + 2,
        frameon=False,
        fontsize=7.5,
        borderaxespad=0,
        columnspacing=1.2,
        handlelength=1.6,
    )
    axes.text(
        1,
        1.012,
        "n below each bar",
        transform=axes.transAxes,
        ha="right",
        fontsize=7,
        color=ground.soft,
    )


def _top(figure: BarFigure) -> float:
    """Return the axis limit in percent: a multiple of 20 above everything drawn."""
    ends = [
        100 * (value + (error or 0.0))
        for series in figure.series
        for value, error in zip(series.values, series.errors, strict=True)
        if value is not None
    ]
    return min(100.0, 20.0 * (int(max(ends, default=0.0) // 20) + 1))
