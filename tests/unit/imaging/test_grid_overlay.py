import hashlib

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.domain.image import Raster
from viewer.imaging.bitmap_font import Face, text_mask
from viewer.imaging.grid_overlay import (
    GridStyle,
    LabelStyle,
    draw_grid,
    drawn_label_height_px,
    label_height_px,
    legibility_warning,
)
from viewer.imaging.png import encode_png

SENT = SizePx(256, 256)
COLOR = (255, 230, 0)


def plain(value: int = 100, side: int = 256) -> Raster:
    return Raster(np.full((side, side), value, np.uint8))


def stands(ink: npt.NDArray[np.bool_], text: str, y: int, x: int, face: Face) -> bool:
    """Tell whether ``text`` is written at (y, x): its ink, and none between."""
    mask = text_mask(text, 1, face)
    rows, columns = mask.shape
    return bool((ink[y : y + rows, x : x + columns] == mask).all())


def colored(raster: Raster) -> npt.NDArray[np.bool_]:
    return np.asarray((raster.pixels == COLOR).all(axis=2))


@pytest.mark.statement("E000-09")
@pytest.mark.parametrize("letters", LetterAxis)
@pytest.mark.parametrize(("n", "face"), [(8, Face.REGULAR), (16, Face.NARROW)])
@pytest.mark.parametrize("background", [0, 128, 255])
def test_that_every_label_can_be_read_back_from_the_pixels(
    n: int, face: Face, letters: LetterAxis, background: int
) -> None:
    grid = Grid(n, n, letters)
    ink = colored(draw_grid(plain(background), grid))
    for cell in grid.cells():
        y, x = cell.row * 256 // n + 1, cell.column * 256 // n + 1
        assert stands(ink, grid.label(cell), y, x, face)


def test_that_labels_have_a_dark_halo_on_white() -> None:
    pixels = draw_grid(plain(255), Grid(8, 8)).pixels
    ink = text_mask("A1")
    y, x = np.argwhere(ink)[0] + 1
    around = pixels[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3)
    assert {tuple(int(v) for v in p) for p in around} == {COLOR, (0, 0, 0)}


@pytest.mark.parametrize("n", [2, 5, 8, 10, 16])
def test_that_the_centre_of_every_cell_stays_free(n: int) -> None:
    pixels = draw_grid(plain(77), Grid(n, n)).pixels
    for i in range(n):
        for j in range(n):
            y, x = (2 * i + 1) * 256 // (2 * n) + 1, (2 * j + 1) * 256 // (2 * n)
            assert pixels[y, x].tolist() == [77, 77, 77]


@pytest.mark.statement("E000-09")
def test_that_the_raster_itself_is_left_alone() -> None:
    raster = plain()
    raster.pixels.flags.writeable = False
    drawn = draw_grid(raster, Grid(8, 8))
    assert drawn.pixels.shape == (256, 256, 3)
    assert (raster.pixels == 100).all()


def test_that_lines_stand_on_the_cells_edges() -> None:
    grid = Grid(3, 5)
    ink = colored(draw_grid(plain(), grid, GridStyle(labels=LabelStyle.MARGIN)))
    columns = np.flatnonzero(ink.mean(axis=0) > 0.8)
    rows = np.flatnonzero(ink.mean(axis=1) > 0.8)
    assert columns.tolist() == [0, 51, 102, 153, 204, 255]
    assert rows.tolist() == [0, 85, 170, 255]


def test_that_wide_lines_are_whole_at_the_border() -> None:
    ink = colored(draw_grid(plain(), Grid(2, 2), GridStyle(line_px=4)))
    assert ink[200].nonzero()[0].tolist() == [
        *range(4),
        *range(126, 130),
        *range(252, 256),
    ]


