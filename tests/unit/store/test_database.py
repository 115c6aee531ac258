import shutil
import sqlite3
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.helpers.forked import run_program, start_program
from tests.helpers.small_store import a_dataset
from viewer.domain.errors import StoreError
from viewer.store import cases, database
from viewer.store.database import APPLICATION_ID, open_store
from viewer.store.schema import LATEST, MIGRATIONS


def test_that_a_new_store_carries_our_mark_and_the_latest_schema(
    tmp_path: Path,
) -> None:
    with open_store(tmp_path / "deep" / "overread.sqlite") as store:
        assert store.rows("PRAGMA application_id")[0][0] == APPLICATION_ID
        assert store.rows("PRAGMA user_version")[0][0] == LATEST
        assert store.rows("PRAGMA journal_mode")[0][0] == "wal"
        assert store.rows("PRAGMA synchronous")[0][0] == 2
        assert store.rows("PRAGMA foreign_keys")[0][0] == 1


def test_that_every_table_is_strict(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        tables = store.rows("PRAGMA table_list")
    ours = [t for t in tables if t["type"] == "table" and t["schema"] == "main"]
    loose = [t["name"] for t in ours if not t["strict"]]
    assert [name for name in loose if not name.startswith("sqlite_")] == []
    assert len(ours) > 10


def test_that_migrations_are_numbered_without_a_gap() -> None:
    assert sorted(MIGRATIONS) == list(range(1, LATEST + 1))


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a store with a data set, made before the version that is to open it."""
    path = tmp_path / "old.sqlite"
    with open_store(path) as store:
        cases.add_dataset(store, a_dataset())
    added = "ALTER TABLE dataset ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';"
    monkeypatch.setattr(
        database, "MIGRATIONS", {**MIGRATIONS, LATEST + 1: lambda: added}
    )
    monkeypatch.setattr(database, "LATEST", LATEST + 1)
    return path


def test_that_a_store_of_the_version_before_opens_with_all_it_holds(old: Path) -> None:
    with open_store(old) as store:
        assert store.rows("PRAGMA user_version")[0][0] == LATEST + 1
        assert store.rows("SELECT colour FROM dataset")[0]["colour"] == "grey"
        assert cases.dataset_named(store, a_dataset().name) == a_dataset()


def test_that_who_opens_a_store_meanwhile_waits_until_it_is_up_to_date(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    other = sqlite3.connect(old, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.4, lambda: other.execute("ROLLBACK"))
    timer.start()
    with open_store(old) as store:
        assert store.rows("SELECT colour FROM dataset")[0]["colour"] == "grey"
        assert store.rows("PRAGMA busy_timeout")[0][0] == 20
    timer.join()
    other.close()


def test_that_a_text_file_is_no_store_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database at all\n" * 50)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a SQLite file"):
        open_store(path)
    assert path.read_bytes() == before


def test_that_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_store(path)
    assert path.read_bytes() == before


def test_that_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite"
    with open_store(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer Overread"):
        open_store(path)


def test_that_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path)


def test_that_a_damaged_store_is_named_so(tmp_path: Path) -> None:
    path = tmp_path / "damaged.sqlite"
    with open_store(path):
        pass
    data = bytearray(path.read_bytes())
    data[100:3000] = bytes(2900)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"damaged|refused"):
        open_store(path)


def test_that_a_full_disk_rolls_back_and_keeps_what_is_stored(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        with store.transaction():
            store.execute("INSERT INTO blob VALUES ('kept', x'00')")
        pages = store.rows("PRAGMA page_count")[0][0]
        store.rows(f"PRAGMA max_page_count = {pages + 2}")
        with (
            pytest.raises(StoreError, match="disk that holds the store is full"),
            store.transaction(),
        ):
            store.execute("INSERT INTO blob VALUES ('lost', zeroblob(1000000))")
        assert [r["sha256"] for r in store.rows("SELECT sha256 FROM blob")] == ["kept"]


def test_that_two_processes_may_make_the_same_store(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    code = (
        "import sys; from pathlib import Path;"
        "from viewer.store.database import open_store;"
        "open_store(Path(sys.argv[1])).close()"
    )
    processes = [start_program(path, code=code) for _ in range(4)]
    assert [p.wait() for p in processes] == [0, 0, 0, 0]


def test_that_a_store_made_while_it_is_looked_at_is_a_store(tmp_path: Path) -> None:
    path, made = tmp_path / "s.sqlite", list[str]()

    class Slow(sqlite3.Connection):
        """Another process makes the store after the first look at the file."""

        def execute(self, *words: Any) -> Any:  # noqa: ANN401 - as in SQLite
            row = super().execute(*words).fetchall()[0]
            if not made:
                made.append("made")
                open_store(path).close()
            return SimpleNamespace(fetchone=lambda: row)

    connection = sqlite3.connect(path, factory=Slow)
    assert database._checked_version(path, connection) == LATEST
    connection.close()


def test_that_a_new_store_waits_until_another_has_opened_it(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # SQLite lets nobody wait for this one's end
    other.execute("PRAGMA user_version")
    threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
    with open_store(path) as store:
        assert store.rows("PRAGMA journal_mode")[0][0] == "wal"


READ_ONLY = """
import os, sys
from pathlib import Path
from viewer.domain.errors import StoreError
from viewer.store.database import open_store
open_store(Path(sys.argv[2])).close()  # everything is imported before rights go
if os.getuid() == 0:
    os.setuid(65534)
store = open_store(Path(sys.argv[1]))
print(store.writable, store.rows("SELECT count(*) FROM blob")[0][0])
try:
    with store.transaction():
        store.execute("INSERT INTO blob VALUES ('x', x'00')")
except StoreError as error:
    print(error)
"""


def test_that_a_read_only_store_can_be_read_but_not_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        with open_store(path) as store, store.transaction():
            store.execute("INSERT INTO blob VALUES ('kept', x'00')")
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        spare = tempfile.mkdtemp()
        done = run_program(path, f"{spare}/other.sqlite", code=READ_ONLY)
        Path(folder).chmod(0o755)
        shutil.rmtree(spare)
    assert done.stdout.splitlines()[:1] == ["False 1"], done.stderr
    assert "read-only" in done.stdout.splitlines()[1]
