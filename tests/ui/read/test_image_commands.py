"""Commands for the image that has the focus, through the window's actions."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.geometry import PointPx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.mark import Mark, MarkKind
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.desk import Desk
from viewer.ui.panels.hanging import Stack
from viewer.ui.panels.image_commands import ImageCommands
from viewer.ui.panels.viewport import Viewport, ViewportEntered
from viewer.ui.panels.viewport_pair import ViewportPair

LENGTH = Mark(MarkKind.LENGTH, (PointPx(10, 10), PointPx(40, 50)))


@pytest.fixture
def pair(qtbot: QtBot, desk: Desk) -> ViewportPair:
    made = ViewportPair()
    qtbot.addWidget(made)
    desk.actions.handle(ImageCommands(made, desk).handlers())
    made.resize(800, 400)
    made.show()
    return made


def fill(viewport: Viewport, name: str) -> ImageView:
    """Show an image as if it had been decoded."""
    image = PixelImage(np.eye(60, dtype=np.uint8), Photometric.MONOCHROME2)
    ref = ImageRef(Path(name))
    header = ImageHeader(ref, image.geometry, 1, "DX", View.FRONTAL, "p", "s", name)
    viewport.stack = Stack(name, "DX", (header,))
    viewport.view.show_image(ShownImage(ref, header, image, CornerText((), (), (), ())))
    return viewport.view


def test_that_the_check_of_invert_is_that_of_the_image_with_the_focus(
    pair: ViewportPair, desk: Desk
) -> None:
    first, second = pair.viewports
    for viewport, name in ((first, "a"), (second, "b")):
        fill(viewport, name)
    invert = desk.actions["image.invert"]
    invert.trigger()
    assert invert.isChecked()
    second.entered.emit(ViewportEntered(second))
    assert not invert.isChecked()
    first.entered.emit(ViewportEntered(first))
    assert invert.isChecked()
    desk.actions["image.reset"].trigger()
    assert not invert.isChecked()


def test_that_invert_stays_unchecked_where_there_is_no_image(
    pair: ViewportPair, desk: Desk
) -> None:
    assert not pair.view.inverted
    desk.actions["image.invert"].trigger()
    assert not desk.actions["image.invert"].isChecked()


def test_that_every_tool_has_an_action_and_one_is_checked(
    pair: ViewportPair, desk: Desk
) -> None:
    fill(pair.viewports[0], "a")
    told: list[str] = []
    desk.status.tool_changed.connect(told.append)
    for name in ("tool.angle", "tool.ellipse", "tool.scroll"):
        desk.actions[name].trigger()
        checked = [spec.id for spec, act in desk.actions if act.isChecked()]
        assert checked == [name]
    assert told == ["Tool: Angle", "Tool: Ellipse", "Tool: Scroll"]
    desk.actions.run("tool.cobb")
    assert desk.actions["tool.cobb"].isChecked()


def test_that_marks_are_deleted_and_brought_back_by_the_menu(
    pair: ViewportPair, desk: Desk
) -> None:
    view = fill(pair.viewports[0], "a")
    desk.actions["mark.delete"].trigger()
    assert desk.undo.count() == 0
    view.marks.add(LENGTH)
    view.marks.add(LENGTH.moved(5, 5))
    desk.actions["mark.delete"].trigger()
    desk.actions["mark.clear"].trigger()
    assert not view.marks.marks
    desk.undo.undo()
    desk.undo.undo()
    assert view.marks.marks == (LENGTH, LENGTH.moved(5, 5))


def test_that_a_double_click_shows_one_of_two_images_alone_and_both_again(
    pair: ViewportPair,
) -> None:
    first, second = pair.viewports
    views = fill(first, "a"), fill(second, "b")
    pair.viewports[1].show()
    for expected in ([False, True], [True, True]):
        pair.viewports[1].entered.emit(ViewportEntered(pair.viewports[1]))
        QTest.mouseDClick(
            views[1].viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 50)
        )
        assert [viewport.isVisible() for viewport in pair.viewports] == expected


def test_that_a_double_click_fits_a_single_image(pair: ViewportPair) -> None:
    view = fill(pair.viewports[0], "a")
    whole = view.zoom
    view.zoom_by(3.0)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    assert view.zoom == whole
