"""A run's figures by name, drawn as in its report and its pack."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.domain.figure import Figure
from viewer.domain.report import BarFigure
from viewer.services.inspecting.runs import bar_figures
from viewer.services.reporting.figures import run_figures
from viewer.writers.figures import bar_figure_svg
from viewer.writers.figures_files import figure_picture

_ENDING = ".svg"


@dataclass(frozen=True)
class DrawnFigure:
    """A figure as SVG, its title, and the words under it."""

    title: str
    words: str
    svg: str


def figure_names(store: Path, run: int) -> tuple[str, ...]:
    """Return the names of the paper's figures of a run, then those of its report.

    The images of the run are read; an unknown run raises.
    """
    return tuple(_drawings(store, run))


def drawn_figure(store: Path, run: int, name: str) -> DrawnFigure:
    """Return one of a run's figures.

    Raises
    ------
    WrongUseError
        There is no such run, or it has no such figure.
    """
    known = _drawings(store, run)
    if name not in known:
        raise WrongUseError(
            f"Run {run} has no figure '{name}'.",
            f"It has {', '.join(known) or 'none'}.",
        )
    return known[name]()


def _drawings(store: Path, run: int) -> Mapping[str, Callable[[], DrawnFigure]]:
    bars = {
        one.file_name.removesuffix(_ENDING): partial(_bars, one)
        for one in bar_figures(store, run)
    }
    papers = run_figures(store, run).figures
    return {one.head.name: partial(_paper, one) for one in papers} | bars


def _paper(figure: Figure) -> DrawnFigure:
    drawn = figure_picture(figure, "svg").decode()
    return DrawnFigure(figure.head.title, figure.head.words, drawn)


def _bars(figure: BarFigure) -> DrawnFigure:
    return DrawnFigure(figure.title, "", bar_figure_svg(figure).decode())
