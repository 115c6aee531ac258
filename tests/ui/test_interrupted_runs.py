"""An interrupted run goes on where that costs nothing, as soon as it is let go."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.batch_server import BatchScript, BatchServer
from tests.helpers.tiny_study import D4, a_spec, finish, planned, server_profile
from tests.helpers.window_parts import IdleWorker
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunWaiting
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.services.worker.background import BackgroundWorker
from viewer.services.worker.interrupted import note_begun
from viewer.settings import Settings
from viewer.store import runs
from viewer.store.batch_job_rows import begin_job, unfinished_jobs
from viewer.store.database import open_store, utc_now
from viewer.store.locks import run_lock
from viewer.ui.application.app_context import AppContext, Listener, WorkerBridge
from viewer.ui.application.batch_line import BatchLine
from viewer.ui.application.notices import Notice
from viewer.ui.window.interrupted_runs import InterruptedRuns


class Opened:
    """A window's part that resumes, and what it resumed and told."""

    def __init__(self, settings: Settings, window: QWidget) -> None:
        self._workers: list[IdleWorker] = []
        self.told: list[Notice] = []
        context = AppContext(settings, WorkerBridge(settings.store, self._make))
        context.notices.posted.connect(self.told.append)
        self.states = context.run_states
        self.runs = InterruptedRuns(context, window)
        self.runs.look()

    def _make(self, store: Path, listener: Listener) -> IdleWorker:
        self._workers.append(IdleWorker(store, listener))
        return self._workers[-1]

    @property
    def resumed(self) -> list[object]:
        """What the worker was told, after it was started."""
        return [said for worker in self._workers for said in worker.told[1:]]


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def _cut_off(settings: Settings, folder: Path, model: ModelProfile = D4) -> int:
    with open_store(settings.store) as store:
        run = planned(store, folder / "images", a_spec([model]))
    note_begun(settings.store, run)
    return run


def test_that_an_interrupted_run_goes_on(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    run = _cut_off(settings, tmp_path)
    opened = Opened(settings, window)
    qtbot.waitUntil(lambda: opened.resumed == [("resume", run, 0)])
    words = f"Run {run} was interrupted after 0 of 4 trials and continues."
    assert opened.told == [Notice(words, warning=False)]


def test_that_a_run_with_a_price_is_only_offered(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    settings_of = {**D4.settings, "price_in": 10, "price_out": 10}
    _cut_off(settings, tmp_path, ModelProfile("dear", "scripted", settings_of))
    opened = Opened(settings, window)
    qtbot.waitUntil(lambda: bool(opened.told))
    assert "Resume it in Measure" in opened.told[0].how
    assert opened.resumed == []


def test_that_a_complete_run_only_deletes_its_files_at_the_provider(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    with BatchServer() as server:
        dear = server_profile(server.base_url, answers="batch", price_in=1, price_out=1)
        run = _cut_off(settings, tmp_path, dear)
        with open_store(settings.store) as store:
            finish(store, run)
            begin_job(store, run, dear.name)
    opened = Opened(settings, window)
    qtbot.waitUntil(lambda: opened.resumed == [("resume", run, 0)])
    words = f"Run {run} is complete; its files at the provider are being deleted."
    assert opened.told == [Notice(words, warning=False)]


def test_that_what_a_killed_upload_left_is_deleted_though_the_run_is_only_offered(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    with BatchServer() as server:
        dear = server_profile(server.base_url, answers="batch", price_in=1, price_out=1)
        run = _cut_off(settings, tmp_path, dear)
        with open_store(settings.store) as store:
            _, key = begin_job(store, run, dear.name)
        server.script.keep(b"pixels", f"overread-{key}.jsonl")
        theirs = server.script.keep(b"{}", "another-program.jsonl")
        opened = Opened(settings, window)
        qtbot.waitUntil(lambda: opened.resumed == [("tidy", run)])
        worker = BackgroundWorker(settings.store, lambda _: None)
        worker.tidy(run)
        qtbot.waitUntil(lambda: [*server.script.files] == [theirs])
        worker.close()
    with open_store(settings.store) as store:
        assert unfinished_jobs(store, run) == ()
        assert runs.status_counts(store, run) == {Status.PENDING: 4}


def test_that_a_run_waits_until_its_last_answers_are_stored(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    run = _cut_off(settings, tmp_path)
    with run_lock(settings.store, run, utc_now()):
        opened = Opened(settings, window)
        qtbot.waitUntil(lambda: bool(opened.runs._waiting))
        assert opened.resumed == []
    qtbot.waitUntil(lambda: opened.resumed == [("resume", run, 0)])


def _left_at_its_provider(settings: Settings, folder: Path, server: BatchServer) -> int:
    """Leave a run whose questions are in a batch, as a pause does."""
    model = server_profile(server.base_url, answers="batch")
    with open_store(settings.store) as store:
        run = planned(store, folder / "images", a_spec([model]))
        cancel = threading.Event()
        for event in run_batch(store, run, BatchOptions(), cancel):
            if isinstance(event, RunWaiting) and event.questions:
                cancel.set()
    return run


def test_that_a_batch_that_nobody_looks_after_is_told_with_its_resume(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    with BatchServer(BatchScript(takes_s=60)) as server:
        run = _left_at_its_provider(settings, tmp_path, server)
    opened = Opened(settings, window)
    line = BatchLine(opened.states, window)
    qtbot.waitUntil(lambda: not line.isHidden())
    said = line.text.text()
    assert said.startswith(f"Run {run} · Batch of 4 submitted; answers due by ")
    assert said.endswith(" tomorrow · 0 of 4")
    assert opened.resumed == []
    assert (line.pause.isHidden(), line.resume.isHidden()) == (True, False)
    line.resume.click()
    assert opened.resumed == [("resume", run, 0)]


def test_that_a_batch_that_another_program_took_in_is_told_no_more(
    settings: Settings, window: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    script = BatchScript(takes_s=60)
    with BatchServer(script) as server:
        run = _left_at_its_provider(settings, tmp_path, server)
        line = BatchLine(Opened(settings, window).states, window)
        window.show()
        qtbot.waitUntil(lambda: not line.isHidden())
        script.takes_s = 0.0
        with open_store(settings.store) as store:
            finish(store, run)
    qtbot.waitUntil(line.isHidden)
