"""Predicted finding boxes: average precision and the free-response curve."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from viewer.writers.verify.estimators import Cell, Cells, Number, ratio
from viewer.writers.verify.masks import Box
from viewer.writers.verify.sums import pairwise_sum

_COCO = "COCO average precision, 101 recalls, one to one, ties as one"
_NO_ORDER = "none: all boxes have equal or no confidence"
_MOST_BOXES, _NEARLY_ONE = 100, 1 - 1e-10


class _Ranked(NamedTuple):
    """A predicted box: its confidence, if it finds a box, and if it overlaps none."""

    sure: float
    hit: bool
    astray: bool


def shared_part(one: Box, other: Box) -> float:
    """Return the intersection over union of two boxes, 0 if both areas are 0."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    both = max(width, 0.0) * max(height, 0.0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    whole = sum(areas) - both
    return both / whole if whole > 0 else 0.0


def best_overlap(predicted: Sequence[Box], reference: Sequence[Box]) -> float:
    """Return the greatest overlap of any two boxes, 0 without any."""
    shares = (shared_part(one, other) for one in predicted for other in reference)
    return max(shares, default=0.0)


def _ranked(s: Cell, least: float, most: int | None = None) -> list[_Ranked]:
    """Return the boxes of all rows, the surest first; of a row at ``most`` so many.

    In a row each box takes, from the surest on, the best box to find that is free, of
    equal ones the last.
    """
    every: list[_Ranked] = []
    for row in s.rows:
        predicted, confidence, reference = (row[name] for name in s.of)
        known = confidence or [1.0] * len(predicted)
        free = set(range(len(reference)))
        for _, i in sorted((-sure, i) for i, sure in enumerate(known))[:most]:
            shares = [shared_part(predicted[i], other) for other in reference]
            top, best = max(((shares[j], j) for j in free), default=(-1.0, -1))
            free -= {best} if top >= least else set()
            astray = max(shares, default=-1.0) < least
            every.append(_Ranked(known[i], top >= least, astray))
    return sorted(every, key=lambda one: -one.sure)


def _to_find(s: Cell) -> int:
    return sum(len(row[s.of[2]]) for row in s.rows)


def _steps(ranked: Sequence[_Ranked]) -> Iterator[tuple[int, int, int]]:
    """Yield boxes, true and false positives so far, with ties in one step."""
    boxes = found = astray = 0
    for _, equal in groupby(ranked, key=lambda one: one.sure):
        of = list(equal)
        boxes += len(of)
        found += sum(one.hit for one in of)
        astray += sum(one.astray for one in of)
        yield boxes, found, astray


def precision_at(s: Cell, least: float) -> Number:
    """Return COCO's average precision at an overlap: the mean over 101 recalls."""
    whole = _to_find(s)
    if not whole:
        return None
    # Both limits are COCOeval's: 100 boxes an image, and overlaps just below 1.
    steps = [*_steps(_ranked(s, min(least, _NEARLY_ONE), _MOST_BOXES))]
    recalls = [found / whole for _, found, _ in steps]
    precisions = [found / boxes for boxes, found, _ in reversed(steps)]
    tops = [0.0, *accumulate(precisions, max)][::-1]
    # As np.linspace makes them: steps times the pitch, but the end as it is given.
    wanted = [*(i * 0.01 for i in range(100)), 1.0]
    return pairwise_sum([tops[bisect_left(recalls, one)] for one in wanted]) / 101


def _average_precision(s: Cell) -> Cells:
    overlaps, at, name = _precision_by_overlap(s)
    if not at:
        return None, _NO_ORDER + _of_which(s)
    name = f"{_COCO}, IoU {overlaps[0]:g} to {overlaps[-1]:g}{_of_which(s)}"
    return (None if None in at else pairwise_sum(at) / len(at)), name


def _precision_by_overlap(s: Cell) -> Cells:
    """Return overlaps, precisions and a name; nothing if all confidences are equal."""
    rows = [(row[s.of[1]] or [1.0] * len(row[s.of[0]])) for row in s.rows]
    overlaps = s.options["overlaps"] if len({x for of in rows for x in of}) > 1 else ()
    return [*overlaps], [precision_at(s, one) for one in overlaps], _COCO + _of_which(s)


def _of_which(s: Cell) -> str:
    every = all(row[s.of[2]] for row in s.rows)
    return ", only items with the finding" if every else ""


def froc_points(s: Cell) -> tuple[list[float], list[Number]]:
    """Return false positives per item and sensitivity, starting at (0, 0)."""
    steps = [(0, 0, 0), *_steps(_ranked(s, s.options["overlap"]))]
    false = [astray / len(s.rows) for *_, astray in steps]
    return false, [ratio(found, _to_find(s)) for _, found, _ in steps]


def _froc(s: Cell) -> Cells:
    """Return the mean sensitivity at given rates of false positives."""
    points = [*zip(*froc_points(s), strict=True)]
    overlap, rates = s.options["overlap"], s.options["rates"]
    name = f"FROC, IoU \u2265 {overlap:g}, one to one, steps, n = {len(s.rows)}"
    at = [max(y or 0.0 for x, y in points if x <= rate) for rate in rates]
    value = pairwise_sum(at) / len(at) if _to_find(s) else None
    return value, name + _of_which(s)


FOUND: dict[str, Callable[[Cell], Cells]] = {
    "average precision": _average_precision,
    "average precision by overlap": _precision_by_overlap,
    "froc": _froc,
    "froc curve": froc_points,
}
