"""Backups are whole, restoring is all or nothing, and compaction loses nothing."""

from pathlib import Path

import pytest

from tests.helpers.small_store import a_dataset
from tests.helpers.tiny_study import a_spec, finish, planned
from viewer.domain.errors import RunHeldError, StoreError, WrongUseError
from viewer.services.housekeeping.backup import (
    back_up,
    compact,
    content_of,
    restore,
)
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import open_store, utc_now
from viewer.store.locks import run_lock


@pytest.fixture
def kept(settings: Settings, tmp_path: Path) -> Settings:
    with open_store(settings.store) as store:
        finish(store, planned(store, tmp_path / "d", a_spec(), 2))
    return settings


def test_that_a_backup_brings_back_what_was_deleted_since(
    kept: Settings, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.sqlite"
    before = content_of(kept.store)
    with open_store(kept.store) as open_meanwhile:
        made = back_up(kept.store, copy)
        assert open_meanwhile.rows("SELECT count(*) FROM run")[0][0] == 1
    assert copy.stat().st_mode & 0o077 == 0
    assert (made.runs, made.replies) == (before.runs, before.replies) == (1, 2)
    delete(kept, Target(Kind.DATASET, "tiny"))
    assert content_of(kept.store).runs == 0
    assert restore(copy, kept.store).runs == 1
    with open_store(kept.store) as store:
        assert not store.is_older_copy
        cases.add_dataset(store, a_dataset("later"))
        assert store.rows("PRAGMA integrity_check")[0][0] == "ok"


def test_that_a_backup_is_never_written_over_a_file(
    kept: Settings, tmp_path: Path
) -> None:
    there = tmp_path / "there.txt"
    there.write_text("mine")
    for path in (there, tmp_path / "no" / "folder.sqlite"):
        with pytest.raises(WrongUseError):
            back_up(kept.store, path)
    assert there.read_text() == "mine"


def test_that_what_is_no_backup_leaves_the_store_as_it_was(
    kept: Settings, tmp_path: Path
) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("no store at all\n" * 100)
    before = kept.store.read_bytes()
    for path in (text, kept.store, tmp_path / "missing.sqlite"):
        with pytest.raises((StoreError, WrongUseError)):
            restore(path, kept.store)
    assert kept.store.read_bytes() == before


def test_that_nothing_is_restored_under_a_run_at_work(
    kept: Settings, tmp_path: Path
) -> None:
    back_up(kept.store, tmp_path / "copy.sqlite")
    with run_lock(kept.store, 1, utc_now()), pytest.raises(RunHeldError):
        restore(tmp_path / "copy.sqlite", kept.store)


def test_that_compaction_gives_free_space_back(kept: Settings) -> None:
    with open_store(kept.store) as store:
        for statement in ("CREATE TABLE t (x)", "DROP TABLE t"):
            with store.transaction():
                store.execute(statement)
                if "CREATE" in statement:
                    store.execute("INSERT INTO t VALUES (randomblob(2000000))")
        store.empty_log()
    before, after = compact(kept.store)
    assert before - after > 1_900_000
    assert content_of(kept.store).replies == 2
