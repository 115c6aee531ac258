"""Whole slides as lists of images: an overview, then fields by magnification.

The list depends only on the slide's size and scan, so that a file and a frame number
always identify the same field.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry

FIELD_PX: Final = 2048
"""Rows and columns of a field, and the most that the overview has of either."""
OVERVIEW: Final = "Overview"
MAGNIFICATIONS: Final = (1.25, 2.5, 5.0, 10.0, 20.0, 40.0)
"""Those offered, as far as the scan reaches."""
_USUAL: Final = "10x"
SLIDE_MODALITY: Final = "SM"
"""Slide Microscopy (PS3.3 C.7.3.1.1.1)."""


@dataclass(frozen=True, slots=True)
class SlideScale:
    """A whole slide at one magnification, cut into fields in row-major order.

    ``name`` is ``Overview``, ``10x`` or, where the magnification is unknown, ``1:4``;
    ``size`` is the whole slide's; ``first`` the frame number of the first field.
    """

    name: str
    size: SizePx
    first: int

    @property
    def columns(self) -> int:
        """The number of fields in a row."""
        return ceil(self.size.columns / FIELD_PX)

    @property
    def count(self) -> int:
        """The number of fields."""
        return self.columns * ceil(self.size.rows / FIELD_PX)

    def field(self, number: int) -> BoxPx:
        """Return a field in whole pixels of this magnification, cropped at the end."""
        row, column = divmod(number, self.columns)
        x, y = column * FIELD_PX, row * FIELD_PX
        right = min(x + FIELD_PX, self.size.columns)
        return BoxPx(x, y, right, min(y + FIELD_PX, self.size.rows))

    def field_size(self, number: int) -> SizePx:
        """Return a field's rows and columns."""
        field = self.field(number)
        return SizePx(int(field.y1 - field.y0), int(field.x1 - field.x0))

    def field_at(self, point: PointPx) -> int:
        """Return the field that contains a point, or the nearest field."""
        column = min(max(point.x, 0.0), self.size.columns - 1) // FIELD_PX
        row = min(max(point.y, 0.0), self.size.rows - 1) // FIELD_PX
        return int(row) * self.columns + int(column)


@dataclass(frozen=True, slots=True)
class SlideMap:
    """All frames of a slide; ``scan`` is the scan's geometry.

    The frames of ``scales`` are numbered from 0.
    """

    scan: ImageGeometry
    scales: tuple[SlideScale, ...]

    @property
    def size(self) -> SizePx:
        """The scan's rows and columns."""
        return self.scan.size

    @property
    def frames(self) -> int:
        """The number of frames."""
        return self.scales[-1].first + self.scales[-1].count

    def scale_of(self, frame: int) -> SlideScale:
        """Return the magnification that a frame belongs to."""
        return next(scale for scale in reversed(self.scales) if scale.first <= frame)

    def field(self, frame: int) -> BoxPx:
        """Return a frame's pixels within the whole slide at its magnification."""
        scale = self.scale_of(frame)
        return scale.field(frame - scale.first)

    def geometry(self, frame: int) -> ImageGeometry:
        """Return a frame's geometry: its size and the spacing of its magnification."""
        scale = self.scale_of(frame)
        whole = self.scan.scaled(scale.size)
        return replace(whole, size=scale.field_size(frame - scale.first))

    def on_slide(self, frame: int, point: PointPx) -> PointPx:
        """Convert a position in a frame's native pixels to pixels of the scan."""
        size, field = self.scale_of(frame).size, self.field(frame)
        return PointPx(
            (field.x0 + point.x) * self.size.columns / size.columns,
            (field.y0 + point.y) * self.size.rows / size.rows,
        )

    def frame_at(self, scale: SlideScale, point: PointPx) -> int:
        """Return the frame of a magnification that shows a point of the scan."""
        at = PointPx(
            point.x * scale.size.columns / self.size.columns,
            point.y * scale.size.rows / self.size.rows,
        )
        return scale.first + scale.field_at(at)

    def finer(self, frame: int) -> SlideScale | None:
        """Return the next finer scale, such as 10x after the overview.

        None if no scale shows more than the frame does.
        """
        now = self.scale_of(frame)
        finer = [s for s in self.scales if s.size.columns > now.size.columns]
        usual = [s for s in finer if now.name == OVERVIEW and s.name == _USUAL]
        return next(iter([*usual, *finer]), None)


def scale_name(magnification: float) -> str:
    """Return a magnification as ``2.5x`` or ``10x``."""
    return f"{magnification:g}x"
