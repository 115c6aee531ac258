"""Deletion: nothing is left of what goes, and nothing else is touched."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from tests.helpers.kill_deletion import fill, run_kills
from tests.helpers.search_everything import found, sent_bytes
from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, planned
from viewer.domain.case import ImageRef
from viewer.domain.errors import RunHeldError, StoreBusyError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.services.housekeeping.delete import (
    Kind,
    Target,
    cases_of_image,
    delete,
    preview_deletion,
)
from viewer.services.inspecting.listing import run_rows
from viewer.services.reporting import rescore
from viewer.services.reporting.rescore import departure_sentence
from viewer.services.running.plan_run import plan_run
from viewer.services.trials.run_context import RunContext
from viewer.services.trials.stored_run import context_of_run
from viewer.services.viewing.kept_headers import header_file
from viewer.settings import Settings
from viewer.store import cases, marks
from viewer.store.database import open_store, utc_now
from viewer.store.flat import differing
from viewer.store.locks import run_lock
from viewer.store.model_checks import add_check
from viewer.store.reading_audit import check_audit

TINY = Target(Kind.DATASET, "tiny")
NEEDLE = b"patient0000"


@pytest.fixture
def asked(settings: Settings, tmp_path: Path) -> Settings:
    """Return a store with a data set out of a ZIP file, two runs on it, and marks."""
    fill(settings, tmp_path, 3)
    (folder,) = settings.home.glob("unpacked/*/*/cases")
    kept = header_file(settings.home, folder)
    kept.parent.mkdir()
    kept.write_bytes(b'{"files": {"patient00001_frontal.png": {}}}')
    (settings.home / "crashes").mkdir()
    (settings.home / "crashes" / "one.txt").write_text(f"{folder}/patient00002.png")
    with open_store(settings.store) as store:
        finish(store, plan_run(store, a_spec((D4, UNIFORM), seed=1)))
        ref = ImageRef(folder / "patient00001_frontal.png")
        line = Mark(MarkKind.LENGTH, (PointPx(1, 2), PointPx(9, 2)))
        marks.keep_marks(store, ref, (line,))
    return settings


def _counts(settings: Settings) -> dict[str, int]:
    connection = sqlite3.connect(settings.store)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    counts = {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        for (name,) in names.fetchall()
    }
    connection.close()
    return counts


def test_that_nothing_of_a_deleted_data_set_is_found_anywhere(asked: Settings) -> None:
    needles = [NEEDLE, *sent_bytes(asked.store)]
    before = found(asked, needles)
    assert len(needles) > 6
    assert {name for name, _ in before} >= {"one.txt", asked.store.name}
    delete(asked, TINY)
    assert found(asked, needles) == []
    left = {name: n for name, n in _counts(asked).items() if n}
    own = {"store_mark", "signing_key"}  # of the store itself, made with it
    assert set(left) <= {*own, "prediction_verdict", "sqlite_sequence"}


def test_that_a_preview_names_what_goes_and_changes_nothing(asked: Settings) -> None:
    before = _counts(asked)
    told = preview_deletion(asked, TINY)
    assert _counts(asked) == before
    assert told.runs == (1, 2)
    assert "3 images" in told.goes
    assert any(
        line.startswith("run 1: grid_localization on tiny") for line in told.goes
    )
    assert "1 mark on images" in told.goes
    assert told == delete(asked, TINY)


def test_that_deleting_a_run_keeps_what_another_run_shows(asked: Settings) -> None:
    with open_store(asked.store) as store:
        before = run_rows(store, include_adhoc=False)[1]
        again = plan_run(store, a_spec((D4, UNIFORM), seed=1), new=True)
        finish(store, again)
    told = delete(asked, Target(Kind.RUN, "2"))
    assert any("that other runs show" in line for line in told.stays)
    with open_store(asked.store) as store:
        rows = run_rows(store, include_adhoc=False)
        assert [row["id"] for row in rows] == [1, 3]
        assert rows[1]["endings"] == before["endings"]
        assert differing(store) == 0
        assert not store.rows("PRAGMA foreign_key_check")
        assert len(cases.dataset_named(store, "tiny").images) == 3


def test_that_a_trial_whose_reply_is_deleted_is_asked_again(asked: Settings) -> None:
    with open_store(asked.store) as store:
        replies = store.rows("SELECT count(*) FROM reply")[0][0]
    delete(asked, Target(Kind.REPLY, "1"))
    with open_store(asked.store) as store:
        assert store.rows("SELECT status FROM trial WHERE id = 1")[0][0] == "pending"
        assert differing(store) == 0
        assert store.rows("SELECT count(*) FROM reply")[0][0] < replies
        finish(store, 1)
        assert store.rows("SELECT status FROM trial WHERE id = 1")[0][0] != "pending"


def test_that_a_case_goes_with_the_runs_on_its_data_set(asked: Settings) -> None:
    case = Target(Kind.CASE, "tiny", "patient00001")
    told = preview_deletion(asked, case)
    assert told.runs == (1, 2)
    delete(asked, case)
    assert found(asked, [b"patient00001"]) == []
    with open_store(asked.store) as store:
        images = cases.dataset_named(store, "tiny").images
        assert [image.patient for image in images] == ["patient00000", "patient00002"]
        assert all(image.ref.path.exists() for image in images)
        finish(store, plan_run(store, a_spec()))


def test_that_a_model_goes_with_its_profile_and_its_runs(asked: Settings) -> None:
    asked.models_file.write_text(
        '[[model]]\nname = "says-d4"\nadapter = "scripted"\nanswer = "D4"\n'
    )
    told = delete(asked, Target(Kind.MODEL, "says-d4"))
    assert told.runs == (1, 2)
    assert "says-d4" not in (
        asked.models_file.read_text() if asked.models_file.exists() else ""
    )
    with pytest.raises(WrongUseError, match="No model of your own"):
        delete(asked, Target(Kind.MODEL, "uniform"))


def test_that_the_checks_of_a_model_go_with_it_and_no_others(asked: Settings) -> None:
    asked.models_file.write_text(
        '[[model]]\nname = "says-d4"\nadapter = "scripted"\nanswer = "D4"\n'
    )
    with open_store(asked.store) as store:
        for model in ("says-d4", "says-d4", "uniform"):
            found = ModelCheck(
                model, utc_now(), Verdict.YES, "cells", "cells", 0.1, None, repeats=True
            )
            add_check(store, ModelProfile(model, "scripted"), found)
    told = delete(asked, Target(Kind.MODEL, "says-d4"))
    assert "2 checks of the model" in told.goes
    with open_store(asked.store) as store:
        left = store.rows("SELECT model FROM model_check")
    assert [row["model"] for row in left] == ["uniform"]


def test_that_the_triggers_stand_again_afterwards(asked: Settings) -> None:
    def triggers() -> set[tuple[str, str]]:
        with open_store(asked.store) as store:
            found = store.rows("SELECT name, sql FROM sqlite_master")
            return {(row["name"], row["sql"]) for row in found}

    before = triggers()
    delete(asked, Target(Kind.RUN, "1"))
    assert triggers() == before
    with open_store(asked.store) as store:
        assert check_audit(store).intact


def test_that_a_run_at_work_is_not_deleted(asked: Settings) -> None:
    before = _counts(asked)
    with run_lock(asked.store, 2, utc_now()), pytest.raises(RunHeldError):
        delete(asked, TINY)
    assert _counts(asked) == before


@pytest.mark.parametrize(
    "target",
    [
        Target(Kind.DATASET, "other"),
        Target(Kind.CASE, "tiny", "nobody"),
        Target(Kind.RUN, "9"),
        Target(Kind.RUN, "x"),
        Target(Kind.REPLY, "99"),
    ],
)
def test_that_what_does_not_exist_is_not_deleted(
    asked: Settings, target: Target
) -> None:
    before = _counts(asked)
    for act in (preview_deletion, delete):
        with pytest.raises(WrongUseError):
            act(asked, target)
    assert _counts(asked) == before


@pytest.mark.parametrize("in_home", [False, True])
def test_that_the_images_of_a_user_stay(
    settings: Settings, tmp_path: Path, *, in_home: bool
) -> None:
    folder = settings.home / "mine" if in_home else tmp_path / "mine"
    with open_store(settings.store) as store:
        planned(store, folder, a_spec(), 2)
    told = delete(settings, TINY)
    assert "your image files, where they are" in told.stays
    assert len(list(folder.iterdir())) == 4


def _stopped(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("at", ["deleting.remove", "database.Store.compact"])
def test_that_an_interrupted_deletion_is_all_or_nothing(
    asked: Settings, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    needles = [NEEDLE, *sent_bytes(asked.store)]
    before = _counts(asked)
    with monkeypatch.context() as broken:
        broken.setattr(f"viewer.store.{at}", _stopped)
        with pytest.raises(KeyboardInterrupt):
            delete(asked, TINY)
    with open_store(asked.store):  # as the next start does
        pass
    if at == "deleting.remove":
        assert _counts(asked) == before
    else:
        assert found(asked, needles) == []


def test_that_three_kills_leave_all_or_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    ended = run_kills(settings, tmp_path, 3)
    assert ended.total() == 3


def test_that_a_run_deleted_while_it_is_judged_again_is_judged_whole(
    asked: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[bool] = []

    def delete_first(*_: object, **__: object) -> RunContext:
        with suppress(StoreBusyError):  # as this reader still sees the rows
            delete(asked, Target(Kind.RUN, "2"))
        gone.append(True)
        return context

    with open_store(asked.store) as store:
        context = context_of_run(store, 2)
        monkeypatch.setattr(rescore, "context_of_run", delete_first)
        assert departure_sentence(store, 2) == ""
    assert gone
    with open_store(asked.store) as store, pytest.raises(WrongUseError, match="no run"):
        departure_sentence(store, 2)


def test_that_the_case_of_an_image_file_is_found_in_each_data_set(
    asked: Settings,
) -> None:
    (folder,) = asked.home.glob("unpacked/*/*/cases")
    film = folder / "patient00001_frontal.png"
    (target,) = cases_of_image(asked, film)
    assert target == Target(Kind.CASE, "tiny", "patient00001")
    assert preview_deletion(asked, target).paths == (film,)
    assert cases_of_image(asked, folder / "another.png") == ()
    with open_store(asked.store) as store, store.transaction():
        store.execute("UPDATE image SET patient = ''")
    (target,) = cases_of_image(asked, film)
    assert target.case == "patient00001_frontal"
    delete(asked, target)
    assert cases_of_image(asked, film) == ()
