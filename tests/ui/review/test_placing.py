"""Placing answers on the image by mouse and keys."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest

from tests.ui.canvas.conftest import pixels
from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.form import PlaceKind
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask
from viewer.ui.panels.review.image import ReviewImage, framed
from viewer.ui.panels.review.strokes import cell_at, clipped, stepped
from viewer.ui.widgets import theme

KEYS = Qt.KeyboardModifier
NONE, SHIFT, ALT = KEYS.NoModifier, KEYS.ShiftModifier, KEYS.AltModifier


def stroke(
    image: ReviewImage, *points: tuple[float, float], keys: KEYS = NONE
) -> list[Answer | None]:
    """Press at the first native point, move through the others, let go at the last."""
    told: list[Answer | None] = []
    image.placed.connect(told.append)
    at = [image.to_view(PointPx(*point)).toPoint() for point in points]
    target, left = image.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(target, left, keys, at[0])
    for point in at[1:]:
        there = QPointF(target.mapToGlobal(point))
        kind = QMouseEvent.Type.MouseMove
        image.mouseMoveEvent(QMouseEvent(kind, QPointF(point), there, left, left, keys))
    QTest.mouseRelease(target, left, keys, at[-1])
    image.placed.disconnect()
    return told


def test_that_a_click_places_the_cell_under_it(image: ReviewImage) -> None:
    image.place(PlaceKind.CELL)
    assert stroke(image, (175, 225)) == [CellAnswer(Cell(2, 3), "reader")]


def test_that_a_click_beside_the_grid_places_nothing(image: ReviewImage) -> None:
    image.place(PlaceKind.CELL)
    assert stroke(image, (175, 40)) == []
    assert image.answer is None


def test_that_a_click_places_a_point_in_native_pixels(image: ReviewImage) -> None:
    image.place(PlaceKind.POINT)
    (answer,) = stroke(image, (120, 300))
    assert isinstance(answer, PointAnswer)
    assert (answer.point.x, answer.point.y) == pytest.approx((120, 300), abs=1)


def test_that_a_drag_spans_a_box_and_shift_adds_another(image: ReviewImage) -> None:
    image.place(PlaceKind.BOXES)
    (one,) = stroke(image, (200, 300), (150, 250), (100, 200))
    assert isinstance(one, BoxesAnswer)
    box = one.boxes[0]
    assert (box.x0, box.y0, box.x1, box.y1) == pytest.approx(
        (100, 200, 200, 300), abs=1
    )
    (two,) = stroke(image, (10, 10), (60, 60), keys=SHIFT)
    assert isinstance(two, BoxesAnswer)
    assert len(two.boxes) == 2
    (again,) = stroke(image, (10, 10), (60, 60))
    assert isinstance(again, BoxesAnswer)
    assert len(again.boxes) == 1


def test_that_a_click_is_no_box(image: ReviewImage) -> None:
    image.place(PlaceKind.BOXES)
    assert stroke(image, (200, 300)) == []


def test_that_a_box_ends_at_the_edge_of_the_image(canvas: Canvas) -> None:
    assert clipped(canvas, PointPx(-5, 700)).x == 0
    assert clipped(canvas, PointPx(-5, 700)).y == pytest.approx(600)
    assert clipped(canvas, PointPx(900, 700)).x < canvas.size.columns


def test_that_a_brush_paints_as_wide_as_it_is_and_alt_erases(
    image: ReviewImage,
) -> None:
    image.place(PlaceKind.MASK)
    image.brush = 20
    (answer,) = stroke(image, (100, 300), (200, 300))
    assert isinstance(answer, MaskAnswer)
    mask = answer.mask.array()
    rows, columns = np.nonzero(mask)
    assert (rows.min(), rows.max()) == pytest.approx((290, 309), abs=2)
    assert (columns.min(), columns.max()) == pytest.approx((90, 209), abs=2)
    (less,) = stroke(image, (180, 300), (220, 300), keys=ALT)
    assert isinstance(less, MaskAnswer)
    assert 0 < less.mask.array().sum() < mask.sum()
    assert not (less.mask.array() & ~mask).any()


def test_that_a_closed_line_is_filled_with_shift(image: ReviewImage) -> None:
    image.place(PlaceKind.MASK)
    corners = ((100, 200), (200, 200), (200, 300), (100, 300))
    (answer,) = stroke(image, *corners, keys=SHIFT)
    assert isinstance(answer, MaskAnswer)
    assert int(answer.mask.array().sum()) == pytest.approx(100 * 100, rel=0.03)


def test_that_erasing_everything_leaves_no_answer(image: ReviewImage) -> None:
    image.place(PlaceKind.MASK)
    image.brush = 10
    stroke(image, (100, 300), (110, 300))
    image.brush = 80
    assert stroke(image, (80, 300), (130, 300), keys=ALT) == [None]


def test_that_nothing_is_placed_while_nothing_is_asked(image: ReviewImage) -> None:
    before = image.window_shown
    assert stroke(image, (100, 300), (150, 250)) == []
    assert image.window_shown != before


def test_that_keys_move_a_cell_within_the_grid(canvas: Canvas) -> None:
    kind = PlaceKind.CELL
    middle = stepped(kind, canvas, None, 1, 0)
    assert middle == CellAnswer(Cell(4, 4), "reader")
    assert stepped(kind, canvas, middle, 1, -1) == CellAnswer(Cell(3, 5), "reader")
    corner = CellAnswer(Cell(0, 7), "reader")
    assert stepped(kind, canvas, corner, 1, -1) == corner


def test_that_keys_move_a_point_and_nothing_that_was_drawn(canvas: Canvas) -> None:
    middle = stepped(PlaceKind.POINT, canvas, None, 0, 1)
    assert middle == PointAnswer(PointPx(200, 300))
    assert stepped(PlaceKind.POINT, canvas, middle, 1, 0) == PointAnswer(
        PointPx(204, 300)
    )
    boxes = BoxesAnswer((BoxPx(1, 1, 5, 5),))
    assert stepped(PlaceKind.BOXES, canvas, boxes, 1, 0) is boxes


def test_that_every_pixel_of_the_field_lies_in_the_cell_that_the_grid_says(
    canvas: Canvas,
) -> None:
    for cell in canvas.grid.cells():
        x, y = 50 * cell.column, 100 + 50 * cell.row
        for at in (PointPx(x, y), PointPx(x + 49.9, y + 49.9)):
            assert cell_at(canvas, at) == cell
    assert cell_at(canvas, PointPx(400, 300)) is None
    assert cell_at(canvas, PointPx(10, 99.9)) is None


def test_that_an_answer_is_framed_in_half_of_the_field(canvas: Canvas) -> None:
    screen = SizePx(600, 600)
    camera = framed(QRectF(150, 250, 50, 50), canvas, screen, 1.0)
    seen = (camera.to_native(0, 0), camera.to_native(600, 600))
    assert seen[1].x - seen[0].x == pytest.approx(200)
    assert (seen[0].x + seen[1].x) / 2 == pytest.approx(175, abs=1)
    assert (seen[0].y + seen[1].y) / 2 == pytest.approx(275, abs=1)


def test_that_a_frame_at_the_edge_shows_nothing_beside_the_image(
    canvas: Canvas,
) -> None:
    camera = framed(QRectF(350, 450, 50, 50), canvas, SizePx(600, 600), 1.0)
    assert camera.to_native(600, 600).x == pytest.approx(400, abs=0.5)
    assert camera.to_native(0, 0).x == pytest.approx(200, abs=0.5)


def test_that_a_larger_answer_is_framed_whole(canvas: Canvas) -> None:
    camera = framed(QRectF(20, 120, 360, 360), canvas, SizePx(600, 600), 1.0)
    assert camera.to_native(0, 0).x <= 20
    assert camera.to_native(600, 600).x >= 380


def test_that_holding_h_shows_the_image_alone(image: ReviewImage) -> None:
    image.clearFocus()
    image.show_subject(CellAnswer(Cell(3, 3)))
    assert _has_color(image, theme.current().models[0])
    image.hide_drawn(hidden=True)
    assert not _has_color(image, theme.current().models[0])
    image.hide_drawn(hidden=False)
    assert _has_color(image, theme.current().models[0])


def test_that_the_next_case_begins_with_nothing_drawn(
    image: ReviewImage, canvas: Canvas
) -> None:
    from tests.ui.review.conftest import an_opened_image

    image.show_subject(CellAnswer(Cell(3, 3)))
    image.set_reference(Mask.of_array(np.ones((600, 400), dtype=bool)))
    image.place(PlaceKind.POINT, PointAnswer(PointPx(100, 300)))
    image.show_case(an_opened_image("other.png"), canvas)
    image.clearFocus()
    palette = theme.current()
    for color in (palette.reference, palette.models[0], palette.reader):
        assert not _has_color(image, color)


def test_that_no_name_of_the_file_is_written_on_the_image(image: ReviewImage) -> None:
    assert image._annotations is not None
    assert not any("secret" in line.text for line in image._annotations._lines)


def _has_color(image: ReviewImage, color: str) -> bool:
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    off = np.abs(pixels(image).astype(int) - wanted).sum(axis=2)
    return bool((off < 24).any())


def test_that_a_brush_is_never_narrower_than_a_pixel(image: ReviewImage) -> None:
    image.widen_brush(-100)
    assert image.brush == 1
    image.widen_brush(100)
    assert image.brush == 400
