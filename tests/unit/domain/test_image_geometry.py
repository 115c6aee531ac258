"""Turned and scaled geometries, against the places of pixels worked out by NumPy."""

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageOps

from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image_geometry import (
    TURNS,
    ImageGeometry,
    Spacing,
    SpacingMeaning,
    is_direction,
    opposite,
    then,
)

PATIENT = SpacingMeaning.PATIENT
CORONAL = ImageGeometry(
    SizePx(3, 5),
    Spacing(4.0, 0.5, PATIENT),
    axes=(1.0, 0.0, 0.0, 0.0, 0.0, -1.0),
    position=PointMm(-10.0, 20.0, 30.0),
    patient_orientation=("L", "F"),
    laterality="L",
)


def places(geometry: ImageGeometry) -> npt.NDArray[np.float64]:
    """Return where each pixel's centre lies, (rows, columns, 3) in mm (C.7.6.2.1.1)."""
    assert geometry.axes is not None
    assert geometry.position is not None
    assert geometry.spacing is not None
    row, column = np.mgrid[: geometry.size.rows, : geometry.size.columns][..., None]
    x, y = np.array(geometry.axes).reshape(2, 3)
    start = [geometry.position.x, geometry.position.y, geometry.position.z]
    across, down = column * geometry.spacing.column_mm, row * geometry.spacing.row_mm
    found: npt.NDArray[np.float64] = start + across * x + down * y
    return found


def shown_as(stored: npt.NDArray[np.uint8], orientation: int) -> npt.NDArray[np.uint8]:
    """Return an image as Pillow shows it."""
    image = Image.fromarray(stored)
    image.getexif()[0x0112] = orientation
    return np.array(ImageOps.exif_transpose(image))


def test_that_two_turns_are_one() -> None:
    stored = np.arange(15, dtype=np.uint8).reshape(3, 5)
    for first, further in product(range(1, 9), repeat=2):
        twice = shown_as(shown_as(stored, first), further)
        np.testing.assert_array_equal(shown_as(stored, then(first, further)), twice)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_that_a_turned_image_keeps_its_pixels_where_they_are(orientation: int) -> None:
    numbers = np.arange(15, dtype=np.uint8).reshape(3, 5)
    shown = shown_as(numbers, orientation)
    turned = CORONAL.turned(orientation)
    assert turned.size == SizePx(*shown.shape)
    before, after = places(CORONAL), places(turned)
    for number in range(15):
        np.testing.assert_allclose(
            after[shown == number], before[numbers == number], atol=1e-9
        )
    assert turned.stored_orientation == orientation
    assert turned.laterality == "L"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_that_letters_turn_with_the_axes_also_where_there_are_none(
    orientation: int,
) -> None:
    by_axes = CORONAL.turned(orientation).letters
    assert replace(CORONAL, axes=None).turned(orientation).letters == by_axes
    assert {*by_axes} <= {"L", "R", "H", "F"}


def test_that_a_ratio_turns_with_the_image() -> None:
    tall = ImageGeometry(SizePx(3, 5), aspect_ratio=4.0)
    assert tall.pixel_aspect == 4.0
    assert tall.turned(3).pixel_aspect == 4.0
    assert tall.turned(6).pixel_aspect == 0.25
    assert tall.turned(6).position is None
    assert CORONAL.turned(8).pixel_aspect == 1 / CORONAL.pixel_aspect == 0.125


def test_that_an_unknown_orientation_is_the_stored_one() -> None:
    assert CORONAL.turned(0) == CORONAL.turned(9) == CORONAL
    assert sorted(TURNS) == list(range(1, 9))


def test_that_pixels_are_square_where_nothing_is_said_and_spacing_goes_first() -> None:
    assert ImageGeometry(SizePx(3, 5)).pixel_aspect == 1.0
    both = replace(CORONAL, aspect_ratio=3.0)
    assert both.pixel_aspect == 8.0


def test_that_a_scaled_picture_covers_the_same_part_of_the_patient() -> None:
    fine, coarse = replace(CORONAL, size=SizePx(4, 6)), SizePx(2, 3)
    blocks = places(fine).reshape(2, 2, 3, 2, 3).mean((1, 3))
    np.testing.assert_allclose(places(fine.scaled(coarse)), blocks, atol=1e-9)
    ratio = ImageGeometry(SizePx(4, 6), aspect_ratio=2.0).scaled(SizePx(4, 3))
    assert (ratio.pixel_aspect, ratio.position) == (1.0, None)


def test_that_a_spacing_is_of_positive_numbers() -> None:
    assert Spacing.known(0.2, 0.1, PATIENT) == Spacing(0.2, 0.1, PATIENT)
    for pair in ((0.0, 1.0), (1.0, -1.0), (float("nan"), 1.0), (1.0, float("inf"))):
        assert Spacing.known(*pair, PATIENT) is None


def test_that_a_direction_has_its_opposite() -> None:
    assert [is_direction(text) for text in ("L", "AHR", "", "LE")] == [
        True,
        True,
        True,
        False,
    ]
    assert [opposite(d) for d in ("L", "PF", "AHR", "", "?")] == [
        "R",
        "AH",
        "PFL",
        "",
        "?",
    ]
