"""A session whose cases show more after a lock travels in parts, and leaks nothing."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.read_answers import answer_of
from tests.helpers.read_tasks import READ_TASKS
from tests.helpers.sealed_sessions import everything_in, look_through
from tests.helpers.secret_words import SECRET_MODELS, secrets_in
from tests.helpers.task_stores import overread
from viewer.cli import run_command_line
from viewer.domain.errors import OverreadError, PrivacyError
from viewer.domain.reading import Interval, SessionId, TaskState
from viewer.services.privacy.decisions import restrict
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.aiding import effects
from viewer.services.readings.merging import Merged, merge_answers
from viewer.services.readings.sealed import open_sealed, write_answers
from viewer.services.readings.sealing import seal_session
from viewer.services.reporting.report_run import checked_report
from viewer.services.sessions.datasets import dataset_named
from viewer.settings import HOME_VARIABLE, SEALED_ENDING, Settings
from viewer.store import reading_audit, runs
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit
from viewer.writers.tables import csv_bytes

TASKS = (
    *("differential", "validity", "panel, then a model", "placing, then a model"),
    "placing in both arms",
)
"""What shows something new after a first lock."""
READER = "Zoe"


@dataclass(frozen=True)
class Away:
    """A reader's session at home, and the machine where it is read."""

    home: Path
    session: SessionId
    there: Settings

    def read(self, file: Path, cases_read: int | None = None) -> tuple[SessionId, Path]:
        """Read a part, or its first cases; return its number there and the answers."""
        opened = open_sealed(self.there, file)
        read_all(self.there.store, opened, cases_read)
        answers = file.with_suffix(".overread-answers")
        return opened, write_answers(self.there.store, opened, answers).path

    def seal(self, file: Path) -> Path:
        return seal_session(self.home, self.session, file).path

    def merge(self, answers: Path) -> Merged:
        return merge_answers(self.home, answers)


@dataclass(frozen=True)
class Halfway:
    """A session whose first part was read there, its number there and the answers."""

    trip: Away
    opened: SessionId
    answers: Path


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a store of a task, once."""

    @cache
    def made(name: str) -> Path:
        folder = tmp_path_factory.mktemp("parts") / "task"
        return READ_TASKS[name].material.store(folder)

    return made


@pytest.fixture
def away(
    store_of: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Away]:
    """Return what opens a reader's session of a task."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "kept"))

    def made(name: str) -> Away:
        home = tmp_path / "home.sqlite"
        shutil.copy(store_of(name), home)
        session = READ_TASKS[name].open(home, READER)
        look_through(home, session)
        there = tmp_path / "there"
        return Away(home, session, Settings(there, there / "overread.sqlite"))

    return made


def read_all(store: Path, session: SessionId, count: int | None = None) -> None:
    """Lock every stage of the cases that is asked, and change the mind once."""
    form = opening.session(store, session).form
    if not recording.has_consented(store, session):
        recording.consent(store, session)
    at_work = [Interval(0, 1500)]
    for task in cases.queue(store, session)[:count]:
        shown = task
        while shown.state is not TaskState.LOCKED:
            values = answer_of(form, shown)
            recording.autosave(store, session, task.position, values)
            shown = recording.lock(
                store, session, task.position, values, activity=at_work
            )


def withheld_words(store: Path, session: SessionId) -> list[set[str]]:
    """Return what each case shows only after its first lock, as secret words."""
    with open_store(store) as opened:
        rows = opened.rows(
            "SELECT withheld FROM reading_task WHERE session_id = ? ORDER BY position",
            (session,),
        )
    found = [json.loads(row["withheld"]) for row in rows]
    return [
        secrets_in(json.dumps([one.get("later"), one.get("options")])) for one in found
    ]


def advice_of(store: Path, session: SessionId) -> set[str]:
    with open_store(store) as opened:
        rows = opened.rows(
            "SELECT json_extract(withheld, '$.advice') AS advice FROM reading_task"
            " WHERE session_id = ?",
            (session,),
        )
    return {row["advice"] for row in rows if row["advice"]}


