import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.imaging.bitmap_font import CHARACTERS, Face, text_mask, text_width


@pytest.mark.parametrize("face", Face)
def test_that_no_letter_looks_like_another_and_no_digit_like_another(
    face: Face,
) -> None:
    letters = {text_mask(c, 1, face).tobytes() for c in CHARACTERS[:26]}
    digits = {text_mask(c, 1, face).tobytes() for c in CHARACTERS[26:]}
    assert len(letters) == 26
    assert len(digits) == 10


@pytest.mark.parametrize("face", Face)
def test_that_every_character_has_the_faces_height_and_touches_its_sides(
    face: Face,
) -> None:
    for character in CHARACTERS:
        ink = text_mask(character, 1, face)
        assert ink.shape[0] == face.height
        assert ink.any(axis=1).all(), character


def test_that_the_regular_face_is_five_by_seven() -> None:
    assert {text_mask(c).shape for c in CHARACTERS} == {(7, 5)}
    assert text_mask("PHANTOM").shape == (7, 7 * 6 - 1)


@pytest.mark.parametrize("face", Face)
@pytest.mark.parametrize("scale", [1, 2, 5])
def test_that_the_width_is_told_beforehand_and_scales_in_whole_pixels(
    face: Face, scale: int
) -> None:
    ink = text_mask("M10", scale, face)
    assert ink.shape == (scale * face.height, text_width("M10", scale, face))
    assert (ink[::scale, ::scale] == text_mask("M10", 1, face)).all()


def test_that_characters_stand_a_pixel_apart() -> None:
    ink = text_mask("HH")
    assert not ink[:, 5].any()
    assert (ink[:, :5] == ink[:, 6:]).all()


def test_that_three_characters_fit_a_cell_of_sixteen_pixels() -> None:
    widths = [
        text_width(f"{letter}{number}", 1, Face.NARROW)
        for letter in CHARACTERS[:16]
        for number in range(1, 17)
    ]
    assert max(widths) <= 14


@pytest.mark.parametrize("text", ["", "a", "É", "A 1", "-"])
def test_that_other_characters_are_refused(text: str) -> None:
    with pytest.raises(WrongUseError, match="capitals and digits"):
        text_mask(text)


def test_that_ink_is_boolean() -> None:
    assert text_mask("A", 3).dtype == np.bool_
