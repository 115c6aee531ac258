"""The lightbox: viewports in rows and columns, one of them active."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtWidgets import QApplication, QGraphicsRectItem
from pytestqt.qtbot import QtBot

from viewer.domain.geometry import PointPx
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.overlays.locator import Locator
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport, ViewportEntered
from viewer.ui.widgets import theme


@pytest.fixture
def lightbox(qtbot: QtBot) -> Lightbox:
    made = Lightbox()
    qtbot.addWidget(made)
    made.resize(900, 900)
    made.show()
    return made


def _at(lightbox: Lightbox, viewport: Viewport) -> tuple[int, int]:
    """Return the row and column of thirds in which a viewport lies."""
    middle = viewport.mapTo(lightbox, QPoint(viewport.width() // 2, 10))
    return 3 * middle.y() // lightbox.height(), 3 * middle.x() // lightbox.width()


def test_that_a_lightbox_has_up_to_nine_viewports_row_by_row(
    qtbot: QtBot, lightbox: Lightbox
) -> None:
    lightbox.arrange(3, 3)
    qtbot.waitUntil(lambda: lightbox.viewports[8].y() > 2 * lightbox.height() // 3 - 9)
    places = [_at(lightbox, viewport) for viewport in lightbox.viewports]
    assert places == [(row, column) for row in range(3) for column in range(3)]
    lightbox.arrange(1, 2)
    assert [v.isVisible() for v in lightbox.findChildren(Viewport)].count(True) == 2


def test_that_one_viewport_is_active_and_marked_among_several(
    lightbox: Lightbox,
) -> None:
    first = lightbox.active
    assert first.mark.isHidden()
    lightbox.arrange(2, 2)
    last = lightbox.viewports[3]
    last.entered.emit(ViewportEntered(last))
    assert [v.mark.active for v in lightbox.viewports] == [False, False, False, True]
    lightbox.arrange(1, 1)
    assert lightbox.active is first


def test_that_an_empty_viewport_beside_others_asks_for_a_series(
    lightbox: Lightbox,
) -> None:
    lightbox.arrange(1, 2)
    texts = [viewport.view.waiting.text for viewport in lightbox.viewports]
    assert texts == ["Drag a series here from the cases."] * 2
    lightbox.arrange(1, 1)
    assert lightbox.view.waiting.text.startswith("Open a file")


@pytest.mark.parametrize("palette", [theme.DARK, theme.LIGHT])
def test_that_reference_lines_are_light_on_black_in_both_themes(
    qapp: QApplication, palette: theme.Palette
) -> None:
    theme.apply(qapp, palette)
    picture = QImage(60, 60, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.black)
    root = QGraphicsRectItem()
    painter = QPainter(picture)
    line = (PointPx(0, 30), PointPx(60, 30))
    Locator([line], None, root).draw(painter, QTransform())
    painter.end()
    assert max(QColor(picture.pixel(30, y)).lightness() for y in range(60)) > 120


def test_that_a_viewport_made_later_is_prepared_and_has_the_tool_in_use(
    lightbox: Lightbox,
) -> None:
    prepared: list[Viewport] = []
    lightbox.each(prepared.append)
    lightbox.set_tool(Tool.PAN)
    lightbox.arrange(2, 3)
    assert prepared == list(lightbox.viewports)
    cursors = {v.view.viewport().cursor().shape() for v in lightbox.viewports}
    assert len(cursors) == 1