def test_that_opacity_mixes_in_whole_numbers() -> None:
    drawn = draw_grid(plain(100), Grid(2, 2), GridStyle(opacity=0.5)).pixels
    alpha = 128
    expected = [(100 * (255 - alpha) + c * alpha + 127) // 255 for c in COLOR]
    assert drawn[200, 128].tolist() == expected


@pytest.mark.statement("E000-09")
def test_that_the_same_input_gives_the_same_bytes_everywhere() -> None:
    ramp = Raster(np.arange(256, dtype=np.uint8)[None, :].repeat(256, axis=0))
    hashes = [
        hashlib.sha256(encode_png(draw_grid(ramp, Grid(n, n), style))).hexdigest()[:12]
        for n in (8, 16)
        for style in (GridStyle(), GridStyle(labels=LabelStyle.MARGIN, opacity=0.6))
    ]
    assert hashes == ["87e3f7221b56", "14819076020f", "4f5e039b9ed7", "15aee9683ce4"]


@pytest.mark.statement("E000-09")
def test_that_render_scale_enlarges_before_drawing() -> None:
    drawn = draw_grid(plain(), Grid(16, 16), GridStyle(render_scale=2))
    assert drawn.size == SizePx(512, 512)
    assert stands(colored(drawn), "P16", 15 * 32 + 1, 15 * 32 + 1, Face.REGULAR)


def test_that_margin_labels_name_rows_and_columns_once() -> None:
    grid = Grid(8, 8)
    drawn = draw_grid(plain(), grid, GridStyle(labels=LabelStyle.MARGIN))
    ink = colored(drawn)
    assert stands(ink, "A", 32 - 7, 1, Face.REGULAR)
    assert stands(ink, "8", 1, 7 * 32 + 16 - 2, Face.REGULAR)
    assert not ink[33:63, 33:63].any()


@pytest.mark.statement("E000-09")
def test_that_margin_labels_follow_the_letters_to_the_columns() -> None:
    grid = Grid(8, 8, LetterAxis.COLUMN)
    ink = colored(draw_grid(plain(), grid, GridStyle(labels=LabelStyle.MARGIN)))
    assert stands(ink, "1", 32 - 7, 1, Face.REGULAR)
    assert stands(ink, "H", 1, 7 * 32 + 16 - 2, Face.REGULAR)


def test_that_both_styles_together_are_drawn_together() -> None:
    ink = colored(draw_grid(plain(), Grid(8, 8), GridStyle(labels=LabelStyle.BOTH)))
    assert stands(ink, "D4", 3 * 32 + 1, 3 * 32 + 1, Face.REGULAR)
    assert stands(ink, "A", 32 - 7, 256 - 1 - 5, Face.REGULAR)


def test_that_the_height_of_drawn_labels_counts_the_enlargement() -> None:
    grid, size = Grid(8, 8), SizePx(224, 224)
    once = drawn_label_height_px(grid, size, GridStyle())
    assert once == label_height_px(GridStyle())
    doubled = drawn_label_height_px(grid, size, GridStyle(font_scale=2, render_scale=2))
    assert doubled == 2 * once
    assert drawn_label_height_px(Grid(26, 26), SizePx(60, 60), GridStyle()) is None


def test_that_the_papers_grids_are_legible_at_its_size() -> None:
    assert legibility_warning(Grid(8, 8), SENT, GridStyle()) is None
    assert legibility_warning(Grid(16, 16), SENT, GridStyle()) is None
    assert label_height_px(GridStyle()) == 7
    assert label_height_px(GridStyle(font_scale=3)) == 21


@pytest.mark.statement("E000-10")
def test_that_small_labels_are_warned_of_with_a_way_out() -> None:
    warning = legibility_warning(Grid(20, 20), SENT, GridStyle())
    assert warning is not None
    assert "5 pixels high, less than 7" in warning
    assert "render_scale to 2" in warning
    assert legibility_warning(Grid(20, 20), SENT, GridStyle(render_scale=2)) is None


def test_that_labels_that_would_run_together_are_refused() -> None:
    warning = legibility_warning(Grid(26, 26), SENT, GridStyle())
    assert warning is not None
    assert "do not fit its cells of 9 × 9" in warning
    with pytest.raises(WrongUseError, match="do not fit"):
        draw_grid(plain(), Grid(26, 26))
    assert draw_grid(plain(), Grid(26, 26), GridStyle(render_scale=2)).size.rows == 512


def test_that_a_large_font_is_blamed_before_the_render_scale() -> None:
    warning = legibility_warning(Grid(16, 16), SENT, GridStyle(font_scale=4))
    assert warning is not None
    assert "smaller font scale" in warning
    small = legibility_warning(Grid(26, 26), SizePx(40, 40), GridStyle(render_scale=4))
    assert small is not None
    assert "fewer cells" in small


@given(st.integers(2, 26), st.integers(2, 26), st.integers(20, 300), st.booleans())
def test_that_drawing_fails_exactly_where_the_warning_says_it_does_not_fit(
    rows: int, columns: int, side: int, margin: bool
) -> None:
    grid, raster = Grid(rows, columns), plain(10, side)
    style = GridStyle(labels=LabelStyle.MARGIN if margin else LabelStyle.CELL)
    warning = legibility_warning(grid, raster.size, style)
    if warning is not None and "do not fit" in warning:
        with pytest.raises(WrongUseError):
            draw_grid(raster, grid, style)
    else:
        assert draw_grid(raster, grid, style).size == raster.size


@pytest.mark.parametrize(
    "fields",
    [
        {"color": (1, 2)},
        {"color": (0, 0, 256)},
        {"line_px": 0},
        {"font_scale": 17},
        {"opacity": 0.0},
        {"opacity": 1.5},
        {"render_scale": 3},
    ],
)
def test_that_a_style_without_meaning_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(WrongUseError):
        GridStyle(**fields)  # type: ignore[arg-type]


def test_that_cells_are_named_once_each() -> None:
    grid = Grid(16, 16)
    assert len({grid.label(cell) for cell in grid.cells()}) == 256
    assert grid.label(Cell(15, 15)) == "P16"
