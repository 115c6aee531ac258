"""Figures made of pictures on the screen: heat maps, examples, a method's steps."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.figure import GalleryFigure, HeatFigure, StripFigure
from viewer.imaging.heat_overlay import colors, heat_overlay
from viewer.ui import theme
from viewer.ui.plain_text import as_html

_ROW_PX: Final = 200
_TEXT_WIDTH: Final = 34
_TEXTS_WIDTH, _COLUMNS_PX = 90, 800
"""All columns together: so many letters are narrower than so many pixels."""
_PROSE_WIDTH: Final = 46
_STEPS: Final = 3
"""Of a method, beside one another."""
_SCALE_STEPS: Final = 5


def draw_heat(page: Any, figure: HeatFigure) -> str:  # noqa: ANN401 - pyqtgraph's
    """Draw heat maps on a GraphicsLayoutWidget; return the scale as rich text."""
    rows = tuple(dict.fromkeys(panel.row for panel in figure.panels))
    columns = tuple(dict.fromkeys(panel.column for panel in figure.panels))
    for column, name in enumerate(columns):
        _label(page, name, 0, column + 1, len(columns))
    for row, name in enumerate(rows):
        _label(page, name, row + 1, 0)
    for panel in figure.panels:
        picture = heat_overlay(figure.background, panel.values, figure.greatest)
        row, column = rows.index(panel.row) + 1, columns.index(panel.column) + 1
        _picture(page, picture, row, column, f"n = {panel.n}")
    _alike(page, range(1, len(columns) + 1))
    return _scale(figure.greatest)


def heat_height(figure: HeatFigure) -> int:
    """Return the pixels that the rows need."""
    return 30 + _ROW_PX * len({panel.row for panel in figure.panels})


def draw_gallery(page: Any, figure: GalleryFigure) -> str:  # noqa: ANN401
    """Draw examples on a GraphicsLayoutWidget, a row for each class."""
    kinds = dict.fromkeys(tile.kind for tile in figure.tiles)
    by_kind = {k: [tile for tile in figure.tiles if tile.kind == k] for k in kinds}
    for row, (kind, mine) in enumerate(by_kind.items()):
        _label(page, kind, 2 * row + 1, 0)
        for column, tile in enumerate(mine):
            words = f"{tile.finding} · {tile.model}: {tile.cell}"
            _label(page, words, 2 * row, column + 1, len(mine))
            _picture(page, tile.picture, 2 * row + 1, column + 1)
    _alike(page, range(1, 1 + max(map(len, by_kind.values()))))
    return ""


def gallery_height(figure: GalleryFigure) -> int:
    """Return the pixels that the rows need."""
    return (_ROW_PX + 30) * len({tile.kind for tile in figure.tiles})


def draw_strip(page: Any, figure: StripFigure) -> str:  # noqa: ANN401
    """Draw a method's steps on a GraphicsLayoutWidget, in rows from left to right."""
    for number, step in enumerate(figure.steps):
        row, column = divmod(number, _STEPS)
        _label(page, f"{number + 1} · {step.title}", 3 * row, column)
        if step.picture is None:
            _text(page, step.words, 3 * row + 1, column)
        else:
            _picture(page, step.picture, 3 * row + 1, column)
            _label(page, step.words, 3 * row + 2, column)
    _alike(page, range(min(_STEPS, len(figure.steps))))
    for row in range(1, 3 * -(-len(figure.steps) // _STEPS), 3):
        page.ci.layout.setRowPreferredHeight(row, _ROW_PX)
        page.ci.layout.setRowStretchFactor(row, 1)
    return ""


def _alike(page: Any, columns: Sequence[int]) -> None:  # noqa: ANN401
    """Give columns the same width, whatever stands over their pictures.

    It has to be wider than any words, or the layout makes room for the longest.
    """
    for column in columns:
        width = _COLUMNS_PX / len(columns)
        page.ci.layout.setColumnPreferredWidth(column, width)
        page.ci.layout.setColumnStretchFactor(column, 1)


def _label(page: Any, words: str, row: int, column: int, beside: int = 1) -> None:  # noqa: ANN401
    """Write words no wider than a column of as many as are ``beside`` one another."""
    width = min(_TEXT_WIDTH, _TEXTS_WIDTH // beside)
    lines = [as_html(line) for line in textwrap.wrap(words, width)]
    page.addLabel("<br>".join(lines), row, column, color=theme.current().text)


def _picture(
    page: Any,  # noqa: ANN401 - pyqtgraph has no types
    pixels: npt.NDArray[np.uint8],
    row: int,
    column: int,
    words: str = "",
) -> None:
    """Show an image with y down and square pixels; nothing of it can be dragged."""
    import pyqtgraph as pg

    box = page.addViewBox(
        row, column, lockAspect=True, invertY=True, enableMouse=False, enableMenu=False
    )
    image = pg.ImageItem(pixels, axisOrder="row-major", levels=(0, 255))
    box.addItem(image)
    box.setRange(image.boundingRect(), padding=0)
    if words:
        label = pg.TextItem(words, "#FFFFFF", anchor=(1, 1), fill=(0, 0, 0, 140))
        label.setPos(pixels.shape[1], pixels.shape[0])
        box.addItem(label)


def _text(page: Any, words: str, row: int, column: int) -> None:  # noqa: ANN401
    """Show words in a box of their own, from its top, wrapped to a picture's width."""
    import pyqtgraph as pg

    box = page.addViewBox(row, column, enableMouse=False, enableMenu=False)
    lines = (textwrap.fill(line, _PROSE_WIDTH) for line in words.split("\n"))
    text = pg.TextItem("\n".join(lines), theme.current().text, anchor=(0, 0))
    text.setPos(0, 1)
    box.addItem(text)
    box.setRange(xRange=(0, 1), yRange=(0, 1), padding=0)


def _scale(greatest: float) -> str:
    """Return the one colour scale, from nothing to the greatest share."""
    shares = np.linspace(0, 1, _SCALE_STEPS)
    marks = zip(shares, np.rint(colors(shares)).astype(int), strict=True)
    return " ".join(
        f'<span style="color:rgb({red},{green},{blue})">◼</span>'
        f" {100 * share * greatest:.0f} %"
        for share, (red, green, blue) in marks
    )
