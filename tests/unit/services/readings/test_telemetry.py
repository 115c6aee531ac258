"""What was on screen is recorded with consent alone, and goes with its reader."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.sealed_sessions import (
    PANEL,
    SIZE,
    answer_all,
    store_of_questions,
)
from viewer.cli import run_command_line
from viewer.domain.errors import StoreError, WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.reading import SessionId
from viewer.domain.telemetry import Look, Sight
from viewer.services.housekeeping.delete import Kind, Target, delete
from viewer.services.readings import cases, recording
from viewer.services.readings.merging import merge_answers
from viewer.services.readings.sealed import open_sealed, write_answers
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.task_readings import open_task
from viewer.services.readings.telemetry import (
    Replay,
    decide,
    decision,
    dwell_map,
    export_telemetry,
    record,
    replay,
    replayable,
)
from viewer.settings import HOME_VARIABLE, Settings
from viewer.store.database import open_store
from viewer.store.looks import looks_of
from viewer.store.reading_audit import check_audit, events_of

RECORDED = replace(PANEL, telemetry=True)
SIGHT = Sight(0, 0, 0, -1.5, 0.0, 40.25, 48.0, 0.75, 1234.5, 400.0)


def look(position: int, second: int, sight: Sight = SIGHT, ms: int = 500) -> Look:
    return Look(position, f"2026-01-01T10:00:{second:02}.250+00:00", ms, sight)


SEEN = (
    look(0, 1),
    look(0, 2, replace(SIGHT, zoom=2.5, inverted=True)),
    look(1, 3, replace(SIGHT, center=None, width=None)),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("telemetry")
    store = store_of_questions(folder)
    open_task(store, RECORDED, "Zoe")
    return store


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A store with session 2, which asks its reader whether to record."""
    return Path(shutil.copy(made, tmp_path / "s.sqlite"))


ZOE, OTHER = SessionId(2), SessionId(1)


def agreed(store: Path) -> Path:
    decide(store, ZOE, given=True)
    record(store, ZOE, SEEN, seal=True)
    return store


def intact(store: Path) -> bool:
    with open_store(store) as opened:
        return check_audit(opened).intact


def kept(store: Path, session: int = ZOE) -> tuple[Look, ...]:
    with open_store(store) as opened:
        return looks_of(opened, session)


def test_that_nothing_is_recorded_without_consent(store: Path) -> None:
    assert decision(store, ZOE) is None
    assert decision(store, OTHER) is False
    with pytest.raises(WrongUseError, match="has not agreed to be recorded"):
        record(store, ZOE, SEEN)
    decide(store, ZOE, given=False)
    assert decision(store, ZOE) is False
    with pytest.raises(WrongUseError, match="has not agreed"):
        record(store, ZOE, SEEN)
    for act in (
        lambda: record(store, OTHER, SEEN),
        lambda: decide(store, OTHER, given=True),
    ):
        with pytest.raises(WrongUseError, match="does not record what is on screen"):
            act()
    answer_all(store, ZOE)  # reading goes on
    assert kept(store) == ()
    assert intact(store)


def test_that_what_was_on_screen_comes_back_as_it_was(store: Path) -> None:
    agreed(store)
    assert decision(store, ZOE) is True
    assert kept(store) == SEEN
    shown = replay(store, ZOE, 0)
    assert (shown.looks, shown.problem) == (SEEN[:2], "")
    assert shown.images == cases.task(store, ZOE, 0).images
    assert shown.sizes == (SIZE,)
    with pytest.raises(WrongUseError, match="Nothing was recorded of case 3"):
        replay(store, ZOE, 2)


def test_that_a_recording_is_looked_at_once_every_case_is_locked(store: Path) -> None:
    agreed(store)
    assert replayable(store) == {}
    answer_all(store, ZOE)
    assert replayable(store) == {ZOE: [0, 1]}
    recording.withdraw(store, ZOE)
    assert replayable(store) == {}


