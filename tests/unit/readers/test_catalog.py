from pathlib import Path

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.helpers.make_dicom import dicom_dataset, make_dicom, save_dicom
from viewer.domain.case import View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.catalog import read_headers, scan
from viewer.readers.files.projections import view_of

PIXELS = np.zeros((4, 6), np.uint16)
AXIAL = [1, 0, 0, 0, 1, 0]


def slice_at(path: Path, z: float, instance: int, **header: object) -> Path:
    return make_dicom(
        path,
        PIXELS,
        **{
            "Modality": "CT",
            "ImagePositionPatient": [0, 0, z],
            "ImageOrientationPatient": AXIAL,
            "InstanceNumber": instance,
            **header,
        },  # type: ignore[arg-type]
    )


def names(root: Path) -> list[list[str]]:
    return [
        [image.ref.path.name for image in series.images]
        for case in scan([root])
        for study in case.studies
        for series in study.series
    ]


def test_that_a_header_is_read_without_pixels(tmp_path: Path) -> None:
    path = make_dicom(
        tmp_path / "a.dcm",
        PIXELS,
        Modality="DX",
        ViewPosition="PA",
        ImageLaterality="U",
        PatientOrientation=["L", "F"],
    )
    (header,) = read_headers(path)
    assert header.size == SizePx(4, 6)
    assert (header.modality, header.view, header.geometry.laterality) == (
        "DX",
        View.FRONTAL,
        "U",
    )
    assert header.geometry.letters == ("L", "F")
    assert (header.patient_key, header.study_key) == ("somebody", "1.2.3")
    assert header.series_key == "1.2.3.4"


def test_that_every_frame_has_a_header(tmp_path: Path) -> None:
    dataset = dicom_dataset(PIXELS, NumberOfFrames=3)
    dataset.PixelData = PIXELS.tobytes() * 3
    headers = read_headers(save_dicom(dataset, tmp_path / "a"))
    assert [header.ref.frame for header in headers] == [0, 1, 2]
    assert {header.frames for header in headers} == {3}


@pytest.mark.parametrize(
    ("modality", "position", "view"),
    [
        ("CR", "PA", View.FRONTAL),
        ("DX", "AP", View.FRONTAL),
        ("DX", "AP Supine", View.FRONTAL),
        ("RF", "frontal", View.FRONTAL),
        ("DX", "LL", View.LATERAL),
        ("CR", "RL", View.LATERAL),
        ("CR", "LATERAL", View.LATERAL),
        ("DX", "LLD", View.UNKNOWN),
        ("DX", "LAO", View.UNKNOWN),
        ("DX", "AP LATERAL", View.UNKNOWN),
        ("DX", "", View.UNKNOWN),
        ("MG", "LL", View.OTHER),
        ("CT", "AP", View.OTHER),
        ("PX", "", View.UNKNOWN),
        ("", "AP", View.UNKNOWN),
        ("OT", "AP", View.UNKNOWN),
    ],
)
def test_that_the_view_is_what_the_file_says_and_no_more(
    modality: str, position: str, view: View
) -> None:
    assert view_of(modality, position) is view


@settings(max_examples=25)
@given(st.permutations(range(6)), st.integers(0, 2), st.booleans())
def test_that_slices_are_ordered_along_their_normal(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], axis: int, down: bool
) -> None:
    root = tmp_path_factory.mktemp("series")
    orientation = [AXIAL, [0, 1, 0, 0, 0, -1], [1, 0, 0, 0, 0, -1]][axis]
    normal = np.cross(orientation[:3], orientation[3:]) * (-1 if down else 1)
    for place, number in enumerate(order):
        slice_at(
            root / f"{place}.dcm",
            0,
            number,
            ImagePositionPatient=[float(v) for v in normal * number * 2.5],
            ImageOrientationPatient=orientation,
        )
    (found,) = names(root)
    depths = [order[int(name[0])] for name in found]
    assert depths == sorted(depths, reverse=down)


def test_that_slices_at_one_place_follow_their_instance_number(tmp_path: Path) -> None:
    for name, instance in (("a", 3), ("b", 1), ("c", 2)):
        slice_at(tmp_path / name, 0, instance)
    assert names(tmp_path) == [["b", "c", "a"]]


def test_that_another_orientation_or_size_is_a_series_of_its_own(
    tmp_path: Path,
) -> None:
    slice_at(tmp_path / "a", 0, 1)
    slice_at(tmp_path / "b", 1, 2, ImageOrientationPatient=[0, 1, 0, 0, 0, -1])
    slice_at(tmp_path / "c", 2, 3)
    (case,) = scan([tmp_path])
    series = case.studies[0].series
    assert [len(s.images) for s in series] == [2, 1]
    assert [s.key for s in series] == ["1.2.3.4", "1.2.3.4#2"]


