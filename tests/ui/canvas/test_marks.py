"""Lengths, angles and regions: drawn, moved, deleted, undone, and their values."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLineF, QPoint, QRectF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QTransform,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from tests.ui.canvas.conftest import MakeShown, drag
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.mark import Mark, MarkKind
from viewer.domain.reference import Mask
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.undo import UndoStack
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.book import MarkBook
from viewer.ui.canvas.marks.item import MarkItem
from viewer.ui.canvas.marks.measures import (
    area_text,
    cobb_angle,
    length_text,
    region_values,
    vertex_angle,
    words,
)
from viewer.ui.canvas.overlays.aside import Surroundings
from viewer.ui.canvas.overlays.halo import Face
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.canvas.picture import picture_of

GREY = Photometric.MONOCHROME2
LEFT = Qt.MouseButton.LeftButton
PATIENT, DETECTOR = SpacingMeaning.PATIENT, SpacingMeaning.DETECTOR


def mark(kind: MarkKind, *points: tuple[float, float]) -> Mark:
    return Mark(kind, tuple(PointPx(x, y) for x, y in points))


def drawn(view: ImageView) -> tuple[Mark, ...]:
    return view.marks.marks


def chosen(view: ImageView) -> Mark | None:
    return view.marks.chosen


def said(view: ImageView) -> tuple[str, ...]:
    return view.marks.texts


@pytest.fixture
def shown(make_shown: MakeShown) -> ShownImage:
    values = np.arange(90_000, dtype=np.int32).reshape(300, 300).astype(np.int16)
    return make_shown(PixelImage(values, GREY, units="HU"))


@pytest.fixture
def undo(view: ImageView, shown: ShownImage) -> UndoStack:
    """A view at 1 : 1 whose edits can be undone."""
    stack = UndoStack()
    view.marks.use(MarkBook(stack))
    view.show_image(shown)
    view.one_to_one()
    return stack


def at(view: ImageView, x: float, y: float) -> QPoint:
    return view.to_view(PointPx(x, y)).toPoint()


def click(view: ImageView, x: float, y: float) -> None:
    QTest.mouseClick(
        view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, at(view, x, y)
    )


@pytest.mark.parametrize(
    ("spacing", "text"),
    [
        (None, "100.0 px, uncalibrated"),
        (Spacing(0.2, 0.2, DETECTOR), "20.0 mm at detector"),
        (Spacing(0.2, 0.2, PATIENT), "20.0 mm"),
        (Spacing(0.2, 0.2, SpacingMeaning.SCANNED), "20.0 mm as scanned"),
        (Spacing(0.2, 0.2, SpacingMeaning.REGION), "20.0 mm in ultrasound region"),
        (Spacing(0.2, 0.2, SpacingMeaning.UNKNOWN), "20.0 mm in unknown plane"),
        (Spacing(0.001, 0.001, PATIENT), "100.0 µm"),
    ],
)
def test_that_a_length_says_what_it_is_worth(
    view: ImageView, make_shown: MakeShown, spacing: Spacing | None, text: str
) -> None:
    geometry = ImageGeometry(SizePx(300, 300), spacing)
    image = PixelImage(np.zeros((300, 300), np.uint8), GREY, geometry=geometry)
    view.show_image(make_shown(image))
    view.one_to_one()
    view.set_tool(Tool.LENGTH)
    drag(view, QPoint(150, 150), QPoint(230, 210), LEFT)
    assert said(view) == (text,)
    view.set_tool(Tool.LENGTH)
    drag(view, QPoint(90, 250), QPoint(91, 250), LEFT)
    assert said(view) == (text,)


def test_that_a_length_is_two_clicks_too(view: ImageView, undo: UndoStack) -> None:
    view.set_tool(Tool.LENGTH)
    click(view, 100, 100)
    assert view.marks.drawing
    click(view, 130, 140)
    assert said(view) == ("50.0 px, uncalibrated",)
    assert undo.undoText() == "length"


def test_that_an_angle_is_one_arm_and_a_click(view: ImageView, undo: UndoStack) -> None:
    view.set_tool(Tool.ANGLE)
    drag(view, at(view, 200, 100), at(view, 100, 100), LEFT)
    assert view.marks.drawing
    QTest.mouseMove(view.viewport(), at(view, 120, 180))
    click(view, 200, 200)
    assert said(view) == ("45.0°",)
    assert undo.count() == 1


def test_that_a_cobb_angle_is_two_lines(view: ImageView, undo: UndoStack) -> None:
    view.set_tool(Tool.COBB)
    drag(view, at(view, 100, 100), at(view, 200, 100), LEFT)
    drag(view, at(view, 200, 200), at(view, 100, 150), LEFT)
    assert said(view) == ("Cobb 26.6°",)
    assert undo.undoText() == "Cobb angle"


def test_that_escape_gives_up_what_is_being_drawn(
    view: ImageView, undo: UndoStack
) -> None:
    view.set_tool(Tool.ANGLE)
    drag(view, at(view, 200, 100), at(view, 100, 100), LEFT)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert not view.marks.drawing
    assert (drawn(view), undo.count()) == ((), 0)


def test_that_an_edit_is_taken_back_and_done_again(
    view: ImageView, undo: UndoStack
) -> None:
    length = mark(MarkKind.LENGTH, (100, 100), (200, 100))
    view.marks.add(length)
    view.set_tool(Tool.WINDOW)
    drag(view, at(view, 200, 100), at(view, 200, 180), LEFT)
    moved = mark(MarkKind.LENGTH, (100, 100), (200, 180))
    assert (drawn(view), undo.undoText()) == ((moved,), "move length")
    drag(view, at(view, 150, 140), at(view, 170, 150), LEFT)
    whole = mark(MarkKind.LENGTH, (120, 110), (220, 190))
    assert drawn(view) == (whole,)
    view.marks.delete_chosen()
    assert (drawn(view), undo.undoText()) == ((), "delete length")
    for expected in (whole, moved, length):
        undo.undo()
        assert drawn(view) == (expected,)
    undo.undo()
    assert drawn(view) == ()
    for _ in range(4):
        undo.redo()
    assert drawn(view) == ()
    assert not undo.canRedo()


def test_that_a_click_chooses_a_mark_and_leaves_the_window_alone(
    view: ImageView, undo: UndoStack
) -> None:
    near = mark(MarkKind.RECTANGLE, (60, 60), (120, 120))
    far = mark(MarkKind.ELLIPSE, (160, 160), (240, 220))
    view.marks.add(near)
    view.marks.add(far)
    window = view.window_shown
    view.set_tool(Tool.WINDOW)
    click(view, 90, 60)
    assert chosen(view) == near
    click(view, 90, 90)
    assert chosen(view) is None
    click(view, 200, 160)
    assert chosen(view) == far
    view.marks.delete_chosen()
    assert drawn(view) == (near,)
    assert view.window_shown == window
    assert undo.count() == 3


@pytest.mark.parametrize("tool", [Tool.WINDOW, Tool.LENGTH])
def test_that_dragging_a_label_moves_no_measurement(
    view: ImageView, undo: UndoStack, tool: Tool
) -> None:
    """Neither its own, which is an ellipse's, nor the one that it lies over."""
    marks = (
        mark(MarkKind.ELLIPSE, (90, 90), (150, 130)),
        mark(MarkKind.LENGTH, (60, 60), (240, 200)),
    )
    for each in marks:
        view.marks.add(each)
    view.set_tool(tool)
    for item in view.mark_items:
        middle = item.tag.center().toPoint()
        for end in (QPoint(40, 30), QPoint(-25, 35)):
            drag(view, middle, middle + end, LEFT)
    assert drawn(view) == marks
    assert undo.count() == 2


