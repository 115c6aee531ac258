"""The measures of an answer of any kind on its reference, and its boxes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viewer.writers.verify.masks import Box
from viewer.writers.verify.pieces import (
    Region,
    cut_region,
    deepest_pixel,
    distance_to,
    map_values,
    overlap_of,
    parts_of,
    region_holds,
    region_of_boxes,
    region_of_map,
    region_of_mask,
)

Parsed = Mapping[str, Any]
"""An answer in native pixels as it was kept, or ``{"cell": index}``, row-major."""
Point = tuple[float, float]
BY_RULE = "(by rule)"
_IOU_OF_A_HIT = 0.5
SHARES = ("iou", "dice", "iou_uncropped", "dice_uncropped")
MEASURES = (
    *("kind", "point_x", "point_y", "cell_hit", "pointing_hit", "iou_hit", *SHARES),
    *("distance_px", "distance_mm", "mm_meaning"),
)


@dataclass(frozen=True)
class Ground:
    """An image, and the part of it that was sent under a grid.

    ``size`` are rows and columns, ``aspect`` is how much taller than wide a pixel is,
    ``spacing`` the millimetres between rows, those between columns and where they are
    measured, None if nothing tells.
    """

    size: tuple[int, int]
    field: Box
    grid: tuple[int, int]
    aspect: float
    spacing: tuple[float, float, str] | None

    def cell_at(self, point: Point) -> int:
        """Return the row-major index of the cell that holds a point, -1 for none."""
        x0, y0, x1, y1 = self.field
        rows, columns = self.grid
        column, row = _part(point[0], x0, x1, columns), _part(point[1], y0, y1, rows)
        return -1 if min(row, column) < 0 else row * columns + column

    def box_of(self, cell: int) -> Box:
        """Return the native rectangle of a cell."""
        x0, y0, x1, y1 = self.field
        row, column = divmod(cell, self.grid[1])
        width, height = (x1 - x0) / self.grid[1], (y1 - y0) / self.grid[0]
        left, top = x0 + column * width, y0 + row * height
        return left, top, x0 + (column + 1) * width, y0 + (row + 1) * height


@dataclass(frozen=True)
class Drawn:
    """Boxes of an answer, their confidences, and those to find: by rule, by reader.

    Of what is absent there are none to find.
    """

    predicted: Sequence[Box]
    confidence: Sequence[float]
    to_find: Mapping[str, Sequence[Box]]


def _part(value: float, start: float, stop: float, cells: int) -> int:
    if not start <= value <= stop:
        return -1
    # A point on the far edge belongs to the last cell.
    return min(int((value - start) / (stop - start) * cells), cells - 1)


def _kind_of(parsed: Parsed) -> str:
    return str(parsed.get("type", "cell"))


def point_of(parsed: Parsed, ground: Ground) -> Point:
    """Return the native (x, y) at which an answer is scored, by its kind."""
    kind, field = _kind_of(parsed), ground.field
    if kind == "point":
        x, y = parsed["point"]
        return x, y
    if kind == "heat_map":
        return _greatest_of_map(parsed, field)
    if kind == "mask":
        whole = region_of_mask(ground.size[0], parsed["mask"]["counts"])
        return deepest_pixel(cut_region(whole, field) or whole, ground.aspect)
    boxes = _boxes_of(parsed, ground)
    sent = [cut for _, cut in _cut(boxes, field)] if kind == "boxes" else boxes
    x0, y0, x1, y1 = max(sent or boxes, key=lambda b: (b[2] - b[0]) * (b[3] - b[1]))
    return (x0 + x1) / 2, (y0 + y1) / 2


def _boxes_of(parsed: Parsed, ground: Ground) -> Sequence[Sequence[float]]:
    """Return the boxes of an answer, or that of its cell."""
    return [ground.box_of(parsed["cell"])] if "cell" in parsed else parsed["boxes"]


def _cut(boxes: Iterable[Sequence[float]], field: Box) -> list[tuple[int, Box]]:
    """Clip boxes to a rectangle; return each that overlaps it, with its index."""
    left, top, right, bottom = field
    return [
        (i, (max(x0, left), max(y0, top), min(x1, right), min(y1, bottom)))
        for i, (x0, y0, x1, y1) in enumerate(boxes)
        if x0 < right and x1 > left and y0 < bottom and y1 > top
    ]


def _greatest_of_map(parsed: Parsed, sent: Box) -> Point:
    """Return the centre of a map's maximum, the first in row-major order.

    It is one whose centre was sent, if there are any.
    """
    heat = parsed["heat_map"]
    rows, columns = heat["rows"], heat["columns"]
    x0, y0, x1, y1 = parsed["field"]
    centres = [
        (x0 + (column + 0.5) * (x1 - x0) / columns, y0 + (row + 0.5) * (y1 - y0) / rows)
        for row in range(rows)
        for column in range(columns)
    ]
    left, top, right, bottom = sent
    every = [*zip(map_values(heat), centres, strict=True)]
    within = [
        (value, place)
        for value, place in every
        if left <= place[0] < right and top <= place[1] < bottom
    ]
    return max(within or every, key=lambda of: of[0])[1]


def region_of(parsed: Parsed, ground: Ground) -> Region | None:
    """Return the pixels that an answer covers, None for a point."""
    kind, (rows, columns) = _kind_of(parsed), ground.size
    if kind == "point":
        return None
    if kind == "mask":
        return region_of_mask(rows, parsed["mask"]["counts"])
    if kind == "heat_map":
        return region_of_map(parsed, rows, columns)
    return region_of_boxes(_boxes_of(parsed, ground), rows, columns)


def measures_of(
    parsed: Parsed, counts: str, ground: Ground, hits: Sequence[int]
) -> dict[str, Any] | None:
    """Return how an answer overlaps a mask, None if none of the mask was sent.

    ``hits`` are the cells that qualify.
    """
    whole = region_of_mask(ground.size[0], counts)
    sent = cut_region(whole, ground.field)
    if not sent:
        return None
    x, y = point = point_of(parsed, ground)
    covered = region_of(parsed, ground)
    shares: Sequence[float | None] = (None,) * len(SHARES)
    if covered is not None:
        cut = cut_region(covered, ground.field)
        shares = (*overlap_of(cut, sent), *overlap_of(covered, whole))
    down, across, where = ground.spacing or (0.0, 0.0, None)
    found = (
        *(_kind_of(parsed), x, y, ground.cell_at(point) in hits),
        region_holds(sent, x, y, ground.size),
        None if shares[0] is None else shares[0] >= _IOU_OF_A_HIT,
        *(*shares, distance_to(sent, x, y, 1.0, ground.aspect)),
        *(distance_to(sent, x, y, across, down) if where else None, where),
    )
    return dict(zip(MEASURES, found, strict=True))


def drawn_of(
    parsed: Parsed | None, image: Parsed, finding: str, ground: Ground
) -> Drawn | None:
    """Return an answer's boxes and those to find, all cut to what was sent.

    Without boxes by the rule, those around the mask's parts are to be found. None of an
    answer that has no box: a cell, a point or a heat map.
    """
    if parsed is not None and _kind_of(parsed) not in {"boxes", "mask"}:
        return None
    predicted = dict(_predicted(parsed or {}, ground))
    sure = (parsed or {}).get("confidences", ())
    drawn, mask = image["to_find"][finding], image["masks"].get(finding)
    to_find = {of: [cut for _, cut in _cut(drawn[of], ground.field)] for of in drawn}
    if mask and not drawn[BY_RULE]:
        to_find[BY_RULE] = _parts_sent(mask, ground)
    confidence = [one for i, one in enumerate(sure) if i in predicted]
    return Drawn([*predicted.values()], confidence, to_find)


def _predicted(parsed: Parsed, ground: Ground) -> Iterable[tuple[int, Box]]:
    if "mask" in parsed:
        return enumerate(_parts_sent(parsed["mask"], ground))
    return _cut(parsed.get("boxes", ()), ground.field)


def _parts_sent(mask: Parsed, ground: Ground) -> list[Box]:
    whole = region_of_mask(ground.size[0], mask["counts"])
    return parts_of(cut_region(whole, ground.field))
