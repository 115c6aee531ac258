"""Masks of DICOM Segmentations, each on the frame that it was derived from."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.uid import generate_uid

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from viewer.domain.case import ImageHeader
from viewer.domain.errors import UnreadableInputError
from viewer.readers.headers import read_file_header
from viewer.readers.predictions.seg import read_segmentations
from viewer.services.importing.import_masks import masks_in

FRAMES, ROWS, COLUMNS = 3, 8, 10
CT = {
    "Modality": "CT", "StudyDate": "20200101", "StudyTime": "1200", "StudyID": "1",
    "PatientName": "A^B", "PatientBirthDate": "", "PatientSex": "",
    "AccessionNumber": "", "ReferringPhysicianName": "", "SliceThickness": 1,
    "FrameOfReferenceUID": "1.2.9", "PixelSpacing": [1, 1],
    "ImageOrientationPatient": [1, 0, 0, 0, 1, 0],
}  # fmt: skip


@pytest.fixture
def film(tmp_path: Path) -> tuple[ImageHeader, ...]:
    """A file of three frames."""
    dataset = dicom_dataset(
        np.zeros((ROWS, COLUMNS), np.uint8), NumberOfFrames=FRAMES, SOPInstanceUID="1.7"
    )
    dataset.PixelData = bytes(FRAMES * ROWS * COLUMNS)
    header = read_file_header(save_dicom(dataset, tmp_path / "film.dcm"))
    return tuple(header.image(n) for n in range(FRAMES))


@pytest.fixture
def drawn() -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    """(frames, rows, columns, segments): none on the first frame."""
    made = np.zeros((FRAMES, ROWS, COLUMNS, 2), np.uint8)
    made[1, 2:4, 3:6, 0] = 1
    made[2, 5:7, 5:7, 0] = 1
    made[2, 0:2, 0:2, 1] = 1
    return made


@pytest.fixture
def path(
    tmp_path: Path, drawn: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]"
) -> Path:
    """A segmentation of three slices, said to be frames of the file."""
    from highdicom import seg
    from pydicom.sr.codedict import codes

    slices = []
    for n in range(FRAMES):
        one = dicom_dataset(drawn[n, ..., 0], ImagePositionPatient=[0, 0, n])
        one.SOPInstanceUID = f"1.8.{n}"
        for keyword, value in CT.items():
            setattr(one, keyword, value)
        slices.append(pydicom.dcmread(save_dicom(one, tmp_path / "slice.dcm")))
    described = [
        seg.SegmentDescription(
            number, label, codes.SCT.MorphologicallyAbnormalStructure,
            codes.SCT.Lesion, seg.SegmentAlgorithmTypeValues.MANUAL,
        )
        for number, label in enumerate(("nodule", "effusion"), 1)
    ]  # fmt: skip
    made = seg.Segmentation(
        slices, drawn, seg.SegmentationTypeValues.BINARY, described, generate_uid(), 1,
        generate_uid(), 1, "a", "b", "1", "1",
    )  # fmt: skip
    for frame in made.PerFrameFunctionalGroupsSequence:
        (derived,) = frame.DerivationImageSequence
        source = deepcopy(derived.SourceImageSequence[0])
        number = int(str(source.ReferencedSOPInstanceUID).rpartition(".")[2])
        source.ReferencedSOPInstanceUID = "1.7"
        source.ReferencedFrameNumber = number + 1
        frame.DerivationImageSequence = deepcopy(frame.DerivationImageSequence)
        frame.DerivationImageSequence[0].SourceImageSequence = [source]
    (series,) = made.ReferencedSeriesSequence
    instance = deepcopy(series.ReferencedInstanceSequence[0])
    instance.ReferencedSOPInstanceUID = "1.7"
    series.ReferencedInstanceSequence = [instance]
    made.save_as(tmp_path / "masks.dcm")
    return tmp_path / "masks.dcm"


def test_that_masks_of_several_frames_go_to_their_frames(
    film: tuple[ImageHeader, ...],
    path: Path,
    drawn: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]",
) -> None:
    found = masks_in(path, film, film[0])
    assert len(found) == 3
    for ref, mark in found:
        assert mark.painted is not None
        segment = 1 if mark.text.lower() == "effusion" else 0
        expected = drawn[ref.frame, ..., segment].astype(bool)
        assert (mark.painted.on(film[0].size) == expected).all()
    assert {ref.frame for ref, _ in found} == {1, 2}


def test_that_masks_of_other_frames_are_no_predictions_about_the_first(
    film: tuple[ImageHeader, ...], path: Path
) -> None:
    with pytest.raises(UnreadableInputError, match="marks frame 2 of an image"):
        read_segmentations(path, {"film": film[0].ref.path})
