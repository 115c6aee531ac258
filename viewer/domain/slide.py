"""Whole slides as lists of images: an overview, then fields by magnification.

The list follows from the slide's size and scan alone, so that a file and a frame
number name the same field everywhere and for good.
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
        """How many fields lie side by side."""
        return ceil(self.size.columns / FIELD_PX)

    @property
    def count(self) -> int:
        """How many fields there are."""
        return self.columns * ceil(self.size.rows / FIELD_PX)

    def field(self, number: int) -> BoxPx:
        """Return a field's whole pixels at this magnification; the last end early."""
        row, column = divmod(number, self.columns)
        x, y = column * FIELD_PX, row * FIELD_PX
        right = min(x + FIELD_PX, self.size.columns)
        return BoxPx(x, y, right, min(y + FIELD_PX, self.size.rows))

    def field_size(self, number: int) -> SizePx:
        """Return a field's rows and columns."""
        field = self.field(number)
        return SizePx(int(field.y1 - field.y0), int(field.x1 - field.x0))

    def field_at(self, point: PointPx) -> int:
        """Return the field in which a point lies, the nearest where it is outside."""
        column = min(max(point.x, 0.0), self.size.columns - 1) // FIELD_PX
        row = min(max(point.y, 0.0), self.size.rows - 1) // FIELD_PX
        return int(row) * self.columns + int(column)


@dataclass(frozen=True, slots=True)
class SlideMap:
    """Every frame of a slide; ``scan`` is the scan's geometry.

    ``scales`` begin at frame 0.
    """

    scan: ImageGeometry
    scales: tuple[SlideScale, ...]

    @property
    def size(self) -> SizePx:
        """The scan's rows and columns."""
        return self.scan.size

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return self.scales[-1].first + self.scales[-1].count

    def scale_of(self, frame: int) -> SlideScale:
        """Return the magnification that a frame is of."""
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
        """Return where a frame's native position lies on the scan, in its pixels."""
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
        """Return the next finer scale: 10x after the overview.

        None if nothing shows more than the frame does.
        """
        now = self.scale_of(frame)
        finer = [s for s in self.scales if s.size.columns > now.size.columns]
        usual = [s for s in finer if now.name == OVERVIEW and s.name == _USUAL]
        return next(iter([*usual, *finer]), None)


def scale_name(magnification: float) -> str:
    """Return ``2.5x`` or ``10x``."""
    return f"{magnification:g}x"
