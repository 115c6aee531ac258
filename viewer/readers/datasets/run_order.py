"""Whether run-length codes go down the columns or along the rows, decided by a check.

The two look alike. Read in the wrong order, a mask of a non-square image is torn into
stripes, and one of a square image is mirrored at the diagonal, so that a right lung
appears on the left. On a frontal radiograph the patient's right is on the left of the
image.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask

_Bools = npt.NDArray[np.bool_]
_TORN: Final = 0.6
"""A mask whose edge is shorter than this share of the other reading's is the one."""
_MIDDLE: Final = (0.45, 0.55)
"""Between these shares of the width a mask's middle is on neither side."""
_MAJORITY: Final = 0.9


class Order(StrEnum):
    """The axis that runs go along."""

    COLUMNS = "columns"
    """Down each column, as COCO has it."""
    ROWS = "rows"
    """Along each row."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Alternating runs of an image's background and foreground, background first.

    ``name`` is the anatomy, "" if unknown.
    """

    name: str
    size: SizePx
    runs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Votes:
    """How many masks support each order, out of all."""

    columns: int
    rows: int
    masks: int

    @property
    def order(self) -> Order | None:
        """The order of at least nine in ten decisive codes, None without one."""
        most = max(self.columns, self.rows)
        if not most or most < _MAJORITY * (self.columns + self.rows):
            return None
        return Order.COLUMNS if self.columns == most else Order.ROWS


def votes(codes: Sequence[Runs]) -> Votes:
    """Count which order each mask supports; many support neither."""
    each = [_vote(code) for code in codes]
    return Votes(each.count(Order.COLUMNS), each.count(Order.ROWS), len(each))


def mask_of(code: Runs, order: Order) -> Mask:
    """Return a code's mask; raises if its runs do not fit the image."""
    return Mask.of_array(_array(code, order))


def _array(code: Runs, order: Order) -> _Bools:
    rows, columns = code.size.rows, code.size.columns
    if min(code.runs, default=0) < 0 or sum(code.runs) != rows * columns:
        raise UnreadableInputError(
            f"A mask's runs cover {sum(code.runs)} pixels, but its image has "
            f"{rows * columns}.",
            "Write runs that add up to the image's height × width.",
        )
    flat = np.repeat(np.arange(len(code.runs)) % 2 == 1, code.runs)
    if order is Order.COLUMNS:
        return flat.reshape(columns, rows).T
    return flat.reshape(rows, columns)


def _vote(code: Runs) -> Order | None:
    down, along = (_array(code, order) for order in Order)
    if not down.any():
        return None
    edges = _edge(down), _edge(along)
    if edges[0] < _TORN * edges[1]:
        return Order.COLUMNS
    if edges[1] < _TORN * edges[0]:
        return Order.ROWS
    return _by_side(code.name, down, along)


def _edge(mask: _Bools) -> int:
    """Return how many neighbouring pixels differ."""
    down = np.count_nonzero(mask[1:] != mask[:-1])
    return int(down + np.count_nonzero(mask[:, 1:] != mask[:, :-1]))


def _by_side(name: str, down: _Bools, along: _Bools) -> Order | None:
    """Return the order in which a mask called left or right is on that side."""
    words = name.casefold().split()
    if ("right" in words) == ("left" in words):
        return None
    wanted = -1 if "right" in words else 1
    sides = _side(down), _side(along)
    if sides == (wanted, -wanted):
        return Order.COLUMNS
    return Order.ROWS if sides == (-wanted, wanted) else None


def _side(mask: _Bools) -> int:
    """Return -1 for the left of the image, 1 for the right, 0 for the middle."""
    x = (np.flatnonzero(mask) % mask.shape[1] + 0.5).mean() / mask.shape[1]
    return int(x > _MIDDLE[1]) - int(x < _MIDDLE[0])
