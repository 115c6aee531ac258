"""How much of each grid cell a mask covers, in whole pixels or exact area."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viewer.domain import rle
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.reference import Mask

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Each cell's covered and total area, row-major, in pixels of one raster.

    ``exact`` is True if areas are whole pixels, which need no tolerance.
    """

    covered: tuple[float, ...]
    area: tuple[float, ...]
    exact: bool


@dataclass(frozen=True, eq=False)
class Segments:
    """A mask as vertical segments: column x, rows y0 <= y < y1; all (n,) integers."""

    x: _Ints
    y0: _Ints
    y1: _Ints

    @property
    def lengths(self) -> _Ints:
        """The number of pixels of each segment."""
        return self.y1 - self.y0


def pixels_in_cells(mask: npt.NDArray[np.bool_], grid: Grid) -> Coverage:
    """Count the set pixels of a (rows, columns) mask in each cell of a grid."""
    rows, columns = grid.edges(SizePx(int(mask.shape[0]), int(mask.shape[1])))
    by_row = np.add.reduceat(mask, rows[:-1], axis=0, dtype=np.int64)
    counts = np.add.reduceat(by_row, columns[:-1], axis=1)
    areas = np.outer(np.diff(rows), np.diff(columns))
    return Coverage(_values(counts), _values(areas), exact=True)


def area_in_cells(
    segments: Segments, rows: tuple[float, ...], columns: tuple[float, ...]
) -> Coverage:
    """Integrate a mask's area over cells with fractional edges (E000-17, exact).

    Parameters
    ----------
    segments : Segments
        The mask in its native pixels.
    rows, columns : tuple of float
        Ascending edges in native pixels, one more than there are cells; edges outside
        the image enclose area that is not covered.
    """
    y, x = np.asarray(rows), np.asarray(columns)
    heights = _overlap(segments.y0, segments.y1, y)
    widths = _overlap(segments.x, segments.x + 1, x)
    covered = heights @ widths.T
    return Coverage(
        _values(covered), _values(np.outer(np.diff(y), np.diff(x))), exact=False
    )


def area_inside(segments: Segments, box: BoxPx) -> float:
    """Return how much of a mask's area lies inside a box, in pixels."""
    widths = np.clip(segments.x + 1, box.x0, box.x1) - np.clip(
        segments.x, box.x0, box.x1
    )
    lengths = np.clip(segments.y1, box.y0, box.y1) - np.clip(
        segments.y0, box.y0, box.y1
    )
    return float((widths * lengths).sum())


@lru_cache(maxsize=64)
def column_segments(mask: Mask) -> Segments:
    """Return a mask's vertical segments; UnreadableInputError for an invalid code."""
    height, width = mask.size.rows, mask.size.columns
    ends = np.cumsum(np.asarray(rle.decode_runs(mask.counts), dtype=np.int64))
    starts = np.concatenate(([0], ends[:-1])) if ends.size else ends
    # Runs are coded as differences, so that a damaged code may have negative ones.
    if np.any(ends < starts) or (int(ends[-1]) if ends.size else 0) != height * width:
        raise UnreadableInputError(
            "A mask's run-length code does not fit its size.",
            "Export the mask again as COCO compressed RLE.",
        )
    return _split_at_columns(starts[1::2], ends[1::2], height)


def _split_at_columns(starts: _Ints, ends: _Ints, height: int) -> Segments:
    """Split runs where a new column begins."""
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    first, last = starts // height, (ends - 1) // height
    pieces = last - first + 1
    run = np.repeat(np.arange(starts.size), pieces)
    nth = np.arange(run.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    x = first[run] + nth
    y0 = np.maximum(starts[run] - x * height, 0)
    y1 = np.minimum(ends[run] - x * height, height)
    return Segments(x, y0, y1)


def _overlap(low: _Ints, high: _Ints, edges: _Floats) -> _Floats:
    """Return the (cells, segments) length of each segment in each cell."""
    a, b = edges[:-1, None], edges[1:, None]
    return np.asarray(np.clip(high, a, b) - np.clip(low, a, b), dtype=np.float64)


def _values(array: npt.NDArray[np.generic]) -> tuple[float, ...]:
    return tuple(float(value) for value in array.ravel())
