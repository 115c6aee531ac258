"""Two persons of one name are never one reader unless somebody says so."""

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.reviewed_run import DATASET, MODELS, missed_run
from tests.helpers.sealed_sessions import PANEL, store_of_questions
from tests.helpers.task_stores import imported, phantom
from viewer.domain.form_catalog import READER_TASK, VERDICT
from viewer.domain.reading import KnownReader, NameTakenError, SessionId
from viewer.services.readings import cases, recording
from viewer.services.readings.agreeing import agreement, open_adjudication
from viewer.services.readings.mrmc import export_readings
from viewer.services.readings.opening import (
    open_error_review,
    open_reader_study,
    sessions,
)
from viewer.services.readings.result_rows import result_rows
from viewer.services.readings.task_readings import open_task
from viewer.services.readings.who_read import who_read
from viewer.services.reporting.report_run import report_data
from viewer.services.sessions import datasets
from viewer.services.sessions.file_readers import names_in_results, readers_in_files
from viewer.store import cases as data_sets
from viewer.store import readings
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit, events_of


@pytest.fixture
def store(tmp_path: Path) -> Path:
    missed_run(path := tmp_path / "s.sqlite", 3)
    return path


def lock_all(store: Path, session: SessionId, verdict: str) -> None:
    for position in range(len(cases.queue(store, session))):
        recording.lock(store, session, position, {VERDICT: verdict})


def refusal(opens: Callable[[], object]) -> NameTakenError:
    with pytest.raises(NameTakenError) as refused:
        opens()
    return refused.value


@pytest.mark.parametrize("again", ["Zoe", " zoe ", "ＺＯＥ"])
def test_that_a_name_that_has_read_elsewhere_is_asked_about(
    again: str, store: Path
) -> None:
    open_error_review(store, 1, "Zoe")
    error = refusal(lambda: open_reader_study(store, DATASET, READER_TASK, again))
    known, opened = error.people[0], sessions(store)[0].opened_at
    assert error.people == (KnownReader("Zoe", (SessionId(1),), opened),)
    assert error.free == "Zoe (2)"
    assert "Zoe has already read here (session 1)." in str(error)
    assert len(sessions(store)) == 1
    wrong = refusal(
        lambda: open_reader_study(store, DATASET, READER_TASK, "zOE", returning=True)
    )
    assert wrong.people == (known,)


def test_that_every_reader_of_a_name_is_offered_with_the_next_number(
    store: Path,
) -> None:
    for name in ("Zoe", "Zoe (2)", "Zoe (4)", "Zo"):
        open_error_review(store, 1, name)
    error = refusal(lambda: open_reader_study(store, DATASET, READER_TASK, "Zoe (2)"))
    assert [one.name for one in error.people] == ["Zoe (2)", "Zoe", "Zoe (4)"]
    assert error.free == "Zoe (3)"


def test_that_two_readers_of_one_name_agree_as_two(store: Path) -> None:
    first = open_error_review(store, 1, "Zoe")
    lock_all(store, first, "2")
    free = refusal(lambda: open_error_review(store, 1, "Zoe", seed=1)).free
    lock_all(store, open_error_review(store, 1, free, seed=1), "3")
    (pair,) = agreement(store, 1)
    assert (pair.first, pair.second) == ("Zoe", "Zoe (2)")
    assert pair.percent.value == 0
    assert "Zoe (2)" in str(refusal(lambda: open_adjudication(store, 1, "ZOE (2)")))


