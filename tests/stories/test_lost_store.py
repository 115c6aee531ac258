"""A store that goes away, is held, or comes back older: no reply is bought again."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.forked import start_program
from tests.helpers.kill_trial import KillTrial, serving
from tests.helpers.tiny_study import write_images
from viewer.cli import run_command_line

N_QUESTIONS = 24
SOME = 6
LATENCY_S = 0.05
PRIVATE = 0o600


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[KillTrial]:
    """Return a planned run whose server writes a journal of what it received."""
    journal = tmp_path / "journal.jsonl"
    folder = tmp_path / "kept"
    folder.mkdir()
    images = write_images(tmp_path / "d", N_QUESTIONS)
    with serving(journal, LATENCY_S) as base_url:
        yield KillTrial(folder, images, base_url, journal, 4)


def started(trial: KillTrial, *more: str) -> "subprocess.Popen[str]":
    """Start the run and return once some questions were received."""
    words = ("run", trial.study_file, "--store", trial.store_path, "--threads", 4)
    process = start_program(
        *words, *more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while n_received(trial) < SOME and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None
    return process


def n_received(trial: KillTrial) -> int:
    """Return how many questions the server received and has noted to the end."""
    return trial.journal.read_bytes().count(b"\n") if trial.journal.exists() else 0


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Return the exit code and what was said on standard error."""
    _, said = process.communicate()
    assert "Traceback" not in said
    return process.returncode, said


def afterwards(trial: KillTrial, *words: object) -> int:
    """Give a command about the store once the run's process has ended."""
    return run_command_line([*map(str, words), "--store", str(trial.store_path)])


def imported_again(trial: KillTrial) -> None:
    folder = trial.journal.parent / "d"
    assert afterwards(trial, "import", "folder", folder, "--name", "tiny") == 0