def test_that_a_coarse_dwell_map_is_the_centres_of_the_fine_one() -> None:
    part = replace(SIGHT, row0=10.0, column0=4.0, row1=40.0, column1=20.0)
    looks = (look(0, 1, part), look(0, 2), look(0, 3, replace(part, image=1)))
    shown = Replay((), (SizePx(60, 48),), looks)
    fine, coarse = dwell_map(shown, 0), dwell_map(shown, 0, most=20)
    assert set(fine.ravel()) == {0.0, 0.5, 1.0}
    assert coarse.shape == (20, 16)
    assert (coarse == fine[1::3, 1::3]).all()


def test_that_a_recorded_image_that_is_lost_is_told(store: Path) -> None:
    agreed(store)
    record(store, ZOE, [look(2, 9, replace(SIGHT, image=4))])
    with pytest.raises(WrongUseError, match="lacks images that were shown"):
        replay(store, ZOE, 2)


@pytest.mark.parametrize(
    "bad",
    [
        look(3, 1),
        look(0, 1, replace(SIGHT, zoom=0.0)),
        look(0, 1, replace(SIGHT, image=-1)),
        look(0, 1, replace(SIGHT, row0=float("nan"))),
        look(0, 1, ms=-1),
    ],
)
def test_that_a_row_without_sense_is_refused(store: Path, bad: Look) -> None:
    agreed(store)
    with pytest.raises(WrongUseError, match="Row 2 of the screen recording"):
        record(store, ZOE, [SEEN[0], bad])
    assert kept(store) == SEEN


def test_that_a_session_without_a_record_goes_on_without(store: Path) -> None:
    assert open_task(store, RECORDED, "Zoe") == ZOE
    assert open_task(store, PANEL, "Zoe") == ZOE
    with pytest.raises(WrongUseError, match="was opened without screen recording"):
        open_task(store, RECORDED, "CANARYOTHER")


_ADDED = (
    "INSERT INTO reading_look SELECT 9, 1, position, start, duration_ms, viewport,"
    " image, slice, row0, column0, row1, column1, zoom, center, width, inverted"
    " FROM reading_look WHERE id = 1"
)
_CHANGES = (
    "UPDATE reading_look SET duration_ms = 9 WHERE id = 2",
    "UPDATE reading_look SET zoom = 9 WHERE id = 1",
    "DELETE FROM reading_look WHERE id = 2",
    "DELETE FROM reading_look",
    "UPDATE reading_look SET session_id = 1 WHERE id = 3",
    _ADDED,
)


@pytest.mark.parametrize("sql", _CHANGES)
def test_that_a_changed_record_is_found(store: Path, sql: str) -> None:
    agreed(store)
    assert intact(store)
    with open_store(store) as opened, opened.transaction():
        for trigger in ("keeps", "stays"):
            opened.execute(f"DROP TRIGGER reading_look_{trigger}")
        opened.execute(sql)
        problems = check_audit(opened).problems
    assert [p for p in problems if p.startswith("The screen recording of session")]


def test_that_triggers_keep_the_record(store: Path) -> None:
    agreed(store)
    for sql in _CHANGES[:4]:
        with (
            open_store(store) as opened,
            pytest.raises(StoreError),
            opened.transaction(),
        ):
            opened.execute(sql)
    assert kept(store) == SEEN


def test_that_a_withdrawal_deletes_the_record_for_good(store: Path) -> None:
    agreed(store)
    recording.withdraw(store, ZOE)
    assert kept(store) == ()
    with open_store(store) as opened:
        (event,) = events_of(opened, ZOE, "looks_deleted")
        assert check_audit(opened).intact
    assert event["rows"] == 3
    assert set(event) == {"kind", "session", "rows", "at"}
    assert b"2026-01-01T10:00:0" not in b"".join(
        file.read_bytes() for file in store.parent.glob("s.sqlite*")
    )
    for act in (
        lambda: record(store, ZOE, SEEN),
        lambda: decide(store, ZOE, given=True),
    ):
        with pytest.raises(WrongUseError, match="has withdrawn"):
            act()


