"""Presentation states as they concern one image, against what was written."""

from math import cos, pi
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from scipy.interpolate import CubicHermiteSpline

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from tests.helpers.make_presentation import (
    graphic,
    item,
    table,
    window,
    write_state,
)
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.image import LookupTable, PresentationShape, VoiFunction, Window
from viewer.domain.image_geometry import TURNS
from viewer.domain.presentation import PresentationState
from viewer.readers.presentation_states import (
    is_presentation_state,
    presentation_state,
)

ROWS, COLUMNS = 40, 60


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return make_dicom(tmp_path / "ct.dcm", np.zeros((ROWS, COLUMNS), np.int16))


def _read(image: Path, **more: object) -> PresentationState:
    path = write_state(image.with_name("state.dcm"), image, None, **more)
    assert is_presentation_state(path)
    state = presentation_state(path, ImageRef(image))
    assert state is not None
    return state


def _annotated(image: Path, *graphics: Dataset, **more: object) -> PresentationState:
    annotation = item(GraphicLayer="MARKS", GraphicObjectSequence=list(graphics))
    return _read(image, GraphicAnnotationSequence=[annotation], **more)


def test_that_an_image_is_no_state_nor_is_another_file(image: Path) -> None:
    assert not is_presentation_state(image)
    words = image.with_name("notes.txt")
    words.write_text("none")
    assert not is_presentation_state(words)
    assert not is_presentation_state(image.parent)


def test_that_a_state_of_another_image_does_not_concern_this_one(image: Path) -> None:
    other = make_dicom(
        image.with_name("other.dcm"), np.zeros((4, 4), np.uint8), SOPInstanceUID="1.9"
    )
    path = write_state(image.with_name("state.dcm"), other)
    assert presentation_state(path, ImageRef(image)) is None
    picture = image.with_name("a.png")
    picture.write_bytes(b"\x89PNG\r\n\x1a\n")
    assert presentation_state(path, ImageRef(picture)) is None


def test_that_a_state_of_some_frames_concerns_no_other(tmp_path: Path) -> None:
    frames = np.zeros((3, 8, 8), np.uint8)
    dataset = dicom_dataset(frames[0], NumberOfFrames=3)
    dataset.PixelData = frames.tobytes()
    image = save_dicom(dataset, tmp_path / "nm.dcm")
    path = write_state(tmp_path / "state.dcm", image, frames=[2, 3])
    found = [presentation_state(path, ImageRef(image, n)) for n in range(3)]
    assert [state is not None for state in found] == [False, True, True]


def test_that_a_damaged_state_is_refused(image: Path) -> None:
    path = write_state(
        image.with_name("state.dcm"), image,
        GraphicAnnotationSequence=[item(GraphicObjectSequence=[item()])],
    )  # fmt: skip
    with pytest.raises(UnreadableInputError, match="state"):
        presentation_state(path, ImageRef(image))


def test_that_window_rescale_and_shape_are_read(image: Path) -> None:
    state = _read(
        image,
        SoftcopyVOILUTSequence=[window(40, 400, "SIGMOID")],
        RescaleSlope=2,
        RescaleIntercept=-1000,
        PresentationLUTShape="INVERSE",
        ContentDescription="For the ward",
    )
    assert (state.voi, state.rescale, state.shape, state.name) == (
        Window(40, 400, VoiFunction.SIGMOID),
        (2, -1000),
        PresentationShape.INVERSE,
        "READ: For the ward",
    )
    assert (state.orientation, state.area, state.shutter) == (1, None, None)


def test_that_of_several_windows_that_of_the_image_is_taken(image: Path) -> None:
    other = item(ReferencedSOPClassUID="1.2", ReferencedSOPInstanceUID="1.9")
    first, second = window(1, 2), window(30, 40)
    first.ReferencedImageSequence = [other]
    assert _read(image, SoftcopyVOILUTSequence=[first]).voi is None
    second.ReferencedImageSequence = [
        item(ReferencedSOPClassUID="1.2", ReferencedSOPInstanceUID="1.2.3.4.5")
    ]
    assert _read(image, SoftcopyVOILUTSequence=[first, second]).voi == Window(30, 40)


