"""Image planes in the patient."""

import math
from dataclasses import replace

import pytest

from viewer.domain.geometry import PointMm, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.planes import Slices, plane_of

AXIAL = ImageGeometry(
    SizePx(40, 60),
    Spacing(2.0, 0.5, SpacingMeaning.PATIENT),
    axes=(1, 0, 0, 0, 1, 0),
    position=PointMm(-15, -40, 100),
)
SAGITTAL = replace(
    AXIAL,
    size=SizePx(100, 80),
    spacing=Spacing(1.0, 1.0, SpacingMeaning.PATIENT),
    axes=(0, 1, 0, 0, 0, -1),
    position=PointMm(3.0, -40, 150),
)


def test_that_positions_go_to_the_patient_and_back() -> None:
    plane = plane_of(AXIAL)
    assert plane is not None
    first = plane.at(PointPx(0.5, 0.5))
    assert first == AXIAL.position
    point = plane.at(PointPx(10.5, 20.5))
    assert (point.x, point.y, point.z) == (-10, 0, 100)
    back = plane.project(replace_z(point, 130))
    assert (back.x, back.y) == (10.5, 20.5)
    assert plane.height(replace_z(point, 130)) == 30


def replace_z(point: PointMm, z: float) -> PointMm:
    return PointMm(point.x, point.y, z)


def test_that_an_image_cuts_another_in_a_line_within_its_own_edges() -> None:
    axial, sagittal = plane_of(AXIAL), plane_of(SAGITTAL)
    assert axial is not None
    assert sagittal is not None
    line = axial.line_of(sagittal)
    assert line is not None
    xs, ys = {round(p.x, 6) for p in line}, sorted(p.y for p in line)
    assert xs == {(3.0 + 15) / 0.5 + 0.5}
    assert ys == pytest.approx([0.25, 40.25])
    across = sagittal.line_of(axial)
    assert across is not None
    assert {round(p.y, 6) for p in across} == {150 - 100 + 0.5}


def test_that_parallel_and_distant_images_do_not_cut() -> None:
    axial = plane_of(AXIAL)
    above = plane_of(replace(AXIAL, position=PointMm(-15, -40, 120)))
    far = plane_of(replace(SAGITTAL, position=PointMm(3.0, -40, 90)))
    assert axial is not None
    assert above is not None
    assert far is not None
    assert axial.line_of(above) is None
    assert axial.line_of(far) is None


def test_that_the_nearest_slice_is_found_along_the_normal() -> None:
    slices = [replace(AXIAL, position=PointMm(-15, -40, z)) for z in (90, 95, 100)]
    unplaced = replace(AXIAL, position=None)
    assert Slices(slices).nearest(PointMm(0, 0, 96)) == 1
    assert Slices([unplaced, *slices]).nearest(PointMm(0, 0, 96)) == 2
    assert Slices([unplaced]).nearest(PointMm(0, 0, 0)) is None
    assert Slices([]).nearest(PointMm(0, 0, 0)) is None


def test_that_an_image_without_spacing_or_with_skewed_axes_has_no_plane() -> None:
    assert plane_of(replace(AXIAL, spacing=None)) is None
    assert plane_of(replace(AXIAL, axes=(1, 0, 0, 1, 0, 0))) is None
    tilt = (1, 0, 0, 0, math.cos(0.3), math.sin(0.3))
    assert plane_of(replace(AXIAL, axes=tilt)) is not None
