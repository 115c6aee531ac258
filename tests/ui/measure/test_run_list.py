"""Runs with their state, and the progress of those under way."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import IdleWorker
from viewer.domain.answer import Status
from viewer.domain.result import Score
from viewer.domain.run import (
    Event,
    ModelLoading,
    Outstanding,
    RunEnded,
    RunNote,
    RunStarted,
    RunStatus,
    RunSummary,
    RunWaiting,
    TrialDone,
)
from viewer.services.worker.background import WorkerDied, WorkerEvent, WorkerReply
from viewer.ui.application.app_context import Listener, WorkerBridge
from viewer.ui.application.run_states import RunStates
from viewer.ui.panels.measure.run_list import RunList, cost_text


def _summary(run: int, pending: int = 0, planned: int = 10) -> RunSummary:
    return RunSummary(
        id=run,
        study="grid_localization",
        dataset="tiny",
        models=("says-d4",),
        status=RunStatus.UNFINISHED if pending else RunStatus.FINISHED,
        created_at="2026-01-01T00:00:00+00:00",
        n_planned=planned,
        counts={
            Status.SCORED_CORRECT: planned - pending,
            **({Status.PENDING: pending} if pending else {}),
        },
        adhoc=False,
        plan_sha256="",
    )


def _done(
    run: int, status: Status = Status.SCORED_CORRECT, reason: str = ""
) -> TrialDone:
    score = Score(status, reason)
    return TrialDone(run, 1, "i", "grid=8", 0, "m", score, "", False, 5)


@dataclass(frozen=True)
class Shown:
    """The list, and the worker that its runs are controlled by."""

    panel: RunList
    bridge: WorkerBridge
    workers: list[IdleWorker]

    def state(self, row: int = 0) -> str:
        """Return what the list says of a run."""
        return str(self.panel.model.index(row, 0).data(Qt.ItemDataRole.StatusTipRole))

    def says(self, words: str) -> bool:
        """Tell whether that is what the list says of the first run."""
        return self.state() == words

    def begin(self, run: int) -> None:
        """Let the worker reply that it begins a run."""
        self.bridge.message.emit(WorkerReply(99, {"run": run}, ""))

    def hear(self, *events: Event) -> None:
        """Let the worker report."""
        for event in events:
            self.bridge.message.emit(WorkerEvent(event))


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Shown:
    workers: list[IdleWorker] = []

    def make(store: Path, listener: Listener) -> IdleWorker:
        workers.append(IdleWorker(store, listener))
        return workers[-1]

    bridge = WorkerBridge(tmp_path / "s.sqlite", make)
    made = RunList(RunStates(bridge))
    qtbot.addWidget(made)
    made.show()
    made.show_runs((_summary(1), _summary(2, pending=4)))
    return Shown(made, bridge, workers)


@pytest.fixture
def panel(shown: Shown) -> RunList:
    return shown.panel


def test_that_a_run_with_notes_is_badged_and_its_tip_says_them(
    panel: RunList,
) -> None:
    note = RunNote("m", "parameter_dropped", "seed was left out")
    noted = replace(_summary(3), notes=(note,))
    panel.show_runs((noted,))
    state = panel.model.index(0, 0).data(Qt.ItemDataRole.StatusTipRole)
    assert state.endswith("⚠ 1 noted")
    tip = panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.splitlines()[-1] == "m: seed was left out."


def test_that_states_are_said_in_words(shown: Shown) -> None:
    assert shown.state(1) == "done · 10 trials · says-d4"
    assert shown.state(0) == "stopped · 6 of 10 · says-d4"
    for status in (RunStatus.PAUSED, RunStatus.CANCELLED):
        marked = replace(_summary(2, pending=4), status=status)
        shown.panel.show_runs((_summary(1), marked))
        assert shown.state(0) == f"{status} · 6 of 10 · says-d4"


def test_that_a_run_shows_what_it_cost_where_a_reply_had_a_price() -> None:
    assert (cost_text(1_840_000), cost_text(0), cost_text(None)) == (
        "$1.84",
        "$0.00",
        "",
    )


def test_that_the_newest_run_is_selected_and_can_be_resumed(
    shown: Shown,
) -> None:
    panel = shown.panel
    assert panel.selected is not None
    assert panel.selected.id == 2
    assert panel.resume.text() == "Resume run 2 (4 left)"
    assert not panel.pause.isVisible()
    QTest.mouseClick(panel.resume, Qt.MouseButton.LeftButton)
    assert shown.workers[0].told[1:] == [("resume", 2, 0)]


def test_that_a_running_run_shows_its_state_and_can_be_paused(
    shown: Shown, qtbot: QtBot
) -> None:
    panel = shown.panel
    shown.begin(2)
    assert shown.state() == "queued · says-d4"
    shown.hear(RunStarted(2, 10, 6), _done(2), _done(2, Status.PROVIDER_ERROR))
    words = "running · 8 of 10 · 1 failed (1 no reason) · says-d4"
    qtbot.waitUntil(lambda: shown.state() == words, timeout=3000)
    assert not panel.resume.isVisible()
    QTest.mouseClick(panel.pause, Qt.MouseButton.LeftButton)
    assert shown.workers[0].told[1:] == [("pause", 2)]
    assert shown.state().startswith("pausing for 0:00, 0 answers on their way")
    assert not panel.pause.isEnabled()
    shown.hear(RunEnded(2, {Status.PENDING: 2}, cancelled=True))
    assert shown.state().startswith("paused")
    assert panel.resume.isVisible()
    assert not panel.pause.isVisible()


def test_that_the_selected_run_stays_selected_when_others_arrive(
    panel: RunList,
) -> None:
    panel.select(1)
    panel.show_runs((_summary(1), _summary(2), _summary(3)))
    assert panel.selected is not None
    assert panel.selected.id == 1
    panel.wanted = 4
    panel.show_runs((_summary(1), _summary(4)))
    assert panel.selected.id == 4


def test_that_a_run_whose_worker_died_says_so_until_it_goes_on(shown: Shown) -> None:
    shown.begin(2)
    shown.hear(RunStarted(2, 10, 6))
    shown.bridge.message.emit(WorkerDied("It died."))
    assert shown.state() == "worker ended at 6 of 10 · says-d4"
    assert shown.panel.resume.isVisible()
    shown.panel.show_runs((_summary(1), _summary(2, pending=4)))
    assert shown.state() == "worker ended at 6 of 10 · says-d4"
    shown.begin(2)
    assert shown.state() == "queued · says-d4"


def test_that_a_paused_run_can_be_resumed_or_cancelled_and_a_cancelled_one_resumed(
    shown: Shown,
) -> None:
    panel = shown.panel
    paused = replace(_summary(2, pending=4), status=RunStatus.PAUSED)
    panel.show_runs((paused,))
    assert (panel.resume.isVisible(), panel.pause.isVisible()) == (True, False)
    assert panel.cancel.text() == "Cancel run 2"
    QTest.mouseClick(panel.cancel, Qt.MouseButton.LeftButton)
    assert shown.workers[0].told[1:] == [("cancel", 2)]
    panel.show_runs((replace(paused, status=RunStatus.CANCELLED),))
    assert (panel.resume.isVisible(), panel.cancel.isVisible()) == (True, False)


@pytest.mark.parametrize(
    ("status", "mark"),
    [(RunStatus.UNFINISHED, ""), (RunStatus.PAUSED, "paused · ")],
)
def test_that_a_run_nobody_works_on_says_what_is_at_its_provider(
    shown: Shown, status: RunStatus, mark: str
) -> None:
    due = datetime.now().astimezone() + timedelta(days=1)
    out = Outstanding(1_000, due.astimezone(UTC).isoformat())
    run = replace(_summary(3, pending=1_000, planned=1_000), status=status, out=out)
    shown.panel.show_runs((run,))
    assert shown.state() == (
        f"{mark}Batch of 1,000 submitted; answers due by {due:%H:%M} tomorrow"
        " · 0 of 1,000 · says-d4"
    )
    assert shown.panel.resume.isVisible()


def test_that_a_run_has_a_line_more_while_its_answers_are_due(shown: Shown) -> None:
    def height(row: int) -> int:
        view = shown.panel.view
        return view.visualRect(shown.panel.model.index(row, 0)).height()

    waits = replace(
        _summary(2, pending=4), out=Outstanding(4, "2027-01-01T12:00:00+00:00")
    )
    shown.panel.show_runs((_summary(1), waits))
    assert height(0) > height(1)
    shown.panel.show_runs((_summary(1), replace(waits, out=None)))
    assert height(0) == height(1)


def test_that_the_list_names_what_a_run_waits_for(shown: Shown, qtbot: QtBot) -> None:
    shown.begin(2)
    shown.hear(RunStarted(2, 10, 0))
    for event, words in (
        (
            ModelLoading(2, "tiny", 0.5, "loading weights"),
            "0 of 10 · Loading tiny · 50 % · loading weights",
        ),
        (ModelLoading(2, "tiny", 1.0, ""), "running · 0 of 10"),
        (
            RunWaiting(2, "process 77 on ward3 since 08:00"),
            "0 of 10 · Waiting for process 77 on ward3 since 08:00",
        ),
    ):
        shown.hear(event)
        qtbot.waitUntil(partial(shown.says, f"{words} · says-d4"))