def test_that_patients_studies_and_series_are_told_apart(tmp_path: Path) -> None:
    make_dicom(tmp_path / "1", PIXELS, PatientID="p", StudyDate="20200202")
    make_dicom(
        tmp_path / "2",
        PIXELS,
        PatientID="p",
        StudyInstanceUID="9",
        SeriesInstanceUID="9.1",
        StudyDate="20190101",
        StudyDescription="CHEST",
        SeriesDescription="PA",
    )
    make_dicom(tmp_path / "3", PIXELS, PatientID="q", SeriesInstanceUID="7")
    cases = scan([tmp_path])
    assert [case.patient_key for case in cases] == ["p", "q"]
    assert [study.date for study in cases[0].studies] == ["20190101", "20200202"]
    assert cases[0].studies[0].description == "CHEST"
    assert cases[0].studies[0].series[0].description == "PA"


def test_that_a_file_that_names_no_patient_goes_by_its_study(tmp_path: Path) -> None:
    make_dicom(tmp_path / "1", PIXELS, PatientID=None)
    assert scan([tmp_path])[0].patient_key == "1.2.3"


def test_that_pictures_go_by_their_folder_in_natural_order(tmp_path: Path) -> None:
    for name in ("10.png", "9.png", "1.png"):
        Image.fromarray(np.zeros((3, 3), np.uint8)).save(tmp_path / name)
    (tmp_path / "sub").mkdir()
    Image.fromarray(np.zeros((3, 5), np.uint8)).save(tmp_path / "sub" / "2.png")
    cases = scan([tmp_path])
    assert [case.patient_key for case in cases] == [
        tmp_path.name,
        f"{tmp_path.name}/sub",
    ]
    assert names(tmp_path)[0] == ["1.png", "9.png", "10.png"]


def test_that_a_volume_is_a_series_of_slices(tmp_path: Path) -> None:
    for name in ("a.nii.gz", "b.mha"):
        image = SimpleITK.GetImageFromArray(np.zeros((5, 4, 3), np.uint8))
        SimpleITK.WriteImage(image, str(tmp_path / name))
    (case,) = scan([tmp_path])
    series = case.studies[0].series
    assert [len(s.images) for s in series] == [5, 5]
    assert series[0].images[4].ref.frame == 4
    assert series[0].key.endswith("a.nii.gz")


def test_that_what_is_no_image_is_listed_and_never_dropped(tmp_path: Path) -> None:
    make_dicom(tmp_path / "a.dcm", PIXELS)
    (tmp_path / "notes.txt").write_text("a note")
    (tmp_path / "broken.dcm").write_text("not what it says")
    (tmp_path / "empty.png").touch()
    (tmp_path / ".hidden").write_text("x")
    (case,) = scan([tmp_path])
    assert set(case.unreadable) == {"notes.txt", "broken.dcm", "empty.png"}


def test_that_unreadable_files_stay_with_the_case_of_their_folder(
    tmp_path: Path,
) -> None:
    for patient in ("p", "q"):
        (tmp_path / patient).mkdir()
        make_dicom(tmp_path / patient / "a.dcm", PIXELS, PatientID=patient)
    (tmp_path / "q" / "bad").write_text("x")
    assert [case.unreadable for case in scan([tmp_path])] == [(), ("bad",)]


def test_that_a_folder_of_nothing_readable_still_lists_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (case,) = scan([tmp_path])
    assert (case.studies, case.unreadable) == ((), ("a.txt",))
    assert scan([]) == ()


def test_that_masks_beside_an_image_are_not_images(tmp_path: Path) -> None:
    picture = Image.fromarray(np.zeros((3, 3), np.uint8))
    for name in ("a.png", "a.Lung Lesion.png", "b.x.png"):
        picture.save(tmp_path / name)
    make_dicom(tmp_path / "c.dcm", PIXELS)
    picture.save(tmp_path / "c.Edema.png")
    found = [name for series in names(tmp_path) for name in series]
    assert sorted(found) == ["a.png", "b.x.png", "c.dcm"]


def test_that_a_file_named_twice_is_opened_once(tmp_path: Path) -> None:
    path = make_dicom(tmp_path / "a.dcm", PIXELS)
    (case,) = scan([path, tmp_path])
    assert len(case.studies[0].series[0].images) == 1


def test_that_a_header_without_pixels_is_refused(tmp_path: Path) -> None:
    bare = make_dicom(tmp_path / "a.dcm", PIXELS, PixelData=None)
    with pytest.raises(UnreadableInputError, match=r"a\.dcm contains no pixels"):
        read_headers(bare)
    flat = make_dicom(tmp_path / "b.dcm", PIXELS, Rows=0)
    with pytest.raises(UnreadableInputError, match="6 × 0 pixels"):
        read_headers(flat)


def test_that_a_file_without_preamble_has_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a"
    dicom_dataset(PIXELS).save_as(path, implicit_vr=True, little_endian=True)
    assert read_headers(path)[0].size == SizePx(4, 6)
