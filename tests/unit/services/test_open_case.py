from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from viewer.domain.errors import UnreadableInputError
from viewer.services.open_case import open_case

PIXELS = np.zeros((4, 6), np.uint16)


def test_that_files_and_folders_open_as_cases(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    make_dicom(tmp_path / "folder" / "a", PIXELS, PatientID="p")
    path = make_dicom(tmp_path / "b", PIXELS, PatientID="q")
    cases = open_case([tmp_path / "folder", path])
    assert [case.patient_key for case in cases] == ["p", "q"]


def test_that_a_single_unreadable_file_says_why(tmp_path: Path) -> None:
    path = tmp_path / "a.dcm"
    path.write_text("not what it says")
    with pytest.raises(UnreadableInputError, match=r"a\.dcm is not a DICOM file"):
        open_case([path])


def test_that_a_folder_without_images_and_a_missing_path_are_said(
    tmp_path: Path,
) -> None:
    with pytest.raises(UnreadableInputError, match="no readable image in"):
        open_case([tmp_path])
    with pytest.raises(UnreadableInputError, match="nowhere is not there"):
        open_case([tmp_path / "nowhere"])
    with pytest.raises(UnreadableInputError, match="empty list"):
        open_case([])


def test_that_one_bad_file_does_not_hide_the_good_ones(tmp_path: Path) -> None:
    make_dicom(tmp_path / "a.dcm", PIXELS)
    (tmp_path / "bad.dcm").write_text("x")
    (case,) = open_case([tmp_path])
    assert case.unreadable == ("bad.dcm",)
