"""Grouped bars of rates, with whiskers, chance and printed values (X-05)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from viewer.domain.figure import RateFigure, RatePanel, has_limits
from viewer.domain.report import BarSeries
from viewer.domain.styles import Style, model_style
from viewer.writers.figures_bars import Floats, percent, within_scale, write_counts
from viewer.writers.figures_style import (
    INK,
    LINE,
    PAGE_MM,
    SMALL_PT,
    SOFT,
    name_groups,
    page,
    saved,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page
    from matplotlib.patches import Patch

_GROUP: Final = 0.8
_HEIGHT_MM: Final = 62.0
_LEGEND_MM: Final = 12.0
_TALLEST_MM: Final = 235.0
"""What a journal's page has room for, without the caption."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIAMOND: Final[dict[str, Any]] = {
    "marker": "D",
    "markersize": 3.4,
    "markerfacecolor": "white",
    "markeredgecolor": INK,
    "markeredgewidth": 0.7,
    "linestyle": "none",
}
_KEY: Final[dict[str, Any]] = {
    "frameon": False,
    "fontsize": SMALL_PT + 0.5,
    "borderaxespad": 0.2,
    "columnspacing": 1.2,
    "handlelength": 1.6,
}


def rate_files(figure: RateFigure) -> Mapping[str, bytes]:
    """Return the SVG and PDF of a figure of rates."""
    with style():
        n = len(figure.panels)
        height = min(_TALLEST_MM, n * _HEIGHT_MM + _LEGEND_MM)
        sheet = page(PAGE_MM, height)
        for place, panel in enumerate(figure.panels):
            axes = sheet.add_subplot(n, 1, place + 1)
            _draw_panel(axes, panel, figure, place, last=place == n - 1)
        _keys(sheet, figure)
        return saved(sheet, figure.head)


def _draw_panel(
    axes: "Axes", panel: RatePanel, figure: RateFigure, place: int, *, last: bool
) -> None:
    width = _GROUP / max(1, len(panel.series))
    for i, series in enumerate(panel.series):
        x = np.arange(len(panel.groups), dtype=np.float64)
        x += (i + 0.5) * width - _GROUP / 2
        _draw_bars(axes, series, x, width, _look(figure, place, i))
        _draw_chance(axes, panel.baselines[i], x, width / 2)
    _draw_published(axes, panel)
    _dress(axes, panel, figure.rate_name, last=last)


def _look(figure: RateFigure, place: int, i: int) -> Style:
    """Return a series' style: its model's, finer grids hatched."""
    if not figure.one_model:
        return model_style(i)
    return replace(model_style(place), hatch="" if i == 0 else "//////"[: 4 + i])


def _draw_bars(
    axes: "Axes", series: BarSeries, x: Floats, width: float, look: Style
) -> None:
    heights, whiskers = percent(series.values), _whiskers(series)
    axes.bar(
        x,
        np.nan_to_num(heights),
        width * 0.9,
        color=look.colour,
        hatch=look.hatch,
        edgecolor="white" if look.hatch else look.colour,
        linewidth=0.0 if look.hatch else 0.2,
        label=series.name,
        zorder=2,
    )
    drawn = ~np.isnan(heights) & ~np.isnan(whiskers).any(axis=0)
    axes.errorbar(
        x[drawn],
        heights[drawn],
        whiskers[:, drawn],
        fmt="none",
        ecolor=INK,
        elinewidth=0.6,
        capsize=1.4,
        capthick=0.6,
        zorder=4,
    )
    write_counts(axes, x, series.counts, 0.02, SMALL_PT)


def _whiskers(series: BarSeries) -> Floats:
    """Return how far whiskers reach below and above the bars' ends, (2, n) per cent."""
    heights = percent(series.values)
    if not series.limits:
        return within_scale(heights, percent(series.errors))
    low, high = (percent([e and e[side] for e in series.limits]) for side in (0, 1))
    return np.maximum(np.stack([heights - low, high - heights]), 0.0)


def _draw_chance(
    axes: "Axes", values: tuple[float | None, ...], x: Floats, half: float
) -> None:
    axes.hlines(
        percent(values),
        x - half,
        x + half,
        colors=INK,
        linewidth=0.8,
        linestyles=(0, (2, 1.2)),
        zorder=5,
    )


def _draw_published(axes: "Axes", panel: RatePanel) -> None:
    """Draw printed values as open diamonds, each with the letter of whose it is."""
    people = tuple(dict.fromkeys(mark.who for mark in panel.published))
    for mark in panel.published:
        place = people.index(mark.who)
        slot = (place + 0.5) / len(people) - 0.5
        x, y = panel.groups.index(mark.group) + _GROUP * slot, 100 * mark.value
        axes.plot(
            x,
            y,
            zorder=6,
            **_DIAMOND,
        )
        _letter(axes, x, y, _LETTERS[place])


def _letter(axes: "Axes", x: float, y: float, letter: str) -> None:
    from matplotlib.patheffects import withStroke

    axes.annotate(
        letter,
        (x, y),
        (0, 3.2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=SMALL_PT,
        path_effects=[withStroke(linewidth=1.4, foreground="white")],
        zorder=7,
    )


def _dress(axes: "Axes", panel: RatePanel, rate_name: str, *, last: bool) -> None:
    axes.set_ylabel(f"{rate_name} (%)")
    axes.set_ylim(0, 100)
    axes.set_xlim(-0.55, len(panel.groups) - 0.45)
    name_groups(axes, panel.groups if last else [""] * len(panel.groups))
    axes.tick_params(axis="x", length=0, pad=_room_for_counts(panel.series))
    axes.grid(axis="y", color=LINE, linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)
    if panel.title:
        axes.set_title(panel.title, loc="left", pad=4, fontweight="bold")


def _keys(sheet: "Page", figure: RateFigure) -> None:
    """Put the key above the panels, and whose the printed values are below."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = [series.name for series in figure.panels[0].series]
    bars = [_bar_key(Patch, figure, i, name) for i, name in enumerate(names)]
    name = figure.error_name if has_limits(figure) else f"± {figure.error_name}"
    whisker = Line2D([], [], color=INK, lw=0.6, label=name)
    dashes = (0, (2, 1.2))
    chance = Line2D([], [], color=INK, lw=0.8, ls=dashes, label=figure.baseline_name)
    whiskers = [whisker] if figure.error_name else []
    handles = [*bars, *whiskers, *([chance] if figure.baseline_name else [])]
    sheet.legend(handles=handles, loc="outside upper left", ncols=6, **_KEY)
    marks = [mark for panel in figure.panels for mark in panel.published]
    people = enumerate(dict.fromkeys(mark.who for mark in marks))
    words = ", ".join(f"{_LETTERS[i]} {who}" for i, who in people)
    if words:
        diamond = Line2D([], [], label=f"published: {words}", **_DIAMOND)
        sheet.legend(handles=[diamond], loc="outside lower left", **_KEY)


def _bar_key(patch: "type[Patch]", figure: RateFigure, i: int, name: str) -> "Patch":
    """Return a series' key; of grids, which every model has, without a colour."""
    look = _look(figure, 0, i)
    color = SOFT if figure.one_model else look.colour
    edge = "white" if look.hatch else color
    return patch(facecolor=color, hatch=look.hatch, edgecolor=edge, lw=0, label=name)


def _room_for_counts(series: Sequence[BarSeries]) -> float:
    """Return points between the axis and the group names that the counts take."""
    counts = [count for one in series for count in one.counts]
    return 4.0 + 3.4 * len(str(max(counts, default=0)))
