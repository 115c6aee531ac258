from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    VoiFunction,
    Window,
)
from viewer.imaging.luts import default_window, to_raster
from viewer.imaging.pyramid import Pyramid, Viewport

RANDOM = np.random.default_rng(0)


def one_to_one(image: PixelImage) -> Viewport:
    return Viewport(image.size, PointPx(0.0, 0.0), 1.0, 1.0)


def grey(dtype: str, low: int, high: int) -> PixelImage:
    values = RANDOM.integers(low, high, (61, 47)).astype(dtype)
    return PixelImage(values, Photometric.MONOCHROME2)


IMAGES = {
    "uint8": grey("uint8", 0, 256),
    "uint16": grey("uint16", 0, 65536),
    "int8": grey("int8", -128, 128),
    "int16": grey("int16", -2000, 4000),
    "int32 of a narrow range": grey("int32", -100_000, -50_000),
    "int32 of a wide range": grey("int32", -(2**30), 2**30),
    "float32": PixelImage(
        RANDOM.normal(0.5, 0.2, (61, 47)).astype(np.float32), Photometric.MONOCHROME2
    ),
    "RGB": PixelImage(
        RANDOM.integers(0, 256, (61, 47, 3)).astype(np.uint8), Photometric.RGB
    ),
}
VOIS = {
    "none": {},
    "window": {"windows": (Window(40, 400), Window(0, 1))},
    "sigmoid": {"windows": (Window(40, 400, VoiFunction.SIGMOID),)},
    "exact": {"windows": (Window(0.5, 0.7, VoiFunction.LINEAR_EXACT),)},
    "table": {
        "voi_luts": (LookupTable(np.arange(0, 4096, 8, dtype=np.uint16), -50, 12),)
    },
    "MONOCHROME1": {"photometric": Photometric.MONOCHROME1},
    "MONOCHROME1 and INVERSE": {
        "photometric": Photometric.MONOCHROME1,
        "presentation_shape": PresentationShape.INVERSE,
    },
    "IDENTITY": {"presentation_shape": PresentationShape.IDENTITY},
}


GREY = [kind for kind in IMAGES if kind != "RGB"]


@pytest.mark.parametrize("kind", GREY)
@pytest.mark.parametrize("voi", VOIS)
def test_that_one_to_one_pixels_are_those_that_a_model_is_sent(
    kind: str, voi: str
) -> None:
    image = replace(IMAGES[kind], **VOIS[voi])  # type: ignore[arg-type]
    check_one_to_one(image)
    check_one_to_one(replace(image, padding=RANDOM.random((61, 47)) < 0.3))


def test_that_one_to_one_colours_are_those_that_a_model_is_sent() -> None:
    check_one_to_one(IMAGES["RGB"])


def check_one_to_one(image: PixelImage) -> None:
    """Check the pixels in the image's own window and in another."""
    pyramid = Pyramid(image)
    patch = pyramid.sample(one_to_one(image))
    shown = pyramid.shade(patch, None, inverted=False)
    assert (patch.left, patch.top) == (0, 0)
    np.testing.assert_array_equal(shown, to_raster(image).pixels)
    window = Window(300, 1000)
    expected = to_raster(image, window).pixels
    np.testing.assert_array_equal(
        pyramid.shade(patch, window, inverted=False), expected
    )


def test_that_inverting_turns_the_grey_scale_and_leaves_padding_black() -> None:
    padding = np.zeros((61, 47), bool)
    padding[:5] = True
    image = replace(IMAGES["int16"], padding=padding)
    pyramid = Pyramid(image)
    shown = pyramid.shade(pyramid.sample(one_to_one(image)), None, inverted=True)
    plain = to_raster(image).pixels
    np.testing.assert_array_equal(shown[5:], 255 - plain[5:])
    assert not shown[:5].any()


def four_samples(values: npt.NDArray[np.float64], viewport: Viewport) -> float:
    """Return by loops what the middle device pixel shows of level 0."""
    row, column = viewport.size.rows // 2, viewport.size.columns // 2
    found = []
    for dy in (-0.25, 0.25):
        for dx in (-0.25, 0.25):
            y = viewport.origin.y + (row + 0.5 + dy) * viewport.step_y
            x = viewport.origin.x + (column + 0.5 + dx) * viewport.step_x
            found.append(values[int(np.floor(y)), int(np.floor(x))])
    return float(np.mean(found))


@pytest.mark.parametrize("step", [0.3, 0.5, 0.77, 1.0, 1.6, 1.99])
def test_that_a_device_pixel_is_the_mean_of_four_samples(step: float) -> None:
    image = IMAGES["uint16"]
    viewport = Viewport(SizePx(12, 10), PointPx(11.3, 7.9), step, step)
    patch = Pyramid(image).sample(viewport)
    shown = float(patch.values[6, 5])
    assert abs(shown - four_samples(image.values.astype(float), viewport)) <= 1.0


