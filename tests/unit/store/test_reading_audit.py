"""Whoever changes what readers did, with whatever tool, is found out."""

import contextlib
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest

from tests.helpers.reviewed_run import MODELS, reviewed_run
from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.form_catalog import (
    ANATOMY,
    CONFIDENCE,
    PLACE,
    POSITION,
    READER_TASK,
    VERDICT,
)
from viewer.domain.grid import Cell
from viewer.domain.reading import SessionId
from viewer.domain.telemetry import Look, Sight
from viewer.services.readings import cases, opening, recording, reviewing
from viewer.services.readings.certificate import certify
from viewer.services.readings.telemetry import decide, record
from viewer.store.database import Store, open_store
from viewer.store.reading_audit import START, AuditCheck, check_audit

_ADDED = (
    "INSERT INTO reading SELECT 99, session_id, position, act, stage, answers,"
    " comment, active_ms, salt, at FROM reading WHERE id = 1"
)


def _check(path: Path) -> AuditCheck:
    with open_store(path) as store:
        return check_audit(store)


def _two_readers(path: Path) -> tuple[SessionId, SessionId]:
    run = reviewed_run(path, 2)
    first = opening.open_error_review(path, run, "Dr. Ada Canary")
    second = opening.open_error_review(path, run, "B", telemetry=True)
    for session, verdict in ((first, POSITION), (second, ANATOMY)):
        for position in range(2):
            recording.lock(
                path,
                session,
                position,
                {VERDICT: verdict},
                comment="canary comment" if session == first else "",
            )
            cases.reveal(path, session, position)
    return first, second


def _tamper(path: Path, sql: str) -> None:
    """Change a store as somebody would who takes the triggers away first."""
    connection = sqlite3.connect(path)
    triggers = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        " AND (name LIKE 'reading%' OR tbl_name = 'signing_key')"
    ).fetchall()
    for (name,) in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.executescript(sql)
    connection.commit()
    connection.close()


def test_that_an_untouched_audit_is_intact(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        assert check_audit(store) == AuditCheck(0, START, ())
    _two_readers(path)
    checked = _check(path)
    assert checked.intact
    assert checked.events == 2 + 4 + 4


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ('UPDATE reading SET answers = \'{"verdict": "3"}\' WHERE id = 1', "Answer 1"),
        ("UPDATE reading SET active_ms = 5 WHERE id = 3", "Answer 3 was changed"),
        ("UPDATE reading SET at = '' WHERE id = 2", "Answer 2 was changed"),
        ("DELETE FROM reading WHERE id = 4", "Answer 4 of session 1 was removed"),
        (
            _ADDED,
            "Answer 99 is in no event",
        ),
        ("UPDATE reading_session SET reader = 'C'", "The reader of session 1"),
        ("UPDATE reading_task SET finding = 'x'", "The cases of session 1"),
        ("UPDATE reading_session SET form = '{}'", "The cases of session 1"),
        ("DELETE FROM reading_audit WHERE seq = 3", "Event 3 of the audit is missing"),
        (
            "UPDATE reading_audit SET event = upper(event) WHERE seq = 3",
            "Event 3 of the audit was changed",
        ),
        ("DELETE FROM reading_audit WHERE seq = 10", "Answer 8 is in no event"),
    ],
)
def test_that_tampering_is_told_by_its_row(
    tmp_path: Path, sql: str, sentence: str
) -> None:
    path = tmp_path / "s.sqlite"
    _two_readers(path)
    _tamper(path, sql)
    checked = _check(path)
    assert not checked.intact
    assert any(problem.startswith(sentence) for problem in checked.problems)


def test_that_an_event_with_a_new_hash_breaks_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    _two_readers(path)
    _tamper(
        path,
        "UPDATE reading_audit SET sha256 = printf('%064d', 7) WHERE seq = 4",
    )
    problems = _check(path).problems
    assert "Event 4 of the audit was changed." in problems
    assert "Event 5 of the audit does not follow the one before it." in problems


def _cells(path: Path) -> list[tuple[str, str, int]]:
    """Return every (table, column, row) that holds what readers did."""
    connection = sqlite3.connect(path)
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name GLOB 'reading*' AND name <> 'reading_state'"
    ).fetchall()
    names = ["signing_key", *(name for (name,) in tables)]
    assert len(names) == 7
    cells = [
        (table, column[1], row)
        for table in names
        for column in connection.execute(f"PRAGMA table_info({table})").fetchall()
        for row in range(
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        )
    ]
    connection.close()
    return cells


def test_that_a_change_of_any_single_cell_is_told(tmp_path: Path) -> None:
    """Every cell of every table in turn, with triggers and checks taken away."""
    path = _read_in_every_way(tmp_path)
    with open_store(path) as store:
        for table, column, row in _cells(path):
            with contextlib.suppress(_Changed), store.transaction():
                _change(store, table, column, row)
                assert not check_audit(store).intact, (table, column, row)
                raise _Changed
    assert _check(path).intact


