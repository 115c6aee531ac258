"""Listing and drawing of a run's figures for the window, in the worker."""

import base64
from pathlib import Path
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.figure import Figure, RateFigure, full_title
from viewer.domain.figure_order import by_relative_difference, orders_of
from viewer.domain.plain import plain
from viewer.domain.styles import GROUNDS
from viewer.services.commands import FigureCard, FigureCommand
from viewer.services.reporting.figures import RunFigures, run_figures
from viewer.writers.figures_files import figure_csv, figure_picture, figure_script
from viewer.writers.files import write_atomically

_PICTURES: Final = ("png", "svg", "pdf")
_DPI: Final = (20.0, 1200.0)


def listed_figures(store: Path, run: int) -> dict[str, object]:
    """Return a run's figures as cards, and why others are missing, as JSON values."""
    return listed(run_figures(store, run))


def drawn_figure(store: Path, command: FigureCommand) -> dict[str, object]:
    """Return a figure's file in base64 and its caption, as JSON values."""
    return drawn(run_figures(store, command.run), command)


def save_figure(path: Path, content: bytes) -> None:
    """Write a figure's file; raises if it cannot be written."""
    write_atomically(path, content)


def listed(found: RunFigures) -> dict[str, object]:
    """Return figures as :func:`listed_figures` does."""
    cards = [plain(_card(figure)) for figure in found.figures]
    return {"figures": cards, "missing": list(found.missing)}


def drawn(found: RunFigures, command: FigureCommand) -> dict[str, object]:
    """Return a figure like :func:`drawn_figure`; raises if it is unknown."""
    known = {figure.head.name: figure for figure in found.figures}
    if command.name not in known or command.ground not in GROUNDS:
        raise WrongUseError(
            f"Run {command.run} no longer has a figure '{command.name}'.",
            "Choose another figure.",
        )
    figure = known[command.name]
    if command.order is not None and isinstance(figure, RateFigure):
        figure = by_relative_difference(figure, *command.order)
    content = base64.b64encode(_content(figure, command)).decode()
    return {"words": figure.head.words, "content": content}


def _content(figure: Figure, command: FigureCommand) -> bytes:
    if command.kind == "csv":
        return figure_csv(figure)
    if command.kind == "py":
        return figure_script(figure).encode()
    if command.kind not in _PICTURES:
        raise WrongUseError(
            "A figure cannot be saved under that name.",
            "Use a name that ends in .pdf, .svg, .png, .csv or .py.",
        )
    least, most = _DPI
    dpi = min(most, max(least, command.dpi))
    return figure_picture(figure, command.kind, GROUNDS[command.ground], dpi)


def _card(figure: Figure) -> FigureCard:
    head = figure.head
    return FigureCard(head.name, _called(figure), head.words, orders_of(figure))


def _called(figure: Figure) -> str:
    """Return a figure's name in the list."""
    number, title = figure.head.number, full_title(figure)
    return f"{number} · {title}" if number else title
