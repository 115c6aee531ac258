"""Where DICOM files say how their frames lie, against dcmtk and by hand."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import EnhancedMRImageStorage

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from tests.helpers.public_files import pydicom_file
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointMm
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.readers.annotation import corner_text
from viewer.readers.headers import read_file_header
from viewer.readers.pixels import load_pixels


def item(**elements: object) -> Dataset:
    made = Dataset()
    for keyword, value in elements.items():
        setattr(made, keyword, value)
    return made


def frames(path: Path, own: list[Dataset], shared: Dataset, **top: object) -> Path:
    """Write a multi-frame file of 4 × 6 pixels with these functional groups."""
    pixels = np.arange(4 * 6 * len(own), dtype=np.uint16).reshape(len(own) * 4, 6)
    dataset = dicom_dataset(pixels, bits_stored=16, Modality="MR", **top)
    dataset.SOPClassUID = EnhancedMRImageStorage
    dataset.Rows, dataset.NumberOfFrames = 4, len(own)
    dataset.PerFrameFunctionalGroupsSequence = own
    dataset.SharedFunctionalGroupsSequence = [shared]
    return save_dicom(dataset, path)


def plane(*cosines: float) -> dict[str, Any]:
    oriented = item(ImageOrientationPatient=list(cosines))
    return {"PlaneOrientationSequence": [oriented]}


def place(x: float, y: float, z: float) -> dict[str, Any]:
    return {"PlanePositionSequence": [item(ImagePositionPatient=[x, y, z])]}


def measures(row_mm: float, column_mm: float) -> dict[str, Any]:
    return {"PixelMeasuresSequence": [item(PixelSpacing=[row_mm, column_mm])]}


def side(laterality: str) -> dict[str, Any]:
    return {"FrameAnatomySequence": [item(FrameLaterality=laterality)]}


def test_that_each_frame_lies_where_its_own_groups_say(tmp_path: Path) -> None:
    axial, sagittal = plane(1, 0, 0, 0, 1, 0), plane(0, 1, 0, 0, 0, -1)
    path = frames(
        tmp_path / "a.dcm",
        [
            item(**axial, **place(1, 2, 3), **measures(0.5, 0.25), **side("L")),
            item(**sagittal, **place(4, 5, 6), **measures(4, 1)),
        ],
        item(**side("R"), **plane(1, 0, 0, 0, 0, -1), **measures(9, 9)),
        ImageLaterality="B",
        ImageOrientationPatient=[1, 0, 0, 0, 0, -1],
        PixelSpacing=[7, 7],
    )
    first, second = (header.geometry for header in read_file_header(path).images())
    assert (first.letters, second.letters) == (("L", "P"), ("P", "F"))
    assert (first.position, second.position) == (PointMm(1, 2, 3), PointMm(4, 5, 6))
    patient = SpacingMeaning.PATIENT
    assert first.spacing == Spacing(0.5, 0.25, patient)
    assert second.spacing == Spacing(4, 1, patient)
    assert (first.pixel_aspect, second.pixel_aspect) == (2.0, 4.0)
    assert (first.laterality, second.laterality) == ("L", "R")
    for frame, geometry in enumerate((first, second)):
        assert load_pixels(ImageRef(path, frame)).geometry == geometry
    told = [corner_text(ImageRef(path, frame)).bottom_right for frame in (0, 1)]
    assert [lines[0].text for lines in told] == ["MR L", "MR R"]
    assert told[0][0].source.splitlines()[-1] == "FrameLaterality (0020,9072)"


def test_that_shared_groups_and_then_the_top_level_hold_for_the_rest(
    tmp_path: Path,
) -> None:
    path = frames(
        tmp_path / "a.dcm",
        [item(), item(**place(0, 0, 5))],
        item(**plane(0, 1, 0, 0, 0, -1)),
        ImagePositionPatient=[1, 1, 1],
        PatientOrientation=["A", "F"],
        Laterality="R",
    )
    header = read_file_header(path)
    first, second = header.geometries
    assert first.letters == second.letters == ("P", "F")
    assert (first.position, second.position) == (PointMm(1, 1, 1), PointMm(0, 0, 5))
    assert first.laterality == second.laterality == "R"
    alike = frames(tmp_path / "b.dcm", [item(), item()], item())
    assert len(read_file_header(alike).geometries) == 1
    assert len(read_file_header(alike).images()) == 2


def test_that_letters_of_a_frame_without_axes_are_its_own(tmp_path: Path) -> None:
    towards = item(PatientOrientation=["A", "F"])
    path = frames(
        tmp_path / "a.dcm",
        [item(PatientOrientationInFrameSequence=[towards]), item()],
        item(),
        PatientOrientation=["L", "F"],
    )
    assert [g.letters for g in read_file_header(path).geometries] == [
        ("A", "F"),
        ("L", "F"),
    ]


@pytest.mark.parametrize(
    ("written", "aspect"),
    [([4, 1], 4.0), ([1, 2], 0.5), ([0, 1], 1.0), ([1, 0], 1.0), ([3], 1.0)],
)
def test_that_pixel_aspect_ratio_is_height_over_width(
    tmp_path: Path, written: list[int], aspect: float
) -> None:
    pixels = np.zeros((4, 6), np.uint8)
    path = make_dicom(tmp_path / "a.dcm", pixels, PixelAspectRatio=written)
    assert read_file_header(path).geometry().pixel_aspect == aspect
    assert load_pixels(ImageRef(path)).geometry.pixel_aspect == aspect
    spaced = make_dicom(
        tmp_path / "b.dcm", pixels, PixelAspectRatio=written, PixelSpacing=[3, 1]
    )
    assert read_file_header(spaced).geometry().pixel_aspect == 3.0


def test_that_numbers_that_are_none_are_left_out(tmp_path: Path) -> None:
    pixels = np.zeros((4, 6), np.uint8)
    path = make_dicom(
        tmp_path / "a.dcm",
        pixels,
        ImageOrientationPatient=[1, 0, 0],
        ImagePositionPatient=[1, 2],
        PixelAspectRatio="",
    )
    geometry = read_file_header(path).geometry()
    assert (geometry.axes, geometry.position, geometry.aspect_ratio) == (None,) * 3


@pytest.mark.parametrize("name", ["eCT_Supplemental.dcm", "emri_small.dcm"])
def test_that_dcmtk_reads_the_same_of_every_frame(name: str) -> None:
    dcmdump = shutil.which("dcmdump")
    if dcmdump is None:
        pytest.skip("needs dcmtk")
    path = pydicom_file(name)

    def said(tag: str) -> list[tuple[float, ...]]:
        run = subprocess.run(
            [dcmdump, "+P", tag, "-M", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        values = re.findall(r" DS \[([^\]]*)\]", run.stdout)
        return [tuple(map(float, value.split("\\"))) for value in values]

    found = [header.geometry for header in read_file_header(path).images()]
    assert len(found) > 1

    def each(values: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        return values * len(found) if len(values) == 1 else values

    positions = [g.position for g in found if g.position]
    assert [(p.x, p.y, p.z) for p in positions] == each(said("0020,0032"))
    assert [g.axes for g in found if g.axes] == each(said("0020,0037"))
    spacings = [g.spacing for g in found if g.spacing]
    assert [(s.row_mm, s.column_mm) for s in spacings] == each(said("0028,0030"))
