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
from viewer.domain.image_geometry import MIRRORED, ROTATED_RIGHT, then
from viewer.domain.mark import Mark, MarkKind
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.panels.read.image_commands import ImageCommands
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.turn_commands import TURNS
from viewer.ui.panels.read.viewport import Viewport, ViewportEntered

LENGTH = Mark(MarkKind.LENGTH, (PointPx(10, 10), PointPx(40, 50)))


@pytest.fixture
def lightbox(qtbot: QtBot, context: AppContext) -> Lightbox:
    made = Lightbox()
    qtbot.addWidget(made)
    context.actions.handle(ImageCommands(made, context).handlers())
    made.resize(800, 400)
    made.show()
    return made


def fill(viewport: Viewport, name: str, modality: str = "DX") -> ImageView:
    """Show an image as if it had been decoded."""
    image = PixelImage(np.eye(60, dtype=np.uint8), Photometric.MONOCHROME2)
    ref = ImageRef(Path(name))
    view = View.FRONTAL if modality == "DX" else View.OTHER
    header = ImageHeader(ref, image.geometry, 1, modality, view, "p", "s", name)
    viewport.stack = Stack(name, modality, (header,))
    viewport.view.show_image(ShownImage(ref, header, image, CornerText((), (), (), ())))
    return viewport.view


def test_that_the_check_of_invert_is_that_of_the_image_with_the_focus(
    lightbox: Lightbox, context: AppContext
) -> None:
    lightbox.arrange(1, 2)
    first, second = lightbox.viewports
    for viewport, name in ((first, "a"), (second, "b")):
        fill(viewport, name)
    invert = context.actions["image.invert"]
    invert.trigger()
    assert invert.isChecked()
    second.entered.emit(ViewportEntered(second))
    assert not invert.isChecked()
    first.entered.emit(ViewportEntered(first))
    assert invert.isChecked()
    context.actions["image.reset"].trigger()
    assert not invert.isChecked()


def test_that_invert_stays_unchecked_where_there_is_no_image(
    lightbox: Lightbox, context: AppContext
) -> None:
    assert not lightbox.view.inverted
    context.actions["image.invert"].trigger()
    assert not context.actions["image.invert"].isChecked()


def test_that_every_tool_has_an_action_and_one_is_checked(
    lightbox: Lightbox, context: AppContext
) -> None:
    fill(lightbox.viewports[0], "a")
    told: list[str] = []
    context.status.tool_changed.connect(told.append)
    for name in ("tool.angle", "tool.ellipse", "tool.scroll"):
        context.actions[name].trigger()
        checked = [
            spec.id for spec, act in context.actions if act.isChecked() and spec.group
        ]
        assert checked == [name]
    assert told == ["Tool: Angle", "Tool: Ellipse", "Tool: Scroll"]
    context.actions.run("tool.cobb")
    assert context.actions["tool.cobb"].isChecked()


def test_that_marks_are_deleted_and_brought_back_by_the_menu(
    lightbox: Lightbox, context: AppContext
) -> None:
    view = fill(lightbox.viewports[0], "a")
    context.actions["mark.delete"].trigger()
    assert context.undo.count() == 0
    view.marks.add(LENGTH)
    view.marks.add(LENGTH.moved(5, 5))
    context.actions["mark.delete"].trigger()
    context.actions["mark.clear"].trigger()
    assert not view.marks.marks
    context.undo.undo()
    context.undo.undo()
    assert view.marks.marks == (LENGTH, LENGTH.moved(5, 5))


def test_b08_only_radiographs_rotate_and_flip(
    lightbox: Lightbox, context: AppContext
) -> None:
    lightbox.arrange(1, 2)
    first, second = lightbox.viewports
    view, slice_view = fill(first, "a"), fill(second, "b", modality="CT")
    turns = [context.actions[name] for name in TURNS]
    first.entered.emit(ViewportEntered(first))
    turns[0].trigger()
    turns[2].trigger()
    assert view.orientation == then(ROTATED_RIGHT, MIRRORED)
    second.entered.emit(ViewportEntered(second))
    assert not any(action.isEnabled() for action in turns)
    context.actions.run("image.mirror")
    assert slice_view.orientation == 1
    first.entered.emit(ViewportEntered(first))
    assert all(action.isEnabled() for action in turns)
    context.actions["image.reset"].trigger()
    assert view.orientation == 1


def test_that_a_double_click_shows_one_of_two_images_alone_and_both_again(
    lightbox: Lightbox,
) -> None:
    lightbox.arrange(1, 2)
    first, second = lightbox.viewports
    views = fill(first, "a"), fill(second, "b")
    for expected in ([False, True], [True, True]):
        lightbox.viewports[1].entered.emit(ViewportEntered(lightbox.viewports[1]))
        QTest.mouseDClick(
            views[1].viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 50)
        )
        assert [viewport.isVisible() for viewport in lightbox.viewports] == expected


def test_that_a_double_click_fits_a_single_image(lightbox: Lightbox) -> None:
    view = fill(lightbox.viewports[0], "a")
    whole = view.zoom
    view.zoom_by(3.0)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    assert view.zoom == whole
