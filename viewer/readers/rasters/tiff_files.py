"""TIFF and BigTIFF by tifffile, each page with its own size (TIFF 6.0).

PhotometricInterpretation decides what is shown; additional samples are ExtraSamples, of
which only alpha is used. A page whose tags contradict each other or its bytes is
refused.
"""

from contextlib import contextmanager
from itertools import islice
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.files.refusal import DAMAGED
from viewer.readers.rasters.page import (
    RasterPage,
    Samples,
    check_page,
    check_size,
    page_geometry,
    turned,
    without_ink,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tifffile import TiffPage

STARTS: Final = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
"""TIFF and BigTIFF, little and big endian."""
_SAVE_PLAINLY: Final = "Save it as grey or RGB of 8 or 16 bits."
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _MASK, _CMYK, _YCBCR = range(7)
_CIELAB: Final = 8
_SAMPLES: Final = {
    _WHITE_IS_ZERO: 1, _BLACK_IS_ZERO: 1, _RGB: 3, _PALETTE: 1, _MASK: 1, _CMYK: 4,
    _YCBCR: 3, _CIELAB: 3,
}  # fmt: skip
"""How many samples of a pixel say its colour (TIFF 6.0, PhotometricInterpretation)."""
_JPEG: Final = frozenset({6, 7})
"""Compressions whose decoder turns YCbCr into RGB."""
_UINT, _INT, _FLOAT, _UNDEFINED = 1, 2, 3, 4
_DEPTHS: Final = {_UINT: {*range(1, 17), 32}, _INT: {8, 16, 32}, _FLOAT: {16, 32, 64}}
"""Bits of the sample formats that are read (TIFF 6.0, page 80)."""
_FORMAT_NAMES: Final = {_UINT: "whole", _INT: "signed", _FLOAT: "floating-point"}
_COLOUR_BITS: Final = 16
"""Colour of more bits has no white that the standard names."""
_ASSOCIATED, _UNASSOCIATED = 1, 2
"""Extra samples that are alpha, multiplied into the colours or not (page 31)."""
_ORIENTATION, _X_RESOLUTION, _Y_RESOLUTION, _INK_SET = 274, 282, 283, 332
_BY_LIBTIFF: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 1, 6: 2, 7: 3, 8: 4}
"""How libtiff turns each Orientation; it never exchanges rows and columns."""


