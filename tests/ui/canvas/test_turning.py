"""An image turned in the view: its pixels, letters, grid and marks go together."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QTransform
from pytestqt.qtbot import QtBot

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import (
    FLIPPED,
    MIRRORED,
    ROTATED_LEFT,
    ROTATED_RIGHT,
    TURNS,
    ImageGeometry,
    Spacing,
    SpacingMeaning,
    then,
)
from viewer.domain.mark import Mark, MarkKind
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.grid import GridOverlay, cell_rect
from viewer.ui.canvas.overlays.label_places import SeenGrid, axis_names
from viewer.ui.canvas.overlays.letters import edge_letters
from viewer.ui.canvas.overlays.outline import Outline

ROWS, COLUMNS = 40, 90


def _shown() -> ShownImage:
    values = np.arange(ROWS * COLUMNS, dtype=np.uint16).reshape(ROWS, COLUMNS)
    spacing = Spacing(0.4, 0.2, SpacingMeaning.DETECTOR)
    geometry = ImageGeometry(
        SizePx(ROWS, COLUMNS), spacing, patient_orientation=("L", "F")
    )
    image = PixelImage(values, Photometric.MONOCHROME2, geometry=geometry)
    ref = ImageRef(Path("a.dcm"))
    header = ImageHeader(ref, geometry, 1, "DX", View.FRONTAL, "p", "s", "e")
    return ShownImage(ref, header, image, CornerText((), (), (), ()))


@pytest.fixture
def view(qtbot: QtBot) -> ImageView:
    made = ImageView()
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    made.show_image(_shown())
    return made


def _painted(view: ImageView) -> np.ndarray:
    """Return the grey values that the view paints under its annotations."""
    assert view._display is not None
    frame = view._display.frame(
        view._camera.viewport(view._turned.size_before), view._turned
    )
    picture = np.zeros((view.screen_size.rows, view.screen_size.columns), np.uint8)
    rows, columns = frame.pixels.shape
    picture[frame.top : frame.top + rows, frame.left : frame.left + columns] = (
        frame.pixels
    )
    assert frame.image.format() is QImage.Format.Format_Grayscale8
    return picture


@pytest.mark.parametrize("orientation", TURNS)
def test_that_every_native_position_is_painted_where_the_view_maps_it(
    view: ImageView, orientation: int
) -> None:
    """Display and overlays agree on anisotropic pixels, in and out of the middle."""
    view.turn(orientation)
    view.zoom_by(0.8)
    view.pan_by(13, -7)
    painted = _painted(view)
    level = 255 * np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) / (ROWS * COLUMNS)
    for row, column in product(range(2, ROWS, 9), range(2, COLUMNS, 11)):
        at = view.to_view(PointPx(column + 0.5, row + 0.5))
        back = view.native_at(at)
        assert (back.x, back.y) == pytest.approx((column + 0.5, row + 0.5))
        assert abs(painted[int(at.y()), int(at.x())] - level[row, column]) < 4


def test_that_turns_compose_like_turns_of_an_array() -> None:
    square = np.arange(9).reshape(3, 3)

    def turned(orientation: int) -> np.ndarray:
        turn = TURNS[orientation]
        result = square.T if turn.transpose else square
        result = result[:, ::-1] if turn.mirror else result
        return result[::-1] if turn.flip else result

    for first, further in product(TURNS, TURNS):
        both = turned(then(first, further))
        turn, once = TURNS[further], turned(first)
        once = once.T if turn.transpose else once
        once = once[:, ::-1] if turn.mirror else once
        assert (both == (once[::-1] if turn.flip else once)).all()
    assert (turned(ROTATED_RIGHT) == np.rot90(square, -1)).all()
    assert (turned(ROTATED_LEFT) == np.rot90(square)).all()
    assert then(ROTATED_RIGHT, ROTATED_LEFT) == 1


@pytest.mark.parametrize(
    ("turn", "left", "top"),
    [
        (1, "R", "H"),
        (ROTATED_RIGHT, "F", "R"),
        (ROTATED_LEFT, "H", "L"),
        (MIRRORED, "L", "H"),
        (FLIPPED, "R", "F"),
    ],
)
def test_that_orientation_letters_follow(
    view: ImageView, turn: int, left: str, top: str
) -> None:
    view.turn(turn)
    assert view._annotations is not None
    letters = {line.text for line in view._annotations._letters}
    assert letters == {"L", "R", "H", "F"}
    at = {line.text: line.at for line in view._annotations._letters}
    assert min(at, key=lambda text: at[text].x()) == left
    assert min(at, key=lambda text: at[text].y()) == top
    seen = edge_letters(_shown().image.geometry.turned(turn))
    assert (seen.left, seen.top) == (left, top)


@pytest.mark.parametrize("orientation", TURNS)
def test_that_the_names_of_cells_stay_on_their_pixels(
    view: ImageView, orientation: int
) -> None:
    view.turn(orientation)
    grid, field = Grid(2, 3), BoxPx(0, 0, COLUMNS, ROWS)
    view.set_grid(GridOverlay(grid, field))
    seen = SeenGrid.under(grid, view.native_transform)
    box = view.native_transform.mapRect(
        cell_rect(grid, field, Cell(0, 0)).united(cell_rect(grid, field, Cell(1, 2)))
    )
    for row, column in product(range(seen.rows), range(seen.columns)):
        middle = QPointF(
            box.left() + (column + 0.5) * box.width() / seen.columns,
            box.top() + (row + 0.5) * box.height() / seen.rows,
        )
        native = view.native_at(middle)
        cell = Cell(int(native.y * 2 / ROWS), int(native.x * 3 / COLUMNS))
        assert seen.label(Cell(row, column)) == grid.label(cell)
        down, across = axis_names(seen)
        assert {*seen.label(Cell(row, column))} == {down[row], across[column]}


def test_that_a_mark_keeps_its_measure_and_reset_turns_back(view: ImageView) -> None:
    view.marks.add(Mark(MarkKind.LENGTH, (PointPx(10, 10), PointPx(60, 30))))
    words = view.mark_items[0].words
    for turn in (ROTATED_RIGHT, MIRRORED, ROTATED_RIGHT, FLIPPED, ROTATED_LEFT):
        view.turn(turn)
        assert view.mark_items[0].words == words
        at = view.to_view(PointPx(10, 10))
        assert view.mark_items[0].handle_at(at) is not None
    view.reset()
    assert view.orientation == 1


def test_that_an_outline_follows_a_turn() -> None:
    mask = np.zeros((6, 9), bool)
    mask[1:3, 2:7] = True
    turn = QTransform(0, 3, -2, 0, 50, 7)
    loops = Outline(mask).in_view(turn, turn.mapRect(QRectF(0, 0, 9, 6)), 1.0)
    expected = {(turn.map(QPointF(x, y)).toTuple()) for x in (2, 7) for y in (1, 3)}
    assert {tuple(corner) for corner in loops.corners.tolist()} == expected
