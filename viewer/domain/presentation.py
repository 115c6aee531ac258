"""How a presentation state wants an image shown (PS3.3 A.33, PS3.4 N)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.image import LookupTable, PresentationShape, Window


@dataclass(frozen=True, slots=True)
class Outline:
    """A graphic in native pixels: one point, or a line through several."""

    points: tuple[PointPx, ...]
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A text, the native position of its top left corner, and what it points at."""

    text: str
    at: PointPx
    anchor: PointPx | None = None


@dataclass(frozen=True, eq=False)
class Shutter:
    """What is hidden, (rows, columns) bool, and the grey shown instead, 0 to 255."""

    hidden: npt.NDArray[np.bool_]
    grey: int = 0


@dataclass(frozen=True, eq=False)
class PresentationState:
    """A presentation state as far as it concerns one image.

    ``name`` is its label and description. ``voi`` None is the identity; it applies to
    stored values rescaled by ``rescale``, (slope, intercept), whatever the image itself
    says. ``shape`` or ``lut`` is its presentation LUT, None of a colour image. The
    image is shown turned by ``orientation`` (TIFF 6.0), and of it the native ``area``,
    each pixel as ``magnified`` pixels of the screen, or ``true_size`` millimetres wide;
    if both are None, as large as fits. ``planes`` are what its overlays cover, (rows,
    columns) bool, None if it turns none on. ``left_out`` names, as words, what it says
    and we do not show.
    """

    path: Path
    name: str
    voi: Window | LookupTable | None = None
    rescale: tuple[float, float] = (1.0, 0.0)
    shape: PresentationShape | None = None
    lut: LookupTable | None = None
    orientation: int = 1
    area: BoxPx | None = None
    magnified: float | None = None
    true_size: float | None = None
    planes: npt.NDArray[np.bool_] | None = None
    shutter: Shutter | None = None
    outlines: tuple[Outline, ...] = ()
    notes: tuple[Note, ...] = ()
    left_out: tuple[str, ...] = ()
