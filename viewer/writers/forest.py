"""A forest plot for print as SVG, the same bytes for the same data."""

from typing import TYPE_CHECKING, Final

from viewer.domain.escapes import drawn
from viewer.domain.forest import ForestFigure, ForestRow
from viewer.domain.map_texts import with_texts
from viewer.domain.styles import Ground
from viewer.writers.figures_style import drawn_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MM: Final = 1 / 25.4
_WIDTH: Final = 183 * _MM
_ROW: Final = 0.22


def forest_svg(figure: ForestFigure) -> bytes:
    """Return both sides' rates at the left and their differences at the right.

    The first row is at the top; n and the note of each row stand at the outer edges.
    """
    options = {"text_pt": 7.5, "framed": True}
    shown = with_texts(figure, drawn)
    return drawn_as(shown, _draw, ("svg",), options=options)["svg"]


def _draw(figure: ForestFigure, ground: Ground) -> "Figure":
    from matplotlib.figure import Figure

    size = _WIDTH, 1.4 + _ROW * max(1, len(figure.rows))
    page = Figure(figsize=size, layout="constrained")
    rates, differences = page.subplots(1, 2, sharey=True, width_ratios=(2, 3))
    _draw_rates(rates, figure, ground)
    _draw_differences(differences, figure, ground)
    _name_sides(page, figure)
    return page


def _draw_rates(axes: "Axes", figure: ForestFigure, ground: Ground) -> None:
    """Draw paired dots, a line between them."""
    for y, row in enumerate(figure.rows):
        if row.first is None or row.second is None:
            continue
        ends = 100 * row.first, 100 * row.second
        axes.plot(ends, (y, y), color=ground.soft, linewidth=1, zorder=1)
        for end, look in zip(ends, figure.looks, strict=True):
            axes.plot(end, y, look.marker, color=look.colour, markersize=4.5, zorder=2)
    axes.set_xlim(-3, 103)
    axes.set_xlabel("hit rate (%)")
    axes.set_yticks(range(len(figure.rows)), [_name(row) for row in figure.rows])
    axes.invert_yaxis()
    _style_axes(axes)


def _name(row: ForestRow) -> str:
    return f"{row.name}  n = {row.n}" if row.n else row.name


def _draw_differences(axes: "Axes", figure: ForestFigure, ground: Ground) -> None:
    for y, row in enumerate(figure.rows):
        ends = [100 * end for end in row.interval or ()]
        axes.plot(ends, [y] * len(ends), color=ground.ink, linewidth=1, zorder=1)
        sign = "D" if row.summary else "s"
        axes.plot(100 * row.value, y, sign, color=ground.ink, markersize=4.5, zorder=2)
        axes.text(
            1.01, y, row.note, transform=axes.get_yaxis_transform(), va="center",
            fontsize=6.5, color=ground.soft,
        )  # fmt: skip
    axes.axvline(0, color=ground.soft, linewidth=0.8, linestyle=(0, (3, 2)))
    axes.set_xlabel(f"difference, first less second (points)\n{figure.interval}")
    _style_axes(axes)


def _name_sides(page: "Figure", figure: ForestFigure) -> None:
    """Write the title, a watermark if due, and the key of the two signs."""
    from matplotlib.lines import Line2D

    title = "\n".join(filter(None, (figure.title, figure.watermark)))
    page.suptitle(title, x=0.01, ha="left", fontsize=8.5)
    sides = zip((figure.first, figure.second), figure.looks, strict=True)
    signs = [
        Line2D([], [], linestyle="", marker=look.marker, color=look.colour, label=name)
        for name, look in sides
    ]
    page.legend(handles=signs, loc="outside lower left", ncols=2, frameon=False)


def _style_axes(axes: "Axes") -> None:
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
