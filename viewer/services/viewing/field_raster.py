"""A small picture of the part of an image that a question covers, for the filmstrip."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.imaging.luts import to_raster

_Index = npt.NDArray[np.int64]


def field_raster(ref: ImageRef, field: BoxPx, side: int) -> Raster:
    """Return the field as a square in the file's window, black beside the image.

    Only every n-th pixel is sampled, twice as many as needed, then averaged. Raises if
    the image cannot be read.
    """
    from viewer.imaging.resample import FitMode, fit  # a decoding process needs it
    from viewer.readers.pixels import load_pixels

    image = load_pixels(ref)
    rows, columns = _samples(field, 2 * side)
    inside, at = _looked_up(rows, columns, image.size.rows, image.size.columns)
    thinned = replace(
        image,
        values=image.values[at],
        padding=None if image.padding is None else image.padding[at],
    )
    pixels = to_raster(thinned).pixels.copy()
    pixels[~inside] = 0
    return fit(Raster(pixels), side, FitMode.STRETCH)


def field_mask(
    mask: npt.NDArray[np.bool_], field: BoxPx, side: int
) -> npt.NDArray[np.bool_]:
    """Return a native mask on the field's square, sampled at pixel centres."""
    rows, columns = _samples(field, side)
    inside, at = _looked_up(rows, columns, mask.shape[0], mask.shape[1])
    return np.asarray(mask[at] & inside)


def _samples(field: BoxPx, n: int) -> tuple[_Index, _Index]:
    """Return the native rows and columns at the centres of n × n pixels."""
    middles = (np.arange(n) + 0.5) / n
    rows = np.floor(field.y0 + middles * (field.y1 - field.y0))
    columns = np.floor(field.x0 + middles * (field.x1 - field.x0))
    return rows.astype(np.int64), columns.astype(np.int64)


def _looked_up(
    rows: _Index, columns: _Index, height: int, width: int
) -> tuple[npt.NDArray[np.bool_], tuple[_Index, _Index]]:
    """Return which samples lie on the image, and indices clipped to it."""
    on_rows, on_columns = (
        (rows >= 0) & (rows < height),
        (columns >= 0) & (columns < width),
    )
    clipped = np.ix_(rows.clip(0, height - 1), columns.clip(0, width - 1))
    return on_rows[:, None] & on_columns[None, :], (clipped[0], clipped[1])
