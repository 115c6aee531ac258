"""Generated images with one coloured marker at a known position."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Raster

Rgb = tuple[int, int, int]

_COLORS: Final[dict[str, Rgb]] = {
    "red": (230, 30, 30),
    "green": (30, 200, 60),
    "blue": (50, 80, 240),
    "yellow": (240, 220, 40),
}
_FORMS: Final = ("square", "cross")
_PLACES: Final = (
    # rows, columns; left and upper edge, width and height as parts of the middle square
    (448, 620, 0.06, 0.55, 0.16, 0.12),
    (700, 460, 0.62, 0.08, 0.14, 0.18),
    (540, 540, 0.12, 0.30, 0.20, 0.10),
    (380, 820, 0.70, 0.64, 0.12, 0.20),
    (820, 390, 0.30, 0.78, 0.22, 0.14),
    (640, 512, 0.76, 0.38, 0.15, 0.15),
    (330, 500, 0.40, 0.05, 0.24, 0.16),
    (596, 596, 0.52, 0.72, 0.13, 0.22),
)


@dataclass(frozen=True, slots=True)
class Marker:
    """An image of ``size`` with one marker: its kind, and its box."""

    number: int
    size: SizePx
    box: BoxPx
    color: str
    form: str

    @property
    def name(self) -> str:
        """The marker's name in questions, such as ``red square``."""
        return f"{self.color} {self.form}"

    @property
    def centre(self) -> PointPx:
        """The centre of its box, in pixels of the image."""
        box = self.box
        return PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)


def markers() -> tuple[Marker, ...]:
    """Return the markers, always the same.

    All are in the central square, which models that crop see too, and at positions
    where swapped axes or sides are noticeable.
    """
    return tuple(_marker(number, place) for number, place in enumerate(_PLACES))


def _marker(number: int, place: tuple[int, int, float, float, float, float]) -> Marker:
    rows, columns, left, top, width, height = place
    side = min(rows, columns)
    x0 = round((columns - side) / 2 + left * side)
    y0 = round((rows - side) / 2 + top * side)
    x1, y1 = x0 + round(width * side), y0 + round(height * side)
    color = tuple(_COLORS)[number % len(_COLORS)]
    form = _FORMS[number % len(_FORMS)]
    return Marker(number, SizePx(rows, columns), BoxPx(x0, y0, x1, y1), color, form)


@lru_cache(maxsize=len(_PLACES))
def draw(marker: Marker) -> Raster:
    """Return the marker's image: (rows, columns, 3) uint8, grey noise around it."""
    rng = np.random.default_rng(marker.number)
    size, box = marker.size, marker.box
    grey = rng.integers(70, 130, (size.rows, size.columns, 1), dtype=np.uint8)
    pixels = np.repeat(grey, 3, axis=2)
    y0, y1, x0, x1 = (round(edge) for edge in (box.y0, box.y1, box.x0, box.x1))
    color = _COLORS[marker.color]
    if marker.form == "square":
        pixels[y0:y1, x0:x1] = color
    else:
        bar_y, bar_x = (y1 - y0) // 3, (x1 - x0) // 3
        pixels[y0 + bar_y : y1 - bar_y, x0:x1] = color
        pixels[y0:y1, x0 + bar_x : x1 - bar_x] = color
    return Raster(pixels)
