"""What a hand places on an image comes back to the native pixels under it.

For pixels of any shape: the window shows them in the patient's proportions.
"""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tests.helpers.geometries import (
    GEOMETRIES,
    centred_square,
    disc,
    ellipse_of,
    pixel_height,
)
from tests.ui.canvas.conftest import pixels
from tests.ui.review.test_placing import SHIFT, stroke
from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.form import PlaceKind
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import PointPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.panels.review.image import ReviewImage

SIDE = 1300


@pytest.fixture(params=GEOMETRIES.values(), ids=list(GEOMETRIES))
def geometry(request: pytest.FixtureRequest) -> ImageGeometry:
    found: ImageGeometry = request.param
    return found


@pytest.fixture
def image(qtbot: QtBot, geometry: ImageGeometry) -> ReviewImage:
    """Return a view of an image with a disc in the middle of what is sent."""
    window = centred_square(geometry)
    middle = (window.x0 + window.x1) / 2, (window.y0 + window.y1) / 2
    values = disc(geometry, *middle, 0.3 * (window.x1 - window.x0))
    shown = PixelImage(values, Photometric.MONOCHROME2, geometry=geometry)
    ref = ImageRef(Path("a.dcm"))
    header = ImageHeader(ref, geometry, 1, "CT", View.OTHER, "p", "s", "e")
    opened = OpenedImage(
        ShownImage(ref, header, shown, CornerText((), (), (), ())),
        window,
        Pyramid(shown).build(),
    )
    made = ReviewImage()
    qtbot.addWidget(made)
    made.resize(SIDE, SIDE)
    made.show()
    made.show_case(opened, Canvas(geometry, Grid(8, 8), window))
    return made


def at(geometry: ImageGeometry, u: float, v: float) -> tuple[float, float]:
    """Return the native position at parts of the centred square."""
    window = centred_square(geometry)
    return (
        window.x0 + u * (window.x1 - window.x0),
        window.y0 + v * (window.y1 - window.y0),
    )


def test_that_a_position_maps_to_the_view_and_back(
    image: ReviewImage, geometry: ImageGeometry
) -> None:
    random = np.random.default_rng(1)
    for u, v in random.uniform(0, 1, (40, 2)):
        x, y = at(geometry, u, v)
        there = image.to_view(PointPx(x, y))
        back = image.native_at(QPointF(there.toPoint()))
        assert abs(back.x - x) <= 0.5
        assert abs(back.y - y) <= 0.5


def test_that_a_circle_in_the_patient_is_one_on_the_screen(
    image: ReviewImage, geometry: ImageGeometry
) -> None:
    seen = pixels(image.viewport()).min(axis=2)
    first, last = (image.to_view(PointPx(*at(geometry, u, u))) for u in (0.15, 0.85))
    part = seen[int(first.y()) : int(last.y()), int(first.x()) : int(last.x())]
    _, _, low, high = ellipse_of(part)
    assert high / low == pytest.approx(1.0, abs=0.02)


def test_that_a_point_a_box_and_a_cell_are_those_under_the_hand(
    image: ReviewImage, geometry: ImageGeometry
) -> None:
    first, last = at(geometry, 0.31, 0.42), at(geometry, 0.69, 0.77)
    image.place(PlaceKind.POINT)
    (point,) = stroke(image, first)
    assert isinstance(point, PointAnswer)
    assert abs(point.point.x - first[0]) <= 0.5
    assert abs(point.point.y - first[1]) <= 0.5
    image.place(PlaceKind.BOXES)
    (drawn,) = stroke(image, first, last)
    assert isinstance(drawn, BoxesAnswer)
    (box,) = drawn.boxes
    for found, expected in zip(
        (box.x0, box.y0, box.x1, box.y1), (*first, *last), strict=True
    ):
        assert abs(found - expected) <= 0.5
    image.place(PlaceKind.CELL)
    assert stroke(image, at(geometry, 0.31, 0.42)) == [CellAnswer(Cell(3, 2), "reader")]


def test_that_a_closed_line_fills_the_pixels_in_it(
    image: ReviewImage, geometry: ImageGeometry
) -> None:
    (x0, y0), (x1, y1) = at(geometry, 0.3, 0.4), at(geometry, 0.7, 0.8)
    image.place(PlaceKind.MASK)
    (answer,) = stroke(image, (x0, y0), (x1, y0), (x1, y1), (x0, y1), keys=SHIFT)
    assert isinstance(answer, MaskAnswer)
    mask = answer.mask.array()
    rows, columns = np.nonzero(mask)
    for found, expected in (
        (columns.min(), x0),
        (columns.max() + 1, x1),
        (rows.min(), y0),
        (rows.max() + 1, y1),
    ):
        assert abs(found - expected) <= 1.0
    assert mask.sum() == pytest.approx((x1 - x0) * (y1 - y0), rel=0.06)


def test_that_the_brush_is_round_as_the_image_is_shown(
    image: ReviewImage, geometry: ImageGeometry
) -> None:
    window = centred_square(geometry)
    image.place(PlaceKind.MASK)
    image.brush = 0.5 * (window.x1 - window.x0)
    x, y = at(geometry, 0.5, 0.5)
    (answer,) = stroke(image, (x, y), (x + 2, y))
    assert isinstance(answer, MaskAnswer)
    rows, columns = np.nonzero(answer.mask.array())
    wide = columns.max() + 1 - columns.min()
    high = rows.max() + 1 - rows.min()
    assert abs(wide - 2 - image.brush) <= 2.0
    assert abs(high - image.brush / pixel_height(geometry)) <= 2.0
