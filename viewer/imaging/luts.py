"""The grey-scale pipeline of PS3.4 N.2.1: modality units to what a screen shows.

The reader has applied the modality LUT. The steps here are the VOI LUT, the
presentation sense (MONOCHROME1, Presentation LUT Shape) and the padding, which stays
black. Integers go through a table, so the formulas are evaluated once per grey value
instead of once per pixel.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    Raster,
    VoiFunction,
    Window,
)

_TABLE_LIMIT = 1 << 16
_Floats = npt.NDArray[np.float64]


def to_raster(
    image: PixelImage, window: Window | None = None, voi_index: int = 0
) -> Raster:
    """Return the displayed pixels of ``image``.

    Parameters
    ----------
    image : PixelImage
        Modality units, or RGB, which is returned unchanged.
    window : Window or None
        A window to use instead of the file's own, in modality units.
    voi_index : int
        Which of the file's VOI transformations to use, LUTs before windows. Without
        any, the range of the values without padding is stretched.

    Raises
    ------
    WrongUseError
        If the file has VOI transformations but not this index.
    """
    aspect = image.geometry.pixel_aspect
    if image.photometric is Photometric.RGB:
        return Raster(np.ascontiguousarray(image.values), aspect)
    voi = window or _file_voi(image, voi_index) or _full_range(image)
    if image.values.dtype.kind == "f":
        pixels = _shade(image.values, voi, image)
    else:
        pixels = _through_table(image.values, voi, image)
    if image.padding is not None:
        pixels[image.padding] = 0
    return Raster(pixels, aspect)


def is_inverted(image: PixelImage) -> bool:
    """Tell whether low values are shown bright.

    Of a presentation LUT, by its two ends. Presentation LUT Shape takes precedence if
    present (PS3.3 C.11.6.1.2), so that a MONOCHROME1 file that also says INVERSE is
    inverted once, not twice.
    """
    if image.presentation_lut is not None:
        entries = image.presentation_lut.entries
        return bool(entries[0] > entries[-1])
    if image.presentation_shape is not None:
        return image.presentation_shape is PresentationShape.INVERSE
    return image.photometric is Photometric.MONOCHROME1


def default_window(image: PixelImage) -> Window:
    """Return the window that a grey image is initially shown with.

    This is its VOI LUT's input range (PS3.3 C.11.2.1.1) if it has one, else its first
    window, else the range of its values without padding.
    """
    if not image.voi_luts:
        return image.windows[0] if image.windows else _full_range(image)
    lut = image.voi_luts[0]
    width = float(max(1, lut.entries.size))
    return Window(lut.first + width / 2, width, explanation=lut.explanation)


def apply_window(values: npt.ArrayLike, window: Window) -> _Floats:
    """Return ``values`` mapped to 0-1 by a window.

    The three functions are PS3.3 C.11.2.1.2.1 (LINEAR), C.11.2.1.3.2 (LINEAR_EXACT)
    and C.11.2.1.3.1 (SIGMOID).
    """
    x = np.asarray(values, dtype=np.float64)
    c, w = window.center, window.width
    if window.function is VoiFunction.SIGMOID:
        # Beyond ±500 the result is 0 or 1 in double precision.
        return 1.0 / (1.0 + np.exp(np.clip(-4.0 * (x - c) / w, -500.0, 500.0)))
    if window.function is VoiFunction.LINEAR:
        # A step, as C.11.2.1.2.1 gives for a width of 1, which would divide by zero.
        if w <= 1.0:
            return np.where(x <= c - 0.5, 0.0, 1.0)
        return np.clip((x - (c - 0.5)) / (w - 1.0) + 0.5, 0.0, 1.0)
    return np.clip((x - c) / w + 0.5, 0.0, 1.0)


def apply_lut(values: npt.ArrayLike, lut: LookupTable) -> _Floats:
    """Return ``values`` mapped to 0-1 by a VOI LUT (PS3.3 C.11.2.1.1)."""
    x = np.rint(np.asarray(values, dtype=np.float64)).astype(np.int64) - lut.first
    index = np.clip(x, 0, lut.entries.size - 1)
    return lut.entries[index] / float((1 << lut.bits) - 1)


def _through_presentation_lut(grey: _Floats, lut: LookupTable) -> _Floats:
    """Return 0-1 through a presentation LUT, whose input is all of 0-1 (C.11.6.1.1)."""
    index = np.rint(np.nan_to_num(grey) * (lut.entries.size - 1)).astype(np.int64)
    return lut.entries[index] / float((1 << lut.bits) - 1)


def _file_voi(image: PixelImage, index: int) -> Window | LookupTable | None:
    choices: tuple[Window | LookupTable, ...] = (*image.voi_luts, *image.windows)
    if not choices:
        return None
    if not 0 <= index < len(choices):
        raise WrongUseError(
            f"The image has {len(choices)} windows and look-up tables; {index} is not "
            "one of them.",
            f"Choose 0 to {len(choices) - 1}.",
        )
    return choices[index]


def _full_range(image: PixelImage) -> Window:
    """Return the window that covers the values without padding."""
    measured = image.values if image.padding is None else image.values[~image.padding]
    low, high = _finite_range(measured)
    if low >= high and image.value_range is not None:
        low, high = image.value_range
    width = high - low if high > low else 1.0
    # LINEAR would be white from ``high - 1`` on (PS3.3 C.11.2.1.2.1).
    return Window((low + high) / 2, width, VoiFunction.LINEAR_EXACT)


def _finite_range(values: npt.NDArray[np.generic]) -> tuple[float, float]:
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    if not finite.size:
        return 0.0, 0.0
    return float(finite.min()), float(finite.max())


def _through_table(
    values: npt.NDArray[Any], voi: Window | LookupTable, image: PixelImage
) -> npt.NDArray[np.uint8]:
    """Map integers by a table over their range, or one by one if the range is wide."""
    if values.dtype.itemsize <= 2:
        # Indexed with the bit pattern: no pass over the image but the last one.
        index = values.view(f"u{values.dtype.itemsize}")
        patterns = np.arange(1 << (8 * values.dtype.itemsize)).astype(index.dtype)
        inputs = patterns.view(values.dtype)
    else:
        low, high = int(values.min()), int(values.max())
        if high - low >= _TABLE_LIMIT:
            return _shade(values, voi, image)
        index, inputs = values - low, np.arange(low, high + 1)
    return np.take(_shade(inputs, voi, image), index)


def _shade(
    values: npt.NDArray[np.generic], voi: Window | LookupTable, image: PixelImage
) -> npt.NDArray[np.uint8]:
    """Map modality values to 0-255, rounded half up."""
    apply = apply_window if isinstance(voi, Window) else apply_lut
    grey = apply(values, voi)  # type: ignore[arg-type]
    if image.presentation_lut is not None:
        grey = _through_presentation_lut(grey, image.presentation_lut)
    elif is_inverted(image):
        grey = 1.0 - grey
    return np.floor(np.nan_to_num(grey) * 255.0 + 0.5).astype(np.uint8)
