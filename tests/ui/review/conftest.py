"""An image under review of a known size, and questions shown beside it."""

from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from viewer.domain.annotation import CornerLine
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.panels.review.image import ReviewImage

FIELD = BoxPx(0, 100, 400, 500)


def an_opened_image(name: str = "secret-name.png") -> OpenedImage:
    """Return an image of 600 × 400 pixels, its file's name in its corner."""
    values = np.full((600, 400), 90, np.uint8)
    image = PixelImage(values, Photometric.MONOCHROME2)
    ref = ImageRef(Path(name))
    header = ImageHeader(ref, image.geometry, 1, "DX", View.FRONTAL, "p", "s", "e")
    shown = ShownImage(ref, header, image, CornerText((CornerLine(name),)))
    return OpenedImage(shown, FIELD, Pyramid(image).build())


@pytest.fixture
def canvas() -> Canvas:
    """Return where a reader draws: 8 × 8 cells of 50 pixels over the image's middle."""
    return Canvas(an_opened_image().shown.image.geometry, Grid(8, 8), FIELD)


@pytest.fixture
def image(qtbot: QtBot, canvas: Canvas) -> ReviewImage:
    """Return a view of 400 × 600 that shows the image."""
    made = ReviewImage()
    qtbot.addWidget(made)
    made.resize(400, 600)
    made.show()
    made.show_case(an_opened_image(), canvas)
    return made