def rescued(trial: KillTrial, file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert afterwards(trial, "rescue", file) == 0
    return "".join(capsys.readouterr())


def assert_every_question_was_bought_once(trial: KillTrial) -> None:
    assert afterwards(trial, "run", trial.study_file, "--json") == 0
    received = trial.received()
    assert (len(received), received.total()) == (N_QUESTIONS, N_QUESTIONS)


WORKER_OR_NOT = pytest.mark.parametrize(
    # a worker runs the same coordinator, and passes on what it says
    "more",
    [(), pytest.param(("--worker",), marks=pytest.mark.proof)],
)


@WORKER_OR_NOT
def test_that_a_deleted_store_ends_the_run_and_its_replies_are_rescued(
    trial: KillTrial, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    process = started(trial, *more)
    for path in trial.store_path.parent.glob("killed.sqlite*"):
        if path.suffix in {".sqlite", ".sqlite-wal", ".sqlite-shm"}:
            path.unlink()
    code, said = ended(process)
    assert code == 1
    assert "was deleted, moved or replaced during run 1" in said
    assert trial.received().total() < N_QUESTIONS
    (file,) = trial.store_path.parent.glob("*.rescue.jsonl")
    assert str(file) in said
    assert file.stat().st_mode & 0o777 == PRIVATE
    imported_again(trial)
    assert f"{trial.received().total()} added" in rescued(trial, file, capsys)
    assert " 0 added" in rescued(trial, file, capsys)
    assert_every_question_was_bought_once(trial)


def test_that_a_folder_deleted_with_its_store_leaves_the_replies_in_the_data_folder(
    trial: KillTrial, capsys: pytest.CaptureFixture[str]
) -> None:
    study = trial.study_file.read_text()
    process = started(trial)
    shutil.rmtree(trial.store_path.parent)
    code, said = ended(process)
    trial.store_path.parent.mkdir()
    trial.study_file.write_text(study)
    (file,) = (Path(os.environ["OVERREAD_HOME"]) / "rescue").iterdir()
    assert (code, str(file) in said) == (1, True)
    imported_again(trial)
    rescued(trial, file, capsys)
    assert_every_question_was_bought_once(trial)


def backup(store: Path, copy: Path) -> None:
    with sqlite3.connect(store) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()


def test_that_a_store_replaced_by_an_earlier_copy_takes_no_run_until_it_is_rescued(
    trial: KillTrial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.sqlite"
    backup(trial.store_path, copy)
    process = started(trial)
    copy.replace(trial.store_path)
    assert ended(process)[0] == 1
    before = trial.received().total()
    assert afterwards(trial, "run", trial.study_file) != 0
    assert "is an older copy" in capsys.readouterr().err
    assert trial.received().total() == before
    (file,) = trial.store_path.parent.glob("*.rescue.jsonl")
    rescued(trial, file, capsys)
    assert_every_question_was_bought_once(trial)


def test_that_a_store_from_a_backup_is_said_to_be_older(
    trial: KillTrial, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.sqlite"
    process = started(trial)
    backup(trial.store_path, copy)
    assert ended(process)[0] == 0
    shutil.copy(copy, trial.store_path)
    trial.store_path.with_name("killed.sqlite.generation").unlink()  # as on a new disk
    afterwards(trial, "runs", "--json")
    (run,) = json.loads(capsys.readouterr().out)
    assert run["counts"]["pending"] > 0  # it can be read
    assert afterwards(trial, "run", trial.study_file) != 0
    assert "is an older copy" in capsys.readouterr().err
    afterwards(trial, "rescue", "--keep-older-copy")
    assert "is asked again" in capsys.readouterr().err
    assert afterwards(trial, "run", trial.study_file) == 0


class Held:
    """The write lock of a store, held by a program that is not ours."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=60)
        self._connection.execute("BEGIN IMMEDIATE")

    def release(self) -> None:
        self._connection.execute("COMMIT")
        self._connection.close()


def saved(trial: KillTrial) -> int:
    """Return how many replies lie in reply files beside the store."""
    files = trial.store_path.parent.glob("*.replies")
    content = [file.read_bytes().partition(b"\0")[0] for file in files]
    return sum(max(0, text.count(b"\n") - 1) for text in content)


def wait_for_reply_file(trial: KillTrial) -> None:
    """Wait until every reply that the store cannot take is in the reply file."""
    while saved(trial) < n_received(trial) - len(trial.committed()):
        time.sleep(0.05)
    assert saved(trial) > 0


@WORKER_OR_NOT
def test_that_a_run_waits_for_a_store_that_is_held_and_says_so(
    trial: KillTrial, more: tuple[str, ...]
) -> None:
    process = started(trial, *more)
    held = Held(trial.store_path)
    wait_for_reply_file(trial)
    assert process.stderr is not None
    said = ""
    while "The store is busy" not in said:
        said += process.stderr.readline()
    held.release()
    assert ended(process)[0] == 0
    assert trial.received().total() == N_QUESTIONS
    assert list(trial.store_path.parent.glob("*.replies")) == []


def test_that_replies_in_the_reply_file_of_a_killed_run_are_stored_by_the_next_command(
    trial: KillTrial,
) -> None:
    process = started(trial)
    held = Held(trial.store_path)
    wait_for_reply_file(trial)
    (file,) = trial.store_path.parent.glob("*.replies")
    assert file.stat().st_mode & 0o777 == PRIVATE
    process.kill()
    process.communicate()
    held.release()
    received = trial.received().total()
    assert afterwards(trial, "runs") == 0
    assert len(trial.committed()) == received
    assert list(trial.store_path.parent.glob("*.replies")) == []
    assert_every_question_was_bought_once(trial)


def test_that_a_cancelled_run_does_not_wait_for_the_store_and_loses_no_reply(
    trial: KillTrial,
) -> None:
    process = started(trial)
    held = Held(trial.store_path)
    wait_for_reply_file(trial)
    process.send_signal(signal.SIGINT)
    code, said = ended(process)
    assert (code, "store is busy" in said) == (1, True)
    assert n_received(trial) < N_QUESTIONS
    held.release()
    assert_every_question_was_bought_once(trial)
