"""References: the ground truth that answers are compared with."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from viewer.domain import rle
from viewer.domain.geometry import SizePx


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
