from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from tests.unit.studies.grid_localization.cases import Bools, block, condition
from viewer.domain.answer import CellAnswer, Status, Unparsed
from viewer.domain.grid import Cell, Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome
from viewer.domain.run import Condition
from viewer.studies.grid_localization.params import Params, read_params
from viewer.studies.grid_localization.reference import reference_of
from viewer.studies.grid_localization.score import score
from viewer.studies.places import GridReference

PAPER = read_params("gosai2025", {})
EXACT = read_params("gosai2025", {"mask_mode": "exact"})
MODES = pytest.mark.parametrize("params", [PAPER, EXACT], ids=["paper", "exact"])


def f1() -> Bools:
    return block(100, 190, 70, 150, 256)


def f2() -> Bools:
    return block(60, 70, 60, 70, 256)


def f3() -> Bools:
    return block(0, 32, 0, 16, 256)


def f3b() -> Bools:
    mask = f3()
    mask[0, 0] = False
    return mask


def f4() -> Bools:
    y, x = np.mgrid[:256, :256] + 0.5
    return np.asarray(((x - 120) / 60) ** 2 + ((y - 160) / 45) ** 2 <= 1)


def _seen(mask: Mask, condition: Condition, params: Params) -> GridReference:
    return reference_of(mask, ImageGeometry(mask.size), condition, params)


def names(reference: GridReference) -> str:
    cells = reference.grid.cells()
    return " ".join(reference.grid.label(cells[i]) for i in reference.hits)


def touched(reference: GridReference) -> int:
    return sum(covered > 0 for covered in reference.covered)


@pytest.mark.statement("E000-16")
@MODES
@pytest.mark.parametrize(
    ("make", "hits", "overlap", "fallback"),
    [
        (f1, "D3 D4 D5 E3 E4 E5 F3 F4 F5", 9, False),
        (f2, "B2 B3 C2 C3", 4, True),
        (f3, "A1", 1, False),
        (f3b, "A1", 1, True),
        (f4, "E3 E4 E5 F3 F4 F5", 18, False),
    ],
)
def test_that_the_fixtures_have_their_known_cells_at_8(
    params: Params,
    make: Callable[[], Bools],
    hits: str,
    overlap: int,
    fallback: bool,
) -> None:
    reference = _seen(Mask.of_array(make()), condition(8), params)
    assert names(reference) == hits
    assert touched(reference) == overlap
    assert reference.fallback is fallback
    assert reference.alternate_hits == reference.hits


@pytest.mark.statement("E000-16")
@MODES
@pytest.mark.parametrize(
    ("make", "n_hits", "overlap", "random"),
    [
        (f1, 29, 36, 0.11328125),
        (f2, 4, 4, 0.015625),
        (f3, 2, 2, 0.0078125),
        (f3b, 2, 2, 0.0078125),
        (f4, 34, 46, 0.1328125),
    ],
)
def test_that_the_fixtures_have_their_known_counts_at_16(
    params: Params,
    make: Callable[[], Bools],
    n_hits: int,
    overlap: int,
    random: float,
) -> None:
    reference = _seen(Mask.of_array(make()), condition(16), params)
    assert len(reference.hits) == n_hits
    assert touched(reference) == overlap
    assert len(reference.hits) / 256 == random


@pytest.mark.statement("E000-16")
def test_that_f1_has_its_known_coverages() -> None:
    reference = _seen(Mask.of_array(f1()), condition(8), PAPER)
    coverages = [
        reference.covered[row * 8 + column] / reference.area[row * 8 + column]
        for row in (3, 4, 5)
        for column in (2, 3, 4)
    ]
    assert coverages == [
        *(0.7109375, 0.875, 0.6015625),
        *(0.8125, 1.0, 0.6875),
        *(0.76171875, 0.9375, 0.64453125),
    ]


def test_that_the_ellipse_has_its_known_area() -> None:
    assert f4().sum() == 8476


