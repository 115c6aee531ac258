"""Figures made of pictures: examples by class, and a method from left to right."""

from typing import TYPE_CHECKING, Final

from viewer.domain.figure import GalleryFigure, Step, StripFigure, Tile
from viewer.domain.styles import Ground
from viewer.writers.figures_style import (
    PAGE_MM,
    SMALL_PT,
    TEXT_PT,
    bare,
    page,
    titled,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Page

_COLUMNS: Final = (4, 6)
"""How many pictures a row has room for, at least and at most."""
_ROW_MM: Final = 47.0
"""Height of a row of the fewest."""
_STRIP_MM: Final = 44.0
_LINE_MM: Final = 3.0
"""What each further line below a picture of a strip takes."""
_WORDS_MM: Final = 30.0
"""Height of a strip of words alone."""
_WORDS_LETTERS: Final = 38
_PROMPT_LETTERS: Final = 25
_PROMPT_LINES: Final = 19


def draw_gallery(figure: GalleryFigure, ground: Ground) -> "Page":  # noqa: ARG001
    """Draw examples, one row per class."""
    kinds = tuple(dict.fromkeys(tile.kind for tile in figure.tiles))
    rows = [[tile for tile in figure.tiles if tile.kind == kind] for kind in kinds]
    fewest, most = _COLUMNS
    columns = min(max(fewest, *map(len, rows)), most) if rows else fewest
    sheet = page(PAGE_MM, _ROW_MM * fewest / columns * len(kinds))
    for row, mine in enumerate(rows):
        for column, tile in enumerate(mine[:most]):
            place = row * columns + column + 1
            axes = sheet.add_subplot(len(kinds), columns, place)
            _draw_tile(axes, tile, first=column == 0)
    return sheet


def _draw_tile(axes: "Axes", tile: Tile, *, first: bool) -> None:
    axes.imshow(tile.picture)
    bare(axes)
    axes.set_title(
        f"{tile.finding}\n{tile.model}: {tile.cell}", fontsize=SMALL_PT, pad=2
    )
    if first:
        axes.set_ylabel(tile.kind, fontweight="bold")


def draw_strip(figure: StripFigure, ground: Ground) -> "Page":
    """Draw a method's steps, arrows between them."""
    n = len(figure.steps)
    worded = all(step.picture is None for step in figure.steps)
    height = _WORDS_MM if worded else _STRIP_MM + _LINE_MM * _further(figure)
    sheet = page(PAGE_MM, height, between=0.16)
    for place, step in enumerate(figure.steps):
        axes = sheet.add_subplot(1, n, place + 1)
        if worded:
            _write_step(axes, step, place + 1, ground)
        else:
            _draw_step(axes, step, place + 1, ground)
        if place:
            _arrow(axes, ground.soft)
    return sheet


def _further(figure: StripFigure) -> int:
    """Return how many lines beyond one the longest caption has."""
    below = (step.words for step in figure.steps if step.picture is not None)
    return max((words.count("\n") for words in below), default=0)


def _name_step(axes: "Axes", step: Step, number: int, ground: Ground) -> None:
    title, colour = titled(step.title, step.code, ground)
    axes.set_title(
        f"{number}  {title}", loc="left", pad=3, fontweight="bold", color=colour
    )


def _write_step(axes: "Axes", step: Step, number: int, ground: Ground) -> None:
    """Write a step without a picture over its full width."""
    bare(axes)
    _name_step(axes, step, number, ground)
    axes.text(
        0.0,
        0.98,
        "\n".join(wrapped(line, _WORDS_LETTERS) for line in step.words.split("\n")),
        transform=axes.transAxes,
        ha="left",
        va="top",
        fontsize=TEXT_PT,
        linespacing=1.25,
    )


def _draw_step(axes: "Axes", step: Step, number: int, ground: Ground) -> None:
    bare(axes)
    _name_step(axes, step, number, ground)
    if step.picture is not None:
        axes.imshow(step.picture, cmap="gray", vmin=0, vmax=255)
        axes.set_anchor("N")
        axes.set_xlabel(step.words, fontsize=SMALL_PT, labelpad=2)
        return
    axes.set_box_aspect(1)
    axes.set_anchor("N")
    short = len(step.words) < 3 * _PROMPT_LETTERS
    axes.text(
        0.5 if short else 0.02,
        0.5 if short else 0.98,
        _lines(step.words),
        transform=axes.transAxes,
        ha="center" if short else "left",
        va="center" if short else "top",
        fontsize=TEXT_PT + 1 if short else 4.6,
        linespacing=1.25,
    )


def _lines(words: str) -> str:
    """Return text in short lines, with an ellipsis if it does not fit."""
    lines = [part for line in words.split("\n") for part in _wrapped(line)]
    if len(lines) > _PROMPT_LINES:
        lines = [*lines[: _PROMPT_LINES - 1], f"{lines[_PROMPT_LINES - 1]} …"]
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    return wrapped(line, _PROMPT_LETTERS).split("\n")


def _arrow(axes: "Axes", colour: str) -> None:
    axes.annotate(
        "",
        (-0.02, 0.5),
        (-0.16, 0.5),
        xycoords="axes fraction",
        textcoords="axes fraction",
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "lw": 0.8,
            "mutation_scale": 6,
        },
        annotation_clip=False,
    )
