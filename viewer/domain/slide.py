"""Whole slides as lists of images: an overview, then fields by magnification.

The list depends only on the slide's size and scan, so that a file and a frame number
always identify the same field. Any other rectangle of the slide has a frame number too,
above all numbers of the list (:meth:`SlideMap.region`): screens are put together from
such rectangles, and models are asked about them.
"""

from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Final

from viewer.domain.geometry import Affine, BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry

FIELD_PX: Final = 2048
"""Rows and columns of a field, and the most that the overview has of either."""
OVERVIEW: Final = "Overview"
MAGNIFICATIONS: Final = (1.25, 2.5, 5.0, 10.0, 20.0, 40.0)
"""Those offered, as far as the scan reaches."""
PRESETS: Final = (1.0, 2.5, 5.0, 10.0, 20.0, 40.0)
"""Those of a microscope's objectives, to look at a slide with."""
SLIDE_MODALITY: Final = "SM"
"""Slide Microscopy (PS3.3 C.7.3.1.1.1)."""
TILE_PX: Final = 512
"""Rows and columns of a tile of the screen."""
FIRST_REGION: Final = 1 << 62
"""The least frame number of a region; the store keeps numbers below 2 to the 63."""
_PLACE_BITS, _SIDE_BITS = 18, 11
_MOST_PLACE, _MOST_SIDE = (1 << _PLACE_BITS) - 1, (1 << _SIDE_BITS) - 1


def is_region(frame: int) -> bool:
    """Tell whether a frame number is that of a region, which no list contains."""
    return frame >= FIRST_REGION


@dataclass(frozen=True, slots=True)
class SlideRegion:
    """A rectangle of whole pixels of a slide at 1:1, 1:2, 1:4 and so on.

    ``halving`` is how often the scan is halved. Its number packs, from the highest bit,
    one that marks regions, ``halving`` in 4 bits, left and top in 18 bits each, width
    and height in 11.
    """

    halving: int
    x: int
    y: int
    columns: int
    rows: int

    @classmethod
    def of_frame(cls, frame: int) -> "SlideRegion":
        """Return the region with a frame number."""
        rows, columns = frame & _MOST_SIDE, frame >> _SIDE_BITS & _MOST_SIDE
        places = frame >> 2 * _SIDE_BITS
        y, x = places & _MOST_PLACE, places >> _PLACE_BITS & _MOST_PLACE
        return cls(places >> 2 * _PLACE_BITS & 15, x, y, columns, rows)

    @property
    def frame(self) -> int:
        """The number that, with the file, identifies the region."""
        places = (self.halving << _PLACE_BITS | self.x) << _PLACE_BITS | self.y
        sides = self.columns << _SIDE_BITS | self.rows
        return FIRST_REGION | places << 2 * _SIDE_BITS | sides

    @property
    def box(self) -> BoxPx:
        """The rectangle in pixels of its halving."""
        return BoxPx(self.x, self.y, self.x + self.columns, self.y + self.rows)

    def is_within(self, sizes: tuple[SizePx, ...]) -> bool:
        """Tell whether a slide of these sizes, halving by halving, contains it."""
        if self.halving >= len(sizes) or min(self.columns, self.rows) < 1:
            return False
        size = sizes[self.halving]
        return self.box.x1 <= size.columns and self.box.y1 <= size.rows


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


