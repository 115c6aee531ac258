"""Runs with their state, and the progress of those under way."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from viewer.domain.answer import Status
from viewer.domain.result import Score
from viewer.domain.run import (
    ModelLoading,
    RunEnded,
    RunNote,
    RunStarted,
    RunStatus,
    RunSummary,
    RunWaiting,
    TrialDone,
)
from viewer.ui.application.run_progress import RunProgress, clock_text
from viewer.ui.panels.measure.run_list import RunList, cost_text, run_state


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


@pytest.fixture
def panel(qtbot: QtBot) -> RunList:
    made = RunList()
    qtbot.addWidget(made)
    made.show()
    made.show_runs((_summary(1), _summary(2, pending=4)))
    return made


def test_that_a_run_with_notes_is_badged_and_its_tip_says_them(
    panel: RunList,
) -> None:
    note = RunNote("m", "parameter_dropped", "seed was left out")
    noted = replace(_summary(3), notes=(note,))
    assert run_state(noted).endswith("⚠ 1 noted")
    panel.show_runs((noted,))
    tip = panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.splitlines()[-1] == "m: seed was left out."


def test_that_progress_tells_rate_time_left_and_failures() -> None:
    progress = RunProgress(7, planned=100, begun=40, done=40, started_s=10.0)
    assert progress.words(10.0) == "40 of 100 · 0 failed"
    for _ in range(17):
        progress = progress.after(_done(7))
    for status, reason in (
        (Status.PROVIDER_ERROR, "http_500"),
        (Status.PROVIDER_ERROR, "timeout"),
        (Status.AMBIGUOUS, "two cells"),
    ):
        progress = progress.after(_done(7, status, reason))
    failed = "2 failed (1 http 500, 1 timeout) · 1 ambiguous"
    said = f"60 of 100 · 120 trials/min · 0:20 left · {failed}"
    assert progress.words(20.0) == said
    assert "6.0 trials/min · 6:40 left" in progress.words(210.0)


def test_that_time_left_follows_this_batchs_own_pace() -> None:
    progress = RunProgress(1, planned=100, begun=20, done=40, started_s=10.0)
    assert progress.seconds_left(50.0) == pytest.approx(120.0)
    assert RunProgress(1, 100, 20, 20, 10.0).seconds_left(50.0) is None
    assert (clock_text(96.2), clock_text(7296)) == ("1:36", "2:01:36")


def test_that_states_are_said_in_words() -> None:
    assert run_state(_summary(1)) == "done · 10 trials · says-d4"
    stopped = _summary(2, pending=4)
    assert run_state(stopped) == "stopped · 6 of 10 · says-d4"
    for status in (RunStatus.PAUSED, RunStatus.CANCELLED):
        marked = replace(stopped, status=status)
        assert run_state(marked) == f"{status} · 6 of 10 · says-d4"


def test_that_a_run_shows_what_it_cost_where_a_reply_had_a_price() -> None:
    assert (cost_text(1_840_000), cost_text(0), cost_text(None)) == (
        "$1.84",
        "$0.00",
        "",
    )


def test_that_the_newest_run_is_selected_and_can_be_resumed(
    panel: RunList, qtbot: QtBot
) -> None:
    assert panel.selected is not None
    assert panel.selected.id == 2
    assert panel.resume.text() == "Resume run 2 (4 left)"
    assert not panel.pause.isVisible()
    with qtbot.waitSignal(panel.resume_wanted) as caught:
        QTest.mouseClick(panel.resume, Qt.MouseButton.LeftButton)
    assert caught.args == [2]


def test_that_a_running_run_shows_progress_and_can_be_paused(
    panel: RunList, qtbot: QtBot
) -> None:
    panel.follow(RunStarted(2, 10, 6))
    panel.follow(_done(2))
    panel.follow(_done(2, Status.PROVIDER_ERROR))
    qtbot.waitUntil(lambda: "8 of 10" in panel.progress_words, timeout=3000)
    assert panel.progress_words.endswith("1 failed (1 no reason)")
    assert not panel.resume.isVisible()
    with qtbot.waitSignal(panel.pause_wanted) as caught:
        QTest.mouseClick(panel.pause, Qt.MouseButton.LeftButton)
    assert caught.args == [2]
    panel.follow(RunEnded(2, {}, cancelled=True))
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


def test_that_a_run_whose_worker_died_shows_as_stopped(panel: RunList) -> None:
    panel.follow(RunStarted(2, 10, 6))
    panel.forget_running()
    assert panel.resume.isVisible()


def test_that_a_paused_run_can_be_resumed_or_cancelled_and_a_cancelled_one_resumed(
    panel: RunList, qtbot: QtBot
) -> None:
    paused = replace(_summary(2, pending=4), status=RunStatus.PAUSED)
    panel.show_runs((paused,))
    assert (panel.resume.isVisible(), panel.pause.isVisible()) == (True, False)
    assert panel.cancel.text() == "Cancel run 2"
    with qtbot.waitSignal(panel.cancel_wanted) as caught:
        QTest.mouseClick(panel.cancel, Qt.MouseButton.LeftButton)
    assert caught.args == [2]
    panel.show_runs((replace(paused, status=RunStatus.CANCELLED),))
    assert (panel.resume.isVisible(), panel.cancel.isVisible()) == (True, False)


def test_that_a_run_that_waits_for_its_model_says_so_and_its_rate_leaves_that_out() -> (
    None
):
    begun = RunProgress(7, planned=20, begun=0, done=0, started_s=10.0)
    step = ModelLoading(7, "medgemma", 0.48, "downloading, 12.0 of 25.0 MB")
    waits = begun.waiting(step, 400.0)
    assert waits.part == 0.48
    assert waits.words(400.0) == (
        "0 of 20 · Loading medgemma · 48 % · downloading, 12.0 of 25.0 MB"
    )
    goes_on = waits.waiting(ModelLoading(7, "medgemma", 1.0, ""), 700.0)
    assert goes_on.loading is None
    assert goes_on.started_s == 700.0
    unknown = ModelLoading(7, "medgemma", 0.0, "contacting the hub")
    assert unknown.words == "Loading medgemma · contacting the hub"


def test_that_the_list_names_what_a_run_waits_for(panel: RunList) -> None:
    panel.follow(RunStarted(2, 10, 0))
    panel.follow(ModelLoading(2, "tiny", 0.5, "loading weights"))
    state = panel.model.index(0, 0).data(Qt.ItemDataRole.StatusTipRole)
    assert state == "Loading tiny · 50 % · loading weights"
    panel.follow(ModelLoading(2, "tiny", 1.0, ""))
    state = panel.model.index(0, 0).data(Qt.ItemDataRole.StatusTipRole)
    assert state == "running · 0 of 10"
    panel.follow(RunWaiting(2, "process 77 on ward3 since 08:00"))
    state = panel.model.index(0, 0).data(Qt.ItemDataRole.StatusTipRole)
    assert state == "Waiting for process 77 on ward3 since 08:00"
