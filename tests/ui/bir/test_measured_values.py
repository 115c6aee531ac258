"""Lengths, angles, areas and statistics on pixels that are not square, by NumPy."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.path import Path as Outline
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from tests.helpers.make_dicom import make_dicom
from tests.ui.bir.conftest import LEFT, NONE, Open
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.mark import Mark, MarkKind
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.measures import (
    area_of,
    cardiothoracic_ratio,
    cobb_angle,
    length_of,
    region_values,
    vertex_angle,
    words,
)

ROWS, COLUMNS = 90, 120
ROW_MM, COLUMN_MM = 0.83, 0.47
SPACING = Spacing(ROW_MM, COLUMN_MM, SpacingMeaning.PATIENT)
TO_MM = np.array([COLUMN_MM, ROW_MM])
SEEDS = range(12)
Pixels = npt.NDArray[Any]
close = partial(pytest.approx, rel=1e-6, abs=1e-6)


def _image(seed: int) -> PixelImage:
    values = np.random.default_rng(seed).normal(40, 300, (ROWS, COLUMNS))
    geometry = ImageGeometry(SizePx(ROWS, COLUMNS), SPACING)
    return PixelImage(values, Photometric.MONOCHROME2, "HU", geometry=geometry)


def _points(seed: int, count: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(5, 85, (count, 2))


def _mark(kind: MarkKind, points: npt.NDArray[np.float64]) -> Mark:
    return Mark(kind, tuple(PointPx(x, y) for x, y in points.tolist()))


def _angle(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


@pytest.mark.parametrize("seed", SEEDS)
def test_that_lengths_and_angles_equal_numpy_s(seed: int) -> None:
    geometry, points = _image(seed).geometry, _points(seed, 4)
    mm, mark = points * TO_MM, _mark(MarkKind.COBB, points)
    length = length_of(mark.points[0], mark.points[1], geometry)
    assert length == close(float(np.linalg.norm(mm[1] - mm[0])))
    between = _angle(mm[1] - mm[0], mm[3] - mm[2])
    assert cobb_angle(mark, geometry) == close(min(between, 180 - between))
    corner = _mark(MarkKind.ANGLE, points[:3])
    assert vertex_angle(corner, geometry) == close(_angle(mm[0] - mm[1], mm[2] - mm[1]))


def _inside(mark: Mark) -> npt.NDArray[np.bool_]:
    """Return the pixels whose centres lie in a region, each looked at by itself."""
    down, across = np.mgrid[:ROWS, :COLUMNS] + 0.5
    corners = np.array([(p.x, p.y) for p in mark.points])
    low, high = corners.min(0), corners.max(0)
    if mark.kind is MarkKind.POLYGON:
        centres = np.column_stack([across.ravel(), down.ravel()])
        return Outline(corners).contains_points(centres).reshape(ROWS, COLUMNS)
    if mark.kind is MarkKind.RECTANGLE:
        within = (across > low[0]) & (across < high[0])
        return np.asarray(within & (down > low[1]) & (down < high[1]))
    (x, y), (a, b) = (low + high) / 2, (high - low) / 2
    return np.asarray(((across - x) / a) ** 2 + ((down - y) / b) ** 2 <= 1)


def _region(kind: MarkKind, seed: int) -> Mark:
    """Return a region; a polygon's corners go around, so that no edges cross."""
    points = _points(seed, 7 if kind is MarkKind.POLYGON else 2)
    if kind is not MarkKind.POLYGON:
        points[1] = points[0] / 2 + 45  # far enough from the first for some pixels
        return _mark(kind, points)
    off = points - points.mean(0)
    return _mark(kind, points[np.argsort(np.arctan2(off[:, 1], off[:, 0]))]).closed()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "kind", [MarkKind.RECTANGLE, MarkKind.ELLIPSE, MarkKind.POLYGON]
)
def test_that_a_region_s_statistics_equal_numpy_s(kind: MarkKind, seed: int) -> None:
    image, mark = _image(seed), _region(kind, seed)
    expected = image.values[_inside(mark)]
    values = region_values(mark, image)
    assert values.size == expected.size > 0
    for statistic in (np.mean, np.std, np.min, np.max):
        assert statistic(values) == close(float(statistic(expected)))
    assert words(mark, image)[0] == (
        f"mean {expected.mean():.5g} HU, SD {expected.std():.4g} HU"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_that_areas_equal_numpy_s(seed: int) -> None:
    geometry = _image(seed).geometry
    sides = np.ptp(
        np.array([(p.x, p.y) for p in _region(MarkKind.RECTANGLE, seed).points]), 0
    )
    box = float(np.prod(sides * TO_MM))
    assert area_of(_region(MarkKind.RECTANGLE, seed), geometry) == close(box)
    assert area_of(_region(MarkKind.ELLIPSE, seed), geometry) == close(box * np.pi / 4)
    ring = _region(MarkKind.POLYGON, seed)
    x, y = (np.array([(p.x, p.y) for p in ring.points]) * TO_MM).T
    green = float(abs(np.trapezoid(y, x)))
    assert area_of(ring, geometry) == close(green)


def test_that_the_cardiothoracic_ratio_takes_widths_across_the_image() -> None:
    edges = np.array([(40.0, 60.0), (80.0, 50.0), (10.0, 70.0), (110.0, 40.0)])
    mark = _mark(MarkKind.HEART, edges)
    assert cardiothoracic_ratio(mark) == close(0.4)
    assert words(mark, _image(0)) == (
        "Cardiothoracic ratio 0.40", "heart 18.8 mm", "thorax 47.0 mm",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("meaning", "text"),
    [
        (SpacingMeaning.DETECTOR, "at detector"),
        (SpacingMeaning.MAGNIFIED, "corrected for magnification"),
        (SpacingMeaning.FIDUCIAL, "calibrated by a fiducial"),
        (SpacingMeaning.CALIBRATED, "calibrated"),
        (None, "uncalibrated"),
    ],
)
def test_that_a_length_states_its_calibration(
    meaning: SpacingMeaning | None, text: str
) -> None:
    spacing = Spacing(0.2, 0.2, meaning) if meaning else None
    geometry = ImageGeometry(SizePx(9, 9), spacing)
    image = PixelImage(np.zeros((9, 9)), Photometric.MONOCHROME2, geometry=geometry)
    mark = _mark(MarkKind.LENGTH, np.array([(0.0, 0.0), (8.0, 0.0)]))
    (said,) = words(mark, image)
    assert said.endswith(text)


def test_that_a_length_has_no_more_digits_than_its_pixels_tell() -> None:
    geometry = ImageGeometry(SizePx(9, 9), Spacing(2.0, 2.0, SpacingMeaning.PATIENT))
    image = PixelImage(np.zeros((9, 9)), Photometric.MONOCHROME2, geometry=geometry)
    mark = _mark(MarkKind.LENGTH, np.array([(0.0, 0.0), (7.3, 0.0)]))
    assert words(mark, image) == ("15 mm",)


TURNS: dict[int, Callable[[Pixels], Pixels]] = {
    1: lambda a: a,
    2: np.fliplr,
    3: lambda a: np.rot90(a, 2),
    4: np.flipud,
    5: lambda a: a.T,
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a, 2).T,
    8: np.rot90,
}
"""What each orientation does to an image, by NumPy."""