def test_that_a_click_on_a_label_chooses_its_mark(
    view: ImageView, undo: UndoStack
) -> None:
    del undo
    for kind in (MarkKind.LENGTH, MarkKind.ELLIPSE):
        view.marks.add(mark(kind, (100, 100), (200, 150)))
    view.set_tool(Tool.WINDOW)
    for item in view.mark_items:
        click_at = item.tag.center().toPoint()
        QTest.mouseClick(
            view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, click_at
        )
        assert chosen(view) == item.mark


def test_that_a_corner_of_a_region_is_a_handle(
    view: ImageView, undo: UndoStack
) -> None:
    view.marks.add(mark(MarkKind.RECTANGLE, (60, 60), (120, 120)))
    view.set_tool(Tool.WINDOW)
    drag(view, at(view, 120, 60), at(view, 150, 40), LEFT)
    assert drawn(view) == (mark(MarkKind.RECTANGLE, (60, 40), (150, 120)),)
    assert undo.count() == 2


def test_that_a_right_click_offers_to_delete_a_mark(
    view: ImageView, undo: UndoStack
) -> None:
    view.marks.add(mark(MarkKind.LENGTH, (100, 100), (200, 100)))
    right, none = Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(view.viewport(), right, none, at(view, 20, 200))
    assert view.findChildren(QMenu) == []
    QTest.mouseClick(view.viewport(), right, none, at(view, 150, 100))
    menu = view.findChildren(QMenu)[0]
    assert [action.text() for action in menu.actions()] == ["Label…", "Delete length"]
    menu.actions()[1].trigger()
    menu.close()
    assert drawn(view) == ()
    assert undo.undoText() == "delete length"


