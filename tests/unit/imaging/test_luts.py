import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.helpers.reference_pipeline import looked_up, windowed
from viewer.domain.errors import WrongUseError
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    PresentationShape,
    VoiFunction,
    Window,
)
from viewer.imaging.luts import apply_window, is_inverted, to_raster

INTEGERS = st.sampled_from(["u1", "i1", "u2", "i2", "i4", "u4"])
FLOATS = st.sampled_from(["f4", "f8"])


def grey(values: npt.ArrayLike, **fields: object) -> PixelImage:
    photometric = fields.pop("photometric", Photometric.MONOCHROME2)
    return PixelImage(np.atleast_2d(np.asarray(values)), photometric, **fields)  # type: ignore[arg-type]


def pixel_arrays(dtype: str) -> st.SearchStrategy[npt.NDArray[np.generic]]:
    elements = (
        st.floats(-70_000, 70_000, width=32)
        if dtype.startswith("f")
        else st.integers(
            max(np.iinfo(dtype).min, -70_000), min(np.iinfo(dtype).max, 70_000)
        )
    )
    return hnp.arrays(
        dtype, hnp.array_shapes(min_dims=2, max_dims=2), elements=elements
    )


@given(st.data())
def test_that_every_window_equals_the_formulas_within_one_grey_level(
    data: st.DataObject,
) -> None:
    values = data.draw(pixel_arrays(data.draw(st.one_of(INTEGERS, FLOATS))))
    function = data.draw(st.sampled_from(VoiFunction))
    window = Window(
        data.draw(st.floats(-70_000, 70_000)),
        data.draw(st.floats(1, 140_000)),
        function,
    )
    inverted = data.draw(st.booleans())
    photometric = Photometric.MONOCHROME1 if inverted else Photometric.MONOCHROME2

    ours = to_raster(PixelImage(values, photometric, windows=(window,))).pixels

    expected = windowed(
        values.astype(np.float64), window.center, window.width, function.value
    )
    expected = 255.0 - expected if inverted else expected
    assert np.abs(ours.astype(float) - expected).max() <= 1.0


@given(st.data())
def test_that_every_voi_table_equals_a_walk_over_the_pixels(
    data: st.DataObject,
) -> None:
    bits = data.draw(st.integers(8, 16))
    entries = data.draw(
        hnp.arrays("u2", st.integers(1, 40), elements=st.integers(0, 2**bits - 1))
    )
    first = data.draw(st.integers(-60, 60))
    values = data.draw(hnp.arrays("i2", (3, 5), elements=st.integers(-130, 130)))

    image = PixelImage(
        values,
        Photometric.MONOCHROME2,
        voi_luts=(LookupTable(entries, first, bits),),
        windows=(Window(0, 1),),
    )

    expected = looked_up(values.astype(np.float64), entries, first)
    expected *= 255.0 / (2**bits - 1)
    assert np.abs(to_raster(image).pixels - expected).max() <= 0.5 + 1e-9


def test_that_a_linear_window_takes_the_standards_own_end_points() -> None:
    # PS3.3 C.11.2.1.2.1: centre 2048, width 4096 spans 0 to 4095.
    values = np.array([-1, 0, 1, 2047, 2048, 4094, 4095, 4096])
    shades = apply_window(values, Window(2048, 4096)) * 255
    assert shades[1] == 0.0
    assert shades[0] == 0.0
    assert shades[-2] == shades[-1] == 255.0
    np.testing.assert_allclose(shades[2], 255 / 4095)


def test_that_a_linear_window_of_width_one_is_a_threshold() -> None:
    assert apply_window([9, 10, 11], Window(10, 1)).tolist() == [0.0, 1.0, 1.0]


def test_that_linear_exact_reaches_its_ends_at_half_a_width() -> None:
    window = Window(0, 200, VoiFunction.LINEAR_EXACT)
    assert apply_window([-101, -100, 0, 100, 101], window).tolist() == [0, 0, 0.5, 1, 1]


