import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from viewer import private_files
from viewer.private_files import (
    make_folder,
    make_private_folder,
    open_private,
    restrict_umask,
    share,
    tighten,
)
from viewer.settings import HOME_VARIABLE, read_settings
from viewer.store.database import open_store
from viewer.store.locks import run_lock
from viewer.writers.files import write_atomically

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such permissions"
)


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_that_a_new_store_and_all_files_beside_it_are_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "s.sqlite"
    with open_store(path) as store, run_lock(path, 1, "now"), store.transaction():
        store.execute("CREATE TABLE x (y)")
        names = {file.name: mode(file) for file in tmp_path.iterdir()}
    assert {*names} >= {
        "s.sqlite",
        "s.sqlite-wal",
        "s.sqlite-shm",
        "s.sqlite.run1.lock",
    }
    assert set(names.values()) == {0o600}
    assert mode(tmp_path) == 0o755


def test_that_a_folder_made_for_a_store_is_private(tmp_path: Path) -> None:
    open_store(tmp_path / "a" / "b" / "s.sqlite").close()
    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b")] == [0o700, 0o700]


def test_that_an_older_store_is_tightened_and_the_person_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "s.sqlite"
    open_store(path).close()
    lock = tmp_path / "s.sqlite.run1.lock"
    stranger = tmp_path / "notes.txt"
    lock.touch()
    stranger.touch()
    for file in (path, lock, stranger):
        file.chmod(0o664)
    open_store(path).close()
    open_store(path).close()
    assert [mode(path), mode(lock)] == [0o600, 0o600]
    assert (mode(stranger), mode(tmp_path)) == (0o664, 0o755)
    assert caplog.messages == [
        f"Other users of this machine could read '{path}'; now only you can."
    ]


def test_that_an_older_data_folder_is_tightened_with_all_it_holds(
    tmp_path: Path,
) -> None:
    home = read_settings().home
    (home / "demo").mkdir()
    picture = home / "demo" / "a.png"
    picture.touch()
    outside = tmp_path / "outside.txt"
    outside.touch()
    outside.chmod(0o644)
    (home / "link").symlink_to(outside)
    for path in (picture, home / "demo", home):
        path.chmod(0o755)
    assert str(home) in tighten(read_settings().store)
    assert [mode(home), mode(home / "demo"), mode(picture)] == [0o700] * 3
    assert mode(outside) == 0o644
    assert tighten(read_settings().store) == ""


def test_that_the_persons_own_folder_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    tmp_path.chmod(0o755)
    assert tighten(tmp_path / "s.sqlite") == ""
    assert mode(tmp_path) == 0o755


def test_that_what_is_written_into_the_data_folder_is_private() -> None:
    home = read_settings().home
    write_atomically(home / "demo" / "new" / "a.txt", b"x")
    assert mode(home / "demo" / "new" / "a.txt") == 0o600
    assert [mode(home / "demo"), mode(home / "demo" / "new")] == [0o700, 0o700]


@pytest.mark.parametrize("restricted", [False, True])
def test_that_an_export_has_the_permissions_of_the_persons_umask(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch, *, restricted: bool
) -> None:
    monkeypatch.setattr(private_files, "_umask_at_start", [])
    if restricted:
        restrict_umask()
    write_atomically(tmp_path / "out" / "figures" / "a.svg", b"x")
    assert mode(tmp_path / "out" / "figures" / "a.svg") == 0o666 & ~umask
    assert mode(tmp_path / "out") == 0o777 & ~umask
    assert mode(tmp_path / "out" / "figures") == 0o777 & ~umask


def test_that_sharing_a_folder_keeps_the_group_it_hands_down(
    tmp_path: Path, umask: int
) -> None:
    tmp_path.chmod(0o2700)
    share(tmp_path)
    assert mode(tmp_path) == 0o2000 | (0o777 & ~umask)


def test_that_a_private_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "lock", "a+b")
    assert victim.read_text() == "whole"


def test_that_an_export_is_not_written_through_a_temporary_file_made_before(
    tmp_path: Path,
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    (tmp_path / "a.txt").symlink_to(victim)
    write_atomically(tmp_path / "a.txt", b"x")
    assert victim.read_text() == "whole"
    assert (tmp_path / "a.txt").read_bytes() == b"x"


def test_that_a_private_file_of_an_older_version_becomes_private(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x"
    path.touch()
    path.chmod(0o644)
    with open_private(path, "ab") as file:
        assert mode(path) == 0o600
        file.write(b"x")


def test_that_folders_are_made_down_to_the_last(tmp_path: Path, umask: int) -> None:
    make_private_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "c" / "d")
    assert mode(tmp_path / "a" / "b") == 0o700
    assert mode(tmp_path / "c" / "d") == 0o777 & ~umask
