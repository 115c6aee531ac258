import numpy as np
import pytest

from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Raster
from viewer.domain.result import Outcome
from viewer.imaging.answer_overlay import ANSWER, REFERENCE, draw_answer, draw_regions

GRID = Grid(8, 8)


def plain(side: int = 256) -> Raster:
    return Raster(np.full((side, side), 90, np.uint8))


def count(raster: Raster, color: tuple[int, int, int], cell: Cell | None = None) -> int:
    pixels = raster.pixels
    if cell is not None:
        pixels = pixels[
            cell.row * 32 : cell.row * 32 + 32, cell.column * 32 : cell.column * 32 + 32
        ]
    return int((pixels == color).all(axis=2).sum())


def test_that_the_answered_cell_is_framed_and_no_other() -> None:
    drawn = draw_answer(plain(), GRID, None, Cell(3, 4), [], None)
    assert count(drawn, ANSWER) == count(drawn, ANSWER, Cell(3, 4)) > 150


def test_that_the_outcomes_differ_in_shape() -> None:
    cell = Cell(5, 5)
    inks = {
        outcome: count(draw_answer(plain(), GRID, None, cell, [], outcome), ANSWER)
        for outcome in (Outcome.FULL, Outcome.PARTIAL, Outcome.MISS)
    }
    assert inks[Outcome.FULL] > inks[Outcome.PARTIAL] > inks[Outcome.MISS]
    fallback = draw_answer(plain(), GRID, None, cell, [], Outcome.FULL_FALLBACK)
    assert count(fallback, ANSWER) == inks[Outcome.FULL]


def test_that_a_reference_is_outlined_not_filled() -> None:
    mask = np.zeros((256, 256), dtype=bool)
    mask[100:180, 100:180] = True
    drawn = draw_answer(plain(), GRID, mask, None, [], None)
    blue = (drawn.pixels == REFERENCE).all(axis=2)
    assert blue[100, 110]
    assert not blue[120:160, 140:150].any()
    assert not (blue & ~mask).any()


def test_that_reference_cells_are_marked_at_their_corners() -> None:
    drawn = draw_answer(plain(), GRID, None, None, [Cell(1, 1), Cell(7, 7)], None)
    for cell in (Cell(1, 1), Cell(7, 7)):
        assert count(drawn, REFERENCE, cell) > 10
    assert count(drawn, REFERENCE, Cell(2, 2)) == 0


def test_that_no_label_is_painted_over() -> None:
    bare = draw_answer(plain(), GRID, None, None, [], None)
    ink = (bare.pixels[33:40, 33:44] == (255, 230, 0)).all(axis=2)
    drawn = draw_answer(plain(), GRID, None, Cell(1, 1), [Cell(1, 1)], Outcome.MISS)
    assert ((drawn.pixels[33:40, 33:44] == (255, 230, 0)).all(axis=2) == ink).all()


@pytest.mark.parametrize("side", [256, 700, 2500])
def test_that_strokes_grow_with_the_raster(side: int) -> None:
    drawn = draw_answer(plain(side), GRID, None, Cell(0, 0), [], Outcome.FULL)
    share = count(drawn, ANSWER) / side**2
    assert 0.002 < share < 0.01


def test_that_an_image_smaller_than_its_sign_is_drawn_all_the_same() -> None:
    raster = Raster(np.zeros((60, 60, 3), np.uint8))
    drawn = draw_answer(raster, Grid(2, 2), None, Cell(1, 1), [], Outcome.MISS)
    assert drawn.size == raster.size


def test_that_each_region_is_outlined_inside_its_edge() -> None:
    first, second = np.zeros((2, 64, 64), dtype=bool)
    first[10:30, 10:30] = True
    second[20:40, 20:40] = True
    drawn = draw_regions(plain(64), [first, second], ANSWER)
    inked = (drawn.pixels == ANSWER).all(axis=2)
    assert inked[10, 10:30].all()
    assert inked[20, 20:40].all()
    assert not inked[13:18, 13:18].any()
    assert not (inked & ~(first | second)).any()
    color = Raster(np.zeros((64, 64, 3), np.uint8))
    assert not draw_regions(color, [np.zeros((64, 64), dtype=bool)]).pixels.any()


def test_that_an_answer_that_is_no_cell_is_outlined_and_its_cell_has_the_sign() -> None:
    region = np.zeros((256, 256), dtype=bool)
    region[40:90, 100:160] = True
    cell = Cell(1, 4)
    outlined = draw_answer(plain(), GRID, None, cell, [], None, region)
    inked = (outlined.pixels == ANSWER).all(axis=2)
    # names of cells stay legible at the top of each
    assert inked[89, 100:160].all()
    assert inked[50:60, 159].all()
    assert not (inked & ~region).any()
    assert not inked[45:85, 105:155].any()
    signed = draw_answer(plain(), GRID, None, cell, [], Outcome.FULL, region)
    more = (signed.pixels == ANSWER).all(axis=2) & ~inked
    assert 0 < more.sum() == more[32:64, 128:160].sum()
