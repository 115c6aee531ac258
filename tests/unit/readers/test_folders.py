"""Which files an opened folder stands for, and in which order."""

import os
import sys
from pathlib import Path

from viewer.readers.datasets.files import files_below
from viewer.readers.folders import ListedFile, list_files


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_that_files_come_in_natural_order_with_their_folder(tmp_path: Path) -> None:
    root = tmp_path / "case"
    _touch(root / "10.dcm", root / "9.dcm", root / "2" / "a.dcm", root / "11" / "b")
    assert list(list_files([root])) == [
        ListedFile(root / "2" / "a.dcm", "case/2"),
        ListedFile(root / "9.dcm", "case"),
        ListedFile(root / "10.dcm", "case"),
        ListedFile(root / "11" / "b", "case/11"),
    ]


def test_that_a_file_goes_by_the_folder_it_lies_in_and_comes_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "case" / "a.png"
    _touch(path)
    assert list(list_files([path, path.parent])) == [ListedFile(path, "case")]


def test_that_what_no_one_means_is_passed_over(tmp_path: Path) -> None:
    _touch(*(tmp_path / n for n in (".a", "DICOMDIR", "thumbs.db", ".git/b", "c.dcm")))
    _touch(tmp_path / "c.Lung Lesion.png", tmp_path / "d.Edema.png")
    _touch(tmp_path / "c.nodule.JPG", tmp_path / "c.2.jpg")
    names = [file.path.name for file in list_files([tmp_path])]
    assert names == ["c.2.jpg", "c.dcm", "d.Edema.png"]


def test_that_a_link_to_a_folder_above_is_named_and_not_followed(
    tmp_path: Path,
) -> None:
    _touch(tmp_path / "a")
    (tmp_path / "again").symlink_to(tmp_path)
    assert [f.path.name for f in list_files([tmp_path])] == ["a", "again"]


def test_that_folders_lie_as_deep_as_they_like(tmp_path: Path) -> None:
    depth = 1_200
    root = tmp_path / "root"
    root.mkdir()
    _make_deep(root, depth)
    try:
        found = [file.path for file in list_files([root])]
        assert found == [root.joinpath(*"d" * depth, "a")]
        assert files_below(root) == tuple(found)
    finally:
        _flatten(root)


def _flatten(root: Path) -> None:
    """Take such folders out of each other; what deletes them may call itself."""
    for n in range(sys.maxsize):
        inner = root / "d"
        if not inner.is_dir():
            return
        inner.rename(root.parent / "out")
        root.rename(root.parent / f"empty{n}")
        (root.parent / "out").rename(root)


def _make_deep(root: Path, depth: int) -> None:
    """Make folders one within the other, and a file in the last."""
    above = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=above)
        below = os.open("d", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(os.open("a", os.O_CREAT | os.O_WRONLY, dir_fd=above))
    os.close(above)


def test_that_listing_ends_when_it_is_told_to(tmp_path: Path) -> None:
    _touch(*(tmp_path / str(n) for n in range(5)))
    answers = iter([False, False, True])
    assert len(list(list_files([tmp_path], lambda: next(answers)))) == 2