def test_that_results_say_which_sessions_belong_to_a_returning_reader(
    store: Path, tmp_path: Path
) -> None:
    first = open_error_review(store, 1, "Zoe", cap=1)
    lock_all(store, first, "2")
    lock_all(store, open_error_review(store, 1, "Ann", cap=1), "2")
    more = open_error_review(store, 1, "Zoe", cap=3, returning=True)
    lock_all(store, more, "3")
    told = [(row["reader"], row["session"]) for row in result_rows(store, 1)["readers"]]
    assert told == [("Zoe", 1), ("Zoe", 3), ("Ann", 2)]
    export_readings(store, first, tmp_path / "out")
    with (tmp_path / "out" / "readers.csv").open() as file:
        filed = list(csv.DictReader(file))
    n = len(cases.queue(store, more))
    assert [(r["reader"], r["session"], r["locked"]) for r in filed][1] == (
        "Zoe",
        "3",
        str(n),
    )
    with open_store(store) as opened:
        (noted,) = events_of(opened, more, "returning")
        assert noted["earlier"] == [1]
        assert check_audit(opened).intact
        sections = report_data(opened, 1).data.sections
    (section,) = [one for one in sections if one.title == "Readers"]
    assert [row[:2] for row in section.table.rows] == told
    assert not any(name in str(section) for name in MODELS)


def test_that_the_name_of_a_reader_who_withdrew_is_free(store: Path) -> None:
    recording.withdraw(store, open_error_review(store, 1, "Zoe"))
    assert open_reader_study(store, DATASET, READER_TASK, "Zoe") == 2


def with_experts(store: Path, *entries: tuple[str, str, int]) -> None:
    """Have a file say who answered the first question, as one beside it would."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "UPDATE item SET reference = json_set(reference, '$.experts', json(?))"
            " WHERE key = 'CANARYITEM0'",
            (json.dumps(entries),),
        )


def experts_in(store: Path) -> list[str]:
    with open_store(store) as opened:
        items = datasets.dataset_named(opened, PANEL.dataset).items
    listed: Any = items[0].reference["experts"]
    return [one[1] for one in listed]


def lock_answers(store: Path, session: SessionId) -> None:
    for position in range(len(cases.queue(store, session))):
        recording.lock(store, session, position, {"answer": "A"})


@pytest.mark.parametrize("again", ["Zoe", "zoe"])
def test_that_a_name_in_a_file_of_the_data_set_is_asked_about(
    again: str, tmp_path: Path
) -> None:
    store = store_of_questions(tmp_path)
    with_experts(store, ("I", "Zoe", 0), ("I", "Zoe (2)", 1))
    error = refusal(lambda: open_task(store, PANEL, again))
    assert error.people == (KnownReader("Zoe", dataset=PANEL.dataset),)
    assert f"Zoe has already read here (a file of {PANEL.dataset})." in str(error)
    assert error.free.casefold() == "zoe (3)"
    lock_answers(store, open_task(store, PANEL, "Zoe", returning=True))
    assert experts_in(store).count("Zoe") == 2
    with open_store(store) as opened:
        (noted,) = events_of(opened, 2, "returning")
        assert (noted["earlier"], noted["filed"]) == ([], True)
        assert check_audit(opened).intact


def test_that_a_name_that_a_file_brings_later_is_another_reader(
    tmp_path: Path,
) -> None:
    store = store_of_questions(tmp_path)
    lock_answers(store, open_task(store, PANEL, "Zoe"))
    with_experts(store, ("I", "ZOE", 0), ("I", "Ann", 1))
    found = experts_in(store)
    assert found[:2] == ["ZOE", "Ann"]
    assert "Zoe (2)" in found
    assert "Zoe" not in found
    with open_store(store) as opened:
        dataset = data_sets.dataset_named(opened, PANEL.dataset)
        called = names_in_results(opened, dataset)
        rows = readings.session_rows(opened)
        told = who_read(opened, rows, called).rows
    assert called == {"Zoe": "Zoe (2)"}
    assert "Zoe (2)" in [row[0] for row in told]


def test_that_readers_in_a_file_of_grades_are_known(tmp_path: Path) -> None:
    folder = phantom(tmp_path / "cases", "rubric_reading", 2)
    store = imported(folder, "report-studies", run=False)
    with open_store(store) as opened:
        dataset = data_sets.dataset_named(opened, "people")
    with (folder / "grades.csv").open(encoding="utf-8") as file:
        named = {row["reader"] for row in csv.DictReader(file)}
    assert named
    assert readers_in_files(dataset) == named
    (folder / "grades.csv").write_text("nothing", "utf-8")
    assert readers_in_files(dataset) == frozenset()