def _seen(points: npt.NDArray[np.float64], orientation: int) -> npt.NDArray[np.float64]:
    """Return where points of an image lie in the image as it is turned.

    Found by turning images of their coordinates, each pixel at its centre.
    """
    rows, columns = np.mgrid[:ROWS, :COLUMNS] + 0.5
    turn = TURNS[orientation]
    down, across = np.mgrid[: turn(rows).shape[0], : turn(rows).shape[1]] + 0.5
    was = np.column_stack(
        [turn(columns).ravel(), turn(rows).ravel(), np.ones(rows.size)]
    )
    now = np.column_stack([across.ravel(), down.ravel()])
    affine, *_ = np.linalg.lstsq(was, now, rcond=None)
    return np.asarray(np.column_stack([points, np.ones(len(points))]) @ affine)


@pytest.fixture
def anisotropic(tmp_path: Path) -> tuple[Path, npt.NDArray[np.float64]]:
    """A radiograph of pixels that are not square, and its values in modality units."""
    stored = np.random.default_rng(3).integers(0, 4096, (ROWS, COLUMNS), np.uint16)
    folder = tmp_path / "film"
    folder.mkdir()
    make_dicom(
        folder / "film.dcm", stored, bits_stored=12, Modality="DX",
        PixelSpacing=[ROW_MM, COLUMN_MM], RescaleSlope=0.5, RescaleIntercept=-7,
    )  # fmt: skip
    return folder, stored * 0.5 - 7


