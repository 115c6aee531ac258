"""Masks, boxes and maps as runs of pixel columns, and their overlap.

A region has for each column the rows [start, stop) that it covers, apart from one
another and in their order.
"""

import base64
import math
import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, product
from typing import Any

from viewer.writers.verify.masks import Box, pieces_of

Spans = list[tuple[int, int]]
Region = Mapping[int, Spans]
_LEVELS_OF_OTSU = 256


@lru_cache(maxsize=1024)
def region_of_mask(rows: int, counts: str) -> Region:
    """Return a mask of so many rows, from its run-length code."""
    found: dict[int, Spans] = {}
    for column, start, stop in pieces_of(rows, counts):
        found.setdefault(column, []).append((start, stop))
    return found


def region_of_boxes(
    boxes: Iterable[Sequence[float]], rows: int, columns: int
) -> Region:
    """Return the pixels of an image whose centres lie in a box."""
    found: dict[int, Spans] = {}
    for x0, y0, x1, y1 in boxes:
        start, stop = _pixels_between(y0, y1, rows)
        for column in range(*_pixels_between(x0, x1, columns)) if start < stop else ():
            found.setdefault(column, []).append((start, stop))
    return {column: _joined(spans) for column, spans in found.items()}


def _pixels_between(low: float, high: float, size: int) -> tuple[int, int]:
    """Return the first pixel whose centre lies in [low, high), and the one after."""
    first = min(max(math.ceil(low - 0.5), 0), size)
    return first, min(max(math.ceil(high - 0.5), first), size)


def _joined(spans: Spans) -> Spans:
    """Return spans merged where they overlap."""
    found: Spans = []
    for start, stop in sorted(spans):
        meets = bool(found) and start <= found[-1][1]
        first, last = found.pop() if meets else (start, stop)
        found.append((first, max(last, stop)))
    return found


def region_of_map(parsed: Mapping[str, Any], rows: int, columns: int) -> Region:
    """Return the pixels with their centres in elements above a map's threshold."""
    heat, (x0, y0, x1, y1) = parsed["heat_map"], parsed["field"]
    down = _elements(y0, y1, heat["rows"], rows)
    across = _elements(x0, x1, heat["columns"], columns)
    hot = above_threshold(map_values(heat))
    return region_of_boxes(
        [
            (beside[0], below[0], beside[-1] + 1, below[-1] + 1)
            for (below, beside), is_hot in zip(product(down, across), hot, strict=True)
            if is_hot and below and beside
        ],
        rows,
        columns,
    )


def _elements(start: float, stop: float, n: int, size: int) -> list[list[int]]:
    """Return the pixels with their centres in each of n parts of an interval."""
    found: list[list[int]] = [[] for _ in range(n)]
    for pixel in range(*_pixels_between(start, stop, size)):
        at = math.floor((pixel + 0.5 - start) / (stop - start) * n)
        found[min(max(at, 0), n - 1)].append(pixel)
    return found


