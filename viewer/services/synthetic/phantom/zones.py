"""Lung zones and the great vessels' shadows: the anatomies that questions are about.

Radiologists divide each lung into an upper, a middle and a lower zone; here each is a
third of the height of the lung's shadow, which reaches behind heart and diaphragm; none
is a lobe.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.lungs import TOUCH_MM
from viewer.services.synthetic.phantom.patient import PhantomPatient
from viewer.services.synthetic.phantom.projection import Projection, patient_grid
from viewer.services.synthetic.phantom.rays import Bools, Floats, RayGrid
from viewer.services.synthetic.phantom.scene import build_scene
from viewer.services.synthetic.phantom.solids import Solid
from viewer.services.synthetic.phantom.tubes import Tube

LUNG_ZONES: Final = ("upper", "middle", "lower")
ANATOMIES: Final = (
    *(f"{side} {zone} lung" for side in ("Right", "Left") for zone in LUNG_ZONES),
    *("Heart", "Aorta", "Trachea"),
)
"""The anatomies of a phantom: eight, and the trachea."""


def thirds(lung: Bools) -> tuple[Bools, Bools, Bools]:
    """Return the upper, middle and lower third of a (rows, columns) lung mask.

    The rows from its first to its last are parted in three, the remainder below; an
    empty mask has empty thirds.
    """
    rows = np.flatnonzero(lung.any(axis=1))
    first, n = (int(rows[0]), int(rows[-1] + 1 - rows[0])) if rows.size else (0, 0)
    row = np.arange(lung.shape[0])[:, None]
    upper, lower = first + n // 3, first + 2 * n // 3
    return (
        lung & (row < upper),
        lung & (row >= upper) & (row < lower),
        lung & (row >= lower),
    )


def anatomies(
    patient: PhantomPatient, view: View, projection: Projection
) -> Mapping[str, Bools]:
    """Return the mask of each of ANATOMIES on a patient's radiograph."""
    rows, columns = projection.values.shape
    found = {
        f"{side} {zone} lung": mask
        for side in ("Right", "Left")
        for zone, mask in zip(
            LUNG_ZONES, thirds(projection.anatomy[f"{side.lower()} lung"]), strict=True
        )
    }
    anatomy = build_scene(patient).anatomy
    grid = patient_grid(patient, view, SizePx(rows, columns))
    arch, descending, _ = anatomy.aorta
    found["Heart"] = projection.anatomy["heart"]
    found["Aorta"] = _shadow(grid, arch) | _shadow(grid, descending)
    found["Trachea"] = _shadow(grid, anatomy.airways[0])
    return found


def _shadow(grid: RayGrid, body: Solid | Tube) -> Bools:
    mask = np.zeros(grid.shape, dtype=np.bool_)
    window = grid.window(body.bounds())
    part = grid.part(window)
    if 0 not in part.shape:
        mask[window] = _path(part, body) > TOUCH_MM
    return mask


def _path(grid: RayGrid, body: Solid | Tube) -> Floats:
    if isinstance(body, Tube):
        return body.chord(grid)
    return body.interval(grid).length()