def test_that_tables_are_read(image: Path) -> None:
    state = _read(
        image,
        SoftcopyVOILUTSequence=[item(VOILUTSequence=[table(-5, [0, 9, 255], 8)])],
        PresentationLUTShape=None,
        PresentationLUTSequence=[table(0, [4095, 2000, 0], 12)],
    )
    assert isinstance(state.voi, LookupTable)
    assert (state.voi.first, state.voi.entries.tolist()) == (-5, [0, 9, 255])
    assert state.lut is not None
    assert state.lut.entries.tolist() == [4095, 2000, 0]
    assert state.shape is None


@pytest.mark.parametrize("quarters", range(4))
@pytest.mark.parametrize("flip", ["Y", "N"])
def test_that_an_image_is_rotated_clockwise_then_flipped(
    image: Path, quarters: int, flip: str
) -> None:
    state = _read(image, ImageRotation=90 * quarters, ImageHorizontalFlip=flip)
    values = np.arange(6).reshape(2, 3)
    expected = np.rot90(values, -quarters)
    expected = expected[:, ::-1] if flip == "Y" else expected
    turn = TURNS[state.orientation]
    shown = values.T if turn.transpose else values
    shown = shown[:, ::-1] if turn.mirror else shown
    assert (shown[::-1] if turn.flip else shown).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ([11, 6], [30, 20], BoxPx(10, 5, 30, 20)),
        ([30, 6], [11, 20], BoxPx(10, 5, 30, 20)),  # of a mirrored image
        ([1, 1], [COLUMNS, ROWS], None),
    ],
)
def test_that_the_displayed_area_is_read(
    image: Path, first: list[int], last: list[int], expected: BoxPx | None
) -> None:
    area = item(
        DisplayedAreaTopLeftHandCorner=first, DisplayedAreaBottomRightHandCorner=last
    )
    assert _read(image, DisplayedAreaSelectionSequence=[area]).area == expected
    area.ReferencedImageSequence = [item(ReferencedSOPInstanceUID="1.9")]
    assert _read(image, DisplayedAreaSelectionSequence=[area]).area is None


def test_that_graphics_are_read_in_native_pixels(image: Path) -> None:
    state = _annotated(
        image,
        graphic("POLYLINE", (1.5, 2), (30, 20.25), GraphicFilled="N"),
        graphic("POINT", (7, 8)),
        graphic("CIRCLE", (20, 20), (25, 20), GraphicFilled="Y"),
        graphic("ELLIPSE", (10, 20), (30, 20), (20, 15), (20, 25)),
    )
    line, point, circle, ellipse = state.outlines
    assert line.points == (PointPx(1.5, 2), PointPx(30, 20.25))
    assert point.points == (PointPx(7, 8),)
    assert (line.filled, circle.filled) == (False, True)
    around = np.array([(p.x, p.y) for p in circle.points]) - 20
    assert np.allclose(np.hypot(*around.T), 5)
    oval = (np.array([(p.x, p.y) for p in ellipse.points]) - 20) / (10, 5)
    assert np.allclose(np.hypot(*oval.T), 1)
    # No corner lies further off the curve than a hair.
    assert 10 * (1 - cos(pi / (len(ellipse.points) - 1))) < 0.02


@pytest.mark.parametrize(
    ("rotation", "flip", "expected"),
    [
        (0, "N", PointPx(15, 10)),
        # 40 across and 60 down are seen; (10, 15) of these is column 15, row 40 - 10.
        (90, "N", PointPx(15, 30)),
        (180, "Y", PointPx(15, 30)),
    ],
)
def test_that_parts_of_the_displayed_area_are_those_of_the_turned_image(
    image: Path, rotation: int, flip: str, expected: PointPx
) -> None:
    # A quarter of the way across, and a quarter down, of what is seen.
    state = _annotated(
        image,
        graphic("POINT", (0.25, 0.25), GraphicAnnotationUnits="DISPLAY"),
        ImageRotation=rotation,
        ImageHorizontalFlip=flip,
    )
    (point,) = state.outlines[0].points
    assert point == expected


