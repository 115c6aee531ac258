from pathlib import Path
from threading import Event

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from viewer.domain.errors import UnreadableInputError
from viewer.services.viewing.header_chunks import (
    Headers,
    Refused,
    read_carefully,
    read_chunk,
)
from viewer.services.viewing.open_case import (
    Index,
    Indexed,
    IndexState,
    open_case,
    open_cases,
)

PIXELS = np.zeros((4, 6), np.uint16)


def _images(event: Indexed) -> list[str]:
    return [
        image.ref.path.name
        for case in event.cases
        for study in case.studies
        for series in study.series
        for image in series.images
    ]


@pytest.fixture
def slices(tmp_path: Path) -> Path:
    """A CT of 40 slices whose files are named against their order, and a note."""
    (tmp_path / "ct").mkdir()
    for n in range(40):
        make_dicom(
            tmp_path / "ct" / f"{n}.dcm",
            PIXELS,
            Modality="CT",
            ImagePositionPatient=[0, 0, 40 - n],
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        )
    (tmp_path / "ct" / "notes.txt").write_text("a note")
    return tmp_path / "ct"


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
    with pytest.raises(UnreadableInputError, match="nowhere does not exist"):
        open_case([tmp_path / "nowhere"])
    with pytest.raises(UnreadableInputError, match="empty list"):
        open_case([])


def test_that_one_bad_file_does_not_hide_the_good_ones(tmp_path: Path) -> None:
    make_dicom(tmp_path / "a.dcm", PIXELS)
    (tmp_path / "bad.dcm").write_text("x")
    (case,) = open_case([tmp_path])
    assert case.unreadable == ("bad.dcm",)


def test_that_what_was_found_is_told_while_the_rest_is_read(slices: Path) -> None:
    first, *_, last = open_cases([slices], Event())
    assert first.state is IndexState.RUNNING
    assert 0 < len(_images(first)) == first.done < first.total == 41
    assert _images(last) == [f"{n}.dcm" for n in reversed(range(40))]
    assert [o.path.name for o in last.others] == ["notes.txt"]
    assert "notes.txt" in last.others[0].reason
    assert last.done == last.total


def test_that_cancelling_keeps_what_was_found(slices: Path) -> None:
    cancelled = Event()
    events = open_cases([slices], cancelled)
    first = next(events)
    cancelled.set()
    (last,) = events
    assert last.state is IndexState.CANCELLED
    assert _images(last) == _images(first)
    assert last.done < last.total


def test_that_an_image_somebody_waits_for_is_read_first(slices: Path) -> None:
    wanted = slices / "39.dcm"
    first, *_ = open_cases([slices], Event(), wanted=wanted)
    assert "39.dcm" in _images(first)
    assert "30.dcm" not in _images(first)


def test_that_a_second_opening_adds_to_the_first(slices: Path) -> None:
    index = Index()
    list(open_cases([slices / "3.dcm"], Event(), index))
    *_, last = open_cases([slices], Event(), index)
    assert len(_images(last)) == 40


def test_that_a_file_which_ends_its_reader_is_told_alone(slices: Path) -> None:
    def crashing(paths: tuple[Path, ...]) -> Headers:
        if any(path.name == "7.dcm" for path in paths):
            raise UnreadableInputError("It crashed its decoder.", "Copy it again.")
        return read_chunk(paths)

    *_, last = open_cases([slices], Event(), read=crashing)
    assert len(_images(last)) == 39
    reasons = {other.path.name: other.reason for other in last.others}
    assert reasons["7.dcm"] == "It crashed its decoder."


def test_that_nobody_goes_on_after_a_crash_when_nobody_waits() -> None:
    tried: list[int] = []

    def crashing(paths: tuple[Path, ...]) -> Headers:
        tried.append(len(paths))
        raise UnreadableInputError("Gone.", "")

    paths = tuple(Path(str(n)) for n in range(8))
    assert read_carefully(paths, crashing, lambda: True) == (Refused("Gone.", ""),) * 8
    assert tried == [8]
