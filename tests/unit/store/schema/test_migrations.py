"""The tables of a store, as the migrations build them one after the other."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from viewer.store.schema import APPEND_ONLY, LATEST, MIGRATIONS

KEPT = [*(table for group in APPEND_ONLY.values() for table in group)]
KEPT += ["signing_key", "model_check"]
_VALUES = {"INTEGER": 1, "REAL": 1.0, "TEXT": "{}", "BLOB": b"a", "ANY": "a"}


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        for version in range(1, LATEST + 1):
            made.executescript(MIGRATIONS[version]())
        # what a row may refer to, and hold, is the business of other tests
        made.execute("PRAGMA ignore_check_constraints = ON")
        yield made


def test_that_every_version_can_be_reached_from_the_one_before() -> None:
    assert [*MIGRATIONS] == [*range(1, LATEST + 1)]


def test_that_a_new_store_has_a_name_of_its_own_and_no_transaction_yet(
    store: sqlite3.Connection,
) -> None:
    ((name, generation),) = store.execute("SELECT name, generation FROM store_mark")
    assert (len(name), generation) == (32, 0)
    with pytest.raises(sqlite3.IntegrityError):
        store.execute("INSERT INTO store_mark VALUES (1, 'another', 0)")


@pytest.mark.parametrize("table", KEPT)
def test_that_no_row_of_what_was_asked_and_answered_changes_or_goes(
    store: sqlite3.Connection, table: str
) -> None:
    kinds = store.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    columns = [(name, _VALUES[kind]) for name, kind in kinds]
    names = ", ".join(name for name, _ in columns)
    marks = ", ".join("?" for _ in columns)
    row = [value for _, value in columns]
    store.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)
    first = columns[0][0]
    for change in (f"UPDATE {table} SET {first} = {first}", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match=f"{table} rows are append"):
            store.execute(change)
