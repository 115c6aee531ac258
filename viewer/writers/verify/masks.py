"""Reference masks under the grid, starting from their run-length code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil
from operator import itemgetter

Box = tuple[float, float, float, float]
"""The corners x0, y0, x1, y1 in pixels of an image."""
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Sending:
    """How an image becomes the square that was sent, and what a hit is.

    ``aspect`` is how much taller than wide a pixel of the image is.
    """

    side: int
    fit: str
    threshold: Fraction
    aspect: Fraction


@dataclass(frozen=True)
class Place:
    """A native rectangle (x, y, width, height) and where it lands on the square."""

    source: tuple[int, int, Fraction, Fraction]
    target: tuple[int, int, int, int]


@dataclass(frozen=True)
class Seen:
    """The covered part of each cell, row-major, and which cells qualify."""

    covered: tuple[float, ...]
    area: tuple[float, ...]
    hits: tuple[int, ...]
    fallback: bool

    @property
    def share(self) -> float:
        """The share of the square that the mask covers."""
        return sum(self.covered) / sum(self.area)


def runs_of(counts: str) -> list[int]:
    """Return the runs of COCO's compressed run-length code, background first."""
    runs: list[int] = []
    value = shift = 0
    for sign in counts:
        code = ord(sign) - 48
        value |= (code & 31) << shift
        shift += 5
        if code & 32:
            continue
        if code & 16:
            # The highest bit of the last piece is the sign.
            value -= 1 << shift
        # From the fourth run on, COCO stores the difference from the last but one.
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    return runs


