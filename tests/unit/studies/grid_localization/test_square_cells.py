"""Cells are square in the patient, and hold what they hold there.

Against brute force by NumPy: masks on a raster of many points in each native pixel.
"""

import numpy as np
import numpy.typing as npt
import pytest

from tests.helpers.geometries import GEOMETRIES, centred_square, pixel_height
from tests.unit.studies.grid_localization.cases import condition
from viewer.domain.answer import MaskAnswer, PointAnswer
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.metrics.pointing import pointing_point
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.places import GridPlaces

Bools = npt.NDArray[np.bool_]
ALL = pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
GRID = Grid(8, 8)
_FINE = 16


def blob(geometry: ImageGeometry) -> Bools:
    """Return a region over several cells, round in the patient, with a hole."""
    window, tall = centred_square(geometry), pixel_height(geometry)
    width = window.x1 - window.x0
    y, x = np.mgrid[: geometry.size.rows, : geometry.size.columns] + 0.5
    middle = (window.x0 + 0.4 * width, window.y0 + 0.55 * (window.y1 - window.y0))
    far = np.hypot(x - middle[0], (y - middle[1]) * tall) / width
    return np.asarray((far < 0.31) & (far > 0.07))


def covered_by_hand(geometry: ImageGeometry, mask: Bools) -> npt.NDArray[np.float64]:
    """Return the part of each of 8 × 8 cells that a mask covers, by many points."""
    window = centred_square(geometry)
    rows, columns = mask.shape
    down = (np.arange(rows * _FINE) + 0.5) / _FINE
    across = (np.arange(columns * _FINE) + 0.5) / _FINE
    row = np.floor((down - window.y0) / (window.y1 - window.y0) * 8).astype(int)
    column = np.floor((across - window.x0) / (window.x1 - window.x0) * 8).astype(int)
    part = np.zeros((8, 8))
    for i, j in np.ndindex(8, 8):
        ys = np.floor(down[row == i]).astype(int)
        xs = np.floor(across[column == j]).astype(int)
        part[i, j] = mask[np.ix_(ys, xs)].mean()
    return part


@ALL
@pytest.mark.parametrize("mode", ["exact", "paper"])
def test_that_cells_cover_what_brute_force_finds(
    geometry: ImageGeometry, mode: str
) -> None:
    params = read_params("gosai2025", {"mask_mode": mode, "side": 512})
    mask = blob(geometry)
    found = GridPlaces(params).reference(Mask.of_array(mask), geometry, condition(8))
    part = np.divide(found.covered, found.area).reshape(8, 8)
    expected = covered_by_hand(geometry, mask)
    # The edge of a cell may lie anywhere in a pixel, of which it takes all or none.
    height = geometry.size.rows / 8 if mode == "paper" else geometry.size.rows * 2
    assert np.abs(part - expected).max() < max(0.02, 1.5 / height)
    centre = centred_square(geometry)
    whole = (centre.y1 - centre.y0) * (centre.x1 - centre.x0) / mask.size
    assert found.fraction_outside == pytest.approx(
        1 - expected.mean() * whole * mask.size / mask.sum(), abs=0.01
    )


@ALL
def test_that_a_point_is_in_the_cell_that_it_lies_in_in_the_patient(
    geometry: ImageGeometry,
) -> None:
    places, window = GridPlaces(Params()), centred_square(geometry)
    random = np.random.default_rng(5)
    for u, v in random.uniform(0, 8, (40, 2)):
        x = window.x0 + u / 8 * (window.x1 - window.x0)
        y = window.y0 + v / 8 * (window.y1 - window.y0)
        answer = PointAnswer(PointPx(float(x), float(y)))
        found = places.in_cell(answer, condition(8), geometry)
        assert getattr(found, "cell", None) == Cell(int(v), int(u))


@ALL
def test_that_a_masks_deepest_point_is_deepest_in_the_patient(
    geometry: ImageGeometry,
) -> None:
    """By hand: the farthest of all pixels from every pixel outside, in the patient."""
    rows, columns = 24, 30
    y, x = np.mgrid[:rows, :columns]
    mask = (x > 2) & (x < 26) & (y > 3) & (y < 20) & (x + y < 38)
    tall = pixel_height(geometry)
    outside = np.argwhere(~mask)
    far = {
        (int(v), int(u)): float(
            np.hypot((outside[:, 0] - v) * tall, outside[:, 1] - u).min()
        )
        for v, u in np.argwhere(mask)
    }
    v, u = max(far, key=lambda at: (round(far[at], 9), -at[0], -at[1]))
    answer = MaskAnswer(Mask.of_array(mask))
    point = pointing_point(answer, GRID, BoxPx(0, 0, columns, rows), tall)
    assert far[int(point.y), int(point.x)] == pytest.approx(far[v, u], abs=1e-9)
