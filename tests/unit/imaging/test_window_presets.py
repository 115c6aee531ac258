"""Windows on the keys 0 to 9."""

from dataclasses import replace

import numpy as np

from viewer.domain.image import Photometric, PixelImage, VoiFunction, Window
from viewer.imaging.window_presets import (
    NoWindow,
    at_zero,
    file_windows,
    preset_window,
    presets_of,
)

_FIRST, _SECOND = Window(40, 400), Window(-600, 1500)


def _image(units: str = "HU", *windows: Window) -> PixelImage:
    values = np.array([[-1000, 0], [500, 3000]], dtype=np.int16)
    return PixelImage(values, Photometric.MONOCHROME2, units, windows)


def test_that_the_full_range_spans_lowest_to_highest_value() -> None:
    window = preset_window(0, _image(), "CT", None)
    assert isinstance(window, Window)
    # PS3.3 C.11.2.1.2.1: the LINEAR window ends at c - 0.5 ± (w - 1) / 2
    half = (window.width - 1) / 2
    assert (window.center - 0.5 - half, window.center - 0.5 + half) == (-1000, 3000)


def test_that_padding_is_left_out_of_the_full_range() -> None:
    image = _image()
    padding = np.array([[True, False], [False, False]])
    padded = PixelImage(image.values, image.photometric, padding=padding)
    window = preset_window(0, padded, "CT", None)
    assert isinstance(window, Window)
    assert window.width == 3001


def test_that_key_2_goes_round_the_files_windows() -> None:
    image = _image("HU", _FIRST, _SECOND)
    assert preset_window(1, image, "CT", _SECOND) == _FIRST
    assert preset_window(2, image, "CT", _FIRST) == _SECOND
    assert preset_window(2, image, "CT", _SECOND) == _FIRST
    assert preset_window(2, image, "CT", Window(1, 2)) == _FIRST


def test_that_a_brain_window_needs_hounsfield_units() -> None:
    lung = preset_window(3, _image("HU"), "CT", None)
    assert isinstance(lung, Window)
    assert (lung.center, lung.width) == (-500, 1500)
    refused = preset_window(8, _image("OD"), "DX", None)
    assert isinstance(refused, NoWindow)
    assert "key 8" in refused.sentence


def test_that_a_file_without_windows_and_a_colour_image_say_so() -> None:
    assert isinstance(preset_window(1, _image(), "CT", None), NoWindow)
    colour = PixelImage(np.zeros((2, 2, 3), np.uint8), Photometric.RGB)
    assert isinstance(preset_window(0, colour, "CT", None), NoWindow)
    assert presets_of(colour, "CT") == ()


def test_that_a_film_s_lung_window_is_its_dark_half_and_its_bone_the_bright() -> None:
    image = _image("OD", Window(100, 200))
    lung, bone, *_ = presets_of(image, "DX")
    assert (lung.explanation, lung.center, lung.width) == ("Lung", 50, 100)
    assert (bone.explanation, bone.center, bone.width) == ("Bone", 150, 100)
    turned = replace(image, photometric=Photometric.MONOCHROME1)
    assert [w.center for w in presets_of(turned, "DX")[:2]] == [150, 50]


def test_that_windows_of_pet_start_at_zero() -> None:
    for units in ("BQML", "SUV"):
        for window in presets_of(_image(units), "PT"):
            assert window.center == window.width / 2


def test_that_a_clamped_window_keeps_its_upper_limit() -> None:
    clamped = at_zero(Window(300, 400))
    assert (clamped.center, clamped.width) == (250, 500)
    assert at_zero(clamped) == clamped
    for stays in (Window(-50, 20), Window(5, 20, VoiFunction.SIGMOID)):
        assert at_zero(stays) == stays


def test_that_windows_of_stored_values_are_rescaled_where_they_are_preferred() -> None:
    image = replace(_image("", _FIRST), rescale=(-2.0, 10.0))
    (window,) = file_windows(image, "MR", of_stored=True)
    assert (window.center, window.width) == (40 * -2 + 10, 400 * 2)
    assert file_windows(image, "MR", of_stored=False) == (_FIRST,)
    assert file_windows(image, "CT", of_stored=True) == (_FIRST,)
