"""Runs that a person stops and goes on with, by a real worker, and what they use."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.proof_params import always
from tests.helpers.tiny_study import D4, a_spec, planned
from viewer.domain.exchange import ModelProfile
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.window.session_meter import SessionMeter
from viewer.ui.workspaces.measure import MeasureWorkspace


@pytest.mark.parametrize("word", always({"cancelled"}, ["paused", "cancelled"]))
def test_that_a_run_stopped_by_a_person_says_so_and_goes_on_when_resumed(
    settings: Settings, tmp_path: Path, qtbot: QtBot, word: str
) -> None:
    slow = ModelProfile("slow", "scripted", {"answer": "D4", "delay_s": 0.3})
    with open_store(settings.store) as store:
        run = planned(store, tmp_path / "slow", a_spec([slow], repeats=6))
    context = AppContext(settings, WorkerBridge(settings.store))
    workspace = MeasureWorkspace(context)
    qtbot.addWidget(workspace)
    workspace.show()
    runs = workspace.runs
    qtbot.waitUntil(runs.resume.isVisible, timeout=20_000)
    runs.resume.click()
    qtbot.waitUntil(runs.pause.isVisible, timeout=20_000)
    qtbot.waitUntil(lambda: _state(workspace).startswith("running"), timeout=20_000)
    (runs.pause if word == "paused" else runs.cancel).click()
    qtbot.waitUntil(lambda: _state(workspace).startswith(word), timeout=20_000)
    assert runs.resume.text().startswith(f"Resume run {run} (")
    runs.resume.click()
    qtbot.waitUntil(lambda: _state(workspace).startswith("done"), timeout=30_000)
    context.worker.close()


def _state(workspace: MeasureWorkspace) -> str:
    index = workspace.runs.view.currentIndex()
    return str(index.data(Qt.ItemDataRole.StatusTipRole))


def test_that_the_status_bar_counts_what_was_asked_since_the_window_opened(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        run = planned(store, tmp_path / "d", a_spec([D4], repeats=2))
    context = AppContext(settings, WorkerBridge(settings.store))
    said: list[str] = []
    context.status.use_changed.connect(said.append)
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    meter = SessionMeter(context, parent)
    qtbot.waitUntil(lambda: said == ["0 requests $0.00 · cache 0 B"], timeout=10_000)
    context.worker.resume(run, 4)
    qtbot.waitUntil(lambda: said[-1].startswith("8 requests"), timeout=20_000)
    assert said[-1].endswith("kB")
    assert meter.parent() is parent
    context.worker.close()