def test_that_texts_stand_in_their_box_or_at_their_anchor(image: Path) -> None:
    boxed = item(
        UnformattedTextValue="two\r\nlines", BoundingBoxAnnotationUnits="PIXEL",
        BoundingBoxTopLeftHandCorner=[3, 4], BoundingBoxBottomRightHandCorner=[9, 9],
        AnchorPoint=[20, 21], AnchorPointAnnotationUnits="PIXEL",
        AnchorPointVisibility="Y",
    )  # fmt: skip
    anchored = item(
        UnformattedTextValue="there", AnchorPoint=[5, 6],
        AnchorPointAnnotationUnits="PIXEL", AnchorPointVisibility="N",
    )  # fmt: skip
    nowhere = item(UnformattedTextValue="lost")
    here = item(
        TextObjectSequence=[boxed, anchored, nowhere], CompoundGraphicSequence=[item()]
    )
    elsewhere = item(
        TextObjectSequence=[boxed],
        ReferencedImageSequence=[item(ReferencedSOPInstanceUID="1.9")],
    )
    state = _read(
        image, GraphicAnnotationSequence=[here, elsewhere], ICCProfile=b"12",
        ShutterShape="BITMAP",
    )  # fmt: skip
    first, second = state.notes
    assert first.text == "two\nlines"
    assert (first.at, first.anchor) == (PointPx(3, 4), PointPx(20, 21))
    assert (second.at, second.anchor) == (PointPx(5, 6), None)
    assert state.left_out == ("ICC profile", "bitmap shutter", "compound graphics")


def _hidden(image: Path, **shutter: object) -> list[tuple[int, int]]:
    state = _read(image, **shutter)
    assert state.shutter is not None
    return [(int(r), int(c)) for r, c in np.argwhere(~state.shutter.hidden)]


RECTANGLE = {
    "ShutterLeftVerticalEdge": 3, "ShutterRightVerticalEdge": 5,
    "ShutterUpperHorizontalEdge": 2, "ShutterLowerHorizontalEdge": 3,
}  # fmt: skip


def test_that_a_rectangular_shutter_leaves_the_pixels_within_its_edges(
    image: Path,
) -> None:
    left = _hidden(image, ShutterShape="RECTANGULAR", **RECTANGLE)
    assert left == [(r, c) for r in (1, 2) for c in (2, 3, 4)]


def test_that_a_circular_shutter_is_round_in_millimetres(tmp_path: Path) -> None:
    image = make_dicom(
        tmp_path / "us.dcm", np.zeros((ROWS, COLUMNS), np.uint8),
        PixelAspectRatio=[2, 1],
    )  # fmt: skip
    circle = {"CenterOfCircularShutter": [20, 30], "RadiusOfCircularShutter": 10}
    left = np.array(_hidden(image, ShutterShape="CIRCULAR", **circle))
    assert (np.ptp(left[:, 0]), np.ptp(left[:, 1])) == (10, 20)
    assert left.mean(0).tolist() == [19, 29]


def test_that_shutters_of_several_shapes_hide_together(image: Path) -> None:
    corners = [1, 1, 1, 5, 3, 5, 3, 1]
    left = _hidden(
        image, ShutterShape=["RECTANGULAR", "POLYGONAL"],
        VerticesOfThePolygonalShutter=corners, **RECTANGLE,
    )  # fmt: skip
    assert left == [(1, 2), (1, 3)]


def test_that_a_shutter_has_its_grey_and_hides_nothing_if_it_is_all(
    image: Path,
) -> None:
    whole = dict(zip(RECTANGLE, (1, COLUMNS, 1, ROWS), strict=True))
    assert _read(image, ShutterShape="RECTANGULAR", **whole).shutter is None
    state = _read(
        image, ShutterShape="RECTANGULAR", ShutterPresentationValue=32768, **RECTANGLE
    )
    assert state.shutter is not None
    assert state.shutter.grey == 128


def _plane(dataset: Dataset, group: int, bits: "np.ndarray[Any, Any]") -> None:
    dataset.add_new((group, 0x0010), "US", bits.shape[0])
    dataset.add_new((group, 0x0011), "US", bits.shape[1])
    dataset.add_new((group, 0x0050), "SS", [1, 1])
    packed = np.packbits(bits.ravel(), bitorder="little").tobytes()
    dataset.add_new((group, 0x3000), "OW", packed + b"\0" * (len(packed) % 2))


