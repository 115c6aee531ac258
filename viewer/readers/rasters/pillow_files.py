"""PNG, JPEG, JPEG 2000, WebP, BMP and GIF, by Pillow.

Pillow reduces deeper colour in PNG to 8 bits, does not notice missing rows of a PNG,
and stretches every JPEG 2000 to 8 or 16 bits; imagecodecs decodes these instead.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from PIL import ExifTags, Image

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.codecs.jpeg2000_header import MainHeader, codestream_of, main_header
from viewer.readers.files.refusal import DAMAGED
from viewer.readers.rasters.page import (
    RasterPage,
    Samples,
    check_page,
    page_geometry,
    too_large,
    turned,
    without_ink,
)

FORMATS: Final = ("PNG", "JPEG", "JPEG2000", "WEBP", "BMP", "GIF")
_OF_OWN_SIZES: Final = "MPO"
"""JPEGs one after the other; the frames of other formats share one canvas."""
_PNG_SIGNATURE: Final = 8
_RESOLUTIONS: Final = ("dpi", "aspect", "jfif_density")
"""What Pillow calls the pixels a unit of length, known or not, of rows and columns."""
_MOST_CHUNKS: Final = 1 << 20
_MOST_EXIF: Final = 1 << 16
"""Bytes; in JPEG, where EXIF comes from, there is no room for more."""
_GREY_MODES: Final = frozenset({"1", "L", "LA"})


def pillow_geometries(path: Path) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the geometry of each page, or one for all, and the number of pages."""
    with _opened(path) as image:
        pages = _page_count(image)
        if image.format != _OF_OWN_SIZES:
            return (_geometry(image, path),), pages
        return tuple(_at(image, path, page) for page in range(pages)), pages


def pillow_page(path: Path, frame: int) -> RasterPage:
    """Return a page, turned as its EXIF Orientation says.

    Raises
    ------
    UnreadableInputError
        If the file has no such page, or contradicts itself.
    """
    with _opened(path) as image:
        geometry = _at(image, path, frame)
        colour, alpha, bits = _samples(image, path)
        orientation = geometry.stored_orientation
        return RasterPage(
            turned(colour, orientation),
            geometry,
            bits,
            _palette(image),
            None if alpha is None else turned(alpha, orientation),
        )


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    try:
        # Without the list Pillow would also open EPS, for which it starts Ghostscript.
        with Image.open(path, formats=FORMATS) as image:
            yield image
    except Image.DecompressionBombError as error:
        most = 2 * (Image.MAX_IMAGE_PIXELS or 0)
        raise too_large(path, "too many", most) from error


def _page_count(image: Image.Image) -> int:
    return int(getattr(image, "n_frames", 1))


def _at(image: Image.Image, path: Path, frame: int) -> ImageGeometry:
    """Go to a page of a file, and return its geometry."""
    pages = _page_count(image)
    check_page(path, frame, pages)
    image.seek(frame)
    return _geometry(image, path)


def _geometry(image: Image.Image, path: Path) -> ImageGeometry:
    size, info = SizePx(image.height, image.width), image.info
    resolutions = (info.get(name) for name in _RESOLUTIONS)
    across, down = next(filter(None, resolutions), (0, 0))
    per_unit = float(across), float(down)
    return page_geometry(size, _orientation(image, path), per_unit)


def _orientation(image: Image.Image, path: Path) -> int:
    """Return the EXIF Orientation, 1 if it is missing or damaged."""
    data = image.info.get("exif") or (_png_exif(path) if image.format == "PNG" else b"")
    exif = Image.Exif()
    try:
        exif.load(data)
        return int(exif.get(ExifTags.Base.Orientation, 1))
    except (SyntaxError, ValueError, TypeError, OSError, struct.error):
        return 1


def _png_exif(path: Path) -> bytes:
    """Return the eXIf chunk, which ImageMagick writes after the pixels."""
    with path.open("rb") as stream:
        stream.seek(_PNG_SIGNATURE)
        for _ in range(_MOST_CHUNKS):
            length, name = int.from_bytes(stream.read(4)), stream.read(4)
            if name == b"eXIf":
                return stream.read(min(length, _MOST_EXIF))
            if len(name) < 4:
                break
            # The checksum of four bytes follows each chunk (PNG, 5.3).
            stream.seek(length + 4, os.SEEK_CUR)
    return b""


def _samples(image: Image.Image, path: Path) -> tuple[Samples, Samples | None, int]:
    """Return grey, indices or RGB, then alpha or None, then the bits per sample."""
    if image.format == "JPEG2000":
        samples, bits = _decoded_jpeg2000(path, SizePx(image.height, image.width))
        if image.mode == "CMYK":
            white = (1 << bits) - 1
            return without_ink(white - samples, white), None, bits
        return *_parted(samples), bits
    # libpng decodes the first picture only: an animated one is left to Pillow.
    if image.format == "PNG" and image.mode != "P" and _page_count(image) == 1:
        from imagecodecs import png_decode

        samples = png_decode(path.read_bytes())
        return *_parted(samples), 8 * samples.dtype.itemsize
    if image.mode == "P":
        return np.array(image), _alpha(image), 8
    if image.mode.startswith("I"):
        samples = np.array(image)
        return samples, None, 8 * samples.dtype.itemsize
    mode = "L" if image.mode in _GREY_MODES else "RGB"
    return np.array(image.convert(mode)), _alpha(image), 8


def _parted(samples: Samples) -> tuple[Samples, Samples | None]:
    """Separate colour and alpha, which is the last of two or four samples per pixel."""
    count = samples.shape[2] if samples.ndim == 3 else 1
    if count == 2:
        return samples[..., 0], samples[..., 1]
    return (samples[..., :3], samples[..., 3]) if count == 4 else (samples, None)


def _alpha(image: Image.Image) -> Samples | None:
    if not image.has_transparency_data:
        return None
    # Also for a transparent colour of a palette or of tRNS, which has no channel.
    return np.array(image.convert("RGBA").getchannel("A"))


def _palette(image: Image.Image) -> Samples | None:
    if image.mode != "P":
        return None
    return np.array(image.getpalette("RGB"), dtype=np.uint8).reshape(-1, 3)


def _decoded_jpeg2000(path: Path, size: SizePx) -> tuple[Samples, int]:
    """Return the samples, (rows, columns) or (rows, columns, n), and their bits.

    Raises
    ------
    UnreadableInputError
        If the codestream has another size than its file says, or components that
        differ in depth.
    """
    from imagecodecs import jpeg2k_decode

    data = path.read_bytes()
    bits = _jpeg2000_bits(main_header(codestream_of(data)), path, size)
    samples: Samples = jpeg2k_decode(data)
    return samples, bits


def _jpeg2000_bits(header: MainHeader, path: Path, size: SizePx) -> int:
    """Return the bits of every component; refuse a wrong size."""
    if (header.rows, header.columns) != (size.rows, size.columns):
        raise UnreadableInputError(
            f"{path.name} claims {size.columns} × {size.rows} pixels, but its "
            f"codestream has {header.columns} × {header.rows}.",
            DAMAGED,
        )
    if not header.alike or (header.components > 1 and header.signed):
        raise UnreadableInputError(
            f"The colours of {path.name} are signed or differ in depth.",
            "Save it as RGB of 8 or 16 bits.",
        )
    return header.precision
