"""What a run is doing, second by second: one value, told the same everywhere."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import IdleWorker
from viewer.domain.answer import Status
from viewer.domain.result import Score
from viewer.domain.run import (
    Event,
    Heartbeat,
    ModelLoading,
    RunEnded,
    RunMark,
    RunStarted,
    RunWaiting,
    TrialDone,
    TrialRetried,
)
from viewer.services.worker.background import WorkerDied, WorkerEvent, WorkerReply
from viewer.ui.application.app_context import WorkerBridge
from viewer.ui.application.run_state import Phase, RunState, clock_text
from viewer.ui.application.run_states import RunStates


def _done(
    status: Status = Status.SCORED_CORRECT, reason: str = "", *, reused: bool = False
) -> TrialDone:
    score = Score(status, reason)
    return TrialDone(7, 1, "i", "grid=8", 0, "m", score, "", reused, 5)


def _running(*, planned: int = 100, done: int = 0) -> RunState:
    return RunState(7).after(RunStarted(7, planned, done), 0.0)


def _after(state: RunState, *timed: tuple[float, Event]) -> RunState:
    for now_s, event in timed:
        state = state.after(event, now_s)
    return state


def _every(step_s: float, n: int) -> Sequence[tuple[float, Event]]:
    return [(step_s * (i + 1), _done()) for i in range(n)]


def test_that_a_running_state_tells_rate_time_left_and_failures() -> None:
    state = _running(done=40)
    assert state.words(0.0) == "running · 40 of 100"
    state = _after(
        state,
        *_every(0.5, 17),
        (9.0, _done(Status.PROVIDER_ERROR, "http_500")),
        (9.5, _done(Status.PROVIDER_ERROR, "timeout")),
        (10.0, _done(Status.AMBIGUOUS, "two cells")),
    )
    assert state.words(10.0) == (
        "running · 60 of 100 · 120 per minute · 0:20 left"
        " · 2 failed (1 http 500, 1 timeout) · 1 ambiguous"
    )


def test_that_the_rate_is_of_the_last_answers_and_not_since_the_start() -> None:
    state = _after(_running(planned=400), *_every(1.0, 100))
    slower = _after(state, *((100 + 5.0 * i, _done()) for i in range(1, 101)))
    rate = slower.per_minute(600.0)
    assert rate == pytest.approx(12.0, rel=0.05)


def test_that_reused_replies_make_no_rate() -> None:
    state = _after(_running(), *((0.1, _done(reused=True)) for _ in range(50)))
    assert state.words(5.0) == "running · 50 of 100"


def test_that_a_run_without_answers_stalls_and_has_no_time_left() -> None:
    state = _after(_running(), *_every(1.0, 48), (48.0, Heartbeat(7, 4)))
    beating = _after(state, *((48.0 + s, Heartbeat(7, 4)) for s in range(1, 51)))
    assert "left" in beating.words(57.0)
    assert beating.words(98.0) == (
        "stalled for 0:50, waiting for 4 answers · 48 of 100"
    )
    goes_on = _after(beating, (98.0, _done()), (102.0, _done()))
    assert goes_on.words(102.0) == "running · 50 of 100 · 15 per minute · 3:20 left"


def test_that_a_slow_model_stalls_only_after_several_of_its_longest_gaps() -> None:
    state = _after(_running(), *_every(30.0, 3), (100.0, Heartbeat(7, 1)))
    assert state.stalled_s(170.0) == 0
    assert state.stalled_s(181.0) == pytest.approx(91.0)


def test_that_a_first_answer_is_waited_for() -> None:
    state = _after(_running(), (35.0, Heartbeat(7, 4)))
    assert state.words(35.0) == "waiting for 4 answers for 0:35 · 0 of 100"


def test_that_a_server_that_refuses_is_named_as_the_reason() -> None:
    state = _after(_running(), *_every(1.0, 4))
    state = _after(state, (16.0, TrialRetried(7, 1, "m", "http_503", 2.0)))
    assert state.words(19.0) == (
        "stalled for 0:15, asking again after http 503 · 4 of 100"
    )


def test_that_a_worker_without_a_heartbeat_does_not_respond() -> None:
    state = _after(_running(), *_every(1.0, 4), (4.0, Heartbeat(7, 2)))
    assert state.words(16.0) == ("no sign of life from the worker for 0:12 · 4 of 100")


def test_that_loading_a_model_is_no_stall_and_leaves_the_rate() -> None:
    step = ModelLoading(7, "tiny", 0.48, "downloading, 12.0 of 25.0 MB")
    loads = _after(_running(planned=20), (300.0, step))
    assert loads.part == 0.48
    assert loads.words(400.0) == (
        "0 of 20 · Loading tiny · 48 % · downloading, 12.0 of 25.0 MB"
    )
    goes_on = _after(loads, (700.0, ModelLoading(7, "tiny", 1.0, "")))
    assert _after(goes_on, (706.0, _done())).per_minute(706.0) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("mark", "going", "ended"),
    [
        (RunMark.CANCELLED, "cancelling for 0:20, 1 answer on its way", "cancelled"),
        (RunMark.PAUSED, "pausing for 0:20, 1 answer on its way", "paused"),
    ],
)
def test_that_a_run_that_is_to_end_counts_the_answers_on_their_way(
    mark: RunMark, going: str, ended: str
) -> None:
    state = _after(_running(), *_every(1.0, 4)).requested(mark, 5.0)
    state = _after(state, (24.0, Heartbeat(7, 1)))
    assert state.words(25.0) == f"{going} · 4 of 100"
    counts = {Status.SCORED_CORRECT: 5, Status.PENDING: 95}
    state = state.after(RunEnded(7, counts, cancelled=True), 26.0)
    assert state.words(99.0) == f"{ended} · 5 of 100"


def test_that_a_run_cancelled_while_queued_is_not_shown_as_running() -> None:
    state = RunState(7).requested(RunMark.CANCELLED, 0.0)
    state = state.after(RunStarted(7, 100, 0), 1.0)
    assert state.phase is Phase.CANCELLING


def test_that_a_batch_at_its_provider_is_told_until_its_answers_are_here() -> None:
    waits = _after(_running(), (1.0, RunWaiting(7, "", questions=100)))
    assert waits.words(500.0).startswith("0 of 100 · Batch of 100 submitted")
    assert waits.stalled_s(500.0) == 0
    ended = RunEnded(7, {Status.PENDING: 100}, cancelled=True)
    paused = waits.requested(RunMark.PAUSED, 2.0).after(ended, 3.0)
    assert paused.words(9.0) == "paused · Batch of 100 submitted · 0 of 100"
    here = _after(waits, (600.0, RunWaiting(7, "")), (601.0, _done()))
    assert here.words(601.0).startswith("running · 1 of 100")


def test_that_durations_are_said_as_a_clock_does() -> None:
    assert (clock_text(96.2), clock_text(7296)) == ("1:36", "2:01:36")


class Told:
    """The runs of a window with a worker that does nothing, and what was told."""

    def __init__(self, store: Path) -> None:
        self.bridge = WorkerBridge(store, IdleWorker)
        self.now_s = 0.0
        self.states = RunStates(self.bridge, lambda: self.now_s)
        self.ended: list[RunState] = []
        self.refused: list[str] = []
        self.states.ended.connect(self.ended.append)
        self.states.refused.connect(self.refused.append)

    def hear(self, *messages: object) -> None:
        for message in messages:
            self.bridge.message.emit(message)

    def begin(self, run: int = 7) -> None:
        started = WorkerEvent(RunStarted(run, 100, 0))
        self.hear(WorkerReply(99, {"run": run, "planned": 100}, ""), started)

    def words(self, run: int = 7) -> str:
        state = self.states.known(run)
        return self.states.words(state) if state else ""


@pytest.fixture
def told(qapp: object, tmp_path: Path) -> Told:
    del qapp
    return Told(tmp_path / "s.sqlite")


def test_that_each_end_is_told_once_with_its_reason(told: Told) -> None:
    for run in (1, 2, 3, 4):
        told.begin(run)
    failure = "The disk is full."
    told.hear(WorkerReply(99, None, failure, 1))
    told.hear(WorkerEvent(RunEnded(2, {Status.SCORED_CORRECT: 100}, cancelled=False)))
    told.states.cancel(3)
    told.hear(WorkerEvent(RunEnded(3, {Status.PENDING: 100}, cancelled=True)))
    told.hear(WorkerDied("It died."), WorkerDied("It died."))
    assert [(s.run, s.phase, s.why) for s in told.ended] == [
        (1, Phase.FAILED, failure),
        (2, Phase.DONE, ""),
        (3, Phase.CANCELLED, ""),
        (4, Phase.CRASHED, "It died."),
    ]
    assert told.words(1) == "stopped by an error at 0 of 100"
    assert told.words(4) == "worker ended at 0 of 100"


def test_that_a_run_that_cannot_be_cancelled_is_shown_as_running_and_why(
    told: Told,
) -> None:
    told.begin()
    told.states.cancel(7)
    assert told.words().startswith("cancelling")
    told.hear(WorkerReply(2, None, "The store is full."))
    assert told.words() == "running · 0 of 100"
    assert told.refused == ["The store is full."]


def test_that_cancelling_what_nobody_works_on_ends_it_at_once(told: Told) -> None:
    told.states.cancel(7)
    told.hear(WorkerReply(2, {"cancelling": False}, ""))
    assert [(s.run, s.phase) for s in told.ended] == [(7, Phase.CANCELLED)]


def test_that_a_start_that_is_refused_says_why_and_others_replies_say_nothing(
    told: Told,
) -> None:
    told.states.resume(7)
    assert told.words() == "queued"
    told.hear(WorkerReply(2, None, "There is no run 7."))
    assert told.states.known(7) is None
    told.hear(WorkerReply(3, None, "A figure cannot be drawn."))
    assert told.refused == ["There is no run 7."]


def test_that_words_change_every_second_without_an_event(
    told: Told, qtbot: QtBot
) -> None:
    told.begin()
    told.states.cancel(7)
    heard: list[str] = []
    told.states.changed.connect(lambda: heard.append(told.words()))
    told.now_s = 3.0
    qtbot.waitUntil(lambda: bool(heard))
    assert heard[0] == "cancelling for 0:03, 0 answers on their way · 0 of 100"
