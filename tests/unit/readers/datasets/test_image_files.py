"""Images found by what a table calls them."""

from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_picture
from viewer.readers.datasets.image_files import ImageFiles


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("ONE.JPG", "ONE.jpg"),
        ("one.jpeg", "one.jpg"),
        ("one.jpg", "one.JPEG"),
        ("images/one.PNG", "images/one.png"),
        ("deep/images/one.tiff", "images/one.tif"),
        ("one.dicom", "one.dcm"),
    ],
)
def test_that_a_suffix_may_be_spelled_otherwise(
    there: str, written: str, tmp_path: Path
) -> None:
    (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / there).touch()
    assert ImageFiles(tmp_path).find(written) == tmp_path / there


def test_that_a_suffix_of_another_kind_is_another_file(tmp_path: Path) -> None:
    write_picture(tmp_path / "one.png")
    assert ImageFiles(tmp_path).find("one.jpg") is None


def test_that_an_exact_name_goes_before_another_spelling(tmp_path: Path) -> None:
    for name in ("one.jpeg", "one.jpg"):
        write_picture(tmp_path / name)
    files = ImageFiles(tmp_path)
    assert files.find("one.jpg") == tmp_path / "one.jpg"
    assert files.find("one.jpeg") == tmp_path / "one.jpeg"


def test_that_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for i in range(3):
        write_picture(tmp_path / f"p{i}" / "s1" / "pa.png")
    files = ImageFiles(tmp_path)
    assert files.find("p2/s1/pa.png") == tmp_path / "p2" / "s1" / "pa.png"
    assert files.find("p1/s1/pa") == tmp_path / "p1" / "s1" / "pa.png"
    assert files.find("s2/pa.png") is None
    assert not files.notices
    assert files.find("s1/pa.png") == tmp_path / "p0" / "s1" / "pa.png"
    assert [n.text for n in files.notices] == [
        "3 files have its name; 'p0/s1/pa.png' is read."
    ]
