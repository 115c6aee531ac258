from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from viewer.domain.errors import UnreadableInputError
from viewer.readers.folders import ListedFile, list_files, listed_as
from viewer.services.viewing import open_case as module
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


def _slow(monkeypatch: pytest.MonkeyPatch, listed: list[ListedFile]) -> None:
    """Make every look for another file take long, and note what was listed."""

    def slowly(
        paths: Sequence[Path], stopped: Callable[[], bool]
    ) -> Iterator[ListedFile]:
        for file in list_files(paths, stopped):
            listed.append(file)
            yield file

    monkeypatch.setattr(module, "list_files", slowly)
    monkeypatch.setattr(module, "_PATIENCE_S", -1.0)


def test_that_the_first_image_does_not_wait_until_all_files_are_listed(
    slices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[ListedFile] = []
    _slow(monkeypatch, listed)
    read: list[Path] = []

    def counting(paths: tuple[Path, ...]) -> Headers:
        read.extend(paths)
        return read_chunk(paths)

    events = open_cases([slices], Event(), read=counting)
    first = next(events)
    assert len(listed) == len(_images(first)) == 8
    assert (first.done, first.total, first.state) == (8, 0, IndexState.RUNNING)
    *_, last = events
    assert _images(last) == [f"{n}.dcm" for n in reversed(range(40))]
    assert last.done == last.total == 41
    assert len(read) == len(set(read)) == 41


def test_that_a_wanted_image_is_read_at_once_and_keeps_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        for n in range(9):
            make_dicom(tmp_path / name / f"{n}.dcm", PIXELS, PatientID=name)
    listed: list[ListedFile] = []
    _slow(monkeypatch, listed)
    wanted = tmp_path / "c" / "8.dcm"
    first, *_, last = open_cases([tmp_path], Event(), wanted=wanted)
    assert _images(first) == ["8.dcm"]
    assert [case.patient_key for case in last.cases] == ["a", "b", "c"]
    assert len(_images(last)) == last.done == last.total == 27
    (found,) = (f for f in listed if f.path == wanted)
    assert found == listed_as([tmp_path], wanted)
    assert listed_as([wanted], wanted) == ListedFile(wanted, "c")
    assert listed_as([tmp_path / "a"], wanted) is None


def test_that_files_that_are_no_images_do_not_end_the_early_look(
    slices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(20):
        (slices / f"0{n}.txt").write_text("a note")
    _slow(monkeypatch, [])
    first, *_, last = open_cases([slices], Event())
    assert first.total == 0
    assert first.done < 41
    assert len(last.others) == 21
    cancelled = Event()

    def cancelling(paths: tuple[Path, ...]) -> Headers:
        cancelled.set()
        return read_chunk(paths)

    (only,) = open_cases([slices], cancelled, read=cancelling)
    assert only.state is IndexState.CANCELLED
