"""ZIP files that are opened like a folder."""

import shutil
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from viewer.domain.errors import UnreadableInputError
from viewer.services.viewing import unpacking
from viewer.services.viewing.unpacking import is_zip, unpacked_zip


def _never() -> bool:
    return False


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """A ZIP file with two files, what a Mac adds, and a name that leads elsewhere."""
    path = tmp_path / "films.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("a/1.dcm", b"one" * 500)
        archive.writestr("a/2.dcm", b"two" * 500)
        archive.writestr("__MACOSX/a/._1.dcm", b"mac")
        archive.writestr("../../out.dcm", b"out")
    return path


def test_that_a_zip_is_a_private_folder_of_its_name(
    tmp_path: Path, films: Path
) -> None:
    assert is_zip(films)
    folder = unpacked_zip(tmp_path / "home", films, _never)
    assert folder.name == "films"
    found = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.dcm"))
    assert found == ["a/1.dcm", "a/2.dcm", "out.dcm"]
    assert folder.stat().st_mode & 0o077 == 0
    (folder / "a" / "2.dcm").unlink()
    assert unpacked_zip(tmp_path / "home", films, _never) == folder
    assert not (folder / "a" / "2.dcm").exists()  # it was not unpacked again
    films.touch()
    assert unpacked_zip(tmp_path / "home", films, _never) != folder


def test_that_what_was_stopped_is_unpacked_the_next_time(
    tmp_path: Path, films: Path
) -> None:
    answers = iter([False, True])
    folder = unpacked_zip(tmp_path / "home", films, lambda: next(answers))
    assert [p.name for p in folder.rglob("*.dcm")] == ["1.dcm"]
    assert unpacked_zip(tmp_path / "home", films, _never) == folder
    assert len([*folder.rglob("*.dcm")]) == 3


def test_that_a_damaged_or_encrypted_zip_is_refused_in_a_sentence(
    tmp_path: Path, films: Path
) -> None:
    content = bytearray(films.read_bytes())
    content[45] ^= 0xFF
    films.write_bytes(content)
    with pytest.raises(UnreadableInputError, match=r"films\.zip is damaged"):
        unpacked_zip(tmp_path / "home", films, _never)
    assert not any((tmp_path / "home" / "unpacked").iterdir())
    with ZipFile(films, "w") as archive:
        archive.writestr("1.dcm", b"one")
    content = bytearray(films.read_bytes())
    content[6] |= 1  # the flag of encryption, in the local header and the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    films.write_bytes(content)
    with pytest.raises(UnreadableInputError, match=r"films\.zip is encrypted\."):
        unpacked_zip(tmp_path / "home", films, _never)


def test_that_a_full_disk_is_told_before_anything_is_unpacked(
    tmp_path: Path, films: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_LEFT", shutil.disk_usage(tmp_path).free)
    with pytest.raises(UnreadableInputError, match=r"films\.zip unpacks to 0\.0 GB"):
        unpacked_zip(tmp_path / "home", films, _never)


def test_that_other_files_are_no_zip(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no")
    (tmp_path / "b.dcm").write_text("no")
    assert not is_zip(tmp_path / "a.zip")
    assert not is_zip(tmp_path / "b.dcm")
    assert not is_zip(tmp_path)
