"""The header of a volume: where its values are in files, and in space."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[Any]
LONGEST_HEADER: Final = 1 << 20
Steps = npt.NDArray[np.float64]
_LEAST_VOLUME: Final = 1e-3
"""Of the parallelepiped of three unit steps; less, and they lie in one plane."""


class Packing(Enum):
    """How the values of a volume are compressed in its files."""

    NONE = "none"
    DEFLATE = "gzip or zlib"
    BZIP2 = "bzip2"
    TEXT = "text"
    HEX = "hex"


@dataclass(frozen=True, slots=True)
class Part:
    """A file with values of a volume.

    ``start`` is the offset of the values; None if they are at the end of the file.
    """

    path: Path
    start: int | None = 0


@dataclass(frozen=True, slots=True, eq=False)
class VolumeHeader:
    """The values of a volume in its files and in space.

    ``shape`` is the number of values along each axis of the file, fastest first. The
    first two spatial axes are the columns and rows of a stored slice, the others its
    slices. ``components`` is the axis of a voxel's components, None for scalar voxels.

    ``parts`` have the same number of values each, of ``dtype`` with its byte order;
    ``skip`` bytes of the decompressed first part are skipped. A value is multiplied by
    ``slope``, then ``intercept`` is added.

    ``affine`` (3, 4) has the steps along the first three axes of space, and the centre
    of the first voxel, in millimetres of the patient (x to the left, y to the back, z
    to the head); an unknown position is NaN. It is None if the orientation in the
    patient is unknown; ``spacing`` is then the voxel distance along the first two
    spatial axes in millimetres, None if that is unknown too.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: tuple[Part, ...]
    packing: Packing = Packing.NONE
    skip: int = 0
    components: int | None = None
    slope: float = 1.0
    intercept: float = 0.0
    affine: Steps | None = None
    spacing: tuple[float, float] | None = None

    @property
    def extent(self) -> tuple[int, ...]:
        """The number of voxels along each spatial axis, and of time points."""
        return tuple(n for axis, n in enumerate(self.shape) if axis != self.components)

    @property
    def component_count(self) -> int:
        """The number of components of a voxel."""
        return 1 if self.components is None else self.shape[self.components]


def known_affine(steps: Steps, origin: npt.ArrayLike) -> Steps | None:
    """Return a volume's affine, None if its steps do not span the space.

    ``steps`` (3, 3) has a column for each axis, ``origin`` (3,) the first voxel.
    """
    lengths = np.linalg.norm(steps, axis=0)
    if not (np.isfinite(lengths).all() and lengths.all()):
        return None
    if abs(np.linalg.det(steps / lengths)) < _LEAST_VOLUME:
        return None
    return np.column_stack((steps, np.asarray(origin, dtype=np.float64)))


def header_lines(stream: IO[bytes]) -> Iterator[str]:
    """Yield lines from the stream's position on, without their line ends."""
    while stream.tell() < LONGEST_HEADER and (line := stream.readline(LONGEST_HEADER)):
        yield os.fsdecode(line.rstrip())
