"""How the slices of a volume are turned for display.

A slice is shown in the plane of the file's first two axes, turned by quarter turns and
mirrored to the radiological convention: axial and coronal with the patient's right on
the viewer's left, front and head up; sagittal with the front on the left, head up. The
slices follow the normal of rows × columns, as those of a DICOM series do
(`viewer.readers.index`): axial foot to head, coronal front to back, sagittal left to
right.
"""

from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np

from viewer.domain.image_geometry import TURNS, Turn
from viewer.readers.volumes.header import Steps

_VIEWS: Final = {
    0: ((1, 1), (2, -1), (0, -1)),
    1: ((0, 1), (2, -1), (1, 1)),
    2: ((0, 1), (1, 1), (2, 1)),
}
"""Which of the patient's axes rows, columns and slices follow, and to which end.

By the axis that the slices follow: x (sagittal), y (coronal) or z (axial), which run to
the left, the back and the head.
"""


@dataclass(frozen=True, slots=True)
class VolumeView:
    """How stored slices are turned and ordered for display.

    ``orientation`` applies to each (`viewer.domain.image_geometry.TURNS`); if
    ``reversed`` they are shown from the last to the first.
    """

    orientation: int = 1
    reversed: bool = False


def standard_view(affine: Steps | None) -> VolumeView:
    """Return the view of a volume for its affine (3, 4); unchanged without one.

    Each axis of an oblique volume counts as the nearest axis of the patient.
    """
    if affine is None:
        return VolumeView()
    cosines = affine[:, :3] / np.linalg.norm(affine[:, :3], axis=0)
    nearest = max(
        # All six assignments: the nearest axis of each alone may name one axis twice.
        permutations(range(3)),
        key=lambda axes: sum(abs(cosines[axis, n]) for n, axis in enumerate(axes)),
    )
    rows, columns, slices = _VIEWS[nearest[2]]

    def turned_round(target: tuple[int, int]) -> bool:
        axis, sign = target
        return bool(cosines[axis, nearest.index(axis)] * sign < 0)

    turn = Turn(nearest[0] != rows[0], turned_round(rows), turned_round(columns))
    orientation = next(number for number, one in TURNS.items() if one == turn)
    return VolumeView(orientation, turned_round(slices))
