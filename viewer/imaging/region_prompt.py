"""A region marked in the picture itself, for models without access to attention.

Both ways approximate LobA, which raises the attention to the region's patches inside a
model (E002-15).
"""

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.image import Raster

_Bools = npt.NDArray[np.bool_]
_CONTOUR_SHARE = 256
"""A contour is one pixel wide for as many pixels of the image's longer side."""


def draw_contour(
    raster: Raster,
    mask: _Bools,
    colour: tuple[int, int, int] = (255, 230, 0),
    width_px: int | None = None,
) -> Raster:
    """Return an RGB copy with a mask outlined on the outside.

    The line is ``width_px`` wide, by default about 1/256 of the longer side, and covers
    no pixel of the region.
    """
    from scipy.ndimage import binary_dilation

    _check(raster, mask)
    width = width_px or max(1, max(mask.shape) // _CONTOUR_SHARE)
    square = np.ones((3, 3), dtype=np.bool_)
    line = binary_dilation(mask, square, iterations=width) & ~mask
    grey = raster.pixels if raster.pixels.ndim == 3 else raster.pixels[..., None]
    pixels = np.ascontiguousarray(np.broadcast_to(grey, (*mask.shape, 3))).copy()
    pixels[line] = colour
    return Raster(pixels)


def crop_and_zoom(
    raster: Raster, mask: _Bools, side: int = 512, margin: float = 0.1
) -> Raster:
    """Return a mask's bounding box, enlarged until its longer side has ``side`` pixels.

    A margin of ``margin`` times the box's sides is kept, as far as the image reaches.
    """
    from PIL import Image

    _check(raster, mask)
    rows, columns = (_span(np.asarray(mask.any(axis=a)), margin) for a in (1, 0))
    cut = np.ascontiguousarray(raster.pixels[rows, columns])
    scale = side / max(cut.shape[:2])
    size = tuple(max(1, round(n * scale)) for n in (cut.shape[1], cut.shape[0]))
    resized = Image.fromarray(cut).resize(size, Image.Resampling.BILINEAR)
    return Raster(np.asarray(resized))


def _span(present: _Bools, margin: float) -> slice:
    at = np.flatnonzero(present)
    extra = round((at[-1] + 1 - at[0]) * margin)
    return slice(max(int(at[0]) - extra, 0), min(int(at[-1]) + 1 + extra, present.size))


def _check(raster: Raster, mask: _Bools) -> None:
    if raster.pixels.shape[:2] != mask.shape:
        raise WrongUseError(
            "A region's mask is not the size of its image.",
            "Use the mask that belongs to the image.",
        )
    if not mask.any():
        raise WrongUseError(
            "The region's mask is empty, so there is nothing to point out.",
            "Ask about the image without a region, or localize again.",
        )
