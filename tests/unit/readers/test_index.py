"""What was found so far is the same in the end, in whatever order it came."""

import random
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from viewer.domain.case import Case
from viewer.readers.catalog import scan
from viewer.readers.folders import ListedFile, list_files
from viewer.readers.headers import read_file_header
from viewer.readers.index import Index

PIXELS = np.zeros((4, 6), np.uint16)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stack in two planes, another patient, and no image."""
    for n in range(6):
        make_dicom(
            tmp_path / f"{n}.dcm",
            PIXELS,
            PatientID="one",
            Modality="CT",
            ImagePositionPatient=[0, 0, 10 - n],
            ImageOrientationPatient=[1, 0, 0, 0, 1, 0] if n % 3 else [0, 1, 0, 0, 0, 1],
        )
    make_dicom(tmp_path / "z.dcm", PIXELS, PatientID="two", SeriesInstanceUID="8")
    (tmp_path / "notes.txt").write_text("no image")
    return tmp_path


def _names(cases: tuple[Case, ...]) -> list[tuple[str, ...]]:
    return sorted(
        tuple(image.ref.path.name for image in series.images)
        for case in cases
        for study in case.studies
        for series in study.series
    )


@pytest.mark.parametrize("seed", range(5))
def test_that_the_order_of_reading_does_not_matter(folder: Path, seed: int) -> None:
    files = [f for f in list_files([folder]) if f.path.suffix == ".dcm"]
    index = Index()
    index.place(files)
    random.Random(seed).shuffle(files)
    for file in files:
        index.add(file, read_file_header(file.path))
    assert _names(index.cases()) == _names(scan([folder]))
    assert [case.patient_key for case in index.cases()] == ["one", "two"]
    assert [path.stem for path in index.paths] == ["0", "1", "2", "3", "4", "5", "z"]


def test_that_what_left_a_folder_is_gone_unless_the_folder_cannot_be_listed() -> None:
    root, other = Path("/in"), Path("/other/c.txt")
    files = [ListedFile(root / name, "in") for name in ("a.txt", "sub/b.txt")]
    index = Index()
    for file in (*files, ListedFile(other, "other")):
        index.add_other(file, "no image")
    index.retain([root], [ListedFile(root / "sub", "in")])
    assert [one.path for one in index.others] == [root / "sub/b.txt", other]
    index.retain([root], [])
    assert [one.path for one in index.others] == [other]


def test_that_a_series_keeps_its_key_while_others_join(folder: Path) -> None:
    index = Index()
    files = [f for f in list_files([folder]) if f.path.suffix == ".dcm"]
    index.place(files)
    second = files[1]
    index.add(second, read_file_header(second.path))
    key = index.cases()[0].studies[0].series[0].key
    for file in files:
        index.add(file, read_file_header(file.path))
    keys = {
        image.ref.path: series.key
        for series in index.cases()[0].studies[0].series
        for image in series.images
    }
    assert keys[second.path] == key


def test_that_a_closed_patient_is_gone_and_can_come_again(folder: Path) -> None:
    index = Index()
    for file in list_files([folder]):
        if file.path.suffix == ".dcm":
            index.add(file, read_file_header(file.path))
        else:
            index.add_other(file, "It is no image.")
    assert [other.reason for other in index.others] == ["It is no image."]
    index.remove("one")
    assert [case.patient_key for case in index.cases()] == ["two"]
    assert folder / "0.dcm" not in index
    index.clear()
    assert (len(index), index.cases(), index.others) == (0, (), ())
