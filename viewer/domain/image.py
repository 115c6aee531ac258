"""Pixels as measured by the modality, and as shown to people and models."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry

_SQUARE = ImageGeometry(SizePx(0, 0))
"""Stands for the size of the values and square pixels."""


class VoiFunction(StrEnum):
    """The VOI LUT Function of a window (PS3.3 C.11.2.1.3)."""

    LINEAR = "LINEAR"
    LINEAR_EXACT = "LINEAR_EXACT"
    SIGMOID = "SIGMOID"


@dataclass(frozen=True, slots=True)
class Window:
    """A window in modality units (PS3.3 C.11.2.1.2)."""

    center: float
    width: float
    function: VoiFunction = VoiFunction.LINEAR
    explanation: str = ""


@dataclass(frozen=True, eq=False)
class LookupTable:
    """A LUT of PS3.3 C.11.1 or C.11.2.

    ``entries`` (n,) unsigned integers of ``bits`` significant bits; the first maps
    the input value ``first``; inputs below and above take the first and last entry.
    """

    entries: npt.NDArray[np.uint16]
    first: int
    bits: int
    explanation: str = ""


class Photometric(StrEnum):
    """How stored grey values are displayed, after decoding colour to RGB."""

    MONOCHROME1 = "MONOCHROME1"
    MONOCHROME2 = "MONOCHROME2"
    RGB = "RGB"


class PresentationShape(StrEnum):
    """Presentation LUT Shape (PS3.3 C.11.6.1.2); overrides the photometric sense."""

    IDENTITY = "IDENTITY"
    INVERSE = "INVERSE"


@dataclass(frozen=True, eq=False)
class PixelImage:
    """One frame in modality units.

    ``values`` is (rows, columns), float or integer, in modality units (Hounsfield units
    for CT, else those of ``units``), or (rows, columns, 3) uint8 for colour.
    ``padding`` is (rows, columns) bool, True if the modality stored no measurement
    (PS3.3 C.7.5.1.1.2), or None. ``windows`` and ``voi_luts`` keep the file's order; a
    VOI LUT takes precedence over a window (PS3.3 C.11.2.1). ``geometry`` is that of the
    whole image; without one, an image has square pixels and no position in the patient.
    ``value_range`` is the representable range of the modality values, used if the file
    has neither window nor LUT and ``values`` have no range to stretch. ``rescale`` is
    the slope and the intercept by which stored values became these.
    ``presentation_lut`` is applied to what the VOI LUT makes, and takes precedence over
    both senses of the grey scale.
    """

    values: npt.NDArray[Any]
    photometric: Photometric
    units: str = ""
    windows: tuple[Window, ...] = ()
    voi_luts: tuple[LookupTable, ...] = ()
    presentation_shape: PresentationShape | None = None
    padding: npt.NDArray[np.bool_] | None = None
    geometry: ImageGeometry = _SQUARE
    value_range: tuple[float, float] | None = None
    rescale: tuple[float, float] = (1.0, 0.0)
    presentation_lut: LookupTable | None = None

    def __post_init__(self) -> None:
        """Assume square pixels if no geometry is given."""
        if self.geometry == _SQUARE:
            object.__setattr__(self, "geometry", ImageGeometry(self.size))

    @property
    def size(self) -> SizePx:
        """Rows and columns in pixels."""
        return SizePx(int(self.values.shape[0]), int(self.values.shape[1]))


@dataclass(frozen=True, eq=False)
class Raster:
    """Displayed pixels, as people and models see them: uint8, 0 black to 255 white.

    ``pixels`` is (rows, columns) grey or (rows, columns, 3) RGB, C-contiguous;
    ``pixel_aspect`` is the height of a pixel over its width.
    """

    pixels: npt.NDArray[np.uint8]
    pixel_aspect: float = 1.0

    @property
    def size(self) -> SizePx:
        """Rows and columns in pixels."""
        return SizePx(int(self.pixels.shape[0]), int(self.pixels.shape[1]))
