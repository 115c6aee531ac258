"""Marks and key images as DICOM files, read back by pydicom and by our reader."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import NuclearMedicineImageStorage

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.image import PresentationShape, VoiFunction, Window
from viewer.domain.mark import DrawnImage, Mark, MarkKind
from viewer.readers.presentation_states import presentation_state
from viewer.writers.mark_files import key_objects, presentation_states

A, B, C, D = PointPx(1.5, 2), PointPx(30.25, 9), PointPx(4, 25), PointPx(20, 31)
WINDOW = Window(40, 400, VoiFunction.LINEAR_EXACT)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    values = np.zeros((40, 60), np.int16)
    return make_dicom(
        tmp_path / "ct.dcm", values, Modality="CT", PatientName="Doe^Jane",
        RescaleSlope=2, RescaleIntercept=-1000, WindowCenter=7, WindowWidth=9,
    )  # fmt: skip


def _drawn(image: Path, *marks: Mark, **more: object) -> DrawnImage:
    with_words = tuple((mark, (mark.kind.value, "é")) for mark in marks)
    look = {"window": WINDOW, "rescale": (2.0, -1000.0), **more}
    return DrawnImage(ImageRef(image), with_words, **look)  # type: ignore[arg-type]


def _written(*images: DrawnImage) -> list[Dataset]:
    return [pydicom.dcmread(BytesIO(data)) for data in presentation_states(images)]


def _graphics(state: Dataset) -> list[tuple[str, list[float]]]:
    (annotation,) = state.GraphicAnnotationSequence
    return [
        (str(each.GraphicType), list(np.atleast_1d(each.GraphicData)))
        for each in annotation.GraphicObjectSequence
    ]


MARKS = {
    MarkKind.LENGTH: ((A, B), [("POLYLINE", [1.5, 2, 30.25, 9])]),
    MarkKind.ANGLE: ((A, B, C), [("POLYLINE", [1.5, 2, 30.25, 9, 4, 25])]),
    MarkKind.COBB: (
        (A, B, C, D), [("POLYLINE", [1.5, 2, 30.25, 9]), ("POLYLINE", [4, 25, 20, 31])],
    ),
    MarkKind.RECTANGLE: (
        (A, B), [("POLYLINE", [1.5, 2, 30.25, 2, 30.25, 9, 1.5, 9, 1.5, 2])],
    ),
    MarkKind.ELLIPSE: (
        (A, B), [("ELLIPSE", [1.5, 5.5, 30.25, 5.5, 15.875, 2, 15.875, 9])],
    ),
    MarkKind.POLYGON: ((A, B, C, A), [("POLYLINE", [1.5, 2, 30.25, 9, 4, 25, 1.5, 2])]),
    MarkKind.HEART: (
        (A, B, C, D),
        [("POLYLINE", [1.5, 2, 30.25, 2, 30.25, 9]),
         ("POLYLINE", [4, 25, 20, 25, 20, 31])],
    ),
    MarkKind.ARROW: ((A, B), [("POLYLINE", [1.5, 2, 30.25, 9])]),
    MarkKind.POINT: ((A,), [("POINT", [1.5, 2])]),
    MarkKind.FREEHAND: ((A, B, C), [("POLYLINE", [1.5, 2, 30.25, 9, 4, 25])]),
}  # fmt: skip


@pytest.mark.parametrize("kind", MARKS)
def test_that_a_mark_is_written_as_graphics_in_pixels(
    image: Path, kind: MarkKind
) -> None:
    points, expected = MARKS[kind]
    (state,) = _written(_drawn(image, Mark(kind, points)))
    assert _graphics(state) == expected


def test_that_the_major_axis_of_a_tall_ellipse_comes_first(image: Path) -> None:
    (state,) = _written(_drawn(image, Mark(MarkKind.ELLIPSE, (A, D))))
    assert _graphics(state)[0][1][:4] == [10.75, 2, 10.75, 31]


def test_that_words_stand_at_the_end_of_a_mark(image: Path) -> None:
    (state,) = _written(_drawn(image, Mark(MarkKind.TEXT, (C,))))
    (annotation,) = state.GraphicAnnotationSequence
    assert "GraphicObjectSequence" not in annotation
    (text,) = annotation.TextObjectSequence
    assert text.UnformattedTextValue == "text\r\né"
    assert list(text.AnchorPoint) == [4, 25]


def test_that_look_patient_and_study_are_written(image: Path) -> None:
    mark = Mark(MarkKind.POINT, (A,))
    (state,) = _written(_drawn(image, mark, inverted=True))
    (voi,) = state.SoftcopyVOILUTSequence
    assert (voi.WindowCenter, voi.WindowWidth) == (40, 400)
    assert voi.VOILUTFunction == "LINEAR_EXACT"
    assert (state.RescaleSlope, state.RescaleIntercept) == (2, -1000)
    assert state.PresentationLUTShape == "INVERSE"
    assert (state.PatientName, state.StudyInstanceUID) == ("Doe^Jane", "1.2.3")
    (own,) = _written(_drawn(image, mark, window=None))
    assert own.SoftcopyVOILUTSequence[0].WindowCenter == 7
    assert own.PresentationLUTShape == "IDENTITY"


def test_that_our_reader_reads_what_is_written(image: Path) -> None:
    marks = [Mark(kind, points) for kind, (points, _) in MARKS.items()]
    for orientation in range(1, 9):
        drawn = _drawn(image, *marks, orientation=orientation)
        (data,) = presentation_states([drawn])
        path = image.with_name("state.dcm")
        path.write_bytes(data)
        state = presentation_state(path, ImageRef(image))
        assert state is not None
        assert (state.orientation, state.area) == (orientation, None)
        assert (state.voi, state.rescale) == (WINDOW, (2, -1000))
        assert state.shape is PresentationShape.IDENTITY
        lines = [line for mark in marks for line in mark.lines]
        oval = marks.index(Mark(MarkKind.ELLIPSE, (A, B))) + 1  # Cobb has two lines
        found = [outline.points for outline in state.outlines]
        assert found[:oval] == lines[:oval]
        assert found[oval + 1 :] == lines[oval + 1 :]
        assert len(state.notes) == len(marks)
        assert state.notes[0].at == B


def test_that_series_looks_and_frames_are_kept_apart(tmp_path: Path) -> None:
    mark = Mark(MarkKind.POINT, (A,))
    frames = dicom_dataset(np.zeros((40, 60), np.uint8), NumberOfFrames=3)
    frames.PixelData = bytes(3 * 40 * 60)
    frames.SOPClassUID = NuclearMedicineImageStorage
    frames.SeriesInstanceUID, frames.SOPInstanceUID = "1.2.3.5", "1.2.3.5.1"
    many = save_dicom(frames, tmp_path / "nm.dcm")
    one = make_dicom(tmp_path / "dx.dcm", np.zeros((40, 60), np.uint8))
    with_words = ((mark, ()),)
    drawn = [
        DrawnImage(ImageRef(one), with_words, WINDOW),
        *(DrawnImage(ImageRef(many, frame), with_words, WINDOW) for frame in (0, 2)),
    ]
    first, second = _written(*drawn)
    assert [a.ReferencedImageSequence[0].get("ReferencedFrameNumber")
            for a in second.GraphicAnnotationSequence] == [1, 3]  # fmt: skip
    assert len(first.GraphicAnnotationSequence) == 1
    path = tmp_path / "state.dcm"
    second.save_as(path)
    found = [presentation_state(path, ImageRef(many, frame)) for frame in range(3)]
    assert [state and len(state.outlines) for state in found] == [1, 0, 1]


def test_that_colour_is_refused(tmp_path: Path) -> None:
    path = make_dicom(tmp_path / "us.dcm", np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ValueError, match="single sample"):
        _written(_drawn(path, Mark(MarkKind.POINT, (A,))))


def test_that_key_images_are_listed_in_a_key_object_document(image: Path) -> None:
    other = make_dicom(
        image.with_name("b.dcm"), np.zeros((4, 4), np.uint8), SOPInstanceUID="1.9",
        SeriesInstanceUID="1.2.7",
    )  # fmt: skip
    data = key_objects([ImageRef(image), ImageRef(other), ImageRef(image, 1)])
    document = pydicom.dcmread(BytesIO(data))
    assert document.Modality == "KO"
    assert document.ConceptNameCodeSequence[0].CodeValue == "113000"
    named = [
        item.ReferencedSOPSequence[0].ReferencedSOPInstanceUID
        for item in document.ContentSequence
        if item.ValueType == "IMAGE"
    ]
    assert named == ["1.2.3.4.5", "1.9"]
