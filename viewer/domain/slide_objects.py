"""Objects that were found on a slide elsewhere, such as nuclei, by the 100,000."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointPx


@dataclass(frozen=True, eq=False)
class SlideObjects:
    """Closed outlines in pixels of the scan, one after the other.

    ``points`` is (n, 2), x and y; outline k is ``points[starts[k] : starts[k + 1]]``,
    so that ``starts`` is one longer than the outlines. ``kinds`` has the index of each
    outline's class in ``names``. ``count`` is the number of objects; one with a hole,
    or of several parts, has several outlines.
    """

    points: npt.NDArray[np.float32]
    starts: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    names: tuple[str, ...]
    count: int

    @cached_property
    def boxes(self) -> npt.NDArray[np.float32]:
        """The upright rectangle around each outline: (outlines, 4), x0, y0, x1, y1."""
        first = self.starts[:-1]
        least = np.minimum.reduceat(self.points, first)
        most = np.maximum.reduceat(self.points, first)
        return np.concatenate((least, most), axis=1)

    def name_at(self, point: PointPx) -> str:
        """Return the class of the smallest rectangle with a point, "" without one."""
        x0, y0, x1, y1 = self.boxes.T
        x, y = point.x, point.y
        here = np.flatnonzero((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1))
        if not here.size:
            return ""
        areas = (x1 - x0)[here] * (y1 - y0)[here]
        return self.names[int(self.kinds[here[areas.argmin()]])]