@pytest.mark.parametrize("name", TASKS)
def test_that_a_session_in_parts_is_that_read_at_home(
    name: str, away: Callable[[str], Away], tmp_path: Path
) -> None:
    trip = away(name)
    at_home = tmp_path / "at-home.sqlite"
    shutil.copy(trip.home, at_home)
    file = trip.seal(tmp_path / f"zoe{SEALED_ENDING}")
    later = set().union(*withheld_words(trip.home, trip.session))
    advice = advice_of(trip.home, trip.session)
    assert later or advice
    told = b"\n".join(everything_in(file)).decode("latin-1")
    assert not secrets_in(told) & (later | SECRET_MODELS)
    assert not any(json.dumps(one)[1:-1] in told for one in advice)
    parts = []
    while True:
        opened, answers = trip.read(file)
        merged = trip.merge(answers)
        parts.append(opened)
        if merged.then is None:
            break
        file = merged.then.path
        assert f"Send {file.name} to {READER}" in merged.sentence
    assert merged.problem == ""
    assert len(parts) == 2
    assert merged.locked == merged.planned
    told = b"\n".join(everything_in(file)).decode("latin-1")
    assert later <= secrets_in(told)
    assert not secrets_in(told) & SECRET_MODELS
    read_all(at_home, trip.session)
    assert kept_in(trip.home, trip.session) == kept_in(at_home, trip.session)
    with open_store(trip.home) as home, open_store(trip.there.store) as there:
        assert reading_audit.acts_of(home, trip.session) == reading_audit.acts_of(
            there, parts[-1]
        )
        assert check_audit(home).intact
        assert check_audit(there).intact


def kept_in(store: Path, session: SessionId) -> object:
    """Return what the answers to a session make of its data set and its tables."""
    with open_store(store) as opened:
        ended = [one.id for one in runs.run_summaries(opened, include_adhoc=False)]
        dataset = opening.session(store, session).dataset
        tables = {
            table.name: csv_bytes(table.header, table.rows)
            for run in ended
            for table in checked_report(opened, run).data.tables
        }
        # As text: what has no trial is not a number, which equals nothing.
        return dataset_named(opened, dataset), tables, str(effects(store, session))


def test_that_physicians_of_two_parts_are_rows_of_the_paper_s_table(
    away: Callable[[str], Away], store_of: Callable[[str], Path], tmp_path: Path
) -> None:
    trip = away("differential")
    _, answers = trip.read(trip.seal(tmp_path / f"zoe{SEALED_ENDING}"))
    then = trip.merge(answers).then
    assert then is not None
    trip.merge(trip.read(then.path)[1])
    settings = store_of("differential").with_suffix("") / "study.toml"
    text = settings.read_text("utf-8")
    named = settings.with_stem("named")
    named.write_text(re.sub(r"(?m)^dataset = .*", 'dataset = "people"', text), "utf-8")
    overread("run", named, "--store", trip.home)
    with open_store(trip.home) as store:
        tables = {t.name: t for t in checked_report(store, 1).data.tables}
    assert "table_02" in {
        name for name, of in tables.items() if any(READER in row for row in of.rows)
    }


@pytest.fixture
def halfway(away: Callable[[str], Away], tmp_path: Path) -> Halfway:
    """A session of which the first part is answered and not merged."""
    trip = away("validity")
    file = trip.seal(tmp_path / f"zoe{SEALED_ENDING}")
    return Halfway(trip, *trip.read(file))


def refused(trip: Away, answers: Path, sentence: str) -> None:
    """Check that a file is refused with one sentence, and nothing of it stays."""
    before = acts_and_audit(trip)
    with pytest.raises(OverreadError, match=sentence) as told:
        trip.merge(answers)
    assert told.value.how
    assert acts_and_audit(trip) == before


def acts_and_audit(trip: Away) -> tuple[object, ...]:
    with open_store(trip.home) as store:
        return reading_audit.acts_of(store, trip.session), check_audit(store)


def test_that_a_second_part_is_refused_where_the_first_is_not_merged(
    halfway: Halfway, tmp_path: Path
) -> None:
    trip, kept = halfway.trip, tmp_path / "kept.sqlite"
    shutil.copy(trip.home, kept)
    then = trip.merge(halfway.answers).then
    assert then is not None
    assert then.sentence.endswith(f"in {then.path.name}.")
    _, second = trip.read(then.path)
    refused(replace(trip, home=kept), second, "follow others that are not merged")
    trip.merge(second)
    refused(trip, second, "part 2 of session 1 are merged already")
    refused(trip, halfway.answers, "part 1 of session 1 are merged already")


def test_that_a_second_part_follows_these_answers_and_no_others(
    halfway: Halfway, tmp_path: Path
) -> None:
    trip, other = halfway.trip, tmp_path / "other.sqlite"
    shutil.copy(trip.home, other)
    then = trip.merge(halfway.answers).then
    assert then is not None
    _, second = trip.read(then.path)
    elsewhere = Settings(tmp_path / "third", tmp_path / "third.sqlite")
    copy = Away(other, trip.session, elsewhere)
    _, others = copy.read(copy.seal(tmp_path / f"again{SEALED_ENDING}"))
    copy.merge(others)
    refused(copy, second, "follow others that are not merged")
    refused(copy, halfway.answers, "part 1 of session 1 are merged already")


