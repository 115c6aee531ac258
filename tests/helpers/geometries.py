"""Images whose pixels are square and others, with what lies where in millimetres.

Everything is worked out by NumPy from the spacing alone, in units of a pixel's width.
"""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning

PATIENT = SpacingMeaning.PATIENT
SQUARE: Final = {
    "square": ImageGeometry(SizePx(300, 421)),
    "square, in millimetres": ImageGeometry(
        SizePx(421, 300), Spacing(0.5, 0.5, PATIENT)
    ),
}
OTHERS: Final = {
    "4 x 1 mm, wide": ImageGeometry(SizePx(100, 512), Spacing(4.0, 1.0, PATIENT)),
    "4 x 1 mm, high": ImageGeometry(SizePx(200, 300), Spacing(4.0, 1.0, PATIENT)),
    "1 x 4 mm": ImageGeometry(SizePx(512, 128), Spacing(1.0, 4.0, PATIENT)),
    "coronal of a CT": ImageGeometry(SizePx(150, 512), Spacing(5.0, 0.703125, PATIENT)),
    "a ratio alone": ImageGeometry(SizePx(240, 320), aspect_ratio=1.25),
    "odd sizes": ImageGeometry(SizePx(97, 331), Spacing(2.5, 0.7, PATIENT)),
}
GEOMETRIES: Final = {**SQUARE, **OTHERS}
_SHADES: Final = 8
"""Parts that each side of a pixel is cut into, to shade what an edge crosses."""


def pixel_height(geometry: ImageGeometry) -> float:
    """Return a pixel's height in widths of a pixel."""
    if geometry.spacing is None:
        return geometry.aspect_ratio or 1.0
    return geometry.spacing.row_mm / geometry.spacing.column_mm


def centred_square(geometry: ImageGeometry) -> BoxPx:
    """Return the native rectangle of the centred square, from whole pixels on."""
    tall = pixel_height(geometry)
    rows, columns = geometry.size.rows, geometry.size.columns
    side = min(columns, rows * tall)
    width, height = side, side / tall
    x0, y0 = np.ceil((columns - width - 1) / 2), np.ceil((rows - height - 1) / 2)
    return BoxPx(float(x0), float(y0), float(x0 + width), float(y0 + height))


@cache
def disc(
    geometry: ImageGeometry, x: float, y: float, radius: float
) -> npt.NDArray[np.uint8]:
    """Return white on black: a disc about native (x, y), ``radius`` pixel widths."""
    rows, columns = geometry.size.rows, geometry.size.columns
    down = (np.arange(rows * _SHADES) + 0.5) / _SHADES
    across = (np.arange(columns * _SHADES) + 0.5) / _SHADES
    far = np.hypot((down[:, None] - y) * pixel_height(geometry), across - x)
    parts = (far <= radius).reshape(rows, _SHADES, columns, _SHADES)
    return np.asarray(np.rint(255 * parts.mean((1, 3))), dtype=np.uint8)


def ellipse_of(pixels: npt.NDArray[np.uint8]) -> tuple[float, float, float, float]:
    """Return centre x, y and both half axes of a bright ellipse, by its moments."""
    weight = pixels.astype(float)
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]] + 0.5
    total = weight.sum()
    mx, my = (weight * x).sum() / total, (weight * y).sum() / total
    xx, yy = (weight * (x - mx) ** 2).sum(), (weight * (y - my) ** 2).sum()
    xy = (weight * (x - mx) * (y - my)).sum()
    values = np.linalg.eigvalsh(np.array([[xx, xy], [xy, yy]]) / total)
    low, high = 2 * np.sqrt(values)
    return float(mx), float(my), float(low), float(high)
