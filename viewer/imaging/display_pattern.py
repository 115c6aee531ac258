"""A test pattern for the display: grey steps, faint squares, bars and lines.

It asks what the quality-control patterns of AAPM TG-18 and TG-270 ask of the eye
(uniform steps, contrast at the dark and the bright end, single pixels, straight lines);
the drawing is our own, and no measurement.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import SizePx

STEPS: Final = 18
"""Grey steps from 0 to 100 %, equally far apart in pixel values."""
FAINT_PERCENT: Final = (1, 2, 3, 4, 5)
"""How far squares differ from black, and from white."""
LEAST: Final = SizePx(240, 240)
"""In a smaller one the parts would lie over each other."""
_GROUND, _LINE, _WHITE = 51, 110, 255
_ACROSS, _DOWN = 13, 10
"""The pattern is so many squares wide and high, or more."""
_ROW: Final = STEPS // 2

_Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PatternLabel:
    """A word beneath a part of the pattern, centred at ``x``; top at ``y``, pixels."""

    text: str
    x: int
    y: int


@dataclass(frozen=True, eq=False)
class DisplayPattern:
    """The pattern, (rows, columns) of grey values 0 to 255, and its labels."""

    pixels: _Pixels
    labels: tuple[PatternLabel, ...]


def grey_value(percent: float) -> int:
    """Return the pixel value of so many percent of white."""
    return round(_WHITE * percent / 100)


def display_pattern(size: SizePx) -> DisplayPattern:
    """Draw the pattern for an area of the screen, each value for one of its pixels.

    Parameters
    ----------
    size : SizePx
        The area in the screen's own pixels; at least `LEAST`.

    Raises
    ------
    ValueError
        If it is smaller.
    """
    if size.rows < LEAST.rows or size.columns < LEAST.columns:
        raise ValueError(f"the pattern needs {LEAST.columns} x {LEAST.rows} pixels")
    pixels = np.full((size.rows, size.columns), _GROUND, np.uint8)
    side = min(size.rows // _DOWN, size.columns // _ACROSS)
    _draw_geometry(pixels, side)
    left = (size.columns - _ROW * side) // 2
    top = (size.rows - 6 * side) // 2
    labels = (
        *_draw_faint(pixels, (top, left), side, dark=True),
        *_draw_steps(pixels, (top + 3 * side // 2, left), side),
        *_draw_faint(pixels, (top + 4 * side, left), side, dark=False),
    )
    ramp = np.linspace(0, _WHITE, _ROW * side).round().astype(np.uint8)
    pixels[top + 11 * side // 2 : top + 6 * side, left : left + _ROW * side] = ramp
    _draw_bars(pixels, side)
    return DisplayPattern(pixels, labels)


def _draw_geometry(pixels: _Pixels, side: int) -> None:
    """Draw a grid from the middle on, the outermost pixels, and a circle."""
    rows, columns = pixels.shape
    pixels[rows // 2 % side :: side] = _LINE
    pixels[:, columns // 2 % side :: side] = _LINE
    for along, across in ((pixels, rows), (pixels.T, columns)):
        _draw_circle(along, across, min(rows, columns) / 2 - 2)
    pixels[[0, -1]] = _WHITE
    pixels[:, [0, -1]] = _WHITE


def _draw_circle(pixels: _Pixels, rows: int, radius: float) -> None:
    """Draw the two points of a circle in each row; those of each column come after.

    Together they leave no gap, and no pixel beside the line is looked at.
    """
    off = np.arange(rows) - (rows - 1) / 2
    inside = np.flatnonzero(np.abs(off) <= radius)
    half = np.sqrt(radius**2 - off[inside] ** 2)
    middle = (pixels.shape[1] - 1) / 2
    for x in (middle - half, middle + half):
        pixels[inside, np.rint(x).astype(int)] = _WHITE


def _draw_steps(
    pixels: _Pixels, corner: tuple[int, int], side: int
) -> list[PatternLabel]:
    """Draw the steps in two rows, there and back, so that neighbours touch."""
    labels = []
    for step in range(STEPS):
        lower, along = divmod(step, _ROW)
        column = _ROW - 1 - along if lower else along
        y, x = corner[0] + lower * side, corner[1] + column * side
        percent = 100 * step / (STEPS - 1)
        pixels[y : y + side, x : x + side] = grey_value(percent)
        label_y = y + side if lower else y - side // 2
        labels.append(PatternLabel(f"{percent:.0f}", x + side // 2, label_y))
    return labels


def _draw_faint(
    pixels: _Pixels, corner: tuple[int, int], side: int, *, dark: bool
) -> list[PatternLabel]:
    """Draw squares of 1 to 5 % on black, or of 99 to 95 % on white."""
    top, left = corner
    wide = _ROW * side
    pixels[top : top + side, left : left + wide] = grey_value(0 if dark else 100)
    labels = []
    pitch = wide // len(FAINT_PERCENT)
    for number, off in enumerate(FAINT_PERCENT):
        percent = off if dark else 100 - off
        y, x = top + side // 4, left + number * pitch + (pitch - side // 2) // 2
        pixels[y : y + side // 2, x : x + side // 2] = grey_value(percent)
        label_y = top - side // 2 if dark else top + side
        labels.append(PatternLabel(f"{percent} %", x + side // 4, label_y))
    return labels


def _draw_bars(pixels: _Pixels, side: int) -> None:
    """Draw lines one and two pixels wide, across and down, in corners and beside."""
    rows, columns = pixels.shape
    tops = (side // 2, (rows - side) // 2, rows - 3 * side // 2)
    for top in tops:
        for left in (side // 2, columns - 3 * side // 2):
            pixels[top : top + side, left : left + side] = _bars(side)


def _bars(side: int) -> _Pixels:
    """Return a square: lines of one pixel above, of two below, down and across."""
    half = side // 2
    y, x = np.ogrid[:side, :side]
    width = np.where(y < half, 1, 2)
    along = np.where(x < half, x, y)
    return np.where(along // width % 2 == 0, _WHITE, 0).astype(np.uint8)