def map_values(heat: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the values of a map, row by row."""
    data = base64.b64decode(heat["data"], validate=True)
    return struct.unpack(f"<{heat['rows'] * heat['columns']}e", data)


def above_threshold(values: Sequence[float]) -> list[bool]:
    """Return which values lie above Otsu's threshold of 256 levels of their range."""
    low, high = min(values), max(values)
    if low == high:
        return [False] * len(values)
    top = _LEVELS_OF_OTSU - 1
    levels = [int((value - low) / (high - low) * top) for value in values]
    whole, best, threshold, n, s = sum(levels), -1.0, 0, 0, 0
    for level in range(top):
        here = levels.count(level)
        n, s = n + here, s + here * level
        apart = (n * whole - len(levels) * s) ** 2 / (n * (len(levels) - n))
        if apart > best:
            best, threshold = apart, level
    return [level > threshold for level in levels]


def cut_region(region: Region, field: Box) -> Region:
    """Return the pixels whose centres lie in a rectangle."""
    x0, y0, x1, y1 = (math.ceil(edge - 0.5) for edge in field)
    return {
        column: kept
        for column, spans in region.items()
        if x0 <= column < x1
        and (kept := [(max(a, y0), min(b, y1)) for a, b in spans if a < y1 and b > y0])
    }


def overlap_of(one: Region, other: Region) -> tuple[float, float]:
    """Return the intersection over union of two regions, and Dice's coefficient."""
    spans = (of for region in (one, other) for own in region.values() for of in own)
    total = sum(stop - start for start, stop in spans)
    both = sum(
        max(0, min(stop, end) - max(start, begin))
        for column in one.keys() & other.keys()
        for (start, stop), (begin, end) in product(one[column], other[column])
    )
    return (both / (total - both), 2 * both / total) if total else (0.0, 0.0)


def region_holds(region: Region, x: float, y: float, size: Sequence[int]) -> bool:
    """Tell whether the pixel under a point is set, on an image's last edge its last."""
    rows, columns = size
    if not (0 <= x <= columns and 0 <= y <= rows):
        return False
    start, stop = _span_at(region, min(int(x), columns - 1), min(int(y), rows - 1))
    return start < stop


def _span_at(region: Region, column: int, row: int) -> tuple[int, int]:
    """Return the run of a column that holds a row, an empty one if none does."""
    spans = region.get(column, ())
    place = bisect_right(spans, row, key=lambda span: span[0]) - 1
    return spans[place] if place >= 0 and row < spans[place][1] else (row + 1, row)


def distance_to(
    region: Region, x: float, y: float, width: float, height: float
) -> float:
    """Return a point's distance to the nearest pixel, of the given mm or of 1."""
    return min(
        math.hypot(
            max(column - x, x - column - 1, 0.0) * width,
            max(start - y, y - stop, 0.0) * height,
        )
        for column, spans in region.items()
        for start, stop in spans
    )


def parts_of(region: Region) -> list[Box]:
    """Return the bounding box of each 8-connected part, by first pixel."""
    left = {column: list(spans) for column, spans in region.items()}
    found = []
    for column, spans in left.items():
        while spans:
            part, ends = [], [(column, *spans.pop())]
            while ends:
                part.append(ends.pop())
                at, start, stop = part[-1]
                for beside in (at - 1, at + 1):
                    own = left.get(beside, [])
                    near = [of for of in own if of[0] <= stop and start <= of[1]]
                    own[:] = [of for of in own if of not in near]
                    ends += [(beside, *of) for of in near]
            found.append(part)
    return [_around(part) for part in sorted(found, key=_first_pixel)]


def _first_pixel(part: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    return min((start, column) for column, start, _ in part)


def _around(part: Sequence[tuple[int, int, int]]) -> Box:
    columns, starts, stops = zip(*part, strict=True)
    low, high = (min(columns), min(starts)), (max(columns) + 1, max(stops))
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def deepest_pixel(region: Region, aspect: float) -> tuple[float, float]:
    """Return the centre of the pixel farthest from all that is outside a region.

    A pixel is ``aspect`` times taller than wide; of equally deep ones the first counts,
    row by row. Long pieces in the middle come first, which leaves few deeper pixels.
    """
    best, place, middle = 0.0, (0, 0), sum(region) / len(region)
    runs = [
        (start - stop, abs(column - middle), column, start, stop)
        for column in region
        for start, stop in region[column]
    ]
    for *_, column, start, stop in sorted(runs):
        margin = max(int(math.sqrt(best) / aspect) - 1, 0)
        for row in range(start + margin, stop - margin):
            depth = _depth(region, column, row, aspect, best)
            if depth > best or (depth == best and (row, column) < place):
                best, place = depth, (row, column)
    return place[1] + 0.5, place[0] + 0.5


def _depth(region: Region, column: int, row: int, aspect: float, least: float) -> float:
    """Return the square of a pixel's depth, or a bound below ``least``."""
    depth = math.inf
    far = math.ceil(math.sqrt(least)) - 1  # tells soonest that a pixel is not deeper
    for step in chain([max(far, 0)], count()):
        if step * step >= depth or depth < least:
            break
        for beside in (column - step, column + step):
            start, stop = _span_at(region, beside, row)
            down = min(row - start + 1, stop - row) * aspect
            depth = min(depth, step * step + down * down)
    return depth
