import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.reviewed_run import reviewed_run
from viewer.cli import run_command_line
from viewer.domain.answer import CellAnswer
from viewer.domain.form_catalog import (
    ANATOMY,
    CONFIDENCE,
    PLACE,
    POSITION,
    READER_TASK,
    VERDICT,
)
from viewer.domain.grid import Cell
from viewer.services.readings import opening, recording

if TYPE_CHECKING:
    from viewer.domain.form_values import Values

Overread = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run that two readers reviewed, who disagree about one miss."""
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 2, findings=("Edema",))
    for reader in ("A", "B"):
        session = opening.open_error_review(path, run, reader)
        for position in range(4):
            last = reader == "B" and position == 3
            verdict = ANATOMY if last else POSITION
            recording.lock(path, session, position, {VERDICT: verdict})
    return path


@pytest.fixture
def overread(store: Path, capsys: pytest.CaptureFixture[str]) -> Overread:
    def run(*words: object) -> tuple[int, str, str]:
        arguments = ["readings", *(str(word) for word in words), "--store", str(store)]
        code = run_command_line(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_that_sessions_are_listed_newest_first(overread: Overread) -> None:
    code, out, _ = overread("--json")
    rows = json.loads(out)
    assert code == 0
    assert [(row["session"], row["reader"], row["done"]) for row in rows] == [
        (2, "B", 4),
        (1, "A", 4),
    ]
    assert "secret-model" not in out
    assert "error_review" in overread()[1]


def test_that_results_are_told_with_intervals_and_agreement(
    overread: Overread,
) -> None:
    code, out, _ = overread("--run", "last", "--json")
    told = json.loads(out)
    assert code == 0
    assert [row["misses"] for row in told["misses"]] == [2, 2]
    assert sum(row["position"] for row in told["misses"]) == 4
    assert sum(row["disputed"] for row in told["misses"]) == 1
    assert told["misses"][0]["anatomy_high"] == 0
    (pair,) = told["agreement"]
    assert (pair["cases"], pair["percent"]) == (4, 0.75)
    assert "Cohen" in overread("--run", 1)[1]


def test_that_progress_of_a_session_is_told(overread: Overread) -> None:
    code, out, _ = overread("--session", 1, "--json")
    assert code == 0
    assert json.loads(out)["left"] == 0


def test_that_what_was_locked_is_exported(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", "readings", "1", "--out", str(tmp_path), "--store", str(store)]
    assert run_command_line(words) == 0
    names = "readings.csv", "readers.csv", "agreement.csv"
    files = [tmp_path / name for name in names]
    assert capsys.readouterr().out.split() == [str(file) for file in files]
    assert run_command_line([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [str(file) for file in files]


def test_that_a_session_is_entered_as_a_run(overread: Overread, store: Path) -> None:
    session = opening.open_reader_study(store, "reviewed", READER_TASK, "C")
    values: Values = {PLACE: CellAnswer(Cell(0, 0)), CONFIDENCE: 5}
    recording.lock(store, session, 0, values)
    code, out, _ = overread("--session", session, "--enter", "--json")
    assert (code, json.loads(out)) == (0, {"run": 2, "added": 1})
    assert overread("--session", session, "--enter")[1] == "0 answers added to run 2\n"


def test_that_readers_of_a_study_are_told_how_far_they_agree(
    overread: Overread, store: Path
) -> None:
    for reader in ("C", "D"):
        session = opening.open_reader_study(store, "reviewed", READER_TASK, reader)
        for position in range(2):
            level = 1 if reader == "C" or position else 5
            values: Values = {PLACE: CellAnswer(Cell(0, 0)), CONFIDENCE: level}
            recording.lock(store, session, position, values)
    code, out, _ = overread("--session", session, "--json")
    (told,) = json.loads(out)["agreement"]
    assert (code, told["question"], told["readers"]) == (0, "confidence", "C, D")
    assert "Krippendorff" in told["methods"]
    assert "C and D" in overread("--session", session)[1]


def test_that_a_reader_is_let_go(overread: Overread) -> None:
    code, out, _ = overread("--session", 1, "--withdraw", "asked to")
    assert (code, out) == (0, "4 rows of session 1 purged\n")
    assert overread("--session", 1, "--withdraw", "again", "--json")[0] == 2
    assert overread("--check")[0] == 0


def test_that_the_check_says_what_was_changed_and_ends_with_1(
    overread: Overread, store: Path
) -> None:
    code, out, _ = overread("--check")
    assert (code, out.startswith("10 events, all intact")) == (0, True)
    connection = sqlite3.connect(store)
    connection.executescript(
        "DROP TRIGGER reading_keeps; UPDATE reading SET active_ms = 7 WHERE id = 2;"
    )
    connection.close()
    code, out, err = overread("--check", "--json")
    assert code == 1
    assert json.loads(out)["problems"] == ["Answer 2 was changed."]
    assert err == "Answer 2 was changed.\n"


@pytest.mark.parametrize(
    "words",
    [
        ("--run", "1", "--check"),
        ("--enter",),
        ("--session", "99"),
        ("--session", "1", "--enter"),
        ("--session", "1", "--enter", "--withdraw", "x"),
    ],
)
def test_that_wrong_use_is_one_line(overread: Overread, words: tuple[str, ...]) -> None:
    code, out, err = overread(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
