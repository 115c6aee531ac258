"""PNG, JPEG, TIFF, BMP and GIF: pixels as they are in the file.

An EXIF orientation is not applied: masks and boxes of a data set are drawn on the
stored rows and columns. An ICC profile is not applied either. Grey of 8 bits is shown
as it is; deeper grey, which says of no window, over its full range.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric, PixelImage, VoiFunction, Window
from viewer.domain.image_geometry import ImageGeometry
from viewer.readers.refusal import DAMAGED, refusing

FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF")
_IDENTITY = Window(128.0, 256.0, VoiFunction.LINEAR)
"""Maps 0-255 to 0-255 exactly (PS3.3 C.11.2.1.2.1)."""
_DEEP = {"I": np.int32, "F": np.float32}


def load_raster_file(path: Path, frame: int = 0) -> PixelImage:
    """Return a page of an image file: uint8 or uint16 grey, float grey, or RGB."""
    with refusing(path), _opened(path) as image:
        _seek(image, path, frame)
        pixels = _pixels(image)
    if pixels.ndim == 3:
        return PixelImage(pixels, Photometric.RGB)
    if pixels.dtype == np.uint8:
        return PixelImage(pixels, Photometric.MONOCHROME2, windows=(_IDENTITY,))
    return PixelImage(pixels, Photometric.MONOCHROME2, value_range=_range(pixels))


def raster_geometries(path: Path) -> tuple[tuple[ImageGeometry, ...], int]:
    """Return the first page's geometry and the number of pages, without decoding."""
    with refusing(path), _opened(path) as image:
        size = SizePx(image.height, image.width)
        return (ImageGeometry(size),), _page_count(image)


def _opened(path: Path) -> Image.Image:
    try:
        return Image.open(path, formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise UnreadableInputError(
            f"{path.name} says that it has more pixels than an image should.", DAMAGED
        ) from error


def _page_count(image: Image.Image) -> int:
    return int(getattr(image, "n_frames", 1))


def _seek(image: Image.Image, path: Path, frame: int) -> None:
    pages = _page_count(image)
    if not 0 <= frame < pages:
        raise UnreadableInputError(
            f"{path.name} has {pages} pages, number {frame} is not one of them.",
            f"Choose 0 to {pages - 1}.",
        )
    image.seek(frame)


def _pixels(image: Image.Image) -> npt.NDArray[np.generic]:
    """Return the pixels as grey where they are grey, else as RGB.

    An alpha channel is dropped, not blended: what lies under it was measured.
    """
    mode = image.mode
    if mode.startswith("I;16"):
        return np.array(image).astype(np.uint16)
    if mode in _DEEP:
        return np.array(image, dtype=_DEEP[mode])
    if mode in {"1", "L", "LA", "La"}:
        return np.array(image.convert("L"), dtype=np.uint8)
    if mode in {"P", "PA"} and _is_grey_palette(image):
        return np.array(image.convert("L"), dtype=np.uint8)
    rgb = image.convert("RGBA") if image.mode in {"RGBa", "P", "PA"} else image
    return np.ascontiguousarray(np.array(rgb.convert("RGB"), dtype=np.uint8))


def _is_grey_palette(image: Image.Image) -> bool:
    palette = np.array(image.getpalette("RGB"), dtype=np.uint8).reshape(-1, 3)
    return bool((palette == palette[:, :1]).all())


def _range(pixels: npt.NDArray[np.generic]) -> tuple[float, float] | None:
    return (0.0, 65535.0) if pixels.dtype == np.uint16 else None
