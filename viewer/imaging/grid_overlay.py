"""The grid and its labels, drawn on a copy of the raster (E000-09).

Everything is integer arithmetic on whole pixels with our own bitmap font, so the same
raster, grid and style give the same bytes on every machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Raster
from viewer.imaging.bitmap_font import Face, text_mask, text_width

Rgb = tuple[int, int, int]
_HALO: Rgb = (0, 0, 0)
MIN_CAP_HEIGHT_PX = 7
"""Below this a label is taken to be hard to read (E000-10)."""


class LabelStyle(StrEnum):
    """Where labels are placed."""

    CELL = "cell"
    """The whole name at the top left of every cell."""
    MARGIN = "margin"
    """Rows named along the left edge, columns along the top edge."""
    BOTH = "both"
    """The name in every cell, rows and columns again along the right and bottom."""


@dataclass(frozen=True, slots=True)
class GridStyle:
    """The appearance of the grid.

    ``color`` is RGB 0-255, ``line_px`` the width of a line, ``font_scale`` the whole
    number of pixels per dot of the font, ``opacity`` 0-1 of lines and labels,
    ``render_scale`` 1, 2 or 4: the factor by which the raster is enlarged before
    drawing.
    """

    labels: LabelStyle = LabelStyle.CELL
    color: Rgb = (255, 230, 0)
    line_px: int = 1
    font_scale: int = 1
    opacity: float = 1.0
    render_scale: int = 1

    def __post_init__(self) -> None:
        _require(
            len(self.color) == 3 and all(0 <= c <= 255 for c in self.color),
            "The grid's colour must be three numbers from 0 to 255.",
            "Write it as red, green, blue, such as 255, 230, 0.",
        )
        _require(
            1 <= self.line_px <= 16 and 1 <= self.font_scale <= 16,
            "The grid's line width and font scale must be between 1 and 16.",
            "Choose a whole number from 1 to 16.",
        )
        _require(
            0.0 < self.opacity <= 1.0,
            f"The grid's opacity {self.opacity} would hide it.",
            "Choose a number above 0 and up to 1.",
        )
        _require(
            self.render_scale in {1, 2, 4},
            f"The render scale {self.render_scale} is unknown.",
            "Choose 1, 2 or 4.",
        )


@dataclass(frozen=True, slots=True)
class _Label:
    """A text and the row and column of its top left pixel."""

    text: str
    y: int
    x: int


def draw_grid(raster: Raster, grid: Grid, style: GridStyle | None = None) -> Raster:
    """Return an RGB copy of ``raster`` with lines and labels, enlarged if asked.

    Raises
    ------
    WrongUseError
        If the labels do not fit their cells even in the smallest face: overlapping
        labels would name the wrong cell.
    """
    style = style or GridStyle()
    pixels = _in_colour(enlarged(raster, style.render_scale).pixels)
    size = SizePx(pixels.shape[0], pixels.shape[1])
    halo, drawn = _places(grid, size, style)
    alpha = round(style.opacity * 255)
    _blend(pixels, halo, _HALO, alpha)
    _blend(pixels, drawn, style.color, alpha)
    return Raster(pixels)


def _in_colour(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a copy of grey or RGB pixels as RGB."""
    copy = np.empty((*pixels.shape[:2], 3), dtype=np.uint8)
    for channel in range(3):
        copy[..., channel] = pixels if pixels.ndim == 2 else pixels[..., channel]
    return copy


