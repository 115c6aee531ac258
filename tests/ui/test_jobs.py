"""Work off the GUI thread: the results come back to it."""

import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QThreadPool
from pytestqt.exceptions import capture_exceptions
from pytestqt.qtbot import QtBot

from viewer.ui.application.jobs import finish_background_work, run_in_background


def _fail() -> None:
    raise IndexError("nothing there")


def test_that_work_is_done_elsewhere_and_its_result_comes_back(qtbot: QtBot) -> None:
    seen = list[tuple[threading.Thread, threading.Thread]]()
    run_in_background(
        threading.current_thread,
        lambda worker: seen.append((worker, threading.current_thread())),
    )
    qtbot.waitUntil(lambda: len(seen) == 1)
    worker, receiver = seen[0]
    assert worker is not threading.main_thread()
    assert receiver is threading.main_thread()


def test_that_an_error_is_handed_over(qtbot: QtBot) -> None:
    errors = list[Exception]()
    run_in_background(_fail, lambda _: None, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 1)
    assert isinstance(errors[0], IndexError)


def test_that_an_error_nobody_expects_reaches_the_last_resort(qtbot: QtBot) -> None:
    with capture_exceptions() as caught:
        run_in_background(_fail, lambda _: None)
        qtbot.waitUntil(lambda: len(caught) == 1)
    assert caught[0][0] is IndexError


@pytest.mark.parametrize("started", [False, True])
def test_that_a_cancelled_job_calls_nobody(qtbot: QtBot, *, started: bool) -> None:
    go, results = threading.Event(), list[bool]()
    job = run_in_background(lambda: go.wait(300), results.append)
    if started:
        qtbot.wait(20)
    job.cancel()
    go.set()
    done = list[None]()
    run_in_background(lambda: None, done.append)
    qtbot.waitUntil(lambda: len(done) == 1)
    qtbot.wait(20)
    assert results == []


def test_that_what_somebody_waits_for_does_not_queue_behind_thumbnails(
    qtbot: QtBot,
) -> None:
    go, done, thumbnails = threading.Event(), list[str](), list[bool]()
    for _ in range(20):
        run_in_background(go.wait, thumbnails.append, priority=-1)
    run_in_background(lambda: "image", done.append)
    qtbot.waitUntil(lambda: done == ["image"])
    assert thumbnails == []
    go.set()
    qtbot.waitUntil(lambda: len(thumbnails) == 20)


class _Told:
    """Remembers which thread took it down, as a widget's wrapper would."""

    def __init__(self, ended: list[threading.Thread]) -> None:
        weakref.finalize(self, lambda: ended.append(threading.current_thread()))

    def work(self) -> None:
        """Take a moment."""

    def done(self, _: None) -> None:
        """Be told."""


@pytest.mark.parametrize("cancelled", [False, True])
def test_that_what_a_job_refers_to_ends_in_the_gui_thread(
    qtbot: QtBot, *, cancelled: bool
) -> None:
    ended = list[threading.Thread]()
    for _ in range(50):
        told = _Told(ended)
        job = run_in_background(told.work, told.done)
        if cancelled:
            job.cancel()
        del told, job
    QThreadPool.globalInstance().waitForDone()
    assert ended == []
    qtbot.waitUntil(lambda: len(ended) == 50)
    assert set(ended) == {threading.main_thread()}


def test_that_the_end_waits_for_work_and_tells_nobody(qtbot: QtBot) -> None:
    go, done, told = threading.Event(), list[bool](), list[bool]()
    run_in_background(lambda: done.append(go.wait(300)), lambda _: told.append(True))
    threading.Timer(0.05, go.set).start()
    finish_background_work()
    assert done == [True]
    qtbot.wait(20)
    assert told == []


def test_that_on_one_core_a_long_job_holds_up_no_other(qtbot: QtBot) -> None:
    pool = QThreadPool.globalInstance()
    before = pool.maxThreadCount()
    pool.setMaxThreadCount(1)
    go, done = threading.Event(), list[None]()
    try:
        run_in_background(lambda: go.wait(300), lambda _: None)
        run_in_background(lambda: None, done.append)
        qtbot.waitUntil(lambda: len(done) == 1)
        assert not go.is_set()
    finally:
        go.set()
        finish_background_work()
        pool.setMaxThreadCount(before)


def test_that_an_exit_waits_for_work_that_still_reports(tmp_path: Path) -> None:
    script = tmp_path / "leaves.py"
    script.write_text(
        "import time\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from viewer.ui.application.jobs import run_in_background\n"
        "app = QCoreApplication([])\n"
        "run_in_background(lambda: time.sleep(0.5), print, priority=-1)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
