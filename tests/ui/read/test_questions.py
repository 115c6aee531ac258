"""What becomes of one question to the worker."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import IdleWorker
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.result import Score
from viewer.domain.run import ModelStopped, RunEnded, RunWaiting, TrialDone
from viewer.services.worker.background import (
    AskCommand,
    WorkerDied,
    WorkerEvent,
    WorkerMessage,
    WorkerReply,
)
from viewer.ui.application.app_context import Listener, WorkerBridge
from viewer.ui.panels.asking.questions import (
    Answered,
    Ended,
    Failed,
    Questions,
    Waiting,
)

_QUESTION = AskCommand(ImageRef(Path("a.dcm")), "Edema", ("uniform",))


class _Talk:
    """Questions to an idle worker, what it was told and what was heard of it."""

    def __init__(self, qtbot: QtBot, tmp_path: Path) -> None:
        self._qtbot = qtbot
        self._workers: list[IdleWorker] = []
        self.bridge = WorkerBridge(tmp_path / "s.sqlite", self._make)
        self.questions = Questions(self.bridge)
        self.heard: list[object] = []
        for signal in (
            self.questions.answered,
            self.questions.failed,
            self.questions.ended,
        ):
            signal.connect(self.heard.append)

    def _make(self, store: Path, listener: Listener) -> IdleWorker:
        self._workers.append(IdleWorker(store, listener))
        return self._workers[-1]

    @property
    def told(self) -> list[object]:
        return self._workers[0].told

    def ask(self) -> int:
        self.questions.ask(_QUESTION)
        return len(self.told)

    def say(self, message: WorkerMessage) -> None:
        with self._qtbot.waitSignal(self.bridge.message):
            self._workers[0].listener(message)


def _done(run: int, status: Status, reason: str = "") -> WorkerEvent:
    score = Score(status, reason)
    event = TrialDone(run, 7, "a|Edema", "grid=8", 0, "uniform", score, "", False, 5)
    return WorkerEvent(event)


def _ended(run: int) -> WorkerEvent:
    return WorkerEvent(RunEnded(run, {}, cancelled=False))


def test_that_an_answer_is_told_and_the_end_after_the_last_run(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    number = talk.ask()
    talk.say(WorkerReply(number, {"runs": [3, 4]}, ""))
    talk.say(_done(3, Status.SCORED_CORRECT))
    talk.say(_ended(3))
    assert talk.heard == [Answered(7)]
    assert talk.questions.running
    talk.say(_ended(4))
    assert talk.heard == [Answered(7), Ended(cancelled=False)]
    assert not talk.questions.running


def test_that_another_runs_events_are_none_of_its_business(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    talk.say(WorkerReply(talk.ask(), {"runs": [3]}, ""))
    talk.say(_done(9, Status.SCORED_CORRECT))
    talk.say(WorkerReply(99, None, "Something else failed."))
    assert talk.heard == []


def test_that_a_refused_question_says_why_and_ends(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    talk.say(WorkerReply(talk.ask(), None, "No such model. Choose another."))
    expected = [Failed("No such model. Choose another."), Ended(cancelled=False)]
    assert talk.heard == expected


def test_that_a_failing_provider_a_stop_and_a_death_are_told(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    talk.say(WorkerReply(talk.ask(), {"runs": [3]}, ""))
    talk.say(_done(3, Status.PROVIDER_ERROR, "http_500"))
    talk.say(WorkerEvent(ModelStopped(3, "uniform", "The key was refused.")))
    talk.say(WorkerDied("The worker ended."))
    assert talk.heard == [
        Failed("uniform did not answer: http 500."),
        Answered(7),
        Failed("The key was refused."),
        Failed("The worker ended."),
        Ended(cancelled=False),
    ]


def test_that_a_run_that_fails_midway_ends_the_question(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    number = talk.ask()
    talk.say(WorkerReply(number, {"runs": [3]}, ""))
    talk.say(WorkerReply(number, None, "The disk is full.", run=3))
    assert talk.heard == [Failed("The disk is full."), Ended(cancelled=False)]


def test_that_cancel_reaches_every_run_even_before_the_reply(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    number = talk.ask()
    talk.questions.cancel()
    talk.say(WorkerReply(number, {"runs": [3]}, ""))
    assert talk.told[-1] == ("cancel", 3)
    talk.say(_ended(3))
    assert talk.heard == [Ended(cancelled=True)]


def test_that_a_question_that_another_process_asks_says_whom_it_waits_for(
    qtbot: QtBot, tmp_path: Path
) -> None:
    talk = _Talk(qtbot, tmp_path)
    waits: list[object] = []
    talk.questions.waiting.connect(waits.append)
    talk.say(WorkerReply(talk.ask(), {"runs": [3]}, ""))
    talk.say(WorkerEvent(RunWaiting(3, "process 77 on ward3 since 08:00")))
    talk.say(WorkerEvent(RunWaiting(3, "")))
    words = "Waiting for process 77 on ward3 since 08:00"
    assert waits == [Waiting(words), Waiting("")]
