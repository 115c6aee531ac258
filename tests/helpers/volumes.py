"""A head with marks at its left, front and top, stored along its axes in any order."""

from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest

SPACING: Final = np.array([0.5, 0.75, 2.0])
"""Along the patient's x (to the left), y (to the back) and z (to the head), in mm."""
ORIGIN: Final = np.array([-11.0, 22.0, -33.0])
LEFT, FRONT, TOP = 1001, 1002, 1003


def head() -> npt.NDArray[np.int16]:
    """Return (x, y, z) values in the patient's axes: no two halves are alike."""
    values = np.random.default_rng(0).integers(0, 900, (5, 6, 7)).astype(np.int16)
    values[-1, 3, 3], values[2, 0, 3], values[2, 3, -1] = LEFT, FRONT, TOP
    return values


HEAD: Final = head()


@dataclass(frozen=True)
class Order:
    """Which of the patient's axes each axis of a file runs along, and which way."""

    axes: tuple[int, ...]
    signs: tuple[int, ...]

    def __str__(self) -> str:
        """Return where the axes of the file run to, as ``LPS``."""
        ends = {(0, 1): "L", (0, -1): "R", (1, 1): "P", (1, -1): "A"}
        ends |= {(2, 1): "S", (2, -1): "I"}
        return "".join(ends[one] for one in zip(self.axes, self.signs, strict=True))

    @property
    def direction(self) -> npt.NDArray[np.float64]:
        """The cosines (3, 3): a column for each axis of the file."""
        return np.asarray(np.eye(3)[:, list(self.axes)] * np.array(self.signs))

    @property
    def spacing(self) -> npt.NDArray[np.float64]:
        """The spacing along the axes of the file, in millimetres."""
        return SPACING[list(self.axes)]

    @property
    def origin(self) -> npt.NDArray[np.float64]:
        """Where the first stored voxel lies in the patient, in millimetres."""
        last = (np.array(HEAD.shape) - 1) * SPACING
        backwards = self.direction.sum(axis=1) < 0
        return np.where(backwards, ORIGIN + last, ORIGIN)

    @property
    def stored(self) -> npt.NDArray[np.int16]:
        """The head's values along the axes of the file."""
        return HEAD.transpose(self.axes)[
            tuple(slice(None, None, s) for s in self.signs)
        ]


ORDERS: Final = tuple(
    Order(axes, signs)
    for axes in permutations(range(3))
    for signs in product((1, -1), repeat=3)
)


def write_head(path: Path, order: Order) -> Path:
    """Write the head: NIfTI through nibabel, NRRD and MetaImage through SimpleITK."""
    steps = order.direction * order.spacing
    return write_volume(path, order.stored, steps, order.origin)


def write_volume(
    path: Path, values: npt.NDArray[Any], steps: npt.NDArray[Any], origin: npt.ArrayLike
) -> Path:
    """Write (i, j, k) values with steps (3, 3) and origin in the patient's axes."""
    if ".nii" in path.name:
        import nibabel

        affine = np.eye(4)
        affine[:3] = np.diag([-1, -1, 1]) @ np.column_stack((steps, origin))
        nibabel.save(nibabel.Nifti1Image(values, affine), path)  # type: ignore[no-untyped-call]
        return path
    sitk = pytest.importorskip("SimpleITK", reason="it writes these files")
    image = sitk.GetImageFromArray(values.transpose())
    spacing = np.linalg.norm(steps, axis=0)
    image.SetSpacing(spacing.tolist())
    image.SetDirection((steps / spacing).ravel().tolist())
    image.SetOrigin(np.asarray(origin, dtype=float).tolist())
    sitk.WriteImage(image, str(path))
    return path