@dataclass(frozen=True, slots=True)
class SlideMap:
    """All frames of a slide; ``scan`` is the scan's geometry.

    The frames of ``scales`` are numbered from 0. ``halvings`` are the slide's sizes at
    1:1, 1:2, 1:4 and so on; ``magnification`` is the scan's, None if it is unknown.
    ``profiled`` is whether an ICC profile converts the colours.
    """

    scan: ImageGeometry
    scales: tuple[SlideScale, ...]
    halvings: tuple[SizePx, ...] = ()
    magnification: float | None = None
    profiled: bool = False

    @property
    def size(self) -> SizePx:
        """The scan's rows and columns."""
        return self.scan.size

    @property
    def frames(self) -> int:
        """The number of listed frames."""
        return self.scales[-1].first + self.scales[-1].count

    def __contains__(self, frame: int) -> bool:
        """Return whether a frame number is a listed frame or a region of the slide."""
        if is_region(frame):
            return SlideRegion.of_frame(frame).is_within(self.halvings)
        return 0 <= frame < self.frames

    def scale_of(self, frame: int) -> SlideScale:
        """Return the magnification that a frame belongs to."""
        if is_region(frame):
            halving = SlideRegion.of_frame(frame).halving
            return SlideScale(self.name_at(2**halving), self.halvings[halving], frame)
        return next(scale for scale in reversed(self.scales) if scale.first <= frame)

    @property
    def presets(self) -> tuple[float, ...]:
        """Factors by which the scan is reduced to be looked at, the greatest first.

        Those of the usual magnifications, as far as the scan reaches, and the scan
        itself; powers of two where its magnification is unknown.
        """
        scan = self.magnification
        if scan is None:
            return tuple(2.0**n for n in range(len(self.halvings) + 1))[::-1]
        usual = (scan / preset for preset in PRESETS if preset < scan)
        return (*usual, 1.0)

    def name_at(self, factor: float) -> str:
        """Return the magnification if the scan is reduced by a factor, as ``5x``.

        ``1:4`` where the scan's is unknown, ``4:1`` where it is enlarged.
        """
        if self.magnification is not None:
            return scale_name(float(f"{self.magnification / factor:.3g}"))
        return f"1:{factor:.3g}" if factor >= 1 else f"{1 / factor:.3g}:1"

    def field(self, frame: int) -> BoxPx:
        """Return a frame's pixels within the whole slide at its magnification."""
        if is_region(frame):
            return SlideRegion.of_frame(frame).box
        scale = self.scale_of(frame)
        return scale.field(frame - scale.first)

    def geometry(self, frame: int) -> ImageGeometry:
        """Return a frame's geometry: its size and the spacing of its magnification."""
        field, whole = self.field(frame), self.scan.scaled(self.scale_of(frame).size)
        size = SizePx(int(field.y1 - field.y0), int(field.x1 - field.x0))
        return replace(whole, size=size)

    def on_slide(self, frame: int, point: PointPx) -> PointPx:
        """Convert a position in a frame's native pixels to pixels of the scan."""
        return self.to_scan(frame).apply(point)

    def to_scan(self, frame: int) -> Affine:
        """Return the map from a frame's native pixels to those of the scan."""
        size, field = self.scale_of(frame).size, self.field(frame)
        x, y = self.size.columns / size.columns, self.size.rows / size.rows
        return Affine.scale_after_shift(PointPx(-field.x0, -field.y0), x, y)

    def to_whole(self, frame: int) -> Affine:
        """Return the map from a frame's native pixels to those of the overview."""
        part, whole = self.to_scan(frame), self.to_scan(0)
        x, y = whole.a, whole.e
        return Affine(part.a / x, 0.0, part.c / x, 0.0, part.e / y, part.f / y)

    def region(self, area: BoxPx) -> SlideRegion:
        """Return the region that covers an area of the scan, as finely as it can.

        ``area`` is in pixels of the scan; what of it lies off the slide is left out. A
        region has at most 2,047 rows and columns, and at least one.
        """
        return next(
            region
            for halving in range(len(self.halvings))
            if (region := self._covering(area, halving)) is not None
        )

    def tile(self, halving: int, column: int, row: int) -> SlideRegion:
        """Return a tile of the screen, cropped where the slide ends."""
        size, x, y = self.halvings[halving], column * TILE_PX, row * TILE_PX
        columns, rows = min(TILE_PX, size.columns - x), min(TILE_PX, size.rows - y)
        return SlideRegion(halving, x, y, columns, rows)

    def tiles(self, area: BoxPx, halving: int) -> tuple[SlideRegion, ...]:
        """Return the tiles that cover an area of the scan, from its middle outwards."""
        x0, y0, x1, y1 = self._pixels(area, halving)
        middle = (x0 + x1) / 2, (y0 + y1) / 2
        found = [
            self.tile(halving, column, row)
            for row in range(y0 // TILE_PX, (y1 - 1) // TILE_PX + 1)
            for column in range(x0 // TILE_PX, (x1 - 1) // TILE_PX + 1)
        ]

        def off(tile: SlideRegion) -> float:
            x, y = tile.x + tile.columns / 2, tile.y + tile.rows / 2
            return (x - middle[0]) ** 2 + (y - middle[1]) ** 2

        return tuple(sorted(found, key=off))

    def _covering(self, area: BoxPx, halving: int) -> SlideRegion | None:
        x0, y0, x1, y1 = self._pixels(area, halving)
        # The coarsest is small enough for any: map_of halves until it is.
        if max(x0, y0) > _MOST_PLACE or max(x1 - x0, y1 - y0) > _MOST_SIDE:
            return None
        return SlideRegion(halving, x0, y0, x1 - x0, y1 - y0)

    def _pixels(self, area: BoxPx, halving: int) -> tuple[int, int, int, int]:
        """Return the whole pixels of a halving that cover an area of the scan."""
        size = self.halvings[halving]
        x, y = size.columns / self.size.columns, size.rows / self.size.rows
        x0 = min(max(floor(area.x0 * x), 0), size.columns - 1)
        y0 = min(max(floor(area.y0 * y), 0), size.rows - 1)
        x1 = max(min(ceil(area.x1 * x), size.columns), x0 + 1)
        y1 = max(min(ceil(area.y1 * y), size.rows), y0 + 1)
        return x0, y0, x1, y1


def scale_name(magnification: float) -> str:
    """Return a magnification as ``2.5x`` or ``10x``."""
    return f"{magnification:g}x"