@pytest.mark.parametrize("orientation", TURNS)
def test_that_measurements_are_the_same_after_every_rotation_and_flip(
    opened: Open,
    context: AppContext,
    anisotropic: tuple[Path, npt.NDArray[np.float64]],
    orientation: int,
) -> None:
    folder, values = anisotropic
    view = opened(folder)
    turns = {6: ["image.rotate_right"], 8: ["image.rotate_left"], 2: ["image.mirror"],
             4: ["image.flip"], 3: ["image.rotate_right"] * 2, 1: [],
             5: ["image.rotate_right", "image.mirror"],
             7: ["image.rotate_left", "image.mirror"]}  # fmt: skip
    for action in turns[orientation]:
        context.actions[action].trigger()
    assert view.orientation == orientation
    corners = np.array([(20.0, 12.0), (90.0, 70.0), (40.0, 60.0), (100.0, 30.0)])
    drawn = {"length": 2, "angle": 3, "cobb": 4, "rectangle": 2, "ellipse": 2}
    for kind, count in drawn.items():
        context.actions[f"tool.{kind}"].trigger()
        view.marks.remove_all()
        # Clicked where NumPy finds the pixels of the turned image on the screen.
        for x, y in _seen(corners[:count], orientation):
            QTest.mouseClick(view.viewport(), LEFT, NONE, _on_screen(view, x, y))
        (mark,) = view.marks.marks
        points = np.array([(p.x, p.y) for p in mark.points])
        assert np.abs(points - corners[:count]).max() < 1.5  # a click is a whole pixel
        _check(mark, points, values, view)


def _on_screen(view: ImageView, x: float, y: float) -> QPoint:
    """Return where a pixel of the turned image lies on the screen."""
    assert view._shown is not None
    size, aspect = view._shown.image.size, ROW_MM / COLUMN_MM
    turned = view.orientation > 4
    width, height = (size.rows, size.columns) if turned else (size.columns, size.rows)
    along = (
        (view.zoom * aspect, view.zoom) if turned else (view.zoom, view.zoom * aspect)
    )
    middle = view.area.center()
    off = (x - width / 2) * along[0], (y - height / 2) * along[1]
    return QPoint(round(middle.x() + off[0]), round(middle.y() + off[1]))


def _check(
    mark: Mark,
    points: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    view: ImageView,
) -> None:
    """Compare what a mark says with NumPy on the image as it is stored."""
    assert view._shown is not None
    image, mm = view._shown.image, points * TO_MM
    said = view.marks.texts[0]
    if mark.kind is MarkKind.LENGTH:
        expected = float(np.linalg.norm(mm[1] - mm[0]))
        start, end = mark.points
        assert length_of(start, end, image.geometry) == close(expected)
        assert said.startswith(f"{expected:.1f} mm")
    elif mark.kind is MarkKind.ANGLE:
        expected = _angle(mm[0] - mm[1], mm[2] - mm[1])
        assert vertex_angle(mark, image.geometry) == close(expected)
        assert said == f"{expected:.1f}°"
    elif mark.kind is MarkKind.COBB:
        between = _angle(mm[1] - mm[0], mm[3] - mm[2])
        assert cobb_angle(mark, image.geometry) == close(min(between, 180 - between))
    else:
        inside = values[_inside(mark)]
        box = float(np.prod(np.abs(mm[1] - mm[0])))
        share = np.pi / 4 if mark.kind is MarkKind.ELLIPSE else 1
        assert area_of(mark, image.geometry) == close(box * share)
        found = region_values(mark, image)
        assert (found.mean(), found.std()) == close((inside.mean(), inside.std()))
        assert (found.min(), found.max()) == close((inside.min(), inside.max()))
