"""Long work in steps."""

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from pytestqt.qtbot import QtBot

from viewer.app import run_in_steps


def test_that_others_have_their_turn_between_two_steps(qtbot: QtBot) -> None:
    done: list[str] = []
    owner = QObject()
    other = QTimer(owner, interval=0)
    other.timeout.connect(partial(done.append, "other"))
    other.start()
    run_in_steps(owner, [partial(done.append, step) for step in ("one", "two")])
    assert done == []
    qtbot.waitUntil(lambda: "two" in done)
    assert "other" in done[done.index("one") : done.index("two")]


def test_that_an_owner_takes_its_steps_along(qtbot: QtBot) -> None:
    done: list[str] = []
    owner = QObject()
    run_in_steps(owner, [partial(done.append, "one")])
    owner.deleteLater()
    QCoreApplication.sendPostedEvents(owner, QEvent.Type.DeferredDelete.value)
    qtbot.wait(20)
    assert done == []
