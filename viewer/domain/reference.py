"""Masks: what a reference, an answer or a reader marks of an image."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from viewer.domain import rle
from viewer.domain.geometry import BoxPx, SizePx

Bits = npt.NDArray[np.bool_]
"""(rows, columns), True where a pixel is set."""


@dataclass(frozen=True, slots=True)
class Mask:
    """A binary mask in native pixels, stored as COCO compressed RLE."""

    size: SizePx
    counts: str

    @classmethod
    def of_array(cls, mask: npt.NDArray[np.bool_]) -> Self:
        """Encode a (rows, columns) boolean array."""
        rows, columns = mask.shape
        return cls(SizePx(int(rows), int(columns)), rle.encode(mask))

    def array(self) -> npt.NDArray[np.bool_]:
        """Return the (rows, columns) boolean array; UnreadableInputError if invalid."""
        return rle.decode(self.counts, self.size.rows, self.size.columns)

    @property
    def is_empty(self) -> bool:
        """Whether no pixel is set; UnreadableInputError if the code is invalid."""
        return not any(rle.decode_runs(self.counts)[1::2])


@dataclass(frozen=True, slots=True)
class Patch:
    """Pixels of an image that are set, within the smallest rectangle around them.

    ``left`` and ``top`` are the native column and row of that rectangle's first pixel;
    ``mask`` is as large as it, so that a stroke costs what it covers and not the image.
    """

    left: int
    top: int
    mask: Mask

    @classmethod
    def of_array(cls, bits: Bits, left: int = 0, top: int = 0) -> Self | None:
        """Return the set pixels of a (rows, columns) array, None without any.

        Its first element is the native pixel in column ``left`` and row ``top``.
        """
        rows, columns = (np.flatnonzero(bits.any(axis)) for axis in (1, 0))
        if not len(rows):
            return None
        part = bits[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return cls(left + int(columns[0]), top + int(rows[0]), Mask.of_array(part))

    @property
    def box(self) -> BoxPx:
        """The smallest rectangle around the pixels, in native pixels of the image."""
        right, bottom = self._end
        return BoxPx(float(self.left), float(self.top), float(right), float(bottom))

    @property
    def count(self) -> int:
        """How many pixels are set."""
        return sum(rle.decode_runs(self.mask.counts)[1::2])

    def on(self, size: SizePx) -> Bits:
        """Return the (rows, columns) mask of a whole image, cut at its edges."""
        return _framed(self, 0, 0, size)

    def united(self, other: Self) -> Self:
        """Return the pixels that are set in either."""
        both = self._combined(other, np.logical_or)
        assert both is not None  # noqa: S101 - neither is empty
        return both

    def without(self, other: Self) -> Self | None:
        """Return the pixels that are not set in another, None if there are none."""
        return self._combined(other, np.greater)

    def differing(self, other: Self) -> Self | None:
        """Return the pixels that are set in one of both only, None if there are none.

        Their difference from either of the two is the other.
        """
        return self._combined(other, np.logical_xor)

    def meets(self, other: Self) -> bool:
        """Tell whether a pixel is set in both."""
        return self._combined(other, np.logical_and) is not None

    @property
    def _end(self) -> tuple[int, int]:
        """The column and the row behind the last ones."""
        size = self.mask.size
        return self.left + size.columns, self.top + size.rows

    def _combined(self, other: Self, how: np.ufunc) -> Self | None:
        left, top = min(self.left, other.left), min(self.top, other.top)
        right, bottom = map(max, self._end, other._end)
        frame = SizePx(bottom - top, right - left)
        mine, others = (_framed(patch, left, top, frame) for patch in (self, other))
        return self.of_array(how(mine, others), left, top)


def _framed(patch: Patch, left: int, top: int, frame: SizePx) -> Bits:
    """Return the mask of a frame that begins at or before the patch, cut at its end."""
    # As decoded masks lie in memory: copying them to rows takes several times as long.
    whole = np.zeros((frame.rows, frame.columns), bool, order="F")
    size = patch.mask.size
    down, across = patch.top - top, patch.left - left
    room = whole[down : down + size.rows, across : across + size.columns]
    rows, columns = room.shape
    room[:] = patch.mask.array()[:rows, :columns]
    return whole
