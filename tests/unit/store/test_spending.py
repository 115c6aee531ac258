import sqlite3

import pytest

from tests.helpers.small_store import a_run, some_trials
from viewer.domain.answer import Status
from viewer.domain.errors import StoreError
from viewer.domain.exchange import RawReply, ReplyKind, Usage
from viewer.store import runs, spending, trials
from viewer.store.database import Store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.trials import RequestRecord


def attempts(store: Store, run: int, n: int) -> list[int]:
    """Begin an attempt of each of the first trials; return their numbers."""
    pending = runs.trials_in(store, run, [Status.PENDING])[:n]
    with store.transaction():
        names = [f"{i:064x}" for i in range(n)]
        trials.keep_requests(
            store, [RequestRecord(s, {"messages": []}, "p", {}, {}) for s in names]
        )
        return [
            trials.begin_attempt(store, stored.id, sha256)
            for stored, sha256 in zip(pending, names, strict=True)
        ]


def reply(store: Store, attempt: int, number: int, cost: int | None) -> None:
    raw = RawReply(ReplyKind.PLAIN, b"{}", 200)
    record = ReplyRecord(raw, Usage(1, 1), cost, "tiny", reusable=True)
    with store.transaction():
        trials.keep_reply(store, attempt, f"{number:064x}", record)


def test_that_the_last_ceiling_set_holds_and_the_earlier_ones_stay(
    store: Store,
) -> None:
    run = a_run(store, some_trials(1))
    assert spending.ceiling_of_run(store, run) is None
    for ceiling in (5_000_000, 5_000_000, 7_000_000, 5_000_000):
        spending.set_ceiling(store, run, ceiling)
    assert spending.ceiling_of_run(store, run) == 5_000_000
    kept = store.rows("SELECT ceiling_microusd FROM run_ceiling ORDER BY id")
    assert [row[0] for row in kept] == [5_000_000, 7_000_000, 5_000_000]


def test_that_a_ceiling_once_set_cannot_be_changed_or_removed(store: Store) -> None:
    run = a_run(store, some_trials(1))
    spending.set_ceiling(store, run, 1)
    for sql in (
        "UPDATE run_ceiling SET ceiling_microusd = 9",
        "DELETE FROM run_ceiling",
    ):
        with pytest.raises((StoreError, sqlite3.Error)):
            store.execute(sql)


def test_that_what_nobody_priced_is_told_apart_from_what_cost_nothing(
    store: Store,
) -> None:
    run = a_run(store, some_trials(6))
    paid, silent, refused, broken, orphan, _open = attempts(store, run, 6)
    reply(store, paid, 0, 31)
    reply(store, silent, 1, None)
    with store.transaction():
        trials.close_with_error(
            store, refused, reason="http_429", message="", http_status=429
        )
        trials.close_with_error(
            store, broken, reason="connection", message="", http_status=None
        )
        trials.close_orphan(store, orphan)
    assert spending.spent_microusd(store, run) == 31
    found = spending.unpriced_attempts(store, run)
    assert [u.reason for u in found] == ["", "connection", "orphan", ""]
    assert [int(u.request_sha256, 16) for u in found] == [1, 3, 4, 5]