def tiff_geometries(path: Path, most: int) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the geometries of the first ``most`` pages, and the number of pages.

    No pixel is decoded. An implausible size of the first page is refused; that of
    others when they are opened.
    """
    with _pages(path) as pages:
        check_size(path, pages[0].imagelength, pages[0].imagewidth)
        return tuple(map(_geometry, islice(pages, most))), len(pages)


def tiff_page(path: Path, frame: int) -> RasterPage:
    """Return a page, turned as its Orientation says.

    Raises
    ------
    UnreadableInputError
        If its samples have an unsupported meaning or format, its tags contradict each
        other, or its file is truncated.
    """
    with _pages(path) as pages:
        check_page(path, frame, len(pages))
        page = pages[frame]
        _check_form(page, path)
        _check_compression(page, path)
        _check_bytes(page, path)
        orientation = _number(page, _ORIENTATION, 1)
        # tifffile returns these as coded, with subsampled chrominance.
        if page.photometric in {_YCBCR, _CIELAB} and page.compression not in _JPEG:
            rgb = turned(_by_libtiff(path, frame, orientation), orientation)
            return RasterPage(rgb, _geometry(page))
        return _interpreted(page, turned(_stored(page), orientation), path)


@contextmanager
def _pages(path: Path) -> "Iterator[Sequence[TiffPage]]":
    from tifffile import TiffFile

    with TiffFile(path) as file:
        yield cast("Sequence[TiffPage]", file.pages)


def _geometry(page: "TiffPage") -> ImageGeometry:
    size = SizePx(int(page.imagelength), int(page.imagewidth))
    per_unit = (_ratio(page, _X_RESOLUTION), _ratio(page, _Y_RESOLUTION))
    return page_geometry(size, _number(page, _ORIENTATION, 1), per_unit)


def _number(page: "TiffPage", tag: int, default: int) -> int:
    """Return a tag with one number, its default if it is absent or invalid."""
    value = page.tags.valueof(tag, default)
    return int(value) if isinstance(value, int) else default


def _ratio(page: "TiffPage", tag: int) -> float:
    value = page.tags.valueof(tag, (0, 0))
    above, below = value if isinstance(value, tuple) and len(value) == 2 else (0, 0)
    return above / below if below else 0.0


def _check_form(page: "TiffPage", path: Path) -> None:
    """Refuse a page with an unsupported sample format."""
    check_size(path, page.imagelength, page.imagewidth)
    needed = _SAMPLES.get(int(page.photometric))
    if needed is None or page.imagedepth != 1:
        named = getattr(page.photometric, "name", page.photometric)
        kind = f"of kind {named}" if needed is None else "a volume"
        raise UnreadableInputError(f"{path.name} is {kind}.", _SAVE_PLAINLY)
    if page.samplesperpixel < needed:
        raise UnreadableInputError(
            f"{path.name} has {page.samplesperpixel} samples per pixel, but its "
            f"colour needs {needed} (PhotometricInterpretation "
            f"{int(page.photometric)}).",
            _SAVE_PLAINLY,
        )
    if page.photometric == _CMYK and _number(page, _INK_SET, 1) != 1:
        raise UnreadableInputError(
            f"{path.name} has other inks than cyan, magenta, yellow and black.",
            _SAVE_PLAINLY,
        )
    _check_depth(page, path, is_colour=needed > 1 or page.photometric == _PALETTE)


def _check_compression(page: "TiffPage", path: Path) -> None:
    from tifffile import TIFF

    if page.compression not in TIFF.DECOMPRESSORS:
        named = getattr(page.compression, "name", page.compression)
        raise UnreadableInputError(
            f"{path.name} is compressed as {named}, which is not read.",
            "Save it without compression, or with LZW or Deflate.",
        )


def _check_depth(page: "TiffPage", path: Path, *, is_colour: bool) -> None:
    form, bits = _sample_format(page), page.bitspersample
    if form not in _DEPTHS or bits not in _DEPTHS[form]:
        raise UnreadableInputError(
            f"{path.name} has samples of {bits} bits (SampleFormat {form}).",
            _SAVE_PLAINLY,
        )
    if is_colour and (form != _UINT or bits > _COLOUR_BITS):
        raise UnreadableInputError(
            f"{path.name} has colours of {bits} bits as {_FORMAT_NAMES[form]} "
            "numbers, but does not say which of them is white.",
            _SAVE_PLAINLY,
        )


def _sample_format(page: "TiffPage") -> int:
    """Return the sample format; undefined counts as unsigned (TIFF 6.0, page 80)."""
    form = page.sampleformat
    return _UINT if form == _UNDEFINED else int(form) if isinstance(form, int) else 0


def _check_bytes(page: "TiffPage", path: Path) -> None:
    """Refuse a page whose pixel data are not all located in the file."""
    needed, offsets = prod(page.chunked), page.dataoffsets
    there = [count for count in page.databytecounts if count > 0]
    if len(offsets) < needed or len(there) < needed:
        given = min(len(offsets), len(there))
        raise UnreadableInputError(
            f"{path.name} needs {needed} strips or tiles for its size, but says of "
            f"only {given} where they are.",
            DAMAGED,
        )
    ends = map(sum, zip(offsets, page.databytecounts, strict=True))
    end, held = max(ends), path.stat().st_size
    if end > held:
        raise UnreadableInputError(
            f"{path.name} is cut short: its pixels extend to byte {end:,}, but it has "
            f"{held:,}.",
            DAMAGED,
        )


def _by_libtiff(path: Path, frame: int, orientation: int) -> Samples:
    """Return a page converted to RGB by libtiff, in stored row order."""
    from imagecodecs import tiff_decode

    shown: Samples = tiff_decode(path.read_bytes(), index=frame, asrgb=True)
    return turned(shown[..., :3], _BY_LIBTIFF.get(orientation, 1))


def _stored(page: "TiffPage") -> Samples:
    """Return (rows, columns, samples), whether stored in planes or not."""
    # (planes, depth, rows, columns, samples), of which planes or samples is 1.
    planes = page.asarray().reshape(page.shaped)
    # tifffile returns pages of one bit as bool, with which nothing can be scaled.
    planes = planes.view(np.uint8) if planes.dtype == np.bool_ else planes
    return np.moveaxis(planes[:, 0], 0, 2).reshape(*planes.shape[2:4], -1)


def _interpreted(page: "TiffPage", stored: Samples, path: Path) -> RasterPage:
    bits, photometric = int(page.bitspersample), int(page.photometric)
    needed = _SAMPLES[photometric]
    colour, alpha = stored[..., :needed], _alpha(page, stored, needed)
    if photometric == _CMYK:
        colour = without_ink((1 << bits) - 1 - colour, (1 << bits) - 1)
    elif alpha is not None and _ASSOCIATED in page.extrasamples:
        colour = _unmultiplied(colour, alpha[..., None], (1 << bits) - 1)
    palette = _palette(page, path) if photometric == _PALETTE else None
    return RasterPage(
        colour[..., 0] if needed == 1 else colour,
        _geometry(page),
        bits if palette is None else 8,
        palette,
        alpha,
        photometric == _WHITE_IS_ZERO,
    )


def _alpha(page: "TiffPage", stored: Samples, needed: int) -> Samples | None:
    extra = [int(kind) for kind in page.extrasamples]
    places = [n for n, kind in enumerate(extra) if kind in {_ASSOCIATED, _UNASSOCIATED}]
    return stored[..., needed + places[0]] if places else None


def _palette(page: "TiffPage", path: Path) -> Samples:
    """Return a ColorMap as bytes; some writers use only 8 bits (TIFF 6.0, page 23)."""
    wide = page.colormap
    if wide is None:
        raise UnreadableInputError(
            f"{path.name} has colour indices but no ColorMap.", _SAVE_PLAINLY
        )
    bits = 0 if wide.max(initial=0) < 256 else 8
    return np.ascontiguousarray((wide >> bits).astype(np.uint8).T)


def _unmultiplied(colour: Samples, alpha: Samples, white: int) -> Samples:
    """Return colours divided by alpha; fully transparent pixels are unchanged."""
    # Half of alpha rounds to the nearest; the product of 16-bit samples needs int64.
    wide = colour.astype(np.int64) * white + alpha // 2
    divided = (wide // np.maximum(alpha, 1)).clip(0, white)
    return np.where(alpha > 0, divided, colour).astype(colour.dtype)
