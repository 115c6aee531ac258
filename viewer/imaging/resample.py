"""From native pixels to the square that is sent, for images and masks (E000-07).

The four modes differ only in which rectangle of the native image is mapped to which
rectangle of the square; :func:`_place` decides that, and images, masks and the affine
map all follow from it. What is sent has square pixels: a native pixel that is
``pixel_aspect`` times taller than wide is stretched by that factor in the only resize.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, BoxPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry

_MAX_PIXELS = 1 << 28
_Pixel = TypeVar("_Pixel", bound=np.generic)


class FitMode(StrEnum):
    """How an image becomes a square; Gosai 2025 crops, then resizes (E000-07)."""

    CROP_RESIZE = "crop_resize"
    """Crop the centred square of the shorter side, then resize it."""
    RESIZE_CROP = "resize_crop"
    """Resize the shorter side to the square's, then crop the centre."""
    LETTERBOX = "letterbox"
    """Resize the longer side to the square's; black beside it. Nothing is lost."""
    STRETCH = "stretch"
    """Resize both sides, whatever becomes of the proportions."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A source rectangle: origin in whole pixels, and its width and height.

    Width and height are whole as well if pixels are square, else exact.
    """

    x: int
    y: int
    width: Fraction
    height: Fraction


@dataclass(frozen=True, slots=True)
class _Rectangle:
    """A rectangle of whole pixels: origin, width and height."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _Placement:
    """A native rectangle and its target; the target may extend beyond the square."""

    source: _Source
    target: _Rectangle


def crop_window(geometry: ImageGeometry) -> BoxPx:
    """Return the centred square part of an image, in native pixels.

    With a the aspect of a pixel: w = min(columns, rows·a), h = min(rows, columns/a);
    x0 and y0 are the whole pixels nearest to (columns − w)/2 and (rows − h)/2, the
    lower of two.
    """
    part = _cropped(geometry)
    x1, y1 = part.x + part.width, part.y + part.height
    return BoxPx(part.x, part.y, float(x1), float(y1))


def _cropped(geometry: ImageGeometry) -> _Source:
    size, aspect = geometry.size, Fraction(geometry.pixel_aspect)
    width = min(Fraction(size.columns), size.rows * aspect)
    height = min(Fraction(size.rows), size.columns / aspect)
    x, y = ceil((size.columns - width - 1) / 2), ceil((size.rows - height - 1) / 2)
    return _Source(x, y, width, height)


def fit_affine(geometry: ImageGeometry, side: int, mode: FitMode) -> Affine:
    """Return the map from native pixel coordinates to those of the sent square."""
    place = _place(geometry, side, mode)
    scale_x = float(place.target.width / place.source.width)
    scale_y = float(place.target.height / place.source.height)
    return Affine(
        scale_x,
        0.0,
        place.target.x - place.source.x * scale_x,
        0.0,
        scale_y,
        place.target.y - place.source.y * scale_y,
    )


def fit(raster: Raster, side: int, mode: FitMode) -> Raster:
    """Return ``raster`` as a square of ``side`` square pixels.

    Resampling is Pillow's antialiased bilinear, in fixed point and hence the same on
    every machine.
    """
    place = _place(_geometry_of(raster), side, mode)
    source, target = place.source, place.target
    # Cut first: given a box, Pillow's filter would also see the pixels beside it.
    bottom, right = ceil(source.y + source.height), ceil(source.x + source.width)
    cut = raster.pixels[source.y : bottom, source.x : right]
    from PIL import Image  # the window's first image needs none of this

    resized = Image.fromarray(np.ascontiguousarray(cut)).resize(
        (target.width, target.height),
        Image.Resampling.BILINEAR,
        box=(0, 0, float(source.width), float(source.height)),
    )
    return Raster(_on_square(np.asarray(resized), target, side))


def fit_mask(
    mask: npt.NDArray[np.bool_], pixel_aspect: float, side: int, mode: FitMode
) -> npt.NDArray[np.bool_]:
    """Return a (rows, columns) mask as a square of ``side`` pixels.

    Nearest neighbour: target pixel i of n takes source pixel ⌊(i + ½)·s/n⌋ of s,
    exactly (E000-17). The margins of a letterboxed image are False.
    """
    rows, columns = mask.shape
    geometry = ImageGeometry(SizePx(int(rows), int(columns)), aspect_ratio=pixel_aspect)
    place = _place(geometry, side, mode)
    source, target = place.source, place.target
    ys = source.y + _nearest(source.height, target.height)
    xs = source.x + _nearest(source.width, target.width)
    return _on_square(mask[np.ix_(ys, xs)], target, side)


@lru_cache(maxsize=256)
def _nearest(source: Fraction | int, target: int) -> npt.NDArray[np.int64]:
    """Return the source index of each of ``target`` pixels; cached and read-only."""
    length, parts = source.numerator, 2 * target * source.denominator
    return np.array([(2 * i + 1) * length // parts for i in range(target)], np.int64)


def _on_square(
    pixels: npt.NDArray[_Pixel], target: _Rectangle, side: int
) -> npt.NDArray[_Pixel]:
    """Place resized pixels on a zeroed square at ``target``, clipping the excess."""
    square = np.zeros((side, side, *pixels.shape[2:]), dtype=pixels.dtype)
    top, left = max(target.y, 0), max(target.x, 0)
    cut = pixels[top - target.y :, left - target.x :][: side - top, : side - left]
    square[top : top + cut.shape[0], left : left + cut.shape[1]] = cut
    return square


def _place(geometry: ImageGeometry, side: int, mode: FitMode) -> _Placement:
    if side < 1:
        raise WrongUseError(
            f"An image cannot be sent at {side} pixels.", "Choose a side of 1 or more."
        )
    size = geometry.size
    whole = _Source(0, 0, Fraction(size.columns), Fraction(size.rows))
    square = _Rectangle(0, 0, side, side)
    if mode is FitMode.STRETCH:
        return _Placement(whole, square)
    if mode is FitMode.CROP_RESIZE:
        return _Placement(_cropped(geometry), square)
    return _Placement(whole, _in_proportion(geometry, side, mode))


def _in_proportion(geometry: ImageGeometry, side: int, mode: FitMode) -> _Rectangle:
    """Return the whole image scaled to fill or to fit the square, and centred."""
    size = geometry.size
    wide, tall = Fraction(size.columns), size.rows * Fraction(geometry.pixel_aspect)
    reference = min(wide, tall) if mode is FitMode.RESIZE_CROP else max(wide, tall)
    width = max(1, floor(wide * side / reference))
    height = max(1, floor(tall * side / reference))
    if width * height > _MAX_PIXELS:
        raise WrongUseError(
            f"An image of {size.columns} × {size.rows} pixels is too long and narrow "
            f"to be resized to {side} pixels and then cropped.",
            "Crop it first: choose crop_resize.",
        )
    return _Rectangle((side - width) // 2, (side - height) // 2, width, height)


def shrunk(raster: Raster, longest: int | None) -> Raster:
    """Return a raster of square pixels with at most ``longest`` on its longer side.

    Proportions are kept to the nearest pixel; a smaller raster of square pixels is
    returned unchanged.
    """
    size = shrunk_size(_geometry_of(raster), longest)
    if size == raster.size:
        return Raster(raster.pixels) if raster.pixel_aspect != 1 else raster
    from PIL import Image

    image = Image.fromarray(raster.pixels)
    wanted = (size.columns, size.rows)
    return Raster(np.asarray(image.resize(wanted, Image.Resampling.BILINEAR)))


def shrunk_size(geometry: ImageGeometry, longest: int | None) -> SizePx:
    """Return the size that ``shrunk`` gives an image.

    If pixels are not square, the coarser side is first brought to the finer one's
    resolution, so that no detail is lost.
    """
    size, aspect = geometry.size, geometry.pixel_aspect
    rows, columns = size.rows * max(1.0, aspect), size.columns / min(1.0, aspect)
    longer = max(rows, columns, 1.0)
    scale = 1.0 if longest is None else min(1.0, longest / longer)
    found = SizePx(max(1, round(rows * scale)), max(1, round(columns * scale)))
    if found.rows * found.columns > max(_MAX_PIXELS, size.rows * size.columns):
        raise WrongUseError(
            f"The pixels of an image of {size.columns} × {size.rows} are too "
            "elongated for it to be shown with square pixels.",
            "Check its Pixel Spacing and Pixel Aspect Ratio.",
        )
    return found


def _geometry_of(raster: Raster) -> ImageGeometry:
    return ImageGeometry(raster.size, aspect_ratio=raster.pixel_aspect)


def squared(raster: Raster) -> Raster:
    """Return a raster of square pixels; unchanged if they are square already."""
    return shrunk(raster, None)


def shrunk_mask(mask: npt.NDArray[np.bool_], size: SizePx) -> npt.NDArray[np.bool_]:
    """Return a (rows, columns) mask in another size, by nearest neighbour.

    A region that nearest neighbour would miss covers the pixels it falls in instead, so
    that it is never lost.
    """
    ys = _nearest(mask.shape[0], size.rows)
    xs = _nearest(mask.shape[1], size.columns)
    found = np.asarray(mask[np.ix_(ys, xs)])
    if not found.any():
        rows, columns = np.nonzero(mask)
        found[
            rows * size.rows // mask.shape[0], columns * size.columns // mask.shape[1]
        ] = True
    return found