def test_that_a_sigmoid_is_half_at_its_centre_and_never_overflows() -> None:
    window = Window(50, 1, VoiFunction.SIGMOID)
    with np.errstate(all="raise"):
        shades = apply_window([-1e9, 50, 1e9], window)
    assert shades[0] < 1e-200
    assert shades[1:].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("photometric", "shape", "inverted"),
    [
        (Photometric.MONOCHROME1, None, True),
        (Photometric.MONOCHROME2, None, False),
        (Photometric.MONOCHROME1, PresentationShape.INVERSE, True),
        (Photometric.MONOCHROME2, PresentationShape.INVERSE, True),
        (Photometric.MONOCHROME1, PresentationShape.IDENTITY, False),
        (Photometric.MONOCHROME2, PresentationShape.IDENTITY, False),
    ],
)
def test_that_the_presentation_shape_decides_and_never_inverts_twice(
    photometric: Photometric, shape: PresentationShape | None, inverted: bool
) -> None:
    image = PixelImage(
        np.array([[0, 255]], np.uint8),
        photometric,
        windows=(Window(128, 256),),
        presentation_shape=shape,
    )
    assert is_inverted(image) is inverted
    assert to_raster(image).pixels.tolist() == ([[255, 0]] if inverted else [[0, 255]])


@pytest.mark.parametrize(
    "photometric", [Photometric.MONOCHROME1, Photometric.MONOCHROME2]
)
def test_that_padding_is_black_and_does_not_stretch_the_range(
    photometric: Photometric,
) -> None:
    values = np.array([[-2000, 0, 100]], np.int16)
    image = PixelImage(values, photometric, padding=values == -2000)
    shown = to_raster(image).pixels[0].tolist()
    assert shown[0] == 0
    assert sorted(shown[1:]) == [0, 255]


def test_that_the_files_transformations_are_numbered_tables_first() -> None:
    table = LookupTable(np.array([0, 255], np.uint16), 0, 8)
    image = grey(
        np.array([0, 1], np.uint8), voi_luts=(table,), windows=(Window(0.5, 1),)
    )
    assert to_raster(image).pixels.tolist() == [[0, 255]]
    assert to_raster(image, voi_index=1).pixels.tolist() == [[0, 255]]
    with pytest.raises(WrongUseError, match="2 windows and look-up tables"):
        to_raster(image, voi_index=2)


def test_that_a_window_asked_for_replaces_the_files_own() -> None:
    image = grey(np.array([0, 100], np.uint8), windows=(Window(128, 256),))
    assert to_raster(image, Window(50, 100)).pixels.tolist() == [[0, 255]]


def test_that_without_a_window_the_whole_range_is_used() -> None:
    image = grey(np.array([10.0, 20.0, 30.0, np.nan, np.inf], np.float32))
    assert to_raster(image).pixels.tolist() == [[0, 128, 255, 0, 255]]


def test_that_an_image_of_one_value_is_shown_within_what_it_could_hold() -> None:
    assert to_raster(grey([[51]], value_range=(0.0, 255.0))).pixels.tolist() == [[51]]
    assert to_raster(grey([[51]])).pixels.tolist() == [[128]]


def test_that_an_image_of_padding_alone_is_black() -> None:
    image = grey([[7, 7]], padding=np.array([[True, True]]))
    assert to_raster(image).pixels.tolist() == [[0, 0]]


def test_that_colour_is_returned_as_it_is() -> None:
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert (to_raster(PixelImage(pixels, Photometric.RGB)).pixels == pixels).all()


def test_that_booleans_and_wide_integers_are_shown_too() -> None:
    assert to_raster(grey([[False, True]])).pixels.tolist() == [[0, 255]]
    wide = grey(np.array([[-(2**40), 2**40]], np.int64))
    assert to_raster(wide).pixels.tolist() == [[0, 255]]


def test_that_the_values_are_left_untouched() -> None:
    values = np.arange(12, dtype=np.uint16).reshape(3, 4)
    values.flags.writeable = False
    padding = values == 3
    raster = to_raster(PixelImage(values, Photometric.MONOCHROME1, padding=padding))
    assert raster.pixels.flags.c_contiguous
    assert values.ravel().tolist() == list(range(12))