@lru_cache(maxsize=8)
def _places(
    grid: Grid, size: SizePx, style: GridStyle
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pixels of the halo, and of lines and ink, numbered row by row.

    In a mask they would have to be looked for in every image of a run.
    """
    ink, halo = label_pixels(grid, size, style)
    lines = _line_mask(grid, size, style.line_px) & ~(ink | halo)
    return np.flatnonzero(halo), np.flatnonzero(lines | ink)


def enlarged(raster: Raster, scale: int) -> Raster:
    """Return a raster a whole number of times larger, itself if that is once."""
    if scale == 1:
        return raster
    from PIL import Image  # the window's first image needs the grid's settings alone

    image = Image.fromarray(raster.pixels)
    size = (image.width * scale, image.height * scale)
    pixels = np.array(image.resize(size, Image.Resampling.BILINEAR), dtype=np.uint8)
    return Raster(pixels)


@lru_cache(maxsize=8)
def label_pixels(
    grid: Grid, size: SizePx, style: GridStyle
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the pixels of the labels' ink, and of the dark halo around it.

    Both are (rows, columns) on the raster as drawn, after enlarging; read-only, since
    every image of a run shares them. Labels that fit in no face raise
    :class:`WrongUseError`.
    """
    face = _fitting_face(grid, size, style)
    if face is None:
        raise WrongUseError(*_does_not_fit(grid, size, style))
    ink = _label_ink(grid, size, style, face)
    halo = _grown(ink, style.font_scale) & ~ink
    for mask in (ink, halo):
        mask.flags.writeable = False
    return ink, halo


def label_height_px(style: GridStyle, face: Face = Face.REGULAR) -> int:
    """Return the cap height of a label in pixels of the sent image."""
    return face.height * style.font_scale


def drawn_label_height_px(grid: Grid, size: SizePx, style: GridStyle) -> int | None:
    """Return the cap height of labels on a raster of ``size``, None if none fit.

    ``size`` is that of the raster passed to :func:`draw_grid`, before enlarging; the
    height is in pixels after it.
    """
    scale = style.render_scale
    face = _fitting_face(grid, SizePx(size.rows * scale, size.columns * scale), style)
    return None if face is None else label_height_px(style, face)


def legibility_warning(grid: Grid, size: SizePx, style: GridStyle) -> str | None:
    """Return a sentence if labels on a raster of ``size`` are hard to read (E000-10).

    ``size`` is that of the raster passed to :func:`draw_grid`, before enlarging.
    """
    scale = style.render_scale
    drawn = SizePx(size.rows * scale, size.columns * scale)
    face = _fitting_face(grid, drawn, style)
    if face is None:
        return " ".join(_does_not_fit(grid, drawn, style))
    height = label_height_px(style, face)
    if height >= MIN_CAP_HEIGHT_PX:
        return None
    return (
        f"The labels of the {grid.name} grid are {height} pixels high, less than "
        f"{MIN_CAP_HEIGHT_PX}. {_advice(style)}"
    )


def _require(condition: bool, what: str, how: str) -> None:
    if not condition:
        raise WrongUseError(what, how)


def _does_not_fit(grid: Grid, size: SizePx, style: GridStyle) -> tuple[str, str]:
    return (
        (
            f"The labels of the {grid.name} grid do not fit its cells of "
            f"{size.columns // grid.columns} × {size.rows // grid.rows} pixels."
        ),
        _advice(style),
    )


def _advice(style: GridStyle) -> str:
    if style.font_scale > 1:
        return "Set a smaller font scale or a greater render scale."
    if style.render_scale < 4:
        scale = style.render_scale * 2
        return f"Choose fewer cells or set render_scale to {scale}; the run records it."
    return "Put the labels on the margin or choose fewer cells."


def _line_mask(grid: Grid, size: SizePx, line_px: int) -> npt.NDArray[np.bool_]:
    mask = np.zeros((size.rows, size.columns), dtype=bool)
    row_edges, column_edges = grid.edges(size)
    for y in row_edges:
        mask[_line(y, size.rows, line_px), :] = True
    for x in column_edges:
        mask[:, _line(x, size.columns, line_px)] = True
    return mask


def _line(edge: int, length: int, line_px: int) -> slice:
    """Return the pixels of the line at ``edge``, moved inside at the image's border."""
    start = max(0, min(edge - line_px // 2, length - line_px))
    return slice(start, start + line_px)


def _fitting_face(grid: Grid, size: SizePx, style: GridStyle) -> Face | None:
    """Return the largest face in which no labels touch, or None."""
    for face in Face:
        if _labels_fit(_labels(grid, size, style, face), size, style, face):
            return face
    return None


def _labels_fit(
    labels: Iterator[_Label], size: SizePx, style: GridStyle, face: Face
) -> bool:
    """Tell whether all labels lie inside the image, a pixel or more apart."""
    taken = np.zeros((size.rows, size.columns), dtype=np.uint8)
    for label in labels:
        bottom = label.y + face.height * style.font_scale
        right = label.x + text_width(label.text, style.font_scale, face)
        inside = label.y >= 0 and label.x >= 0
        if not inside or bottom > size.rows or right > size.columns:
            return False
        taken[label.y : bottom + 1, label.x : right + 1] += 1
    return int(taken.max()) <= 1


def _labels(grid: Grid, size: SizePx, style: GridStyle, face: Face) -> Iterator[_Label]:
    if style.labels is not LabelStyle.MARGIN:
        yield from _cell_labels(grid, size, style)
    if style.labels is not LabelStyle.CELL:
        yield from _margin_labels(grid, size, style, face)


def _cell_labels(grid: Grid, size: SizePx, style: GridStyle) -> Iterator[_Label]:
    """Yield each cell's name, just inside the corner of its lines."""
    row_edges, column_edges = grid.edges(size)
    after_line = (style.line_px + 1) // 2
    for cell in grid.cells():
        y, x = row_edges[cell.row], column_edges[cell.column]
        yield _Label(grid.label(cell), y + after_line, x + after_line)


def _margin_labels(
    grid: Grid, size: SizePx, style: GridStyle, face: Face
) -> Iterator[_Label]:
    """Yield column names centred along the edge, row names low in their cells.

    This leaves room for both labels in the corner cell.
    """
    row_edges, column_edges = grid.edges(size)
    far = style.labels is LabelStyle.BOTH
    height, pad = face.height * style.font_scale, style.line_px
    for row in range(grid.rows):
        text = _axis_name(grid, Cell(row, 0), along_rows=True)
        width = text_width(text, style.font_scale, face)
        bottom = min(row_edges[row + 1], size.rows - pad)
        x = size.columns - pad - width if far else pad
        yield _Label(text, bottom - height, x)
    for column in range(grid.columns):
        text = _axis_name(grid, Cell(0, column), along_rows=False)
        width = text_width(text, style.font_scale, face)
        middle = (column_edges[column] + column_edges[column + 1]) // 2
        y = size.rows - pad - height if far else pad
        yield _Label(text, y, middle - width // 2)


def _axis_name(grid: Grid, cell: Cell, *, along_rows: bool) -> str:
    """Return the letter or number of the cell's row or column."""
    label = grid.label(cell)
    other = grid.label(Cell(cell.row, 1) if along_rows else Cell(1, cell.column))
    return label[0] if label[0] == other[0] else label[1:]


def _label_ink(
    grid: Grid, size: SizePx, style: GridStyle, face: Face
) -> npt.NDArray[np.bool_]:
    ink = np.zeros((size.rows, size.columns), dtype=bool)
    for label in _labels(grid, size, style, face):
        text = text_mask(label.text, style.font_scale, face)
        rows, columns = text.shape
        ink[label.y : label.y + rows, label.x : label.x + columns] |= text
    return ink


def _grown(mask: npt.NDArray[np.bool_], by: int) -> npt.NDArray[np.bool_]:
    """Dilate ``mask`` by ``by`` rows and columns."""
    grown = mask.copy()
    for _ in range(by):
        for axis in (0, 1):
            wide = np.pad(grown, [(1, 1) if a == axis else (0, 0) for a in (0, 1)])
            n = mask.shape[axis]
            grown = np.logical_or.reduce(
                [wide.take(range(i, i + n), axis=axis) for i in range(3)]
            )
    return grown


def _blend(
    pixels: npt.NDArray[np.uint8], where: npt.NDArray[np.intp], color: Rgb, alpha: int
) -> None:
    """Blend ``color`` into ``pixels`` in place with ``alpha`` of 255."""
    in_order = pixels.reshape(-1, 3)
    if alpha == 255:
        in_order[where] = color
        return
    under = in_order[where].astype(np.uint32) * (255 - alpha)
    over = np.array(color, dtype=np.uint32) * alpha
    in_order[where] = ((under + over + 127) // 255).astype(np.uint8)
