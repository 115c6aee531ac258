"""PNG, JPEG, JPEG 2000, WebP, TIFF, BMP and GIF: pixels as they are stored, upright.

- The Orientation of EXIF (JPEG, PNG, WebP) and of TIFF is applied here, once: all else
  sees the upright image only. Rows and columns, boxes and masks count from its top
  left, also in stores and exports.
- Grey keeps its depth. Up to 8 bits are shown unchanged, deeper grey and floats, which
  have no window, over their full range. If 0 is white the values stay as stored and
  only the display is inverted, as with MONOCHROME1 in DICOM.
- Colour has 8 bits: deeper colour is scaled and rounded (v·255/65535), a palette is
  looked up. Deeper colour whose channels are all the same is grey and keeps its depth.
- Alpha and a transparent colour are ignored: the pixels under them were measured.
- Neither an ICC profile nor the gAMA and cHRM of a PNG is applied: samples are
  measurements here, and Pillow and OpenCV ignore them too.
"""

from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.image import Photometric, PixelImage, VoiFunction, Window
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.files.refusal import refusing
from viewer.readers.rasters.page import RasterPage, Samples, colours_of, eight_bits
from viewer.readers.rasters.pillow_files import pillow_geometries, pillow_page
from viewer.readers.rasters.tiff_files import STARTS, tiff_geometries, tiff_page

_MOST_PAGES: Final = 1 << 16
_IDENTITY: Final = Window(128.0, 256.0, VoiFunction.LINEAR)
"""Maps 0-255 to 0-255 exactly (PS3.3 C.11.2.1.2.1)."""


def load_raster_file(path: Path, frame: int = 0) -> PixelImage:
    """Return a page of an image file: grey of its own depth, or 8-bit RGB."""
    page = raster_page(path, frame)
    colours = colours_of(page, path)
    if colours.ndim == 2:
        return _grey_image(page, colours)
    if _is_grey(page, colours):
        return _grey_image(page, colours[..., 0])
    rgb = eight_bits(colours, page.white)
    return PixelImage(rgb, Photometric.RGB, geometry=page.geometry)


def raster_page(path: Path, frame: int) -> RasterPage:
    """Return the samples of a page of an image file, upright.

    Raises
    ------
    UnreadableInputError
        If the file is damaged, contradicts itself, or has no such page.
    """
    with refusing(path):
        return (tiff_page if _is_tiff(path) else pillow_page)(path, frame)


def raster_geometries(path: Path) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the geometry of each page, or one for all, and the number of pages.

    No pixel is decoded.
    """
    with refusing(path):
        if not _is_tiff(path):
            return pillow_geometries(path)
        geometries, pages = tiff_geometries(path, _MOST_PAGES)
    return (geometries[:1] if len(set(geometries)) == 1 else geometries), pages


def _is_tiff(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4).startswith(STARTS)


def _is_grey(page: RasterPage, colours: Samples) -> bool:
    """Tell whether a palette, or colour of more than 8 bits, contains only greys."""
    if page.palette is not None:
        return bool((page.palette == page.palette[:, :1]).all())
    return page.bits > 8 and bool((colours == colours[..., :1]).all())


def _grey_image(page: RasterPage, values: Samples) -> PixelImage:
    sense = Photometric.MONOCHROME1 if page.white_is_zero else Photometric.MONOCHROME2
    if values.dtype.kind == "f":
        return PixelImage(values.astype(np.float32), sense, geometry=page.geometry)
    if values.dtype == np.uint8:
        grey = eight_bits(values, page.white)
        return PixelImage(grey, sense, windows=(_IDENTITY,), geometry=page.geometry)
    full = (0.0, float(page.white)) if values.dtype == np.uint16 else None
    return PixelImage(values, sense, geometry=page.geometry, value_range=full)
