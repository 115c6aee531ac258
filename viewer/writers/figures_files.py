"""A figure's files: SVG and PDF for print, and a CSV of every number in it."""

from collections.abc import Mapping

from viewer.domain.escapes import drawn
from viewer.domain.figure import (
    Figure,
    GalleryFigure,
    HeatFigure,
    PlotFigure,
    RateFigure,
    StackFigure,
    figure_table,
)
from viewer.domain.map_texts import with_texts
from viewer.writers.figures_heat import heat_files
from viewer.writers.figures_pictures import gallery_files, strip_files
from viewer.writers.figures_plots import plot_files
from viewer.writers.figures_rates import rate_files
from viewer.writers.figures_stacks import stack_files
from viewer.writers.tables import csv_bytes


def figure_files(figure: Figure) -> Mapping[str, bytes]:
    """Return a figure's files by name, the same bytes for the same figure."""
    table = figure_table(figure)
    numbers = {f"{figure.head.name}.csv": csv_bytes(table.header, table.rows)}
    return {**_drawn(with_texts(figure, drawn)), **numbers}


def _drawn(figure: Figure) -> Mapping[str, bytes]:
    if isinstance(figure, RateFigure):
        return rate_files(figure)
    if isinstance(figure, StackFigure):
        return stack_files(figure)
    if isinstance(figure, HeatFigure):
        return heat_files(figure)
    if isinstance(figure, GalleryFigure):
        return gallery_files(figure)
    if isinstance(figure, PlotFigure):
        return plot_files(figure)
    return strip_files(figure)
