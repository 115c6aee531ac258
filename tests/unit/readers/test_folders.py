"""Which files an opened folder stands for, and in which order."""

from pathlib import Path

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
    assert [f.path.name for f in list_files([tmp_path])] == ["c.dcm", "d.Edema.png"]


def test_that_a_link_to_a_folder_above_is_not_followed(tmp_path: Path) -> None:
    _touch(tmp_path / "a")
    (tmp_path / "again").symlink_to(tmp_path)
    assert [f.path.name for f in list_files([tmp_path])] == ["a"]


def test_that_listing_ends_when_it_is_told_to(tmp_path: Path) -> None:
    _touch(*(tmp_path / str(n) for n in range(5)))
    answers = iter([False, False, True])
    assert len(list(list_files([tmp_path], lambda: next(answers)))) == 2
