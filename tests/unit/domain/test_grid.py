"""Cells, their names and their places."""

from string import ascii_uppercase

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Cell, Grid, LetterAxis, grid_of_name, grids_in_words

SIDE = st.integers(2, 26)
GRID = st.builds(Grid, SIDE, SIDE, st.sampled_from(LetterAxis))
SIZE = st.builds(SizePx, st.integers(1, 4000), st.integers(1, 4000))


@pytest.mark.statement("E000-09")
@given(GRID)
def test_that_every_cell_is_found_by_its_own_name_and_no_two_share_one(
    grid: Grid,
) -> None:
    labels = [grid.label(cell) for cell in grid.cells()]
    assert len(set(labels)) == grid.rows * grid.columns
    places = [grid.index(cell) for cell in grid.cells()]
    assert places == list(range(len(labels)))
    assert [grid.cell(label) for label in labels] == list(grid.cells())


@pytest.mark.statement("E000-09")
def test_that_letters_run_down_the_rows_unless_asked_otherwise() -> None:
    assert Grid(8, 10).label(Cell(3, 8)) == "D9"
    assert Grid(8, 10, LetterAxis.COLUMN).label(Cell(3, 8)) == "I4"


def test_that_case_and_leading_zeros_do_not_matter() -> None:
    assert Grid(8, 8).cell("d04") == Cell(3, 3)


@pytest.mark.parametrize("label", ["I1", "A9", "A0", "Z99", "?1"])
def test_that_a_name_outside_the_grid_is_no_cell(label: str) -> None:
    assert Grid(8, 8).cell(label) is None


@pytest.mark.parametrize("letter", ascii_uppercase)
def test_that_the_largest_grid_uses_every_letter(letter: str) -> None:
    found = Grid(26, 26).cell(f"{letter}26")
    assert found == Cell(ascii_uppercase.index(letter), 25)


@pytest.mark.statement("E000-09")
@pytest.mark.parametrize(("rows", "columns"), [(1, 8), (8, 1), (27, 8), (8, 27)])
def test_that_a_grid_that_letters_cannot_name_is_refused(
    rows: int, columns: int
) -> None:
    with pytest.raises(WrongUseError, match="cannot be named"):
        Grid(rows, columns)


@given(GRID)
def test_that_a_grid_is_read_back_from_its_name(grid: Grid) -> None:
    assert grid_of_name(grid.name, grid.letters) == grid


def test_that_a_square_grid_has_the_short_name() -> None:
    assert (Grid(8, 8).name, Grid(8, 10).name) == ("8", "8x10")
    assert grid_of_name("8X10") == Grid(8, 10)


@pytest.mark.parametrize("name", ["", "x", "8x", "8x8x8", "eight", "-8", "8.0"])
def test_that_a_name_of_no_grid_is_refused(name: str) -> None:
    with pytest.raises(WrongUseError, match="cannot be read"):
        grid_of_name(name)


@given(GRID, SIZE)
def test_that_the_cells_tile_the_image(grid: Grid, size: SizePx) -> None:
    boxes = [grid.box(cell, size) for cell in grid.cells()]
    area = sum((box.x1 - box.x0) * (box.y1 - box.y0) for box in boxes)
    assert area == pytest.approx(size.rows * size.columns)
    assert boxes[0] == BoxPx(0, 0, boxes[0].x1, boxes[0].y1)
    assert (boxes[-1].x1, boxes[-1].y1) == pytest.approx((size.columns, size.rows))


@given(GRID, SIZE)
def test_that_whole_pixel_edges_never_overlap_nor_leave_a_gap(
    grid: Grid, size: SizePx
) -> None:
    rows, columns = grid.edges(size)
    for edges, cells, pixels in (
        (rows, grid.rows, size.rows),
        (columns, grid.columns, size.columns),
    ):
        assert (edges[0], edges[-1], len(edges)) == (0, pixels, cells + 1)
        widths = np.diff(edges)
        assert widths.min() >= pixels // cells
        assert widths.max() <= pixels // cells + 1


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("grid=8", "8 × 8 grid"),
        ("grid=8x10", "8 × 10 grid"),
        ("grid=8 / grid=16", "8 × 8 grid / 16 × 16 grid"),
        ("grid=8 absent", "8 × 8 grid absent"),
        ("", ""),
    ],
)
def test_that_a_condition_is_said_as_people_say_grids(
    condition: str, words: str
) -> None:
    assert grids_in_words(condition) == words
