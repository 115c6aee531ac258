"""Headers kept of a folder: unchanged files are not read again."""

import os
from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_dicom, write_picture
from viewer.services.viewing import kept_headers as module
from viewer.services.viewing.header_chunks import Headers, Refused, read_chunk
from viewer.services.viewing.kept_headers import kept_headers


@pytest.fixture(autouse=True)
def _from_the_third_file_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ENOUGH", 2)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, ...]:
    """Six images, one of them damaged, of which the first two are a first chunk."""
    made = [write_dicom(tmp_path / "in" / f"{n}.dcm", patient_id="p") for n in range(4)]
    made.append(write_picture(tmp_path / "in" / "4.png"))
    broken = tmp_path / "in" / "5.dcm"
    broken.write_bytes(b"no image")
    return (*made, broken)


def _open(home: Path, paths: tuple[Path, ...]) -> tuple[Headers, list[str]]:
    """Return the headers of two chunks, and the names of the files that were read."""
    names: list[str] = []

    def read(chunk: tuple[Path, ...]) -> Headers:
        names.extend(path.name for path in chunk)
        return read_chunk(chunk)

    with kept_headers(home, paths[0].parent) as kept:
        headers = (*kept.read(paths[:2], read), *kept.read(paths[2:], read))
    return headers, names


def test_that_unchanged_files_are_not_read_again(
    tmp_path: Path, paths: tuple[Path, ...]
) -> None:
    first, read_first = _open(tmp_path / "home", paths)
    assert read_first == [path.name for path in paths]
    again, read_again = _open(tmp_path / "home", paths)
    assert again == first == read_chunk(paths)
    assert isinstance(again[5], Refused)
    assert read_again == ["0.dcm", "1.dcm", "5.dcm"]


def test_that_a_file_is_read_again_after_it_changed(
    tmp_path: Path, paths: tuple[Path, ...]
) -> None:
    _open(tmp_path / "home", paths)
    write_dicom(paths[2], patient_id="q")
    os.utime(paths[3], ns=(1, 1))
    paths[4].unlink()
    again, read_again = _open(tmp_path / "home", paths)
    assert read_again == ["0.dcm", "1.dcm", "2.dcm", "3.dcm", "4.png", "5.dcm"]
    assert again == read_chunk(paths)


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b'{"version": "0", "files": {}}'])
def test_that_what_was_kept_may_be_damaged_or_of_another_version(
    tmp_path: Path, paths: tuple[Path, ...], content: bytes
) -> None:
    _open(tmp_path / "home", paths)
    (file,) = (tmp_path / "home" / "headers").iterdir()
    file.write_bytes(content)
    again, read_again = _open(tmp_path / "home", paths)
    assert len(read_again) == len(paths)
    assert again == read_chunk(paths)


def test_that_only_its_owner_may_read_it_and_old_folders_are_forgotten(
    tmp_path: Path, paths: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_FOLDERS", 1)
    _open(tmp_path / "home", paths)
    (first,) = (tmp_path / "home" / "headers").iterdir()
    assert first.stat().st_mode & 0o077 == 0
    os.utime(first, ns=(1, 1))
    others = [write_dicom(tmp_path / "other" / f"{n}.dcm") for n in range(4)]
    _open(tmp_path / "home", tuple(others))
    (left,) = (tmp_path / "home" / "headers").iterdir()
    assert left != first