def test_that_consent_taken_back_deletes_the_record_alone(store: Path) -> None:
    agreed(store)
    answer_all(store, ZOE)
    assert decide(store, ZOE, given=False) == 3
    assert kept(store) == ()
    with pytest.raises(WrongUseError, match="has not agreed"):
        record(store, ZOE, SEEN)
    assert intact(store)
    decide(store, ZOE, given=True)
    record(store, ZOE, SEEN)
    assert intact(store)
    record(store, ZOE, (), seal=True)
    assert intact(store)
    assert len(kept(store)) == 3


def test_that_a_deleted_data_set_takes_the_record_along(store: Path) -> None:
    agreed(store)
    delete(Settings(store.parent, store), Target(Kind.DATASET, PANEL.dataset))
    with open_store(store) as opened:
        assert not opened.rows("SELECT * FROM reading_look")
        assert check_audit(opened).intact


def test_that_the_record_is_exported_and_the_export_audited(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = store.parent / "seen.csv"
    command = [
        "export",
        "telemetry",
        "--session",
        "2",
        "--out",
        str(out),
        "--store",
        str(store),
    ]
    assert run_command_line(command) != 0
    assert "Nothing on screen was recorded in session 2." in capsys.readouterr().err
    agreed(store)
    record(store, ZOE, [SEEN[0]])
    assert run_command_line(command) == 0
    told = capsys.readouterr()
    assert "4 rows in " in told.out
    assert "was set back before row 4" in told.err
    rows = list(csv.DictReader(out.read_text("utf-8").splitlines()))
    assert rows[1] == {
        "session": "2",
        "reader": "Zoe",
        "case": "1",
        "start": "2026-01-01T10:00:02.250+00:00",
        "duration_ms": "500",
        "viewport": "1",
        "image": "1",
        "slice": "1",
        "row0": "-1.5",
        "column0": "0.0",
        "row1": "40.25",
        "column1": "48.0",
        "zoom": "2.5",
        "center": "1234.5",
        "width": "400.0",
        "inverted": "1",
    }
    assert rows[2]["center"] == ""
    assert "CANARYKEY" not in out.read_text("utf-8")
    with open_store(store) as opened:
        assert len(events_of(opened, ZOE, "export")) == 1
        assert check_audit(opened).intact


def test_that_a_sealed_session_carries_its_record_back(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = seal_session(store, ZOE, tmp_path / "zoe.session").path
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "there"))
    there = Settings(tmp_path / "there", tmp_path / "there" / "o.sqlite")
    opened = open_sealed(there, sealed)
    assert decision(there.store, opened) is None
    decide(there.store, opened, given=True)
    record(there.store, opened, SEEN)
    answer_all(there.store, opened)
    with pytest.raises(WrongUseError, match="sealed elsewhere"):
        export_telemetry(there.store, opened, tmp_path / "no.csv")
    path = write_answers(there.store, opened, tmp_path / "zoe.answers").path
    text = path.read_text("utf-8")
    path.write_text(text.replace('"zoom": 2.5', '"zoom": 2.25'), "utf-8")
    with pytest.raises(WrongUseError, match="was changed"):
        merge_answers(store, path)
    path.write_text(text, "utf-8")
    merge_answers(store, path)
    assert kept(store) == SEEN
    assert decision(store, ZOE) is True
    assert intact(store)


def test_that_dwell_maps_are_what_each_look_adds_to_each_pixel(store: Path) -> None:
    agreed(store)
    part = replace(SIGHT, row0=10.0, column0=4.5, row1=20.0, column1=9.0)
    record(store, ZOE, [look(0, 5, part, 250)])
    folder, out = store.parent / "maps", store.parent / "seen.csv"
    command = ["export", "telemetry", "--session", "2", "--out", str(out)]
    command += ["--dwell", str(folder), "--store", str(store)]
    assert run_command_line(command) == 0
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["case1_image1.npy", "case2_image1.npy"]
    expected = np.full((SIZE.rows, SIZE.columns), 1.0)
    expected[10:20, 4:9] += 0.25  # the centre of column 4 is in sight
    assert np.array_equal(np.load(folder / names[0]), expected)
