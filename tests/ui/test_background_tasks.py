"""Background work that ends with the widget it is done for."""

import threading

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from viewer.ui.application.background_tasks import BackgroundTasks


def test_that_the_latest_of_a_name_counts(qtbot: QtBot) -> None:
    background_tasks, gate, got = (
        BackgroundTasks(owner := QObject()),
        threading.Event(),
        list[str](),
    )
    background_tasks.start("x", lambda: str(gate.wait(300)), got.append, _raise)
    background_tasks.start("x", lambda: "second", got.append, _raise)
    gate.set()
    qtbot.waitUntil(lambda: bool(got))
    qtbot.wait(50)
    assert got == ["second"]
    assert "x" not in background_tasks
    assert owner is not None


def test_that_nothing_reaches_an_owner_that_is_gone(qtbot: QtBot) -> None:
    owner, gate, got = QObject(), threading.Event(), list[bool]()
    background_tasks = BackgroundTasks(owner)
    background_tasks.start("x", lambda: gate.wait(300), got.append, _raise)
    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    gate.set()
    qtbot.wait(100)
    assert got == []


def test_that_a_failure_is_handed_over(qtbot: QtBot) -> None:
    owner, got = QObject(), list[Exception]()
    background_tasks = BackgroundTasks(owner)
    background_tasks.start("x", lambda: 1 // 0, _raise_any, got.append)
    qtbot.waitUntil(lambda: bool(got))
    assert isinstance(got[0], ZeroDivisionError)


def _raise(error: Exception) -> None:
    raise error


def _raise_any(value: object) -> None:
    raise AssertionError(value)
