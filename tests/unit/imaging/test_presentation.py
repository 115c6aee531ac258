"""The grey scale of a presentation state, against the standard in double precision."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.reference_pipeline import Floats, windowed
from viewer.domain.errors import WrongUseError
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    VoiFunction,
    Window,
)
from viewer.domain.presentation import PresentationState
from viewer.imaging.luts import is_inverted, to_raster
from viewer.imaging.presentation import presented

RANGE = (-1024.0, 3071.0)
STORED = np.arange(4096).reshape(64, 64)
HOUNSFIELD: Floats = (STORED - 1024).astype(np.float64)


def _image(photometric: Photometric = Photometric.MONOCHROME2) -> PixelImage:
    values = (STORED - 1024).astype(np.int16)
    return PixelImage(
        values,
        photometric,
        windows=(Window(0, 100),),
        value_range=RANGE,
        rescale=(1.0, -1024.0),
    )


def _state(
    voi: Window | LookupTable | None = None,
    rescale: tuple[float, float] = (1.0, -1024.0),
    shape: PresentationShape | None = PresentationShape.IDENTITY,
    lut: LookupTable | None = None,
) -> PresentationState:
    return PresentationState(Path("state.dcm"), "READ", voi, rescale, shape, lut)


@pytest.mark.parametrize("function", ["LINEAR", "LINEAR_EXACT", "SIGMOID"])
@pytest.mark.parametrize("rescale", [(1.0, -1024.0), (1.0, 0.0), (2.0, 7.0)])
def test_that_a_window_counts_in_the_modality_units_of_the_state(
    function: str, rescale: tuple[float, float]
) -> None:
    slope, intercept = rescale
    center, width = 2000 * slope + intercept, 900.0
    state = _state(Window(center, width, VoiFunction(function)), rescale)
    expected = windowed(
        np.asarray(STORED * slope + intercept, np.float64), center, width, function
    )
    shown = to_raster(presented(_image(), state)).pixels
    assert np.abs(shown - expected).max() <= 1


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize("shape", ["IDENTITY", "INVERSE"])
def test_that_only_the_state_s_shape_inverts(photometric: str, shape: str) -> None:
    state = _state(Window(1000, 800), shape=PresentationShape(shape))
    image = presented(_image(Photometric(photometric)), state)
    grey = windowed(HOUNSFIELD, 1000, 800, "LINEAR")
    expected = 255 - grey if shape == "INVERSE" else grey
    assert np.abs(to_raster(image).pixels - expected).max() <= 1


def test_that_a_state_without_voi_shows_every_possible_value() -> None:
    shown = to_raster(presented(_image(), _state())).pixels
    expected = STORED / 4095 * 255
    assert np.abs(shown - expected).max() <= 1
    narrow = PixelImage(np.array([[3, 7]]), Photometric.MONOCHROME2)
    state = _state(rescale=(1.0, 0.0))
    assert to_raster(presented(narrow, state)).pixels.tolist() == [[0, 255]]
    flat = PixelImage(np.array([[3, 3]]), Photometric.MONOCHROME2)
    assert to_raster(presented(flat, state)).pixels.tolist() == [[128, 128]]


def test_that_a_state_s_voi_lut_replaces_the_file_s_window() -> None:
    entries = np.arange(255, -1, -1, dtype=np.uint16)
    lut = LookupTable(entries, -1024, 8)
    image = presented(_image(), _state(lut))
    assert not image.windows
    first = to_raster(image).pixels.ravel()[:300]
    assert first.tolist() == [*range(255, -1, -1), *[0] * 44]
    for voi, rescale in ((lut, (1.0, 0.0)), (Window(0, 9), (-1.0, 0.0))):
        with pytest.raises(WrongUseError, match="is meant for values rescaled by"):
            presented(_image(), _state(voi, rescale))


@pytest.mark.parametrize("falls", [True, False])
def test_that_a_presentation_lut_follows_the_voi_lut(falls: bool) -> None:
    curve = np.round(np.linspace(0, 1, 1024) ** 2 * 4095).astype(np.uint16)
    curve = curve[::-1] if falls else curve
    lut = LookupTable(curve, 0, 12)
    image = presented(_image(), _state(Window(1000, 800), shape=None, lut=lut))
    assert is_inverted(image) == falls
    grey = windowed(HOUNSFIELD, 1000, 800, "LINEAR") / 255
    expected = curve[np.rint(grey * 1023).astype(int)] / 4095 * 255
    assert np.abs(to_raster(image).pixels - expected).max() <= 1


def test_that_colour_stays_as_it_is() -> None:
    image = PixelImage(np.zeros((2, 2, 3), np.uint8), Photometric.RGB)
    assert presented(image, _state(Window(1, 2))) is image