def place_of(rows: int, columns: int, sending: Sending) -> Place:
    """Return where an image of that size lands on the square (E000-07)."""
    side, whole = sending.side, (0, 0, Fraction(columns), Fraction(rows))
    tall = rows * sending.aspect
    if sending.fit == "stretch":
        return Place(whole, (0, 0, side, side))
    if sending.fit == "crop_resize":
        wide, high = min(whole[2], tall), min(whole[3], columns / sending.aspect)
        corner = (ceil((columns - wide - 1) / 2), ceil((rows - high - 1) / 2))
        return Place((*corner, wide, high), (0, 0, side, side))
    against = (min if sending.fit == "resize_crop" else max)(tall, whole[2])
    width = max(1, int(columns * side // against))
    height = max(1, int(tall * side // against))
    return Place(whole, ((side - width) // 2, (side - height) // 2, width, height))


@lru_cache(maxsize=4096)
def seen_by_pixels(
    rows: int, columns: int, counts: str, grid: tuple[int, int], sending: Sending
) -> Seen:
    """Return a mask fitted like its image, its pixels counted in each cell."""
    covered = [0] * (grid[0] * grid[1])
    down, across = (_edges(sending.side, n) for n in grid)
    for x, column in _fitted_columns(rows, columns, counts, sending):
        at = next(i for i in range(grid[1]) if x < across[i + 1])
        for row in range(grid[0]):
            covered[row * grid[1] + at] += sum(column[down[row] : down[row + 1]])
    area = [
        (down[i + 1] - down[i]) * (across[j + 1] - across[j])
        for i in range(grid[0])
        for j in range(grid[1])
    ]
    top, bottom = sending.threshold.numerator, sending.threshold.denominator
    # In whole numbers: the share itself would be rounded, just at the threshold.
    full = [i for i, c in enumerate(covered) if c * bottom >= top * area[i]]
    hits = full or [i for i, c in enumerate(covered) if c]
    return Seen(tuple(covered), tuple(area), tuple(hits), not full)


@lru_cache(maxsize=4096)
def hits_at(seen: Seen, percent: int, *, whole: bool) -> tuple[tuple[int, ...], bool]:
    """Return the cells that qualify at another threshold, and whether by fallback.

    ``whole`` is True if areas are numbers of pixels.
    """
    slack = 0.0 if whole else _TOLERANCE
    pairs = list(enumerate(zip(seen.covered, seen.area, strict=True)))
    full = tuple(i for i, (c, a) in pairs if 100 * c >= (percent - 100 * slack) * a)
    return full or tuple(i for i, (c, _) in pairs if c > slack), not full


def _edges(side: int, cells: int) -> list[int]:
    return [i * side // cells for i in range(cells + 1)]


def _fitted_columns(
    rows: int, columns: int, counts: str, sending: Sending
) -> Iterator[tuple[int, bytes]]:
    """Yield each column of the fitted mask that its image reaches, by its place."""
    parts = (bytes([i % 2]) * run for i, run in enumerate(runs_of(counts)))
    pixels = b"".join(parts)
    if len(pixels) != rows * columns:
        raise ValueError("a mask's code does not fit its size")
    place, side = place_of(rows, columns, sending), sending.side
    left, top, width, height = place.target
    x0, y0, source_width, source_height = place.source
    inside = range(max(top, 0), min(top + height, side))
    picked = [y0 + _nearest(y - top, height, source_height) for y in inside]
    # One more than needed: of a single place itemgetter returns no tuple.
    pick = itemgetter(*picked, picked[0])
    before, after = bytes(inside.start), bytes(side - inside.stop)
    for x in range(max(left, 0), min(left + width, side)):
        start = (x0 + _nearest(x - left, width, source_width)) * rows
        chosen = bytes(pick(pixels[start : start + rows]))[:-1]
        yield x, before + chosen + after


def _nearest(index: int, count: int, length: Fraction) -> int:
    """Return the native pixel under the centre of one of ``count`` pixels."""
    return (2 * index + 1) * length.numerator // (2 * count * length.denominator)


@lru_cache(maxsize=4096)
def seen_by_area(
    rows: int, columns: int, counts: str, grid: tuple[int, int], sending: Sending
) -> Seen:
    """Return a mask's native area in each cell, with pixels split at cell edges."""
    x0, y0, x1, y1 = field_of(rows, columns, sending)
    down = _native_edges(y0, y1, grid[0])
    across = _native_edges(x0, x1, grid[1])
    covered = [0.0] * (grid[0] * grid[1])
    for x, start, stop in pieces_of(rows, counts):
        widths = list(_shares(x, x + 1, across))
        for row, height in _shares(start, stop, down):
            for column, width in widths:
                covered[row * grid[1] + column] += height * width
    area = [
        (down[i + 1] - down[i]) * (across[j + 1] - across[j])
        for i in range(grid[0])
        for j in range(grid[1])
    ]
    least = float(sending.threshold) - _TOLERANCE
    full = [i for i, c in enumerate(covered) if c >= least * area[i]]
    hits = full or [i for i, c in enumerate(covered) if c > _TOLERANCE]
    return Seen(tuple(covered), tuple(area), tuple(hits), not full)


def field_of(rows: int, columns: int, sending: Sending) -> Box:
    """Return the native rectangle that the square covers, padding included."""
    place = place_of(rows, columns, sending)
    left, top, width, height = place.target
    x0, y0, source_width, source_height = place.source
    wide, high = source_width / width, source_height / height
    side = sending.side
    edges = (
        x0 - left * wide,
        y0 - top * high,
        x0 + (side - left) * wide,
        y0 + (side - top) * high,
    )
    a, b, c, d = (round(float(edge), 9) for edge in edges)
    return a, b, c, d


@lru_cache(maxsize=4096)
def outside_crop(rows: int, columns: int, counts: str, sending: Sending) -> float:
    """Return the fraction of a mask that the crop cuts off; 0 for an empty mask."""
    if sending.fit not in ("crop_resize", "resize_crop"):
        return 0.0
    cropping = replace(sending, fit="crop_resize")
    x0, y0, width, height = place_of(rows, columns, cropping).source
    inside, whole = Fraction(0), 0
    for x, start, stop in pieces_of(rows, counts):
        across = _shared(x, x + 1, x0, x0 + width)
        inside += across * _shared(start, stop, y0, y0 + height)
        whole += stop - start
    return float(1 - inside / whole) if whole else 0.0


def _shared(start: int, stop: int, low: int, high: Fraction) -> Fraction:
    """Return how much of an interval lies between two ends."""
    return max(min(Fraction(stop), high) - max(start, low), Fraction(0))


def pieces_of(rows: int, counts: str) -> Iterator[tuple[int, int, int]]:
    """Yield a mask as (column, first row, row after the last)."""
    position = 0
    for nth, run in enumerate(runs_of(counts)):
        stop = position + run
        while nth % 2 and position < stop:
            column = position // rows
            end = min(stop, (column + 1) * rows)
            yield column, position - column * rows, end - column * rows
            position = end
        position = stop


def _native_edges(start: float, stop: float, cells: int) -> list[float]:
    return [round(start + (stop - start) * i / cells, 9) for i in range(cells + 1)]


def _shares(
    start: float, stop: float, edges: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """Yield (cell, length) of an interval in the cells that it reaches."""
    for i in range(len(edges) - 1):
        length = min(stop, edges[i + 1]) - max(start, edges[i])
        if length > 0:
            yield i, length