def _read_in_every_way(tmp_path: Path) -> Path:
    """Return a store of reviews, a withdrawal, telemetry, and answers beside a model's.

    The audit ends with a certificate.
    """
    path = tmp_path / "s.sqlite"
    first, second = _two_readers(path)
    recording.withdraw(path, first)
    for arm in Arm:
        aid = Aid(1, MODELS[0], arm, 0.5)
        aided = opening.open_reader_study(
            path, "reviewed", READER_TASK, "C", aid=aid, returning=True
        )
        place = CellAnswer(Cell(0, 0))
        recording.consent(path, aided)  # some answers are wrong on purpose
        recording.lock(path, aided, 0, {PLACE: place, CONFIDENCE: 3})
    decide(path, second, given=True)
    sight = Sight(0, 0, 0, 0.0, 0.0, 9.0, 9.0, 2.0, 40.0, 400.0)
    look = Look(0, "2026-01-01T10:00:00.000+00:00", 250, sight)
    record(path, second, [look, look], seal=True)
    certify(path, second, tmp_path / "second.json")
    assert _check(path).intact
    return path


def test_that_a_removed_row_and_two_swapped_ones_are_told(tmp_path: Path) -> None:
    """But for the audit's last event, which a certificate or a note of it shows."""
    path = _read_in_every_way(tmp_path)
    tried = {"removed": 0, "swapped": 0}
    with open_store(path) as store:
        for table in sorted({table for table, _, _ in _cells(path)}):
            rows = [tuple(row) for row in store.rows(f"SELECT * FROM {table}")]
            end = len(rows) - (table == "reading_audit")
            changes = [("removed", rows[:i] + rows[i + 1 :]) for i in range(end)]
            keys = sum(bool(c["pk"]) for c in store.rows(f"PRAGMA table_info({table})"))
            for i, (one, other) in enumerate(pairwise(rows)):
                two = [one[:keys] + other[keys:], other[:keys] + one[keys:]]
                changes.append(("swapped", rows[:i] + two + rows[i + 2 :]))
            for what, changed in changes:
                if changed == rows:
                    continue  # two looks of the same length at the same place
                tried[what] += 1
                with contextlib.suppress(_Changed), store.transaction():
                    _unguard(store, table)
                    store.execute(f"DELETE FROM {table}")
                    marks = ", ".join("?" * len(rows[0]))
                    store.execute_many(f"INSERT INTO {table} VALUES ({marks})", changed)
                    assert not check_audit(store).intact, (table, what, changed)
                    raise _Changed
    assert min(tried.values()) > 40
    assert _check(path).intact


class _Changed(Exception):  # noqa: N818 - no error: it takes the change back
    """Rolls a change back."""


def _change(store: Store, table: str, column: str, row: int) -> None:
    _unguard(store, table)
    key = {"reading_task": "session_id * 1000 + position"}.get(table, "rowid")
    kind = store.rows(f"SELECT typeof({column}) FROM {table} LIMIT 1")[0][0]
    new = f"ifnull({column}, 0) + 7777" if kind != "text" else f"{column} || 'x'"
    store.execute(
        f"UPDATE {table} SET {column} = {new} WHERE {key} ="
        f" (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {row})"
    )


def _unguard(store: Store, table: str) -> None:
    """Take a table's triggers and checks away, until the transaction ends."""
    store.execute("PRAGMA defer_foreign_keys = ON")
    store.rows("PRAGMA ignore_check_constraints = ON")
    store.execute("DROP INDEX reading_audit_of_session")  # it reads events as JSON
    for trigger in store.rows(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
        (table,),
    ):
        store.execute(f"DROP TRIGGER {trigger[0]}")


def test_that_nothing_is_signed_once_the_key_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    first, _ = _two_readers(path)
    certify(path, first, tmp_path / "first.json")
    _tamper(path, "DELETE FROM signing_key")
    assert _check(path).problems == (
        "The key that signs sessions and certificates was changed or removed.",
    )
    with pytest.raises(StoreError, match="certificates is missing"):
        certify(path, first, tmp_path / "again.json")


def test_that_a_withdrawal_that_nobody_noted_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    _two_readers(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO reading_withdrawal VALUES (1, '', 'now')")
    connection.execute("DELETE FROM reading WHERE session_id = 1")
    connection.commit()
    connection.close()
    problems = _check(path).problems
    assert "The withdrawal of session 1 is in no event." in problems
    assert "Answer 1 of session 1 was removed." in problems


def test_that_who_withdraws_takes_name_and_answers_along_but_not_the_fact(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    first, second = _two_readers(path)
    before = _check(path)
    assert recording.withdraw(path, first, "asked to") == 4
    checked = _check(path)
    assert checked.intact
    assert checked.events == before.events + 1
    told = opening.session(path, first)
    assert (told.withdrawn, told.done, told.reader) == (True, 0, f"withdrawn {first}")
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"Ada Canary" not in kept
    assert b"canary comment" not in kept
    counted = reviewing.review_results(path, 1)
    assert sum(row.found["anatomy"] for row in counted) == 2
    assert sum(row.found["position"] for row in counted) == 0
    for act in (recording.lock, recording.autosave):
        with pytest.raises(WrongUseError, match="has withdrawn"):
            act(path, first, 1, {VERDICT: POSITION})
    with pytest.raises(WrongUseError, match="already withdrawn"):
        recording.withdraw(path, first)
    assert not opening.session(path, second).withdrawn


def test_that_who_withdrew_may_come_back_in_another_session(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    first, _ = _two_readers(path)
    recording.withdraw(path, first)
    again = opening.open_error_review(path, 1, "Dr. Ada Canary")
    assert again not in {first, 2}
    assert len(cases.queue(path, again)) == len(cases.queue(path, first))