@pytest.mark.statement("E000-17")
def test_that_the_paper_mode_fits_masks_as_pillow_does() -> None:
    rng = np.random.default_rng(0)
    for shape in ((300, 300), (301, 415), (520, 333)):
        mask = np.repeat(np.repeat(rng.random((26, 26)) < 0.4, 20, 0), 20, 1)
        mask = mask[: shape[0], : shape[1]]
        s = min(shape)
        y0, x0 = (shape[0] - s) // 2, (shape[1] - s) // 2
        cropped = Image.fromarray(mask[y0 : y0 + s, x0 : x0 + s])
        fitted = np.asarray(cropped.resize((256, 256), Image.Resampling.NEAREST))
        expected = fitted.reshape(8, 32, 8, 32).sum(axis=(1, 3)).ravel()
        reference = _seen(Mask.of_array(mask), condition(8), PAPER)
        assert reference.covered == tuple(expected.astype(float))


@pytest.mark.statement("E000-07")
def test_that_the_crop_of_a_wide_film_is_known() -> None:
    mask = np.zeros((2320, 2828), dtype=bool)
    mask[:, :254] = True
    mask[:, 254] = True
    reference = _seen(Mask.of_array(mask), condition(8), EXACT)
    assert reference.fraction_outside == pytest.approx(254 / 255)
    assert reference.covered[0] == pytest.approx(290.0)
    assert reference.area[0] == pytest.approx(290.0**2)


@pytest.mark.statement("E000-17")
def test_that_exact_mode_counts_pixels_cut_by_an_edge_in_part() -> None:
    mask = block(0, 100, 0, 100, 100)
    mask[:, 6:] = False
    reference = _seen(Mask.of_array(mask), condition(16), EXACT)
    assert reference.area[0] == pytest.approx(6.25**2)
    assert reference.covered[0] == pytest.approx(6 * 6.25)
    assert reference.covered[1] == pytest.approx(0.0)


@pytest.mark.statement("E000-08")
def test_that_a_letterboxed_image_loses_nothing_of_its_mask() -> None:
    params = read_params("gosai2025", {"fit_mode": "letterbox", "mask_mode": "exact"})
    mask = np.zeros((100, 200), dtype=bool)
    mask[:, :10] = True
    reference = _seen(Mask.of_array(mask), condition(8), params)
    assert reference.fraction_outside == 0.0
    assert sum(reference.covered) == pytest.approx(1000.0)


def test_that_an_empty_mask_has_no_winning_cell() -> None:
    reference = _seen(Mask.of_array(block(0, 0, 0, 0)), condition(8), PAPER)
    assert reference.hits == ()
    assert reference.fraction_outside == 0.0


def verdict(cell: Cell, mask: Bools) -> tuple[Status, Outcome | None, float | None]:
    result = score(CellAnswer(cell), _seen(Mask.of_array(mask), condition(8), PAPER))
    return result.status, result.outcome, result.coverage


@pytest.mark.statement("E000-16")
def test_that_a_cell_half_covered_is_a_hit() -> None:
    assert verdict(Cell(0, 0), f3()) == (Status.SCORED_CORRECT, Outcome.FULL, 0.5)


@pytest.mark.statement("E000-24")
def test_that_a_touched_cell_is_a_marked_hit_in_the_fallback_only() -> None:
    correct, wrong = Status.SCORED_CORRECT, Status.SCORED_WRONG
    assert verdict(Cell(0, 0), f3b()) == (correct, Outcome.FULL_FALLBACK, 511 / 1024)
    mask = f3()
    mask[40, 0] = True
    assert verdict(Cell(1, 0), mask) == (wrong, Outcome.PARTIAL, 1 / 1024)
    assert verdict(Cell(7, 7), mask) == (wrong, Outcome.MISS, 0.0)


def test_that_the_answer_is_written_as_the_grid_names_it() -> None:
    reference = _seen(Mask.of_array(f1()), condition(8, 10), PAPER)
    assert reference.grid == Grid(8, 10)
    assert score(CellAnswer(Cell(3, 9)), reference).answer == "D10"


@pytest.mark.statement("E000-22")
def test_that_an_unread_reply_keeps_its_status_and_reason() -> None:
    reference = _seen(Mask.of_array(f1()), condition(8), PAPER)
    result = score(Unparsed(Status.UNPARSED, "transposed"), reference)
    assert (result.status, result.reason) == (Status.UNPARSED, "transposed")
    assert (result.answer, result.coverage, result.outcome) == ("", None, None)