@pytest.mark.usefixtures("undo")
def test_that_the_menu_key_offers_what_a_right_click_does(view: ImageView) -> None:
    wanted = list[QPoint]()
    view.menu_wanted.connect(wanted.append)
    _press_menu_key(view)
    assert len(wanted) == 1
    view.marks.add(mark(MarkKind.LENGTH, (100, 100), (200, 100)))
    _press_menu_key(view)
    assert len(wanted) == 1
    (menu,) = view.findChildren(QMenu)
    assert [action.text() for action in menu.actions()] == ["Label…", "Delete length"]
    menu.close()
    assert len(wanted) == 1


def _press_menu_key(view: ImageView) -> None:
    """Send the event that Qt makes of the key, which differs between systems."""
    middle = view.viewport().rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, middle)
    QApplication.sendEvent(view.viewport(), event)


def test_that_marks_show_on_the_image_they_were_drawn_on(
    view: ImageView, make_shown: MakeShown, shown: ShownImage, undo: UndoStack
) -> None:
    length = mark(MarkKind.LENGTH, (10, 10), (50, 50))
    view.marks.add(length)
    view.show_image(make_shown(ref=ImageRef(Path("other.dcm"))))
    assert said(view) == ()
    undo.undo()
    undo.redo()
    assert said(view) == ()
    view.show_image(shown)
    assert said(view) == ("56.6 px, uncalibrated",)