def test_that_only_overlays_that_a_state_activates_are_drawn(tmp_path: Path) -> None:
    bits = np.random.default_rng(1).random((4, ROWS, COLUMNS)) > 0.8
    dataset = dicom_dataset(np.zeros((ROWS, COLUMNS), np.uint8))
    for group, plane in zip((0x6000, 0x6002, 0x6004), bits, strict=False):
        _plane(dataset, group, plane)
    image = save_dicom(dataset, tmp_path / "cr.dcm")
    path = write_state(tmp_path / "state.dcm", image)
    state = pydicom.dcmread(path)
    for group, layer in ((0x6000, "MARKS"), (0x6002, "MARKS"), (0x6004, "")):
        state.add_new((group, 0x1001), "CS", layer)
    _plane(state, 0x6002, bits[3])  # in place of the image's own
    state.save_as(path)
    read = presentation_state(path, ImageRef(image))
    assert read is not None
    assert read.planes is not None
    np.testing.assert_array_equal(read.planes, bits[0] | bits[3])
    assert read.left_out == ()
    assert _read(image).planes is None


def test_that_a_bitmap_shutter_hides_what_its_overlay_marks(image: Path) -> None:
    path = write_state(
        image.with_name("state.dcm"), image, ShutterShape="BITMAP",
        ShutterOverlayGroup=0x6002, ShutterPresentationValue=65535,
    )  # fmt: skip
    state = pydicom.dcmread(path)
    bits = np.random.default_rng(1).random((ROWS, COLUMNS)) > 0.5
    packed = np.packbits(bits.ravel(), bitorder="little").tobytes()
    for element, vr, value in (
        (0x0010, "US", ROWS), (0x0011, "US", COLUMNS), (0x0040, "CS", "G"),
        (0x0050, "SS", [2, 1]), (0x0100, "US", 1), (0x0102, "US", 0),
        (0x3000, "OW", packed + b"\0" * (len(packed) % 2)),
    ):  # fmt: skip
        state.add_new((0x6002, element), vr, value)
    state.save_as(path)
    read = presentation_state(path, ImageRef(image))
    assert read is not None
    assert read.shutter is not None
    assert read.shutter.grey == 255
    assert read.left_out == ()
    assert not read.shutter.hidden[0].any()
    assert np.array_equal(read.shutter.hidden[1:], bits[:-1])


@pytest.mark.parametrize("closed", [False, True])
def test_that_an_interpolated_curve_is_smooth_and_meets_its_points(
    image: Path, closed: bool
) -> None:
    points = [(5.0, 5.0), (20.0, 8.0), (25.0, 25.0), (8.0, 20.0)]
    given = [*points, points[0]] if closed else points
    (curve,) = _annotated(image, graphic("INTERPOLATED", *given)).outlines
    drawn = np.array([(p.x, p.y) for p in curve.points])
    for point in given:
        assert np.hypot(*(drawn - point).T).min() < 1e-9
    before, after = (given[-2], given[1]) if closed else (given[0], given[-1])
    padded = np.array([before, *given, after])
    slopes = (padded[2:] - padded[:-2]) / 2
    spline = CubicHermiteSpline(np.arange(len(given)), np.array(given), slopes)
    along = np.linspace(0, len(given) - 1, len(drawn))
    np.testing.assert_allclose(drawn, spline(along), atol=1e-9)
    assert bool(np.allclose(drawn[0], drawn[-1])) is closed


@pytest.mark.parametrize(
    ("more", "magnified", "true_size", "told"),
    [
        ({"PresentationSizeMode": "SCALE TO FIT"}, None, None, ()),
        (
            {"PresentationSizeMode": "MAGNIFY"}
            | {"PresentationPixelMagnificationRatio": 2.5},
            2.5, None, (),
        ),
        (
            {"PresentationSizeMode": "TRUE SIZE"}
            | {"PresentationPixelSpacing": [0.3, 0.15]},
            None, 0.15, (),
        ),
        (
            {"PresentationSizeMode": "TRUE SIZE"}, None, None,
            ("true size without a pixel spacing",),
        ),
    ],
)  # fmt: skip
def test_that_the_size_of_pixels_on_the_screen_is_read(
    image: Path,
    more: dict[str, object],
    magnified: float | None,
    true_size: float | None,
    told: tuple[str, ...],
) -> None:
    area = item(
        DisplayedAreaTopLeftHandCorner=[1, 1],
        DisplayedAreaBottomRightHandCorner=[COLUMNS, ROWS],
        **more,
    )
    read = _read(image, DisplayedAreaSelectionSequence=[area])
    assert (read.magnified, read.true_size) == (magnified, true_size)
    assert read.left_out == told
