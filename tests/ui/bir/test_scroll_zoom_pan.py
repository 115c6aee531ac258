"""B16-B19: scrolling, zoom and pan (IHE BIR 5.5, 5.6)."""

from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest

from tests.ui.bir.conftest import LEFT, NONE, SLICES, Open
from tests.ui.canvas.conftest import drag
from viewer.domain.geometry import PointPx
from viewer.ui.application import preferences
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.workspaces.read import ReadWorkspace

_MIDDLE = QPoint(200, 200)


def _turn(view: ImageView, notches: int) -> None:
    event = QWheelEvent(
        QPointF(_MIDDLE), QPointF(view.mapToGlobal(_MIDDLE)), QPoint(),
        QPoint(0, 120 * notches), Qt.MouseButton.NoButton, NONE,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    view.wheelEvent(event)


def test_b16_slices_come_in_the_order_of_their_positions(
    opened: Open, read: ReadWorkspace, series: Path
) -> None:
    view = opened(series)
    images = read.lightbox.active.stack_images
    heights = [i.geometry.position.z for i in images if i.geometry.position]
    assert len(heights) == SLICES
    assert heights == sorted(heights)
    for place in range(SLICES):
        assert read.lightbox.active.position == place
        QTest.keyClick(view, Qt.Key.Key_Down)
    assert read.lightbox.active.position == SLICES - 1


def test_b17_the_wheel_scrolls_whatever_tool_is_active(
    opened: Open, read: ReadWorkspace, series: Path
) -> None:
    view = opened(series)
    for count, tool in enumerate((Tool.WINDOW, Tool.LENGTH, Tool.PAN), 1):
        view.set_tool(tool)
        _turn(view, -1)
        assert read.lightbox.active.position == count


def test_b17_the_wheel_never_zooms_a_single_image_if_it_is_preferred_so(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    first = view.zoom
    preferences.use(Preferences(wheel_zooms_single=False))
    _turn(view, 2)
    assert view.zoom == first
    preferences.use(Preferences())
    _turn(view, 2)
    assert view.zoom > first


def test_b18_dragging_up_zooms_out_and_down_zooms_in(
    opened: Open, radiograph: Path
) -> None:
    view = opened(radiograph)
    view.set_tool(Tool.ZOOM)
    first = view.zoom
    drag(view, _MIDDLE, _MIDDLE + QPoint(0, 60), LEFT)
    closer = view.zoom
    drag(view, _MIDDLE, _MIDDLE - QPoint(0, 90), LEFT)
    assert view.zoom < first < closer


def test_b19_the_image_follows_the_mouse(opened: Open, radiograph: Path) -> None:
    view = opened(radiograph)
    view.set_tool(Tool.PAN)
    before = view.to_view(PointPx(50, 50))
    drag(view, _MIDDLE, _MIDDLE + QPoint(40, -20), LEFT)
    assert view.to_view(PointPx(50, 50)) - before == QPointF(40, -20)