@pytest.mark.parametrize("kind", ["uint16", "int16", "float32", "RGB"])
def test_that_a_coarse_view_is_the_mean_of_blocks(kind: str) -> None:
    image = IMAGES[kind]
    values = image.values[:48, :40]
    pyramid = Pyramid(replace(image, values=values))
    step = 4.0
    patch = pyramid.sample(Viewport(SizePx(12, 10), PointPx(0, 0), step, step))
    low = 32768 if kind == "int16" else 0
    blocks = values.astype(float).reshape(12, 4, 10, 4, -1).mean((1, 3)).squeeze()
    np.testing.assert_allclose(patch.values - float(low), blocks, atol=1.0)


def test_that_padding_never_bleeds_into_what_was_measured() -> None:
    values = np.full((64, 64), 100, np.int16)
    padding = np.zeros((64, 64), bool)
    padding[:, :33] = True
    values[padding] = -2000
    pyramid = Pyramid(PixelImage(values, Photometric.MONOCHROME2, padding=padding))
    for step in (0.7, 1.0, 2.0, 2.7, 8.0):
        n = int(64 / step)
        patch = pyramid.sample(Viewport(SizePx(n, n), PointPx(0, 0), step, step))
        assert patch.padding is not None
        assert set(np.unique(patch.values[~patch.padding])) == {32768 + 100}
        assert patch.padding.any()


def test_that_float_padding_never_bleeds_into_what_was_measured() -> None:
    values = np.full((64, 64), 0.25, np.float32)
    padding = np.zeros((64, 64), bool)
    padding[:, :33] = True
    values[padding] = -2000.0
    pyramid = Pyramid(PixelImage(values, Photometric.MONOCHROME2, padding=padding))
    patch = pyramid.sample(Viewport(SizePx(8, 8), PointPx(0, 0), 8.0, 8.0))
    assert patch.padding is not None
    assert set(np.unique(patch.values[~patch.padding])) == {0.25}


def test_that_only_the_part_over_the_image_is_sampled() -> None:
    image = IMAGES["uint16"]
    viewport = Viewport(SizePx(100, 90), PointPx(-10.0, -20.0), 1.0, 1.0)
    patch = Pyramid(image).sample(viewport)
    assert (patch.left, patch.top) == (10, 20)
    np.testing.assert_array_equal(patch.values, image.values)
    beside = Viewport(SizePx(10, 10), PointPx(500.0, 0.0), 1.0, 1.0)
    assert Pyramid(image).sample(beside).values.size == 0


def test_that_a_single_row_and_a_huge_step_have_a_level() -> None:
    image = PixelImage(np.arange(7, dtype=np.uint8)[None], Photometric.MONOCHROME2)
    patch = Pyramid(image).sample(Viewport(SizePx(1, 1), PointPx(0, 0), 64.0, 1.0))
    assert patch.values.shape == (1, 0)
    patch = Pyramid(image).sample(Viewport(SizePx(1, 2), PointPx(0, 0), 4.0, 4.0))
    assert patch.values.shape[1] == 2


def test_that_the_first_window_is_the_files_own() -> None:
    table = LookupTable(np.arange(200, dtype=np.uint16), -20, 8, "bone")
    image = IMAGES["int16"]
    assert default_window(replace(image, windows=(Window(1, 2),))) == Window(1, 2)
    first = default_window(replace(image, voi_luts=(table,), windows=(Window(1, 2),)))
    assert (first.center, first.width, first.explanation) == (80.0, 200.0, "bone")
    low, high = int(image.values.min()), int(image.values.max())
    stretched = default_window(image)
    assert (stretched.center, stretched.width) == ((low + high) / 2, high - low)
    assert Pyramid(IMAGES["RGB"]).window == Window(127.5, 255.0)


@pytest.mark.parametrize("kind", ["uint16", "float32", "RGB"])
def test_that_a_pyramid_built_beforehand_shows_the_same(kind: str) -> None:
    image = IMAGES[kind]
    built, lazy = Pyramid(image).build(), Pyramid(image)
    for step in (1.0, 2.0, 3.0, 8.0, 32.0):
        viewport = Viewport(SizePx(9, 9), PointPx(0.0, 0.0), step, step)
        np.testing.assert_array_equal(
            built.sample(viewport).values, lazy.sample(viewport).values
        )


def test_that_the_shown_codes_are_worked_out_once_for_each_window() -> None:
    pyramid, window = Pyramid(IMAGES["uint16"]), Window(40, 400)
    table = pyramid.table(window, inverted=False)
    assert pyramid.table(window, inverted=False) is table
    np.testing.assert_array_equal(pyramid.table(window, inverted=True), 255 - table)
