"""An answer and its reference, drawn on the raster that was sent.

The outcome is shown by a sign as well as by words elsewhere, and the two colours are
from the palette of Okabe and Ito, which colour-blind readers can distinguish.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Raster
from viewer.domain.result import Outcome
from viewer.imaging.grid_overlay import GridStyle, Rgb, draw_grid, label_pixels

REFERENCE: Rgb = (0x56, 0xB4, 0xE9)
"""Sky blue: the outline of the reference and the corners of its cells."""
ANSWER: Rgb = (0xE6, 0x9F, 0x00)
"""Orange: the frame and the sign of the answered cell without a model's colour."""
_INK: Rgb = (0, 0, 0)


def draw_answer(
    raster: Raster,
    grid: Grid,
    reference_mask: npt.NDArray[np.bool_] | None,
    answered: Cell | None,
    reference_cells: Sequence[Cell],
    outcome: Outcome | None,
    region: npt.NDArray[np.bool_] | None = None,
) -> Raster:
    """Return an RGB copy of ``raster`` with grid, reference and answer.

    Parameters
    ----------
    raster : Raster
        The plain raster, native or as sent.
    grid : Grid
        The grid that was asked about.
    reference_mask : (rows, columns) bool or None
        The reference on this raster's pixels; its outline is drawn.
    answered : Cell or None
        The cell that was answered; framed.
    reference_cells : sequence of Cell
        The cells that count as a hit; marked at their corners.
    outcome : Outcome or None
        The sign in the answered cell: a full square for a hit, a half-filled one for a
        partial hit, a hollow diamond for a miss; none without a reference.
    region : (rows, columns) bool or None
        The pixels of this raster covered by an answer that is not a cell; outlined
        instead of its cell, which keeps the sign.
    """
    size = raster.size
    gridded = draw_grid(raster, grid, _style(size))
    pixels = draw_marks(
        gridded, grid, reference_mask, answered, reference_cells, outcome, region
    ).pixels
    labels = np.logical_or(*label_pixels(grid, size, _style(size)))
    pixels[labels] = gridded.pixels[labels]
    return Raster(pixels)


def draw_marks(
    raster: Raster,
    grid: Grid,
    reference_mask: npt.NDArray[np.bool_] | None,
    answered: Cell | None,
    reference_cells: Sequence[Cell],
    outcome: Outcome | None,
    region: npt.NDArray[np.bool_] | None = None,
    color: Rgb = ANSWER,
) -> Raster:
    """Return an RGB copy of ``raster`` with reference and answer, without the grid.

    For pictures too small for the grid's labels; parameters as :func:`draw_answer`, and
    ``color``, the answer's colour, which identifies the model.
    """
    pixels = _rgb(raster)
    stroke = _stroke(raster.size)
    if reference_mask is not None:
        _paint(pixels, _outline(reference_mask, stroke), REFERENCE)
    for cell in reference_cells:
        _paint_in(pixels, grid, cell, _corners, stroke, REFERENCE)
    if region is not None:
        _paint(pixels, _outline(region, 2 * stroke), color)
    elif answered is not None:
        _paint_in(pixels, grid, answered, _frame, stroke, color)
    if answered is not None and outcome is not None:
        _paint_sign(pixels, grid, answered, outcome, color)
    return Raster(pixels)


def draw_regions(
    raster: Raster, regions: Sequence[npt.NDArray[np.bool_]], color: Rgb = ANSWER
) -> Raster:
    """Return an RGB copy of ``raster`` with each region outlined inside its edge.

    ``regions`` are (rows, columns) on this raster's pixels; empty ones draw nothing.
    """
    pixels = _rgb(raster)
    for region in regions:
        _paint(pixels, _outline(region, 2 * _stroke(raster.size)), color)
    return Raster(pixels)


def _rgb(raster: Raster) -> npt.NDArray[np.uint8]:
    """Return a copy of the pixels as (rows, columns, 3), grey ones included."""
    grey = raster.pixels.ndim == 2
    return np.stack([raster.pixels] * 3, axis=-1) if grey else raster.pixels.copy()