def test_that_answers_may_come_back_in_portions(
    away: Callable[[str], Away], tmp_path: Path
) -> None:
    trip = away("validity")
    file = trip.seal(tmp_path / f"zoe{SEALED_ENDING}")
    _, some = trip.read(file, 3)
    merged = trip.merge(some)
    assert (merged.acts, merged.locked, merged.then) == (6, 3, None)
    assert "3 of 12 cases locked; the others can follow" in merged.sentence
    refused(trip, some, "part 1 of session 1 are merged already")
    opened, whole = trip.read(file)
    merged = trip.merge(whole)
    assert (merged.acts, merged.locked) == (18, 12)
    assert merged.then is not None
    with open_store(trip.home) as home, open_store(trip.there.store) as there:
        acts = reading_audit.acts_of(there, opened)
        assert reading_audit.acts_of(home, trip.session) == acts


def test_that_the_next_part_can_be_sealed_again_and_never_over_a_file(
    halfway: Halfway, tmp_path: Path
) -> None:
    trip = halfway.trip
    taken = tmp_path / f"zoe-part-2{SEALED_ENDING}"
    taken.write_bytes(b"mine")
    then = trip.merge(halfway.answers).then
    assert then is not None
    assert then.path.name == f"zoe-part-2-2{SEALED_ENDING}"
    assert taken.read_bytes() == b"mine"
    again = trip.seal(tmp_path / f"again{SEALED_ENDING}")
    trip.merge(trip.read(again)[1])
    refused(trip, trip.read(then.path)[1], "part 2 of session 1 are merged already")
    with pytest.raises(OverreadError, match="Every case of session 1 is locked"):
        trip.seal(again)


def test_that_what_was_merged_stays_where_the_next_part_cannot_be_sealed(
    halfway: Halfway,
) -> None:
    trip = halfway.trip
    with open_store(trip.home) as store:
        restrict(store, "people", restricted=True)
    merged = trip.merge(halfway.answers)
    assert merged.then is None
    assert "The next part was not sealed." in merged.sentence
    assert "is restricted" in merged.sentence
    assert merged.locked == merged.planned


def test_that_what_comes_later_is_looked_through_before_the_first_part_leaves(
    away: Callable[[str], Away], tmp_path: Path
) -> None:
    trip = away("validity")
    image = cases.queue(trip.home, trip.session)[0].image.path.name
    with sqlite3.connect(trip.home) as connection:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (name,) in connection.execute(triggers).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            "UPDATE reading_task SET withheld = json_set(withheld,"
            " '$.later[0].text', ?) WHERE position = 0",
            (f"as in {image}",),
        )
    with pytest.raises(PrivacyError, match="because of case 1"):
        trip.seal(tmp_path / f"zoe{SEALED_ENDING}")


def test_that_a_first_lock_can_be_undone_where_nothing_was_shown_yet(
    away: Callable[[str], Away], tmp_path: Path
) -> None:
    trip = away("validity")
    opened = open_sealed(trip.there, trip.seal(tmp_path / f"zoe{SEALED_ENDING}"))
    store = trip.there.store
    recording.lock(store, opened, 0, {"answer": "A"})
    recording.undo(store, opened, 0)
    read_all(store, opened)
    answers = write_answers(store, opened, tmp_path / "zoe.overread-answers").path
    assert trip.merge(answers).then is not None


def test_that_the_command_line_takes_a_session_there_and_back_twice(
    away: Callable[[str], Away], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trip = away("validity")
    file, answers = tmp_path / f"z{SEALED_ENDING}", tmp_path / "z.overread-answers"
    overread("export", "session", 1, "--out", file, "--store", trip.home)
    assert f"Send it to {READER}; part 2 begins after" in capsys.readouterr().out
    for part in (1, 2):
        opened, _ = trip.read(file)
        there = trip.there.store
        overread("export", "session", opened, "--out", answers, "--store", there)
        capsys.readouterr()
        overread("import", "session", answers, "--json", "--store", trip.home)
        then = json.loads(capsys.readouterr().out)["then"]
        assert (then is None) == (part == 2)
        file = Path(then) if then else file
    words = ("export", "session", "1", "--out", str(file), "--store", str(trip.home))
    assert run_command_line(words) == 2
