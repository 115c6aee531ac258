"""The interface of slide readers, and the properties of a slide."""

from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import where_to_get
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import ImageGeometry, Spacing
from viewer.domain.slide import (
    FIELD_PX,
    MAGNIFICATIONS,
    OVERVIEW,
    SlideMap,
    SlideScale,
    scale_name,
)

EXTRA: Final = where_to_get("overread[pathology]")
_UM_AT_1X: Final = 10.0
"""The pixel of a scan at 1x in µm by common use: 0.25 µm is called 40x."""
_LIKENESS: Final = 0.1
"""How far, as a part, a pixel size may be from a magnification's to be called so."""
_CONTRADICTION: Final = 0.25
"""An objective whose power is further, as a part, from that of the pixels is none."""
_SCANNED_UM: Final = (0.05, 20.0)
"""The smallest and the largest pixel of a scan by a microscope, 200x and 0.5x.

Writers of TIFF leave 10 pixels/cm (libvips) or 72 to 600 dpi where they know nothing.
"""
_LEVEL_TOLERANCE: Final = 0.002
"""Levels are cut to whole pixels; closer than this to a size they have that size."""
_LEAST_PX: Final = 64
"""If only downsampling is known, the fewest pixels of an offered level."""


@dataclass(frozen=True)
class SlideFacts:
    """The properties in a slide's file, read without decoding pixels.

    ``levels`` are the stored sizes, the scan's first and descending; ``spacing`` that
    of the scan's pixels; ``power`` the objective's, None if the file does not say;
    ``icc`` the colour profile; ``lossy`` the lossy compression and ``note`` corrections
    made, "" for none. Keys are empty where the file names no patient, study or series.
    """

    path: Path
    levels: tuple[SizePx, ...]
    spacing: Spacing | None
    power: float | None
    scanner: str = ""
    icc: bytes | None = None
    lossy: str = ""
    note: str = ""
    patient_key: str = ""
    study_key: str = ""
    series_key: str = ""
    study_date: str = ""
    study_description: str = ""

    @property
    def size(self) -> SizePx:
        """The scan's rows and columns."""
        return self.levels[0]

    @property
    def magnification(self) -> float | None:
        """The scan's magnification, from its objective or its pixel size, else None.

        A pixel size within a tenth of an offered magnification's gives that
        magnification. If it contradicts the objective, the pixel size decides: it is
        measured, and a lens behind the objective may magnify further.
        """
        if self.power is None or self.contradicts_power:
            return self._of_pixels
        return self.power

    @property
    def contradicts_power(self) -> bool:
        """Whether the pixel size contradicts the objective."""
        pixels = self._of_pixels
        if self.power is None or pixels is None:
            return False
        return abs(pixels / self.power - 1) > _CONTRADICTION

    @property
    def _of_pixels(self) -> float | None:
        if self.spacing is None:
            return None
        found = _UM_AT_1X / (self.spacing.column_mm * 1000)
        nearest = min(MAGNIFICATIONS, key=lambda m: abs(log2(m / found)))
        return nearest if abs(nearest / found - 1) <= _LIKENESS else found


class SlideFile(Protocol):
    """An open slide; ``read`` is thread-safe."""

    facts: SlideFacts

    def read(self, level: int, box: BoxPx) -> npt.NDArray[np.uint8]:
        """Return whole pixels of a stored level as (rows, columns, 3) RGB.

        Areas that were not scanned have the slide's background colour, white by
        default.
        """

    def __enter__(self) -> Self:
        """Return the slide."""

    def __exit__(self, *exception: object) -> None:
        """Close its files."""


def is_scanned_at(spacing: Spacing) -> bool:
    """Tell whether this pixel size is plausible for a microscope."""
    least, most = _SCANNED_UM
    return all(least <= mm * 1000 <= most for mm in (spacing.row_mm, spacing.column_mm))


def map_of(facts: SlideFacts, *, profiled: bool = False) -> SlideMap:
    """Return the frames of a slide: the overview, then each magnification's fields."""
    factors = [(OVERVIEW, max(1.0, _longest(facts.size) / FIELD_PX)), *_offered(facts)]
    scales: list[SlideScale] = []
    first = 0
    for name, factor in factors:
        scales.append(SlideScale(name, _size_at(facts, factor), first))
        first += scales[-1].count
    scan = ImageGeometry(facts.size, facts.spacing)
    halvings = tuple(_size_at(facts, 2**n) for n in range(_halvings(facts)))
    return SlideMap(scan, tuple(scales), halvings, facts.magnification, profiled)


def _halvings(facts: SlideFacts) -> int:
    """Return how many sizes there are until one is less than a field."""
    return max(0, ceil(log2(_longest(facts.size) / (FIELD_PX - 1)))) + 1


def _offered(facts: SlideFacts) -> list[tuple[str, float]]:
    """Return names and downsampling factors, lowest magnification first."""
    scan = facts.magnification
    if scan is not None:
        return [(scale_name(m), scan / m) for m in MAGNIFICATIONS if m <= scan]
    longest = _longest(facts.size)
    factors = [2**n for n in range(len(MAGNIFICATIONS)) if longest / 2**n >= _LEAST_PX]
    return [(f"1:{factor}", float(factor)) for factor in reversed(factors or [1])]


def _size_at(facts: SlideFacts, factor: float) -> SizePx:
    """Return the slide's size at a factor, that of a stored level if there is one."""
    rows, columns = facts.size.rows / factor, facts.size.columns / factor
    for level in facts.levels:
        if _is_near(level.rows, rows) and _is_near(level.columns, columns):
            return level
    return SizePx(max(1, round(rows)), max(1, round(columns)))


def _is_near(stored: int, wanted: float) -> bool:
    return abs(stored - wanted) <= max(1.0, _LEVEL_TOLERANCE * wanted)


def _longest(size: SizePx) -> int:
    return max(size.rows, size.columns)
