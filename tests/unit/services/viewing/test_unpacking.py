"""ZIP files that are opened like a folder."""

import gc
import shutil
from pathlib import Path
from threading import Event
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.helpers.small_datasets import write_dicom
from viewer.domain.case import Dataset, ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.services.importing.open_folder import register_folder
from viewer.services.viewing import unpacking
from viewer.services.viewing.unpacking import UnpackedZips, is_zip
from viewer.settings import Settings
from viewer.store.cases import add_dataset
from viewer.store.database import open_store
from viewer.store.folders import dataset_of_folder
from viewer.store.marks import keep_marks


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


@pytest.fixture
def zips(tmp_path: Path) -> UnpackedZips:
    return UnpackedZips(_settings(tmp_path))


def _settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "home", tmp_path / "home" / "store.sqlite")


def test_that_a_zip_is_a_private_folder_of_its_name(
    films: Path, zips: UnpackedZips
) -> None:
    assert is_zip(films)
    folder = zips.folder_of(films, _never)
    assert folder.name == "films"
    found = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.dcm"))
    assert found == ["a/1.dcm", "a/2.dcm", "out.dcm"]
    assert folder.stat().st_mode & 0o077 == 0
    (folder / "a" / "2.dcm").unlink()
    assert zips.folder_of(films, _never) == folder
    assert not (folder / "a" / "2.dcm").exists()  # it was not unpacked again
    films.touch()
    assert zips.folder_of(films, _never) != folder


def test_that_what_was_stopped_is_unpacked_the_next_time(
    films: Path, zips: UnpackedZips
) -> None:
    answers = iter([False, True])
    folder = zips.folder_of(films, lambda: next(answers))
    assert [p.name for p in folder.rglob("*.dcm")] == ["1.dcm"]
    assert zips.folder_of(films, _never) == folder
    assert len([*folder.rglob("*.dcm")]) == 3


def test_that_a_damaged_or_encrypted_zip_is_refused_in_a_sentence(
    tmp_path: Path, films: Path, zips: UnpackedZips
) -> None:
    content = bytearray(films.read_bytes())
    content[45] ^= 0xFF
    films.write_bytes(content)
    with pytest.raises(UnreadableInputError, match=r"films\.zip is damaged"):
        zips.folder_of(films, _never)
    assert not [p for p in (tmp_path / "home").rglob("*") if p.name == "films"]
    with ZipFile(films, "w") as archive:
        archive.writestr("1.dcm", b"one")
    content = bytearray(films.read_bytes())
    content[6] |= 1  # the flag of encryption, in the local header and the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    films.write_bytes(content)
    with pytest.raises(UnreadableInputError, match=r"films\.zip is encrypted\."):
        zips.folder_of(films, _never)


def test_that_a_full_disk_is_told_before_anything_is_unpacked(
    tmp_path: Path,
    films: Path,
    zips: UnpackedZips,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unpacking, "_LEFT", shutil.disk_usage(tmp_path).total)
    with pytest.raises(UnreadableInputError, match=r"films\.zip unpacks to 0\.0 GB"):
        zips.folder_of(films, _never)


def _unpacked_once(tmp_path: Path, films: Path) -> Path:
    """Return the folder of a ZIP file that a window opened which is closed now."""
    folder = UnpackedZips(_settings(tmp_path)).folder_of(films, _never)
    gc.collect()  # and with the window its lock
    return folder


def test_that_a_copy_that_nothing_needs_is_deleted_with_its_data_set(
    tmp_path: Path, films: Path
) -> None:
    with ZipFile(films, "w") as archive:
        for n in range(2):
            archive.write(write_dicom(tmp_path / f"{n}.dcm"), f"{n}.dcm")
    folder, settings = _unpacked_once(tmp_path, films), _settings(tmp_path)
    register_folder(settings.store, folder, Event())
    assert UnpackedZips(settings).delete_unneeded([folder]) == 0  # it is open
    assert UnpackedZips(settings).delete_unneeded([]) == 1
    assert not folder.parent.exists()
    with open_store(settings.store) as store:
        assert dataset_of_folder(store, folder) is None
    assert _unpacked_once(tmp_path, films) == folder  # so that marks find it again


def test_that_a_copy_with_marks_or_an_imported_data_set_is_kept(
    tmp_path: Path, films: Path
) -> None:
    folder, settings = _unpacked_once(tmp_path, films), _settings(tmp_path)
    ref = ImageRef(folder / "a" / "1.dcm")
    with open_store(settings.store) as store:
        keep_marks(store, ref, (Mark(MarkKind.POINT, (PointPx(1, 1),)),))
    assert UnpackedZips(settings).delete_unneeded([]) == 0
    with open_store(settings.store) as store:
        keep_marks(store, ref, ())
        add_dataset(store, Dataset("films", "tiles", folder, (), (), "0" * 64))
    assert UnpackedZips(settings).delete_unneeded([]) == 0
    assert (folder / "a" / "1.dcm").exists()


def test_that_a_copy_in_use_by_another_window_is_kept(
    tmp_path: Path, films: Path, zips: UnpackedZips
) -> None:
    folder = _unpacked_once(tmp_path, films)
    zips.hold(folder)
    assert UnpackedZips(_settings(tmp_path)).delete_unneeded([]) == 0
    assert zips.delete_unneeded([]) == 0
    assert folder.exists()


def test_that_copies_of_another_store_are_left_to_it(
    tmp_path: Path, films: Path
) -> None:
    folder = _unpacked_once(tmp_path, films)
    other = Settings(tmp_path / "home", tmp_path / "other.sqlite")
    assert UnpackedZips(other).delete_unneeded([]) == 0
    assert folder.exists()


def test_that_other_files_are_no_zip(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no")
    (tmp_path / "b.dcm").write_text("no")
    assert not is_zip(tmp_path / "a.zip")
    assert not is_zip(tmp_path / "b.dcm")
    assert not is_zip(tmp_path)