def _stroke(size: SizePx) -> int:
    """Return the stroke width: 1 pixel for sides up to 511, 2 up to 767 and so on."""
    return max(1, min(16, min(size.rows, size.columns) // 256))


def _style(size: SizePx) -> GridStyle:
    scale = (_stroke(size) + 1) // 2
    return GridStyle(font_scale=scale, line_px=scale)


def _outline(mask: npt.NDArray[np.bool_], stroke: int) -> npt.NDArray[np.bool_]:
    """Return the pixels of ``mask`` within ``stroke`` of its outside."""
    inner = mask
    for _ in range(stroke):
        wide = np.pad(inner, 1)
        inner = (
            inner & wide[:-2, 1:-1] & wide[2:, 1:-1] & wide[1:-1, :-2] & wide[1:-1, 2:]
        )
    return mask & ~inner


def _cell_slices(size: SizePx, grid: Grid, cell: Cell) -> tuple[slice, slice]:
    rows, columns = grid.edges(size)
    return (
        slice(rows[cell.row], rows[cell.row + 1]),
        slice(columns[cell.column], columns[cell.column + 1]),
    )


def _paint(
    pixels: npt.NDArray[np.uint8], where: npt.NDArray[np.bool_], color: Rgb
) -> None:
    pixels[where] = color


def _paint_in(
    pixels: npt.NDArray[np.uint8],
    grid: Grid,
    cell: Cell,
    shape: Callable[[int, int, int], npt.NDArray[np.bool_]],
    stroke: int,
    color: Rgb,
) -> None:
    """Draw a shape, a function of rows, columns and stroke, over a cell."""
    size = SizePx(pixels.shape[0], pixels.shape[1])
    inside = pixels[_cell_slices(size, grid, cell)]
    _paint(inside, shape(inside.shape[0], inside.shape[1], stroke), color)


def _frame(rows: int, columns: int, stroke: int) -> npt.NDArray[np.bool_]:
    """Return a border twice as wide as the stroke."""
    frame = np.ones((rows, columns), dtype=bool)
    frame[2 * stroke : -2 * stroke, 2 * stroke : -2 * stroke] = False
    return frame


def _corners(rows: int, columns: int, stroke: int) -> npt.NDArray[np.bool_]:
    """Return an angle in each corner, a quarter of the cell long."""
    frame = np.ones((rows, columns), dtype=bool)
    frame[stroke:-stroke, stroke:-stroke] = False
    frame[rows // 4 : rows - rows // 4, :] = False
    frame[:, columns // 4 : columns - columns // 4] = False
    return frame


def _paint_sign(
    pixels: npt.NDArray[np.uint8],
    grid: Grid,
    cell: Cell,
    outcome: Outcome,
    color: Rgb,
) -> None:
    """Draw the outcome's sign in the cell's lower right, on a dark background."""
    size = SizePx(pixels.shape[0], pixels.shape[1])
    inside = pixels[_cell_slices(size, grid, cell)]
    side = max(5, min(inside.shape[:2]) * 3 // 8) | 1
    margin = 2 * _stroke(size)
    rows, columns = inside.shape[:2]
    top, left = max(0, rows - margin - side), max(0, columns - margin - side)
    ground = inside[top : top + side, left : left + side]
    _paint(ground, np.ones(ground.shape[:2], dtype=bool), _INK)
    sign = _sign(side, outcome)[: ground.shape[0], : ground.shape[1]]
    _paint(ground, sign, color)


def _sign(side: int, outcome: Outcome) -> npt.NDArray[np.bool_]:
    """Return the sign of an outcome as a (side, side) mask; ``side`` is odd."""
    y, x = np.mgrid[:side, :side]
    middle = side // 2
    border = max(1, side // 8)
    if outcome is Outcome.MISS:
        distance = np.abs(y - middle) + np.abs(x - middle)
        return np.asarray((distance < middle) & (distance >= middle - 1 - border))
    edge = np.minimum(np.minimum(y, side - 1 - y), np.minimum(x, side - 1 - x))
    square = edge >= 1
    if outcome is Outcome.PARTIAL:
        return np.asarray(square & ((x <= middle) | (edge < 1 + border)))
    return np.asarray(square)
