"""What a window's end cut off is found again; what was ended or paused is not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.tiny_study import D4, a_spec, finish, planned
from viewer.services.worker.interrupted import (
    InterruptedRun,
    interrupted_runs,
    note_begun,
    note_ended,
)
from viewer.store.database import Store, open_store, utc_now
from viewer.store.locks import run_lock


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def run(store: Store, tmp_path: Path) -> int:
    return planned(store, tmp_path / "images", a_spec())


def test_that_a_run_noted_and_never_ended_was_interrupted(
    store: Store, run: int
) -> None:
    note_begun(store.path, run)
    expected = InterruptedRun(run, 0, 4, held=False, priced=False)
    assert interrupted_runs(store.path) == (expected,)


def test_that_a_run_nobody_noted_is_left_alone(store: Store, run: int) -> None:
    note_begun(store.path, run)
    note_ended(store.path, run)
    assert interrupted_runs(store.path) == ()


def test_that_a_finished_run_is_left_alone(store: Store, run: int) -> None:
    note_begun(store.path, run)
    finish(store, run)
    assert interrupted_runs(store.path) == ()


def test_that_a_run_somebody_works_on_is_held(store: Store, run: int) -> None:
    note_begun(store.path, run)
    with run_lock(store.path, run, utc_now()):
        (found,) = interrupted_runs(store.path)
    assert found.held


def test_that_a_model_with_a_price_is_told(store: Store, tmp_path: Path) -> None:
    priced = replace(D4, settings={**D4.settings, "price_in": 10, "price_out": 10})
    run = planned(store, tmp_path / "images", a_spec([priced]))
    note_begun(store.path, run)
    (found,) = interrupted_runs(store.path)
    assert found.priced


@pytest.mark.parametrize("text", ["", "{", '{"1": 2}', '["one"]', "3"])
def test_that_a_damaged_note_names_nothing(store: Store, run: int, text: str) -> None:
    note_begun(store.path, run)
    (note,) = store.path.parent.glob("*.going_on.json")
    note.write_text(text, encoding="utf-8")
    assert interrupted_runs(store.path) == ()


def test_that_a_store_that_is_not_made_yet_holds_nothing(tmp_path: Path) -> None:
    note_begun(tmp_path / "none.sqlite", 1)
    assert interrupted_runs(tmp_path / "none.sqlite") == ()


def test_that_a_folder_that_cannot_be_written_holds_nobody_up(tmp_path: Path) -> None:
    note_begun(tmp_path / "missing" / "store.sqlite", 1)
    assert not (tmp_path / "missing").exists()
