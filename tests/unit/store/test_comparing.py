"""Declared families and first looks are kept as they were."""

from pathlib import Path

import pytest

from tests.helpers.small_store import a_run, some_trials
from viewer.domain.errors import StoreError
from viewer.store import comparing
from viewer.store.comparing import Declaration
from viewer.store.database import Store, open_store
from viewer.store.schema import APPEND_ONLY


def declared(store: Store, sha256: str = "f" * 64) -> Declaration:
    return comparing.declare(
        store,
        dataset_sha256=sha256,
        study="grid_localization",
        findings=("Edema", "Atelectasis"),
        pairs=(("a", "b"), ("a", "c")),
        metric="hit_rate",
        test="sign_flip",
        alpha=0.05,
    )


def test_that_a_declared_family_reads_back_and_keeps_its_time(store: Store) -> None:
    first, second = declared(store), declared(store)
    declared(store, "0" * 64)
    assert comparing.declarations(store, "f" * 64) == (first, second)
    assert first.pairs == (("a", "b"), ("a", "c"))
    assert first.declared_at <= second.declared_at


def test_that_the_first_look_stays_the_first_in_either_order(store: Store) -> None:
    run = a_run(store, some_trials())
    first = comparing.first_look(store, (run, "b"), (run, "a"))
    assert comparing.first_look(store, (run, "a"), (run, "b")) == first
    assert store.rows("SELECT count(*) FROM comparison_look")[0][0] == 1


@pytest.mark.parametrize("table", APPEND_ONLY["comparisons"])
@pytest.mark.parametrize("change", ["UPDATE {} SET id = 7", "DELETE FROM {}"])
def test_that_neither_can_be_changed_afterwards(
    store: Store, table: str, change: str
) -> None:
    run = a_run(store, some_trials())
    declared(store)
    comparing.first_look(store, (run, "a"), (run, "b"))
    with pytest.raises(StoreError, match="append-only"), store.transaction():
        store.execute(change.format(table))


def test_that_a_read_only_store_is_looked_at_without_a_note(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        run = a_run(store, some_trials())
    with open_store(path) as store:
        store.writable = False
        assert comparing.first_look(store, (run, "a"), (run, "b"))
        assert store.rows("SELECT count(*) FROM comparison_look")[0][0] == 0