def test_that_marks_are_laid_out_once_when_an_image_opens_or_its_reference_comes(
    view: ImageView, shown: ShownImage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be hundreds, and each takes half a millisecond."""
    view.show_image(shown)
    view.marks.add(mark(MarkKind.LENGTH, (10, 10), (50, 50)))
    lay_out, times = MarkItem.lay_out, list[MarkItem]()

    def counted(item: MarkItem, native: QTransform, seen: Surroundings) -> QRectF:
        times.append(item)
        return lay_out(item, native, seen)

    monkeypatch.setattr(MarkItem, "lay_out", counted)
    view.show_image(shown)
    assert len(times) == 1
    mask = Mask.of_array(np.eye(300, dtype=bool))
    for _ in range(3):
        view.set_reference(mask)
    assert len(times) == 2


class _Counting(QPainter):
    """Paints, and counts the lines and the elements of paths that are drawn."""

    def __init__(self, device: QImage) -> None:
        super().__init__(device)
        self.lines = self.elements = 0

    def drawLines(self, lines: Sequence[QLineF]) -> None:  # type: ignore[override]  # noqa: N802
        self.lines += len(lines)
        super().drawLines(lines)

    def strokePath(self, path: QPainterPath, pen: QPen) -> None:  # type: ignore[override]  # noqa: N802
        self.elements += path.elementCount()
        super().strokePath(path, pen)


@pytest.mark.parametrize("kind", [MarkKind.POLYGON, MarkKind.FREEHAND])
def test_that_lines_that_cross_are_no_path(kind: MarkKind, qapp: QApplication) -> None:
    """Qt strokes a path of them in the square of their number."""
    del qapp
    corners = np.random.default_rng(3).uniform(10, 290, (40, 2)).tolist()
    star = mark(kind, *corners, corners[0])
    item = MarkItem(star, (), Face(), chosen=False)
    picture = QImage(300, 300, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = _Counting(picture)
    for step in item.line_steps(Sight(QTransform(), QRectF(picture.rect()), 1.0)):
        step(painter)
    sides = sum(len(line) - 1 for line in star.lines)
    assert (painter.lines, painter.elements) == (2 * sides, 0)
    painter.end()
    for (ax, ay), (bx, by) in pairwise(corners):
        middle = picture.pixelColor(round((ax + bx) / 2), round((ay + by) / 2))
        assert middle != Qt.GlobalColor.white


def test_that_two_views_share_a_book(
    view: ImageView, shown: ShownImage, undo: UndoStack
) -> None:
    other = ImageView()
    other.marks.use(view.marks.book)
    other.show_image(shown)
    view.marks.add(mark(MarkKind.LENGTH, (10, 10), (50, 50)))
    assert drawn(other) == drawn(view)
    undo.undo()
    assert drawn(other) == ()


def test_that_a_picture_that_was_taken_follows_no_mark_any_more(
    view: ImageView, undo: UndoStack, qtbot: QtBot
) -> None:
    del undo
    view.marks.add(mark(MarkKind.LENGTH, (60, 60), (150, 100)))
    picture_of(view, identified=False)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    with qtbot.captureExceptions() as raised:
        view.marks.add(mark(MarkKind.LENGTH, (10, 20), (30, 40)))
    assert raised == []


def test_that_words_of_marks_step_aside(view: ImageView, shown: ShownImage) -> None:
    view.resize(900, 700)
    view.show_image(shown)
    for shift in range(4):
        y = 120.0 + 4 * shift
        view.marks.add(mark(MarkKind.LENGTH, (90, y), (160, y)))
        view.marks.add(mark(MarkKind.ELLIPSE, (60, 60 + y), (140, 90 + y)))
    tags = [item.tag for item in view.mark_items]
    for i, tag in enumerate(tags):
        assert QRectF(view.area).contains(tag)
        assert not any(tag.intersects(other) for other in tags[:i])


def test_that_a_length_without_a_spacing_says_in_what_it_counts() -> None:
    start, end = PointPx(0, 0), PointPx(3, 2)
    plain = ImageGeometry(SizePx(9, 9))
    tall = replace(plain, aspect_ratio=2.0)
    assert length_text(start, end, plain) == "3.6 px, uncalibrated"
    assert length_text(start, end, tall) == "5.0 pixel widths, uncalibrated"
    box = mark(MarkKind.RECTANGLE, (0, 0), (3, 2))
    assert area_text(box, tall) == "area 6 px², uncalibrated"


def test_that_an_angle_respects_the_shape_of_the_pixels() -> None:
    right = mark(MarkKind.ANGLE, (10, 0), (0, 0), (10, 10))
    plain = ImageGeometry(SizePx(9, 9))
    assert vertex_angle(right, plain) == pytest.approx(45.0)
    for tall in (
        replace(plain, spacing=Spacing(2.0, 1.0, PATIENT)),
        replace(plain, aspect_ratio=2.0),
    ):
        angle = vertex_angle(right, tall)
        assert angle == pytest.approx(np.degrees(np.arctan(2.0)))
    back = mark(MarkKind.ANGLE, (10, 0), (0, 0), (-10, 0.0))
    assert vertex_angle(back, plain) == pytest.approx(180.0)


@pytest.mark.parametrize("seed", range(10))
def test_that_a_cobb_angle_does_not_depend_on_how_lines_were_drawn(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, c, d = random.normal(0, 50, (4, 2))
    geometry = ImageGeometry(SizePx(9, 9), Spacing(0.7, 0.3, DETECTOR))
    u, v = (b - a) * (0.3, 0.7), (d - c) * (0.3, 0.7)
    cosine = abs(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)
    expected = np.degrees(np.arccos(cosine))
    for points in ((a, b, c, d), (b, a, c, d), (c, d, b, a)):
        drawn = mark(MarkKind.COBB, *(tuple(p.tolist()) for p in points))
        assert cobb_angle(drawn, geometry) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", [MarkKind.RECTANGLE, MarkKind.ELLIPSE])
@pytest.mark.parametrize("seed", range(8))
def test_that_a_regions_values_are_those_of_a_loop(kind: MarkKind, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(0, 100, (40, 50)).astype(np.float32)
    padding = random.random((40, 50)) < 0.1
    image = PixelImage(values, GREY, padding=padding)
    (x0, x1), (y0, y1) = random.uniform(-10, 60, 2), random.uniform(-10, 50, 2)
    found = region_values(mark(kind, (x0, y0), (x1, y1)), image)
    expected = []
    for row in range(40):
        for column in range(50):
            x = (column + 0.5 - (x0 + x1) / 2) / (abs(x1 - x0) / 2)
            y = (row + 0.5 - (y0 + y1) / 2) / (abs(y1 - y0) / 2)
            inside = (
                max(abs(x), abs(y)) < 1 if kind == "rectangle" else x * x + y * y <= 1
            )
            if inside and not padding[row, column]:
                expected.append(values[row, column])
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


def test_that_a_region_says_mean_deviation_range_and_area() -> None:
    values = np.arange(100, dtype=np.int16).reshape(10, 10)
    geometry = ImageGeometry(SizePx(*values.shape), Spacing(0.5, 0.5, DETECTOR))
    image = PixelImage(values, GREY, "HU", geometry=geometry)
    box = mark(MarkKind.RECTANGLE, (8, 6), (2, 3))
    part = values[3:6, 2:8].astype(float)
    assert words(box, image) == (
        f"mean {part.mean():.5g} HU, SD {part.std():.4g} HU",
        "32 to 57 HU, 18 px",
        "area 4.5 mm² at detector",
    )
    assert words(box, image, final=False) == ("area 4.5 mm² at detector",)
    ellipse = mark(MarkKind.ELLIPSE, (2, 3), (8, 6))
    assert words(ellipse, image)[-1] == f"area {np.pi * 4.5 / 4:.1f} mm² at detector"
    plain = PixelImage(np.zeros((9, 9, 3), np.uint8), Photometric.RGB)
    assert words(box, plain) == ("area 18 px², uncalibrated",)


def test_that_a_region_without_a_pixel_says_its_area() -> None:
    image = PixelImage(np.zeros((9, 9), np.uint8), GREY)
    outside = mark(MarkKind.RECTANGLE, (20, 20), (30, 30))
    assert words(outside, image) == ("area 100 px², uncalibrated",)


def test_that_no_line_of_any_mark_runs_through_a_value(
    view: ImageView, undo: UndoStack
) -> None:
    del undo
    view.marks.add(mark(MarkKind.LENGTH, (60, 60), (150, 100)))
    (alone,) = view.mark_items
    x, y = (view.native_at(alone.tag.center()).x, view.native_at(alone.tag.center()).y)
    view.marks.add(mark(MarkKind.LENGTH, (x - 20, y - 60), (x + 20, y + 60)))
    for item, other in product(view.mark_items, repeat=2):
        said = QPainterPath()
        said.addRect(item.tag)
        start, end = map(view.to_view, other.mark.points)
        line = QPainterPath(start)
        line.lineTo(end)
        assert not said.intersects(line)
