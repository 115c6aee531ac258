"""A fresh run asks again what has replies, and buys nothing twice that is in flight."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    a_spec,
    finish,
    plan_and_finish,
    server_profile,
    write_images,
)
from viewer.cli import run_command_line
from viewer.domain.run import RunSpec, TrialDone
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import runs
from viewer.store.database import Store, open_store


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script(answer_by_hash=True)) as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "s.sqlite"
    with open_store(found) as store:
        import_dataset(store, "folder", write_images(tmp_path / "d", 3), "tiny")
    return found


def a_run(server: ScriptedServer) -> RunSpec:
    return a_spec([server_profile(server.base_url)])


def asked(server: ScriptedServer) -> Counter[bytes]:
    return Counter(one.body for one in server.script.received)


def replies(store: Store) -> int:
    return int(store.rows("SELECT count(*) FROM reply")[0][0])


def test_that_a_fresh_run_asks_everything_again_and_keeps_both_replies(
    path: Path, server: ScriptedServer
) -> None:
    with open_store(path) as store:
        first = plan_and_finish(store, a_run(server))
        again = plan_and_finish(store, a_run(server), new=True)
        assert sum(asked(server).values()) == 3
        fresh = plan_run(store, a_run(server), fresh=True)
        done = [one for one in finish(store, fresh) if isinstance(one, TrialDone)]
        assert [one.reused for one in done] == [False] * 3
        assert set(asked(server).values()) == {2}
        assert replies(store) == 6
        assert len({first, again, fresh}) == 3
        other = plan_run(store, a_run(server), fresh=True)
        assert other not in {first, again, fresh}


def test_that_an_unfinished_fresh_run_goes_on_and_asks_nothing_a_third_time(
    path: Path, server: ScriptedServer
) -> None:
    with open_store(path) as store:
        finish(store, plan_run(store, a_run(server)))
        fresh = plan_run(store, a_run(server), fresh=True)
        cancel = threading.Event()
        for event in run_batch(store, fresh, BatchOptions(1), cancel):
            if isinstance(event, TrialDone):
                cancel.set()
        assert 3 < sum(asked(server).values()) < 6
        assert plan_run(store, a_run(server), fresh=True) == fresh
        assert plan_run(store, a_run(server)) == fresh
        finish(store, fresh)
        assert set(asked(server).values()) == {2}
        assert not runs.status_counts(store, fresh).get("pending")  # type: ignore[call-overload]


def test_that_a_fresh_run_in_an_empty_store_is_one_too(
    path: Path, server: ScriptedServer
) -> None:
    with open_store(path) as store:
        fresh = plan_run(store, a_run(server), fresh=True)
        assert plan_run(store, a_run(server), fresh=True) == fresh
        finish(store, fresh)
        assert plan_run(store, a_run(server), fresh=True) != fresh


def test_that_two_fresh_runs_at_once_buy_each_question_once(
    path: Path, server: ScriptedServer
) -> None:
    with open_store(path) as store:
        finish(store, plan_run(store, a_run(server)))
        one = plan_run(store, a_run(server), fresh=True)
        two = plan_run(store, replace(a_run(server), seed=1), fresh=True)
        assert one != two

    def drain(run: int) -> None:
        with open_store(path) as opened:
            finish(opened, run, BatchOptions(1))

    with ThreadPoolExecutor(2) as both:
        list(both.map(drain, (one, two)))
    assert set(asked(server).values()) == {2}


def test_that_the_command_line_asks_again(
    path: Path,
    server: ScriptedServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    study = tmp_path / "study.toml"
    model = (
        '[[model]]\nname = "m"\nadapter = "openai_api"\nmodel = "tiny"\n'
        f'base_url = "{server.base_url}"\n'
    )
    study.write_text(
        'study = "grid_localization"\ndataset = "tiny"\nmodels = ["m"]\n' + model
    )
    command = ["run", str(study), "--store", str(path)]
    for words in (command, [*command, "--new"], [*command, "--fresh"]):
        assert run_command_line(words) == 0
    assert set(asked(server).values()) == {2}
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "models.toml").write_text(model)
    image = str(next((tmp_path / "d").glob("*frontal.png")))
    words = ["ask", image, "--finding", "Edema", "--model", "m", "--store", str(path)]
    before = sum(asked(server).values())
    for fresh in ([], [], ["--fresh"]):
        assert run_command_line([*words, *fresh]) == 0
    assert sum(asked(server).values()) - before == 1
    capsys.readouterr()
