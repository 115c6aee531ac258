"""One picture of the filmstrip: what was sent, its reference and its answer."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx
from viewer.domain.image import PixelImage, Raster
from viewer.imaging.answer_overlay import draw_marks
from viewer.imaging.luts import to_raster
from viewer.imaging.resample import FitMode, fit
from viewer.services.answers import answer_of_trial
from viewer.services.measure import TrialRow
from viewer.services.view_image import load_shown_image, reference_masks

_KEPT: Final = 1024
_Index = npt.NDArray[np.int64]


def film_picture(store: Path, row: TrialRow, side: int) -> Raster:
    """Return a trial's image as a square of ``side`` pixels with answer and reference.

    Reads files and the store; meant for a background thread. An image that cannot be
    read raises.
    """
    answer = answer_of_trial(store, row.trial)
    plain = _plain(row.ref, answer.field, side)
    mask = reference_masks(store, row.ref).get(row.finding)
    cells = tuple(answer.grid.cell(label) for label in answer.reference_cells)
    return draw_marks(
        plain,
        answer.grid,
        None if mask is None else _sampled_mask(mask.array(), answer.field, side),
        answer.grid.cell(row.score.answer) if row.score.answer else None,
        tuple(cell for cell in cells if cell is not None),
        row.score.outcome,
    )


@lru_cache(maxsize=_KEPT)
def _plain(ref: ImageRef, field: BoxPx, side: int) -> Raster:
    """Return an image's field; kept, since many trials ask about the same image.

    Decoding JPEG 2000 holds the interpreter for as long as it takes, so that even in
    the background every decoding less is felt.
    """
    return _field_raster(load_shown_image(ref).image, field, side)


def _field_raster(image: PixelImage, field: BoxPx, side: int) -> Raster:
    """Return the field as a square in the file's own window, black beside the image.

    Only every n-th pixel is looked at, twice as many as wanted, then averaged.
    """
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


def _sampled_mask(
    mask: npt.NDArray[np.bool_], field: BoxPx, side: int
) -> npt.NDArray[np.bool_]:
    rows, columns = _samples(field, side)
    inside, at = _looked_up(rows, columns, mask.shape[0], mask.shape[1])
    return np.asarray(mask[at] & inside)


def _samples(field: BoxPx, n: int) -> tuple[_Index, _Index]:
    """Return the native rows and columns under the middles of n × n pixels."""
    middles = (np.arange(n) + 0.5) / n
    rows = np.floor(field.y0 + middles * (field.y1 - field.y0))
    columns = np.floor(field.x0 + middles * (field.x1 - field.x0))
    return rows.astype(np.int64), columns.astype(np.int64)


def _looked_up(
    rows: _Index, columns: _Index, height: int, width: int
) -> tuple[npt.NDArray[np.bool_], tuple[_Index, _Index]]:
    """Return which samples lie on the image, and an index that stays on it."""
    on_rows, on_columns = (
        (rows >= 0) & (rows < height),
        (columns >= 0) & (columns < width),
    )
    clipped = np.ix_(rows.clip(0, height - 1), columns.clip(0, width - 1))
    return on_rows[:, None] & on_columns[None, :], (clipped[0], clipped[1])
