"""Letters from direction cosines, against the meaning of the axes themselves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.image_geometry import orientation_letters

_UNIT = {"L": 0, "R": 0, "P": 1, "A": 1, "H": 2, "F": 2}
_SIGN = {"L": 1, "P": 1, "H": 1, "R": -1, "A": -1, "F": -1}


@pytest.mark.parametrize(
    ("axes", "letters"),
    [
        ((1, 0, 0, 0, 1, 0), ("L", "P")),  # axial, feet first to the viewer
        ((1, 0, 0, 0, 0, -1), ("L", "F")),  # coronal
        ((0, 1, 0, 0, 0, -1), ("P", "F")),  # sagittal
        ((-1, 0, 0, 0, 1, 0), ("R", "P")),  # axial, mirrored
        ((1, 0, 0, 0, 0.9483237, -0.3173047), ("L", "PF")),  # a tilted gantry
    ],
)
def test_that_the_usual_planes_have_their_letters(
    axes: tuple[float, ...], letters: tuple[str, str]
) -> None:
    assert orientation_letters(axes) == letters


@pytest.mark.parametrize(
    "axes",
    [None, (0.0,) * 6, (1, 0, 0, 1, 0, 0), (2, 0, 0, 0, 1, 0), (math.nan,) * 6, (1,)],
)
def test_that_no_letter_is_invented(axes: tuple[float, ...] | None) -> None:
    assert orientation_letters(axes) == ()


@given(st.integers(0, 2**32 - 1))
def test_that_letters_name_the_directions_there_are(seed: int) -> None:
    turned, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    row, column = turned[:, 0], turned[:, 1]
    for letters, direction in zip(
        orientation_letters((*row, *column)), (row, column), strict=True
    ):
        named = {_UNIT[letter] for letter in letters}
        assert named == {i for i in range(3) if abs(direction[i]) >= 0.1}
        assert all(direction[_UNIT[le]] * _SIGN[le] > 0 for le in letters)
        sizes = [abs(direction[_UNIT[le]]) for le in letters]
        assert sizes == sorted(sizes, reverse=True)
