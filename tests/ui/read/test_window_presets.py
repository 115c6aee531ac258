"""Windows on the keys 0 to 9."""

import numpy as np

from viewer.domain.image import Photometric, PixelImage, Window
from viewer.ui.panels.read.image_commands import NoWindow, preset_window

_FIRST, _SECOND = Window(40, 400), Window(-600, 1500)


def _image(units: str = "HU", *windows: Window) -> PixelImage:
    values = np.array([[-1000, 0], [500, 3000]], dtype=np.int16)
    return PixelImage(values, Photometric.MONOCHROME2, units, windows)


def test_that_the_full_range_spans_lowest_to_highest_value() -> None:
    window = preset_window(0, _image(), None)
    assert isinstance(window, Window)
    # PS3.3 C.11.2.1.2.1: the LINEAR window ends at c - 0.5 ± (w - 1) / 2
    half = (window.width - 1) / 2
    assert (window.center - 0.5 - half, window.center - 0.5 + half) == (-1000, 3000)


def test_that_padding_is_left_out_of_the_full_range() -> None:
    image = _image()
    padding = np.array([[True, False], [False, False]])
    padded = PixelImage(image.values, image.photometric, padding=padding)
    window = preset_window(0, padded, None)
    assert isinstance(window, Window)
    assert window.width == 3001


def test_that_key_2_goes_round_the_files_windows() -> None:
    image = _image("HU", _FIRST, _SECOND)
    assert preset_window(1, image, _SECOND) == _FIRST
    assert preset_window(2, image, _FIRST) == _SECOND
    assert preset_window(2, image, _SECOND) == _FIRST
    assert preset_window(2, image, Window(1, 2)) == _FIRST


def test_that_a_lung_window_needs_hounsfield_units() -> None:
    lung = preset_window(3, _image("HU"), None)
    assert isinstance(lung, Window)
    assert (lung.center, lung.width) == (-500, 1500)
    refused = preset_window(3, _image("OD"), None)
    assert isinstance(refused, NoWindow)
    assert "Hounsfield" in refused.sentence


def test_that_a_file_without_windows_and_a_colour_image_say_so() -> None:
    assert isinstance(preset_window(1, _image(), None), NoWindow)
    colour = PixelImage(np.zeros((2, 2, 3), np.uint8), Photometric.RGB)
    assert isinstance(preset_window(0, colour, None), NoWindow)
