"""The outline of a mask is drawn with few corners, and yet where the mask ends."""

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QTransform

from viewer.domain.geometry import BoxPx
from viewer.imaging.outline_loops import outline_loops
from viewer.ui.canvas.overlays.outline import Loops, Outline

AREA = QRectF(0, 0, 200, 160)
LEAST = 0.5
"""Device pixels that a line may lie beside the corners that it stands for."""


def blob(seed: int, side: int = 320) -> npt.NDArray[np.bool_]:
    """Return a ragged disc with holes and islands."""
    random = np.random.default_rng(seed)
    coarse = random.normal(size=(side // 16 + 1, side // 16 + 1))
    at = np.arange(side) // 16
    y, x = np.mgrid[:side, :side] / side
    ragged = np.hypot(x - 0.5, y - 0.5) + 0.06 * coarse[np.ix_(at, at)]
    return np.asarray((ragged < 0.35) & (np.hypot(x - 0.45, y - 0.5) > 0.04))


def filled(path: QPainterPath, area: QRectF) -> npt.NDArray[np.bool_]:
    """Return which pixels of an area a path fills."""
    size = area.size().toSize()
    image = QImage(size, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.fillPath(path, QColor("white"))
    painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8)
    return rows.reshape(image.height(), image.bytesPerLine())[:, : image.width()] > 127


def distances(loops: Loops, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how far each point lies from the nearest line, one line at a time."""
    best = np.full(len(points), np.inf)
    ends = [*loops.first[1:], len(loops.corners)]
    for begin, end in zip(loops.first, ends, strict=True):
        for i in range(begin, end - 1):
            a, b = loops.corners[i], loops.corners[i + 1]
            along = b - a
            square = max(float(along @ along), 1e-12)
            share = np.clip((points - a) @ along / square, 0, 1)[:, None]
            best = np.minimum(best, np.hypot(*(points - a - share * along).T))
    return best


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("scale", [0.9, 0.5, 0.3, 0.1, 0.03])
@pytest.mark.parametrize("seed", range(3))
def test_that_no_corner_lies_far_from_the_lines_that_are_drawn(
    seed: int, scale: float, ratio: float
) -> None:
    mask = blob(seed)
    shown = Outline(mask).in_view(
        QTransform.fromScale(scale, scale), QRectF(-1, -1, 400, 400), ratio
    )
    corners = np.concatenate(outline_loops(mask)).astype(np.float64) * scale
    assert distances(shown, corners).max() * ratio <= LEAST + 1e-9


def test_that_a_smooth_mask_is_drawn_with_a_fraction_of_its_corners() -> None:
    y, x = np.ogrid[:2000, :2000]
    outline = Outline(np.asarray(np.hypot(x - 1000, y - 1000) < 900))
    shown = outline.in_view(QTransform.fromScale(0.3, 0.3), QRectF(0, 0, 600, 600), 1.0)
    assert len(shown.corners) < outline.path.elementCount() / 10


@pytest.mark.parametrize("scale", [0.4, 0.8, 1.0, 2.5, 7.0])
@pytest.mark.parametrize("seed", range(3))
def test_that_what_is_out_of_sight_changes_nothing_in_sight(
    seed: int, scale: float
) -> None:
    random = np.random.default_rng(seed)
    outline = Outline(blob(seed))
    corner = random.choice(np.concatenate(outline_loops(blob(seed)))) * scale
    native = QTransform(scale, 0, 0, scale, 90 - corner[0], 70 - corner[1])
    whole = native.mapRect(outline.extent).adjusted(-9, -9, 9, 9).united(AREA)
    near = filled(outline.in_view(native, AREA, 1.0).path(), AREA)
    far = filled(outline.in_view(native, whole, 1.0).path(), AREA)
    np.testing.assert_array_equal(near, far)
    assert near.any()


def test_that_few_corners_are_left_where_a_large_mask_is_seen_through_a_keyhole() -> (
    None
):
    outline = Outline(blob(1))
    native = QTransform(30, 0, 0, 30, -30 * 50, -30 * 160)
    seen = outline.in_view(native, AREA, 1.0)
    assert len(seen.corners) < outline.path.elementCount() / 4


@pytest.mark.parametrize("scale", [1.0, 0.2, 0.05])
def test_that_a_mask_keeps_its_extent_however_small_it_is_drawn(scale: float) -> None:
    mask = np.zeros((300, 200), bool)
    mask[100:103, 50] = mask[200, 20:180] = True
    outline = Outline(mask)
    blinding = QRectF(0, 0, 300, 300)
    shown = outline.in_view(QTransform.fromScale(scale, scale), blinding, 1.0)
    box = shown.path().boundingRect()
    expected = QTransform.fromScale(scale, scale).mapRect(outline.extent)
    assert outline.extent == QRectF(20, 100, 160, 101)
    for corner in ("topLeft", "bottomRight"):
        beside = getattr(box, corner)() - getattr(expected, corner)()
        assert beside.manhattanLength() == pytest.approx(0, abs=1e-9)


def test_that_a_mask_is_stretched_over_its_field() -> None:
    outline = Outline(np.ones((2, 4), bool), BoxPx(10, 20, 90, 60))
    assert outline.extent == QRectF(10, 20, 80, 40)
    assert outline.path.contains(QPointF(89, 59))


def test_that_an_empty_mask_has_no_outline() -> None:
    outline = Outline(np.zeros((4, 4), bool))
    assert outline.extent.isNull()
    shown = outline.in_view(QTransform.fromScale(0.1, 0.1), AREA, 1.0)
    assert shown.path().isEmpty()


def test_that_stroked_lines_cover_the_edges_of_the_mask() -> None:
    mask = blob(2)
    image = QImage(320, 320, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    blinding = QRectF(0, 0, 320, 320)
    shown = Outline(mask).in_view(QTransform(), blinding, 1.0)
    shown.stroke(painter, QPen(QColor("white"), 1.5))
    painter.end()
    ink = np.frombuffer(image.constBits(), np.uint8).reshape(320, -1)[:, :320]
    edge = mask[:, 1:] != mask[:, :-1]
    assert (ink[:, 1:][edge] > 100).all()
    assert (ink[:, :-1][edge] > 100).all()
    deep = np.ones_like(mask)
    for axis in (0, 1):
        for step in (-3, -2, -1, 1, 2, 3):
            deep &= np.roll(mask, step, axis) == mask
    for axis in (0, 1):
        for step in (-2, 2):
            deep &= np.roll(deep, step, axis)
    assert not ink[deep].any()
