"""One page of an image file: its samples, and their format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import TURNS, ImageGeometry
from viewer.readers.files.refusal import DAMAGED

Samples = npt.NDArray[Any]
_SQUARE_WITHIN: Final = 0.01
"""Resolutions are often rounded: pixels nearer to square than this are square."""
_MOST_OBLONG: Final = 4.0
"""No scanner's pixels are longer; such resolutions were never measured."""


@dataclass(frozen=True, eq=False)
class RasterPage:
    """A decoded page, turned for display.

    ``samples`` is (rows, columns) of grey values or of indices into ``palette``, or
    (rows, columns, 3) of RGB, integers of ``bits`` significant bits or floats.
    ``palette`` is (n, 3) uint8 RGB and ``alpha`` (rows, columns), each None if there is
    none. ``white_is_zero`` is True if 0 is white (TIFF 6.0, PhotometricInterpretation
    0).
    """

    samples: Samples
    geometry: ImageGeometry
    bits: int = 8
    palette: npt.NDArray[np.uint8] | None = None
    alpha: Samples | None = None
    white_is_zero: bool = False

    @property
    def white(self) -> int:
        """The largest value that an integer sample can have."""
        return (1 << self.bits) - 1


def turned(values: Samples, orientation: int) -> Samples:
    """Turn stored rows and columns for display.

    ``orientation`` is that of TIFF 6.0 (page 36) and EXIF 2.3 (4.6.4 A); anything but 1
    to 8 is reserved there and counts as 1.
    """
    turn = TURNS.get(orientation, TURNS[1])
    if turn.transpose:
        values = values.swapaxes(0, 1)
    if turn.mirror:
        values = values[:, ::-1]
    if turn.flip:
        values = values[::-1]
    return np.ascontiguousarray(values)


def page_geometry(
    size: SizePx, orientation: int, per_unit: tuple[float, float] = (0, 0)
) -> ImageGeometry:
    """Return the geometry of a page of a stored size as shown.

    ``per_unit`` is the number of pixels per unit length along a row and a column, (0,
    0) if the file does not say.
    """
    across, down = per_unit
    aspect = across / down if min(per_unit) > 0 else 1.0
    is_square = abs(aspect - 1) <= _SQUARE_WITHIN
    is_likely = 1 / _MOST_OBLONG <= aspect <= _MOST_OBLONG
    ratio = None if is_square or not is_likely else aspect
    return ImageGeometry(size, aspect_ratio=ratio).turned(orientation)


def check_size(path: Path, rows: int, columns: int) -> None:
    """Refuse an implausible size, before anything is decoded."""
    from PIL import Image

    most = Image.MAX_IMAGE_PIXELS
    if min(rows, columns) < 1:
        raise UnreadableInputError(
            f"{path.name} claims an impossible size of {columns} × {rows} pixels.",
            DAMAGED,
        )
    # Where Pillow refuses too; from once its limit on it only warns.
    if most is not None and rows * columns > 2 * most:
        raise too_large(path, f"{columns:,} × {rows:,}", 2 * most)


def too_large(path: Path, size: str, most: int) -> UnreadableInputError:
    """Return the refusal of an image that has more pixels than are decoded at once."""
    return UnreadableInputError(
        f"{path.name} has {size} pixels, more than the {most // 10**6} million that an "
        "image may have.",
        "Save it smaller, or as a tiled pyramid in TIFF, which is opened as a slide.",
    )


def without_ink(left: Samples, white: int) -> Samples:
    """Convert CMYK to RGB.

    ``left`` is (rows, columns, 4), ``white`` where there is no ink.
    """
    # The product of two 16-bit samples fits neither their dtype nor int32.
    wide = left.astype(np.int64)
    rgb = (wide[..., :3] * wide[..., 3:] + white // 2) // white
    return rgb.astype(left.dtype)


def check_page(path: Path, frame: int, pages: int) -> None:
    """Refuse a page that a file does not have."""
    if not 0 <= frame < pages:
        raise UnreadableInputError(
            f"{path.name} has {pages} pages; there is no page {frame}.",
            f"Choose 0 to {pages - 1}.",
        )


def colours_of(page: RasterPage, path: Path) -> Samples:
    """Return grey or RGB samples, after looking up palette indices."""
    if page.palette is None:
        return page.samples
    most = int(page.samples.max(initial=0))
    if most >= len(page.palette):
        raise UnreadableInputError(
            f"{path.name} uses colour {most} of a palette of {len(page.palette)} "
            "colours.",
            "Export it again, as grey or RGB.",
        )
    return page.palette[page.samples]


def eight_bits(samples: Samples, white: int) -> npt.NDArray[np.uint8]:
    """Scale integers from 0 to ``white`` to 0 to 255, rounded to the nearest.

    As PNG specifies (section 12.5, sample depth scaling) and ImageMagick does.
    """
    if white == 255:
        return np.ascontiguousarray(samples, dtype=np.uint8)
    scaled = (samples.astype(np.uint32) * 255 + white // 2) // white
    return scaled.astype(np.uint8)
