"""Killed between and within the questions of a trial, a run buys no reply again."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tabled import lasting_csv
from tests.helpers.tiny_study import finish
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import OrphanPolicy
from viewer.services.reporting.report_run import report_data, report_files
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.store import runs
from viewer.store.database import Store, open_store

ROOT: Final = Path(__file__).parents[2]
REPEATS: Final = 2
BOUGHT_AGAIN: Final = (
    "SELECT count(*) FROM attempt later JOIN attempt first"
    " ON first.request_sha256 = later.request_sha256 AND first.id < later.id"
    " JOIN reply r ON r.attempt_id = first.id"
)


def _profiles(server: ScriptedServer) -> tuple[ModelProfile, ModelProfile]:
    settings = {"base_url": server.base_url, "temperature": 0.0}
    return (
        ModelProfile("studied", "openai_api", {**settings, "model": "a"}),
        ModelProfile("judges", "openai_api", {**settings, "model": "b"}),
    )


def _planned(store: Store, folder: Path, server: ScriptedServer) -> int:
    registered(store, folder / "pictures")
    model, judge = _profiles(server)
    return plan_run(store, quiz_spec([model], judge, repeats=REPEATS))


def _kill_after(store: Path, run: int, server: ScriptedServer, more: int) -> None:
    """Let a process ask until the server heard so many more, then kill it."""
    wanted = len(server.script.received) + more
    command = [sys.executable, "-m", "tests.helpers.quiz_study", str(store), str(run)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        while len(server.script.received) < wanted and process.poll() is None:
            time.sleep(0.002)
        time.sleep(0.01 * more)
        process.kill()


@pytest.mark.proof
def test_that_no_kill_between_questions_buys_a_reply_again(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    files = []
    with (
        quiz_in_catalog(),
        ScriptedServer(Script(answer="C", latency_s=0.03)) as server,
    ):
        with open_store(whole / "s.sqlite") as store:
            run = _planned(store, whole, server)
            finish(store, run)
            files.append(report_files(report_data(store, run)))
        alone = len(server.script.received)
        path = killed / "s.sqlite"
        with open_store(path) as store:
            run = _planned(store, killed, server)
        for more in (1, 2, 1, 3, 1, 2):
            _kill_after(path, run, server, more)
        with open_store(path) as store:
            finish(store, run, BatchOptions(orphans=OrphanPolicy.RETRY))
            assert store.rows(BOUGHT_AGAIN)[0][0] == 0
            ended = store.rows(
                "SELECT outcome, count(*) FROM attempt_end GROUP BY 1 ORDER BY 1"
            )
            ends = {row[0]: row[1] for row in ended}
            assert not runs.trials_in(store, run, [Status.PENDING])
            files.append(report_files(report_data(store, run)))
        again = len(server.script.received) - alone
    assert ends["reply"] == alone
    assert ends.get("orphan", 0) <= 6
    assert alone <= again <= alone + ends.get("orphan", 0)
    assert files[0]["results.csv"] == files[1]["results.csv"]
    assert lasting_csv(files[0]["items.csv"]) == lasting_csv(files[1]["items.csv"])
