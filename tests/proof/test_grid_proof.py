"""Masks and coverage against pycocotools and brute force, on many random masks."""

import numpy as np
import numpy.typing as npt
import pytest
from pycocotools import mask as coco

from viewer.domain import rle
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.run import Condition
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.reference import reference_of

Bools = npt.NDArray[np.bool_]
pytestmark = pytest.mark.filterwarnings(  # inside pycocotools, with NumPy 2
    "ignore:__array__ implementation:DeprecationWarning"
)
PAPER = read_params("gosai2025", {})
EXACT = read_params("gosai2025", {"mask_mode": "exact"})


def random_mask(rng: np.random.Generator) -> Bools:
    """Return a mask of specks, of blobs, or full or empty, of a random size."""
    rows, columns = (int(n) for n in rng.integers(20, 300, 2))
    kind = rng.integers(4)
    if kind == 0:
        return np.asarray(rng.random((rows, columns)) < rng.random())
    mask = np.zeros((rows, columns), dtype=bool)
    for _ in range(kind * 2):
        y0, y1 = sorted(rng.integers(0, rows + 1, 2))
        x0, x1 = sorted(rng.integers(0, columns + 1, 2))
        mask[y0:y1, x0:x1] ^= True
    return mask


def brute_force_paper(mask: Bools, grid: Grid) -> list[int]:
    """Count, sample by sample, in which cell each of 256 × 256 falls."""
    rows, columns = mask.shape
    s = min(rows, columns)
    y0, x0 = (rows - s) // 2, (columns - s) // 2
    index = [int((i + 0.5) * s / 256) for i in range(256)]
    fitted = mask[np.ix_([y0 + i for i in index], [x0 + i for i in index])]
    row_of, column_of = cell_of_sample(grid.rows), cell_of_sample(grid.columns)
    counts = np.zeros((grid.rows, grid.columns), dtype=int)
    y, x = np.nonzero(fitted)
    np.add.at(counts, (np.array(row_of)[y], np.array(column_of)[x]), 1)
    return [int(n) for n in counts.ravel()]


def cell_of_sample(cells: int) -> list[int]:
    """Return the last cell that begins at or before each of 256 samples."""
    return [max(i for i in range(cells) if i * 256 // cells <= y) for y in range(256)]


def brute_force_exact(mask: Bools, grid: Grid) -> npt.NDArray[np.float64]:
    """Sum the overlap of every native pixel with every cell, as weight matrices."""
    rows, columns = mask.shape
    s = min(rows, columns)
    origin = ((rows - s) // 2, (columns - s) // 2)
    weights = []
    cells_of = (grid.rows, grid.columns)
    for start, n, cells in zip(origin, mask.shape, cells_of, strict=True):
        edges = start + s * np.arange(cells + 1) / cells
        pixel = np.arange(n)
        upper = np.minimum(pixel[None] + 1, edges[1:, None])
        lower = np.maximum(pixel[None], edges[:-1, None])
        weights.append(np.maximum(upper - lower, 0))
    return np.asarray(weights[0] @ mask @ weights[1].T)


def check(seed: int) -> int:
    """Check one mask on one grid; return how many cells it covers at all."""
    rng = np.random.default_rng(seed)
    array = random_mask(rng)
    mask = Mask.of_array(array)
    theirs = coco.encode(np.asfortranarray(array, dtype=np.uint8))
    assert mask.counts == theirs["counts"].decode()
    assert (coco.decode(theirs).astype(bool) == mask.array()).all()
    assert (rle.decode(theirs["counts"].decode(), *array.shape) == array).all()
    sides = (8, 16, int(rng.integers(2, 27)), int(rng.integers(2, 27)))
    rows, columns = (int(n) for n in rng.choice(sides, 2))
    grid = Grid(rows, columns)
    condition = Condition("grid", (("rows", grid.rows), ("columns", grid.columns)))
    paper = reference_of(mask, ImageGeometry(mask.size), condition, PAPER)
    assert list(paper.covered) == brute_force_paper(array, grid)
    exact = reference_of(mask, ImageGeometry(mask.size), condition, EXACT)
    expected = brute_force_exact(array, grid)
    assert np.allclose(exact.covered, expected.ravel(), rtol=0, atol=1e-6)
    s = min(array.shape)
    assert np.allclose(exact.area, s * s / (grid.rows * grid.columns))
    total = array.sum()
    outside = 1 - expected.sum() / total if total else 0.0
    assert exact.fraction_outside == pytest.approx(outside, abs=1e-9)
    return int(np.count_nonzero(expected))


def test_that_fifty_random_masks_are_decoded_and_covered_right() -> None:
    covered = [check(seed) for seed in range(140, 190)]
    assert min(covered) == 0, "a mask beside the grid is among them"
    assert max(covered) > 100


@pytest.mark.proof
def test_that_ten_thousand_random_masks_are_decoded_and_covered_right() -> None:
    covered = [check(seed) for seed in range(10_000)]
    assert min(covered) == 0, "a mask beside the grid is among them"
    assert max(covered) > 100
