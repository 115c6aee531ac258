"""A figure as files: pictures for print and screen, its data, and a script.

The one drawing of a figure: reports, packs and the window all show it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from viewer.domain.escapes import drawn
from viewer.domain.figure import (
    CardFigure,
    Figure,
    GalleryFigure,
    HeatFigure,
    PlotFigure,
    RateFigure,
    StackFigure,
    figure_table,
)
from viewer.domain.map_texts import with_texts
from viewer.domain.styles import LIGHT, Ground
from viewer.writers.figures_cards import draw_cards
from viewer.writers.figures_heat import draw_heat
from viewer.writers.figures_pictures import draw_gallery, draw_strip
from viewer.writers.figures_plots import draw_plots
from viewer.writers.figures_rates import draw_rates
from viewer.writers.figures_stacks import draw_stacks
from viewer.writers.figures_style import PRINT_DPI, drawn_as, script_for
from viewer.writers.tables import csv_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Page

PRINTED: Final = ("svg", "pdf")


def figure_files(figure: Figure) -> Mapping[str, bytes]:
    """Return a figure's SVG, PDF and CSV by name, with reproducible bytes."""
    name = figure.head.name
    pictures = drawn_as(with_texts(figure, drawn), _draw, PRINTED)
    files = {f"{name}.{kind}": content for kind, content in pictures.items()}
    return {**files, f"{name}.csv": figure_csv(figure)}


def figure_csv(figure: Figure) -> bytes:
    """Return every number that a figure shows."""
    table = figure_table(figure)
    return csv_bytes(table.header, table.rows)


def figure_picture(
    figure: Figure, kind: str, ground: Ground = LIGHT, dpi: float = PRINT_DPI
) -> bytes:
    """Return a figure as ``png``, ``svg`` or ``pdf`` on a background."""
    return drawn_as(with_texts(figure, drawn), _draw, (kind,), ground, dpi)[kind]


def figure_script(figure: Figure) -> str:
    """Return a Python script that draws a figure using only matplotlib."""
    return script_for(with_texts(figure, drawn), _draw, figure.head.name)


def _draw(figure: Figure, ground: Ground) -> "Page":
    if isinstance(figure, RateFigure):
        return draw_rates(figure, ground)
    if isinstance(figure, StackFigure):
        return draw_stacks(figure, ground)
    if isinstance(figure, HeatFigure):
        return draw_heat(figure, ground)
    if isinstance(figure, GalleryFigure):
        return draw_gallery(figure, ground)
    if isinstance(figure, CardFigure):
        return draw_cards(figure, ground)
    if isinstance(figure, PlotFigure):
        return draw_plots(figure, ground)
    return draw_strip(figure, ground)
