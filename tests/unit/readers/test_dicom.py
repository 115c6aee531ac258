"""DICOM to pixels and on to the screen, against the second pipeline."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pydicom
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydicom.dataset import Dataset
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGLSLossless,
    RLELossless,
)

from tests.helpers import reference_pipeline
from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Photometric, PresentationShape
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.imaging.luts import to_raster
from viewer.readers.dicom.decoding import load_dicom, stored_pixels

RAMP = np.arange(0, 4096, 16, dtype=np.uint16).reshape(16, 16)


def lut_item(entries: npt.NDArray[Any], first: int, bits: int) -> Dataset:
    item = Dataset()
    item.add_new("LUTDescriptor", "US", [entries.size % 65536, first % 65536, bits])
    item.add_new("LUTData", "OW", entries.astype("<u2").tobytes())
    return item


@st.composite
def grey_files(draw: st.DrawFn) -> tuple[npt.NDArray[Any], dict[str, object], int]:
    """Draw stored values and a header: any mix of what PS3.3 lets a file say."""
    signed = draw(st.booleans())
    allocated = draw(st.sampled_from([8, 16]))
    bits = draw(st.integers(2, allocated))
    low, high = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    )
    dtype = np.dtype(f"{'i' if signed else 'u'}{allocated // 8}")
    values = draw(hnp.arrays(dtype, (4, 5), elements=st.integers(low, high)))
    values[0, :2] = low, high
    header: dict[str, object] = {
        "PhotometricInterpretation": draw(
            st.sampled_from(["MONOCHROME1", "MONOCHROME2"])
        )
    }
    if draw(st.booleans()):
        header["RescaleSlope"] = draw(st.sampled_from([1, 2, 0.5, -1, 0.00125]))
        header["RescaleIntercept"] = draw(st.sampled_from([0, -1024, 17, 0.25]))
    if draw(st.booleans()):
        header["WindowCenter"] = draw(st.integers(-3000, 70_000))
        header["WindowWidth"] = draw(st.integers(1, 70_000))
        function = draw(st.sampled_from([None, "LINEAR", "LINEAR_EXACT", "SIGMOID"]))
        header |= {"VOILUTFunction": function} if function else {}
    if draw(st.booleans()):
        header["PresentationLUTShape"] = draw(st.sampled_from(["IDENTITY", "INVERSE"]))
    if draw(st.booleans()):
        header["PixelPaddingValue"] = draw(st.integers(low, high))
        if draw(st.booleans()):
            header["PixelPaddingRangeLimit"] = draw(st.integers(low, high))
    return values, header, bits


@pytest.mark.parametrize(
    ("slope", "intercept", "kind"),
    [(0.5, 0, np.float32), (0.00125, 0, np.float32), (0.00125, -1024, np.float64)],
)
def test_that_an_intercept_does_not_drown_the_steps_of_the_slope(
    tmp_path: Path, slope: float, intercept: float, kind: type
) -> None:
    values = np.arange(20, dtype=np.uint16).reshape(4, 5)
    dataset = dicom_dataset(values)
    dataset.RescaleSlope, dataset.RescaleIntercept = slope, intercept
    image = load_dicom(save_dicom(dataset, tmp_path / "x.dcm"), 0)
    assert image.values.dtype == kind
    steps = np.diff(image.values.ravel())
    assert np.allclose(steps, slope, rtol=0.01)


@given(grey_files())
def test_that_a_file_is_shown_as_the_second_pipeline_shows_it(
    tmp_path_factory: pytest.TempPathFactory,
    file: tuple[npt.NDArray[Any], dict[str, object], int],
) -> None:
    values, header, bits = file
    dataset = dicom_dataset(values, bits_stored=bits)
    for keyword, value in header.items():
        if keyword.startswith("PixelPadding"):
            dataset.add_new(keyword, "SS" if values.dtype.kind == "i" else "US", value)
        else:
            setattr(dataset, keyword, value)
    path = save_dicom(dataset, tmp_path_factory.mktemp("file") / "a.dcm")

    ours = to_raster(load_dicom(path)).pixels.astype(float)

    padded = reference_pipeline._padding(dataset, values)
    if (~padded).any() and len(np.unique(values[~padded])) > 1:
        assert np.abs(ours - reference_pipeline.shown(dataset, values)).max() <= 1.0
    assert not ours[padded].any()


@pytest.mark.parametrize(
    "syntax",
    [
        ImplicitVRLittleEndian,
        ExplicitVRLittleEndian,
        ExplicitVRBigEndian,
        DeflatedExplicitVRLittleEndian,
        JPEG2000Lossless,
        JPEGLSLossless,
        RLELossless,
    ],
)
def test_that_a_lossless_transfer_syntax_gives_the_same_pixels(
    tmp_path: Path, syntax: UID
) -> None:
    ramp = np.kron(RAMP, np.ones((4, 4), np.uint16))
    dataset = dicom_dataset(ramp, bits_stored=12)
    if syntax == ExplicitVRBigEndian:
        dataset.PixelData = ramp.astype(">u2").tobytes()
    if not syntax.is_compressed or syntax.is_deflated:
        path = save_dicom(dataset, tmp_path / "a.dcm", syntax)
    else:
        save_dicom(dataset, tmp_path / "a.dcm")
        if syntax == JPEGLSLossless:
            pytest.importorskip("jpeg_ls", reason="needs pyjpegls to encode")
        dataset.compress(syntax)
        dataset.save_as(path := tmp_path / "b.dcm")
    assert (load_dicom(path).values == ramp).all()
    assert stored_pixels(path).dtype.isnative


def test_that_whole_hounsfield_units_stay_integers(tmp_path: Path) -> None:
    image = load_dicom(
        make_dicom(
            tmp_path / "a", RAMP, RescaleIntercept=-1024, RescaleSlope=1, Modality="CT"
        )
    )
    assert image.values.dtype == np.int16
    assert (image.values == RAMP.astype(int) - 1024).all()
    assert image.units == "HU"
    assert image.value_range == (-1024.0, 64511.0)


@pytest.mark.parametrize(
    ("stored", "intercept", "dtype"),
    [
        (np.array([[0, 65535]], np.uint16), -1, np.int32),
        (np.array([[-32768, 32767]], np.int16), 32768, np.uint16),
        (np.array([[0, 2**32 - 1]], np.uint32), 5, np.int64),
        (np.array([[0, 255]], np.uint8), 0, np.uint8),
    ],
)
def test_that_an_intercept_never_overflows(
    tmp_path: Path, stored: npt.NDArray[Any], intercept: int, dtype: type
) -> None:
    image = load_dicom(make_dicom(tmp_path / "a", stored, RescaleIntercept=intercept))
    assert image.values.dtype == dtype
    assert (image.values == stored.astype(object) + intercept).all()


def test_that_a_slope_gives_float_units_named_by_the_file(tmp_path: Path) -> None:
    image = load_dicom(
        make_dicom(
            tmp_path / "a",
            RAMP,
            RescaleSlope=0.5,
            RescaleIntercept=2.25,
            RescaleType="OD",
        )
    )
    assert image.values.dtype == np.float32
    assert image.units == "OD"
    np.testing.assert_allclose(image.values, RAMP * 0.5 + 2.25)


def test_that_a_slope_of_zero_is_taken_as_absent(tmp_path: Path) -> None:
    path = make_dicom(tmp_path / "a", RAMP, RescaleSlope=0, RescaleIntercept=0)
    assert (load_dicom(path).values == RAMP).all()


def test_that_a_modality_table_is_followed_beyond_its_ends(tmp_path: Path) -> None:
    table = np.array([500, 400, 300, 200], np.uint16)
    item = lut_item(table, 1, 12)
    item.ModalityLUTType = "OD"
    path = make_dicom(
        tmp_path / "a",
        np.array([[0, 1, 2, 3, 4, 5]], np.uint8),
        ModalityLUTSequence=[item],
    )
    image = load_dicom(path)
    assert image.values.tolist() == [[500, 500, 400, 300, 200, 200]]
    assert image.units == "OD"
    assert image.value_range == (0.0, 4095.0)


def test_that_a_voi_table_starts_below_zero_where_the_values_do(tmp_path: Path) -> None:
    table = np.arange(0, 256, dtype=np.uint16)
    path = make_dicom(
        tmp_path / "a",
        np.array([[-128, 0, 127]], np.int16),
        VOILUTSequence=[lut_item(table, -128, 8)],
        WindowCenter=0,
        WindowWidth=1,
    )
    image = load_dicom(path)
    assert image.voi_luts[0].first == -128
    assert to_raster(image).pixels.tolist() == [[0, 128, 255]]


def test_that_zero_entries_mean_65536(tmp_path: Path) -> None:
    table = np.arange(65536, dtype=np.uint16)
    path = make_dicom(
        tmp_path / "a",
        np.array([[0, 65535]], np.uint16),
        VOILUTSequence=[lut_item(table, 0, 16)],
    )
    assert load_dicom(path).voi_luts[0].entries.size == 65536


def test_that_entries_of_eight_bits_may_be_packed(tmp_path: Path) -> None:
    item = Dataset()
    item.add_new("LUTDescriptor", "US", [4, 0, 8])
    item.add_new("LUTData", "OW", bytes([0, 80, 160, 255]))
    path = make_dicom(
        tmp_path / "a", np.array([[0, 1, 2, 3]], np.uint8), VOILUTSequence=[item]
    )
    assert to_raster(load_dicom(path)).pixels.tolist() == [[0, 80, 160, 255]]


def test_that_entries_may_be_words_and_bits_be_wrong(tmp_path: Path) -> None:
    item = Dataset()
    item.add_new("LUTDescriptor", "US", [3, 0, 0])
    item.add_new("LUTData", "US", [0, 1000, 4095])
    path = make_dicom(
        tmp_path / "a", np.array([[0, 1, 2]], np.uint8), VOILUTSequence=[item]
    )
    table = load_dicom(path).voi_luts[0]
    assert table.bits == 12
    assert table.entries.tolist() == [0, 1000, 4095]


def test_that_bytes_packed_into_words_are_taken_apart(tmp_path: Path) -> None:
    item = Dataset()
    item.add_new("LUTDescriptor", "US", [4, 0, 8])
    item.add_new("LUTData", "US", [80 << 8, 255 << 8 | 160])
    path = make_dicom(
        tmp_path / "a", np.array([[0, 1, 2, 3]], np.uint8), VOILUTSequence=[item]
    )
    assert load_dicom(path).voi_luts[0].entries.tolist() == [0, 80, 160, 255]


def test_that_windows_keep_their_order_function_and_names(tmp_path: Path) -> None:
    path = make_dicom(
        tmp_path / "a",
        RAMP,
        WindowCenter=[40, -600, 7],
        WindowWidth=[400, 1500, 0],
        WindowCenterWidthExplanation=["SOFT", "LUNG", "NONE"],
        VOILUTFunction="SIGMOID",
    )
    windows = load_dicom(path).windows
    assert [(w.center, w.width, w.explanation) for w in windows] == [
        (40, 400, "SOFT"),
        (-600, 1500, "LUNG"),
    ]
    assert {w.function.value for w in windows} == {"SIGMOID"}


def test_that_a_linear_window_narrower_than_one_is_read_as_exact(
    tmp_path: Path,
) -> None:
    path = make_dicom(tmp_path / "a", RAMP, WindowCenter=0.5, WindowWidth=0.5)
    assert load_dicom(path).windows[0].function.value == "LINEAR_EXACT"


def test_that_unused_bits_are_cleared_and_the_sign_is_kept(tmp_path: Path) -> None:
    overlay = RAMP | np.uint16(0x8000)
    assert (
        load_dicom(make_dicom(tmp_path / "a", overlay, bits_stored=12)).values == RAMP
    ).all()
    signed = np.array([[-5, 5, 2047, -2048]], np.int16)
    dirty = (signed.view(np.uint16) & 0x0FFF).view(np.int16)
    path = make_dicom(tmp_path / "b", dirty, bits_stored=12)
    assert (load_dicom(path).values == signed).all()


def test_that_a_high_bit_above_the_stored_bits_is_shifted_down(tmp_path: Path) -> None:
    path = make_dicom(tmp_path / "a", RAMP << 4, bits_stored=12, HighBit=15)
    assert (load_dicom(path).values == RAMP).all()


def test_that_padding_is_found_whatever_sign_its_value_was_given(
    tmp_path: Path,
) -> None:
    dataset = dicom_dataset(np.array([[-2000, 5]], np.int16))
    dataset.add_new("PixelPaddingValue", "US", 65536 - 2000)
    padding = load_dicom(save_dicom(dataset, tmp_path / "a")).padding
    assert padding is not None
    assert padding.tolist() == [[True, False]]


def test_that_no_padding_in_the_pixels_is_no_padding(tmp_path: Path) -> None:
    dataset = dicom_dataset(RAMP)
    dataset.add_new("PixelPaddingValue", "US", 65000)
    assert load_dicom(save_dicom(dataset, tmp_path / "a")).padding is None


def test_that_float_pixels_stay_float_and_know_their_padding(tmp_path: Path) -> None:
    dataset = dicom_dataset(RAMP.astype(np.uint32), PixelData=None)
    dataset.FloatPixelData = (RAMP / 7).astype("<f4").tobytes()
    dataset.FloatPixelPaddingValue = 0.0
    for keyword in ("BitsStored", "HighBit", "PixelRepresentation"):
        delattr(dataset, keyword)
    image = load_dicom(save_dicom(dataset, tmp_path / "a"))
    assert image.values.dtype == np.float32
    np.testing.assert_allclose(image.values, RAMP / 7, rtol=1e-6)
    assert image.padding is not None
    assert image.padding.sum() == 1


@pytest.mark.parametrize("shared", [False, True])
def test_that_each_frame_has_its_own_transformation(
    tmp_path: Path, shared: bool
) -> None:
    def group(intercept: int, center: int) -> Dataset:
        values, voi, measures = Dataset(), Dataset(), Dataset()
        values.RescaleSlope, values.RescaleIntercept = 1, intercept
        values.RescaleType = "US"
        voi.WindowCenter, voi.WindowWidth = center, 10
        measures.PixelSpacing = [0.5, 0.25]
        item = Dataset()
        item.PixelValueTransformationSequence = [values]
        item.FrameVOILUTSequence = [voi]
        item.PixelMeasuresSequence = [measures]
        return item

    dataset = dicom_dataset(RAMP, Modality="MR", NumberOfFrames=2)
    dataset.PixelData = np.stack([RAMP, RAMP + 1]).tobytes()
    if shared:
        dataset.SharedFunctionalGroupsSequence = [group(-3, 33)]
    else:
        dataset.PerFrameFunctionalGroupsSequence = [group(0, 1), group(-3, 33)]
    path = save_dicom(dataset, tmp_path / "a")

    image = load_dicom(path, 1)

    assert (image.values == RAMP.astype(int) + 1 - 3).all()
    assert image.windows[0].center == 33
    patient = SpacingMeaning.PATIENT
    assert image.geometry.spacing == Spacing(0.5, 0.25, patient)
    assert stored_pixels(path).shape == (2, 16, 16)


def test_that_a_shape_for_film_is_no_shape_for_screens(tmp_path: Path) -> None:
    film = make_dicom(tmp_path / "a", RAMP, PresentationLUTShape="LIN OD")
    assert load_dicom(film).presentation_shape is None
    screen = make_dicom(tmp_path / "b", RAMP, PresentationLUTShape="INVERSE")
    assert load_dicom(screen).presentation_shape is PresentationShape.INVERSE


def test_that_a_file_without_preamble_is_read(tmp_path: Path) -> None:
    dataset = dicom_dataset(RAMP)
    path = tmp_path / "a"
    dataset.save_as(path, implicit_vr=True, little_endian=True)
    assert (load_dicom(path).values == RAMP).all()


def test_that_one_bit_a_pixel_is_black_and_white(tmp_path: Path) -> None:
    marks = np.random.default_rng(0).random((2, 5, 7)) < 0.5
    dataset = dicom_dataset(
        np.zeros((5, 7), np.uint8), BitsAllocated=1, BitsStored=1, HighBit=0
    )
    dataset.NumberOfFrames = 2
    packed = np.packbits(marks.ravel(), bitorder="little").tobytes()
    dataset.PixelData = packed + b"\0" * (len(packed) % 2)
    path = save_dicom(dataset, tmp_path / "a")
    for frame in (0, 1):
        shown = to_raster(load_dicom(path, frame)).pixels
        assert (shown == marks[frame] * 255).all()


@pytest.mark.parametrize("frame", [-1, 1])
def test_that_a_frame_that_is_not_there_is_said(tmp_path: Path, frame: int) -> None:
    path = make_dicom(tmp_path / "a.dcm", RAMP)
    with pytest.raises(UnreadableInputError, match=r"a\.dcm has 1 frames"):
        load_dicom(path, frame)


def test_that_colour_of_either_layout_and_depth_is_the_same_rgb(tmp_path: Path) -> None:
    rgb = np.random.default_rng(1).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    plain = load_dicom(make_dicom(tmp_path / "a", rgb))
    assert plain.photometric is Photometric.RGB
    assert (plain.values == rgb).all()
    planar = dicom_dataset(rgb, PlanarConfiguration=1)
    planar.PixelData = rgb.transpose(2, 0, 1).tobytes()
    assert (load_dicom(save_dicom(planar, tmp_path / "b")).values == rgb).all()
    deep = make_dicom(tmp_path / "c", rgb.astype(np.uint16) << 4, bits_stored=12)
    assert (load_dicom(deep).values == rgb).all()


def test_that_luminance_and_chrominance_become_rgb(tmp_path: Path) -> None:
    ybr = np.array([[[76, 85, 255], [150, 44, 21], [29, 255, 107]]], np.uint8)
    path = make_dicom(tmp_path / "a", ybr, PhotometricInterpretation="YBR_FULL")
    expected = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    assert np.abs(load_dicom(path).values[0].astype(int) - expected).max() <= 2


def test_that_pydicoms_warnings_stay_out_of_sight(tmp_path: Path) -> None:
    dataset = dicom_dataset(RAMP)
    dataset.PixelData = RAMP.tobytes() + b"\0" * 64
    image = load_dicom(save_dicom(dataset, tmp_path / "a"))
    assert (image.values == RAMP).all()
    assert pydicom.config.settings.reading_validation_mode is not None
