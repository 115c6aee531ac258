import numpy as np
import pytest

from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    Window,
)
from viewer.imaging.luts import to_raster
from viewer.imaging.redaction import black_out, touched

BOX = BoxPx(2.4, 1, 6, 4.2)
INSIDE = np.zeros((8, 10), dtype=bool)
INSIDE[1:5, 2:6] = True


def values(dtype: str) -> np.ndarray:
    return np.arange(40, 120).reshape(8, 10).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32", "float32"])
@pytest.mark.parametrize("photometric", [Photometric.MONOCHROME1, "MONOCHROME2"])
@pytest.mark.parametrize(
    "look",
    [
        {},
        {"windows": (Window(80, 20),)},
        {"presentation_shape": PresentationShape.INVERSE},
        {"voi_luts": (LookupTable(np.arange(200, 0, -1, dtype=np.uint16), 0, 8),)},
    ],
)
def test_that_a_box_is_black_however_the_image_is_shown(
    dtype: str, photometric: str, look: dict[str, object]
) -> None:
    image = PixelImage(values(dtype), Photometric(photometric), **look)  # type: ignore[arg-type]
    shown = to_raster(black_out(image, [BOX])).pixels
    assert not shown[INSIDE].any()
    if look:
        assert (shown[~INSIDE] == to_raster(image).pixels[~INSIDE]).all()


def test_that_nothing_of_a_box_is_left_in_the_values() -> None:
    image = PixelImage(values("uint16"), Photometric.MONOCHROME2)
    image.values[INSIDE] = 4095
    cleared = black_out(image, [BOX])
    assert cleared.values.max() < 4095
    assert image.values.max() == 4095
    assert cleared.size == image.size


def test_that_a_box_of_a_colour_image_is_black() -> None:
    pixels = np.full((8, 10, 3), 200, dtype=np.uint8)
    cleared = to_raster(black_out(PixelImage(pixels, Photometric.RGB), [BOX])).pixels
    assert not cleared[INSIDE].any()
    assert (cleared[~INSIDE] == 200).all()


def test_that_padding_of_the_file_stays() -> None:
    padding = np.zeros((8, 10), dtype=bool)
    padding[0, 0] = True
    image = PixelImage(values("int16"), Photometric.MONOCHROME2, padding=padding)
    cleared = black_out(image, [BOX])
    assert cleared.padding is not None
    assert (cleared.padding == (padding | INSIDE)).all()


def test_that_without_a_box_on_it_an_image_is_itself() -> None:
    image = PixelImage(values("uint8"), Photometric.MONOCHROME2)
    assert black_out(image, []) is image
    assert black_out(image, [BoxPx(-9, -9, -1, -1)]) is image


def test_that_boxes_over_the_edge_are_cut_and_all_may_be_black() -> None:
    assert touched(SizePx(8, 10), [BoxPx(-5, -5, 50, 50)]).all()
    image = PixelImage(values("uint8"), Photometric.MONOCHROME2)
    assert not to_raster(black_out(image, [BoxPx(0, 0, 10, 8)])).pixels.any()
