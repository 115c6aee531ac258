"""A process is told to end, or its terminal closes, while questions are in flight."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.forked import start_program
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import write_images
from viewer.cli import run_command_line
from viewer.services.importing.import_dataset import import_dataset
from viewer.settings import DRAIN_VARIABLE
from viewer.store import runs, trials
from viewer.store.database import open_store

if sys.platform == "win32":
    pytest.skip("signals of POSIX", allow_module_level=True)

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "viewer"]
pytestmark = pytest.mark.usefixtures("hears_the_terminal_close")
N = 12
PASSED_ON_S = 0.3
"""Longer than a run takes to tell its worker."""
LAG_S = 3.0
"""Longer than a process on a loaded machine takes to hear a signal."""


def holding() -> ScriptedServer:
    """Return a server that answers one question and holds the others."""
    return ScriptedServer(Script(behaviours=["ok"], default="held"))


class Told:
    """A run of a study file, whose server holds all replies but one, told to end."""

    def __init__(self, folder: Path, server: ScriptedServer) -> None:
        self.store, self.script = folder / "s.sqlite", server.script
        with open_store(self.store) as store:
            import_dataset(store, "folder", write_images(folder / "d", N), "tiny")
        self.study_file = folder / "study.toml"
        self.study_file.write_text(
            'study = "grid_localization"\ndataset = "tiny"\nmodels = ["my-server"]\n'
            "[params]\ngrids = [8]\n[[model]]\n"
            'name = "my-server"\nadapter = "openai_api"\nmodel = "tiny-vlm"\n'
            f'base_url = "{server.base_url}"\ntemperature = 0.0\n'
        )

    def words(self, *more: str) -> list[str]:
        command = ["run", str(self.study_file), "--store", str(self.store)]
        return [*command, "--threads", "2", *more]

    def start(self, *more: str, limit_s: float = 60.0) -> "subprocess.Popen[str]":
        return start_program(
            *self.words(*more),
            env=os.environ | {DRAIN_VARIABLE: str(limit_s)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, n: int) -> None:
        while len(self.script.received) < n:
            time.sleep(0.01)

    def let_go(self, process: "subprocess.Popen[str]") -> str:
        """Answer what is in flight once a process says that it was told to end.

        Returns what it said.
        """
        assert process.stderr is not None
        said = ""
        while "finishing what is in flight" not in said and process.poll() is None:
            said += process.stderr.readline()
        time.sleep(PASSED_ON_S)
        self.script.release()
        return said + process.communicate()[1]

    @property
    def asked(self) -> Counter[bytes]:
        return Counter(one.body for one in self.script.received)

    def left_open(self) -> int:
        with open_store(self.store) as store:
            runs_of_store = runs.run_summaries(store, include_adhoc=False)
            return sum(len(trials.orphans(store, run.id)) for run in runs_of_store)

    def finish(self) -> None:
        """Run the rest; every question was asked once, however often it ended."""
        assert run_command_line(self.words()) == 0
        assert len(self.asked) == N
        assert set(self.asked.values()) == {1}


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ((), signal.SIGTERM),
        (("--worker",), signal.SIGHUP),
        # one handler hears both signals; a closing terminal is a test of its own
        pytest.param((), signal.SIGHUP, marks=pytest.mark.proof),
        pytest.param(("--worker",), signal.SIGTERM, marks=pytest.mark.proof),
    ],
)
def test_that_a_run_that_is_told_to_end_keeps_what_is_in_flight(
    tmp_path: Path, words: tuple[str, ...], number: int
) -> None:
    with holding() as server:
        told = Told(tmp_path, server)
        with told.start(*words) as process:
            told.wait_for(3)
            process.send_signal(number)
            said = told.let_go(process)
        assert process.returncode == 1
        assert "finishing what is in flight, for 60 s at most" in said
        assert "Traceback" not in said
        assert told.left_open() == 0
        told.finish()


def test_that_a_worker_and_its_parent_may_be_told_together(tmp_path: Path) -> None:
    with holding() as server:
        told = Told(tmp_path, server)
        with told.start("--worker") as process:
            told.wait_for(3)
            os.killpg(process.pid, signal.SIGTERM)
            told.let_go(process)
        assert process.returncode == 1
        assert told.left_open() == 0
        told.finish()


@pytest.mark.parametrize(
    # a worker has the same limit, and lets go of the same questions
    "words",
    [(), pytest.param(("--worker",), marks=pytest.mark.proof)],
)
def test_that_what_does_not_come_back_within_the_limit_is_left_open(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    with ScriptedServer(Script(behaviours=["ok"], default="hang")) as server:
        told = Told(tmp_path, server)
        with told.start(*words, limit_s=0.5) as process:
            told.wait_for(3)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
        assert process.returncode == 1
        assert "2 question(s) in flight did not come back in time" in said
        assert told.left_open() == 2


def test_that_a_terminal_that_closes_loses_nothing(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with holding() as server:
        told = Told(tmp_path, server)
        process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *PROGRAM, *told.words()],
            cwd=ROOT,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        told.wait_for(3)
        os.close(ours)
        time.sleep(LAG_S)
        told.script.release()
        assert process.wait() == 1
        assert told.left_open() == 0
        told.finish()


@pytest.mark.parametrize(
    # one handler hears both signals
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.proof)],
)
def test_that_a_single_question_that_is_told_to_end_keeps_its_reply(
    tmp_path: Path, number: int
) -> None:
    with ScriptedServer(Script(default="held")) as server:
        told = Told(tmp_path, server)
        models = told.study_file.read_text().partition("[[model]]")
        (tmp_path / "models.toml").write_text("[[model]]" + models[2])
        image = next((tmp_path / "d").glob("*_frontal.png"))
        words = ["ask", str(image), "--finding", "Edema", "--view", "frontal"]
        words += ["--model", "my-server"]
        process = start_program(
            *words,
            "--store",
            told.store,
            env=os.environ | {"OVERREAD_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        told.wait_for(1)
        process.send_signal(number)
        time.sleep(LAG_S)
        told.script.release()
        answer, _ = process.communicate()
        assert process.returncode == 0
        assert "answer: D4" in answer


def test_that_a_worker_told_to_end_lets_its_parent_end_too(tmp_path: Path) -> None:
    with holding() as server:
        told = Told(tmp_path, server)
        with told.start("--worker") as process:
            told.wait_for(3)
            with open_store(told.store) as store:
                (row,) = store.rows("SELECT pid FROM coordinator")
            assert row["pid"] != process.pid
            os.kill(row["pid"], signal.SIGTERM)
            time.sleep(LAG_S)
            server.script.release()
            process.communicate()
        assert process.returncode == 1
        assert told.left_open() == 0
        told.finish()
