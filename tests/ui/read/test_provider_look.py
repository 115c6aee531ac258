"""The provider's view, in step with the image that has the focus."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollBar
from pytestqt.qtbot import QtBot

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.provider_view import ProviderView
from viewer.ui.panels.read.grid_choice import GridChoice
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.panels.read.image_commands import ImageCommands
from viewer.ui.panels.read.lightbox import Lightbox


@pytest.fixture
def lightbox(qtbot: QtBot) -> Lightbox:
    made = Lightbox()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def commands(lightbox: Lightbox, context: AppContext) -> ImageCommands:
    made = ImageCommands(lightbox, context)
    context.actions.handle(made.handlers())
    return made


def fill(lightbox: Lightbox) -> None:
    """Show an image as if it had been decoded."""
    rows, columns = np.mgrid[0:300, 0:260]
    image = PixelImage((rows + columns).astype(np.uint16), Photometric.MONOCHROME2)
    ref = ImageRef(Path("a"))
    header = ImageHeader(ref, image.geometry, 1, "DX", View.FRONTAL, "p", "s", "a")
    lightbox.active.stack = Stack("a", "DX", (header,))
    shown = ShownImage(ref, header, image, CornerText((), (), (), ()))
    lightbox.active.shown = shown
    lightbox.view.show_image(shown)


def opened(commands: ImageCommands) -> ProviderView:
    commands.provider_look.toggle()
    dialog = commands.provider_look.dialog
    assert dialog is not None
    return dialog


def choose(dialog: ProviderView, name: str) -> None:
    names = [
        dialog.providers.itemData(at).name for at in range(dialog.providers.count())
    ]
    dialog.providers.setCurrentIndex(names.index(name))


def test_that_the_pixels_after_resizing_stand_beside_those_sent(
    lightbox: Lightbox, commands: ImageCommands, qtbot: QtBot
) -> None:
    fill(lightbox)
    dialog = opened(commands)
    qtbot.waitUntil(lambda: "256 × 256" in dialog.seen.head.text())
    choose(dialog, "gemini")
    qtbot.waitUntil(lambda: "768 × 768" in dialog.seen.head.text())
    assert "256 × 256" in dialog.sent.head.text()
    assert "tokens is not published" in dialog.words.text()


@pytest.mark.parametrize("zoom", [1, 3])
def test_that_a_pixel_is_a_square_of_whole_screen_pixels(
    lightbox: Lightbox, commands: ImageCommands, qtbot: QtBot, zoom: int
) -> None:
    fill(lightbox)
    dialog = opened(commands)
    dialog.zoom.setValue(zoom)
    qtbot.waitUntil(lambda: dialog.sent.picture.pixmap().width() == 256 * zoom)
    image = dialog.sent.picture.pixmap().toImage()
    block = {
        image.pixel(50 * zoom + x, 60 * zoom + y)
        for x in range(zoom)
        for y in range(zoom)
    }
    assert len(block) == 1


def test_that_it_follows_grid_and_window_and_warns_of_small_cells(
    lightbox: Lightbox, commands: ImageCommands, qtbot: QtBot
) -> None:
    fill(lightbox)
    dialog = opened(commands)
    choose(dialog, "qwen2_5")
    qtbot.waitUntil(lambda: "tokens" in dialog.words.text())
    lightbox.set_grid(GridChoice(grid=Grid(16, 16)))
    qtbot.waitUntil(lambda: any("smaller than a patch" in w for w in dialog.warned))
    before = dialog.seen.picture.pixmap().toImage()
    lightbox.view.set_window(Window(300.0, 20.0))
    qtbot.waitUntil(lambda: dialog.seen.picture.pixmap().toImage() != before)
    assert dialog.seen.picture.pixmap().size().width() > 0
    assert any("smaller than a patch" in words for words in dialog.warned)


def test_that_one_picture_scrolls_to_the_part_that_the_other_shows(
    lightbox: Lightbox, commands: ImageCommands, qtbot: QtBot
) -> None:
    fill(lightbox)
    dialog = opened(commands)
    choose(dialog, "gemini")
    qtbot.waitUntil(lambda: "768 × 768" in dialog.seen.head.text())
    dialog.zoom.setValue(6)
    sent, seen = dialog.sent.bars[1], dialog.seen.bars[1]
    for moved, other in ((sent, seen), (seen, sent)):
        moved.setValue(moved.maximum() // 3)
        assert middle_of(other) == pytest.approx(middle_of(moved), abs=0.01)
        assert dialog.sent.picture.y() == -sent.value()
        assert dialog.seen.picture.y() == -seen.value()


def middle_of(bar: QScrollBar) -> float:
    """Return the middle of what a scroll bar shows, as a share of the whole."""
    whole = bar.maximum() + bar.pageStep()
    return (bar.value() + bar.pageStep() / 2) / whole


def test_that_without_an_image_it_says_what_to_do(
    commands: ImageCommands,
) -> None:
    dialog = opened(commands)
    assert "Open an image" in dialog.problem.text()
    assert dialog.problem.isVisible()
    assert not dialog.sent.isVisible()


def test_that_the_action_opens_and_closes_it_and_the_provider_is_kept(
    lightbox: Lightbox, commands: ImageCommands, context: AppContext, qtbot: QtBot
) -> None:
    fill(lightbox)
    context.actions["image.provider"].trigger()
    assert context.actions["image.provider"].isChecked()
    dialog = commands.provider_look.dialog
    assert dialog is not None
    choose(dialog, "claude")
    context.actions["image.provider"].trigger()
    qtbot.waitUntil(lambda: commands.provider_look.dialog is None)
    QTest.qWait(0)
    assert not context.actions["image.provider"].isChecked()
    assert opened(commands).offer.name == "claude"
