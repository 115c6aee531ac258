"""Grouped bars of rates, with whiskers, chance and printed values (X-05)."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from viewer.domain.figure import RateFigure, RatePanel, has_limits
from viewer.domain.styles import Ground, Style, looks_of
from viewer.writers.figures_bars import (
    Floats,
    percent,
    room_for_counts,
    whiskers,
    write_counts,
)
from viewer.writers.figures_style import (
    PAGE_MM,
    SMALL_PT,
    name_groups,
    page,
)
from viewer.writers.recorded import made

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
_KEY: Final[dict[str, Any]] = {
    "frameon": False,
    "fontsize": SMALL_PT + 0.5,
    "borderaxespad": 0.2,
    "columnspacing": 1.2,
    "handlelength": 1.6,
}


def draw_rates(figure: RateFigure, ground: Ground) -> "Page":
    """Draw a figure of rates."""
    n = len(figure.panels)
    sheet = page(PAGE_MM, min(_TALLEST_MM, n * _HEIGHT_MM + _LEGEND_MM))
    for place, panel in enumerate(figure.panels):
        axes = sheet.add_subplot(n, 1, place + 1)
        for i in range(len(panel.series)):
            _draw_series(axes, panel, i, _look(figure, place, i), ground)
        _draw_published(axes, panel, ground)
        _style_axes(axes, panel, figure.rate_name, last=place == n - 1)
    _keys(sheet, figure, ground)
    return sheet


def _look(figure: RateFigure, place: int, i: int) -> Style:
    """Return a series' style: its model's, finer grids hatched."""
    if not figure.one_model:
        series = [one.name for one in figure.panels[place].series]
        return looks_of(series)[series[i]]
    titles = [panel.title for panel in figure.panels]
    look = looks_of(titles)[titles[place]]
    return replace(look, hatch="" if i == 0 else "//////"[: 4 + i])


def _draw_series(
    axes: "Axes", panel: RatePanel, i: int, look: Style, ground: Ground
) -> None:
    """Draw a series' bars, whiskers, counts and chance in every group."""
    series, width = panel.series[i], _GROUP / max(1, len(panel.series))
    x = np.arange(len(panel.groups), dtype=np.float64)
    x += (i + 0.5) * width - _GROUP / 2
    heights, ends = percent(series.values), whiskers(series)
    axes.bar(
        x,
        np.nan_to_num(heights),
        width * 0.9,
        color=look.colour,
        hatch=look.hatch,
        edgecolor=ground.paper if look.hatch else look.colour,
        linewidth=0.0 if look.hatch else 0.2,
        label=series.name,
        zorder=2,
    )
    drawn = ~np.isnan(heights) & ~np.isnan(ends).any(axis=0)
    for colour, points in _strokes(ground, 0.6):
        axes.errorbar(
            x[drawn],
            heights[drawn],
            ends[:, drawn],
            fmt="none",
            ecolor=colour,
            elinewidth=points,
            capsize=1.4,
            capthick=points,
            zorder=4,
        )
    write_counts(axes, x, series.counts, SMALL_PT, ground.soft)
    _draw_chance(axes, panel.baselines[i], x, width / 2, ground)


def _strokes(ground: Ground, width: float) -> tuple[tuple[str, float], ...]:
    """Return the strokes of a line over bars, outlined on a dark background."""
    ink = (ground.ink, width)
    return ((ground.paper, 2.5 * width), ink) if ground.dark else (ink,)


def _draw_chance(
    axes: "Axes",
    values: tuple[float | None, ...],
    x: Floats,
    half: float,
    ground: Ground,
) -> None:
    for colour, points in _strokes(ground, 0.8):
        axes.hlines(
            percent(values),
            x - half,
            x + half,
            colors=colour,
            linewidth=points,
            linestyles=(0, (1.6 / points, 0.96 / points)),
            zorder=5,
        )


def _draw_published(axes: "Axes", panel: RatePanel, ground: Ground) -> None:
    """Draw published values as open diamonds, each with the letter of its source."""
    people = tuple(dict.fromkeys(mark.who for mark in panel.published))
    for mark in panel.published:
        place = people.index(mark.who)
        slot = (place + 0.5) / len(people) - 0.5
        x, y = panel.groups.index(mark.group) + _GROUP * slot, 100 * mark.value
        axes.plot(x, y, zorder=6, **_diamond(ground))
        _letter(axes, x, y, _LETTERS[place], ground.paper)


def _diamond(ground: Ground) -> dict[str, Any]:
    """Return the style of an open diamond."""
    return {
        "marker": "D",
        "markersize": 3.4,
        "markerfacecolor": ground.paper,
        "markeredgecolor": ground.ink,
        "markeredgewidth": 0.7,
        "linestyle": "none",
    }


def _letter(axes: "Axes", x: float, y: float, letter: str, paper: str) -> None:
    from matplotlib.patheffects import withStroke

    axes.annotate(
        letter,
        (x, y),
        (0, 3.2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=SMALL_PT,
        path_effects=[made(withStroke, linewidth=1.4, foreground=paper)],
        zorder=7,
    )


def _style_axes(axes: "Axes", panel: RatePanel, rate_name: str, *, last: bool) -> None:
    axes.set_ylabel(f"{rate_name} (%)")
    axes.set_ylim(0, 100)
    axes.set_xlim(-0.55, len(panel.groups) - 0.45)
    notes = panel.notes or ("",) * len(panel.groups)
    names = [
        f"{n}\n{of}" if of else n for n, of in zip(panel.groups, notes, strict=True)
    ]
    name_groups(axes, names if last else [""] * len(names))
    axes.tick_params(axis="x", length=0, pad=room_for_counts(panel.series, SMALL_PT))
    axes.grid(axis="y", zorder=0)
    axes.set_axisbelow(True)
    if panel.title:
        axes.set_title(panel.title, loc="left", pad=4, fontweight="bold")


def _keys(sheet: "Page", figure: RateFigure, ground: Ground) -> None:
    """Put the key above the panels, and the sources of published values below."""
    from matplotlib.lines import Line2D

    names = [series.name for series in figure.panels[0].series]
    bars = [_bar_key(figure, i, name, ground) for i, name in enumerate(names)]
    name = figure.error_name if has_limits(figure) else f"± {figure.error_name}"
    whisker = made(Line2D, [], [], color=ground.ink, lw=0.6, label=name)
    name, dashes = figure.baseline_name, (0, (2, 1.2))
    chance = made(Line2D, [], [], color=ground.ink, lw=0.8, ls=dashes, label=name)
    whiskers = [whisker] if figure.error_name else []
    handles = [*bars, *whiskers, *([chance] if figure.baseline_name else [])]
    sheet.legend(handles=handles, loc="outside upper left", ncols=6, **_KEY)
    marks = [mark for panel in figure.panels for mark in panel.published]
    people = enumerate(dict.fromkeys(mark.who for mark in marks))
    words = ", ".join(f"{_LETTERS[i]} {who}" for i, who in people)
    if words:
        diamond = made(Line2D, [], [], label=f"published: {words}", **_diamond(ground))
        sheet.legend(handles=[diamond], loc="outside lower left", **_KEY)


def _bar_key(figure: RateFigure, i: int, name: str, ground: Ground) -> "Patch":
    """Return a series' key; grids, which every model has, without a colour."""
    from matplotlib.patches import Patch

    look = _look(figure, 0, i)
    color = ground.soft if figure.one_model else look.colour
    edge = ground.paper if look.hatch else color
    return made(
        Patch, facecolor=color, hatch=look.hatch, edgecolor=edge, lw=0, label=name
    )
