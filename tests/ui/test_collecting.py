"""Cycles that hold widgets are taken down in the GUI thread only."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from viewer.ui.window.collecting import GuiCollector, due_generation


class _Knot:
    """A cycle that remembers which thread took it down."""

    def __init__(self, ended: list[threading.Thread]) -> None:
        self.itself = self
        weakref.finalize(self, lambda: ended.append(threading.current_thread()))


@pytest.fixture
def quick() -> Iterator[None]:
    """Let a few new objects be enough for a collection of every generation.

    Python skips the oldest while new objects are few beside the old ones, so those
    of earlier tests are put aside.
    """
    usual = gc.get_threshold()
    gc.freeze()
    gc.collect()
    gc.set_threshold(10, 1, 1)
    yield
    gc.set_threshold(*usual)
    gc.disable()
    gc.unfreeze()


@pytest.mark.usefixtures("quick")
def test_that_a_thread_that_allocates_collects_nothing(qtbot: QtBot) -> None:
    gc.enable()
    owner, ended = QObject(), list[threading.Thread]()
    GuiCollector(owner)
    assert not gc.isenabled()
    kept = list[list[int]]()

    def allocate() -> None:
        _Knot(ended)
        kept.extend([number] for number in range(10_000))

    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert ended == []
    qtbot.waitUntil(lambda: ended == [threading.main_thread()])


@pytest.mark.usefixtures("quick")
def test_that_without_the_collector_a_thread_would() -> None:
    """The danger is real: Python collects wherever somebody allocates."""
    ended = list[threading.Thread]()
    gc.enable()
    kept = list[list[int]]()

    def allocate() -> None:
        _Knot(ended)
        kept.extend([number] for number in range(10_000))

    thread = threading.Thread(target=allocate)
    thread.start()
    thread.join()
    assert ended == [thread]


def test_that_the_oldest_generation_over_its_threshold_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    for counts, due in (
        ((700, 10, 10), None),
        ((701, 0, 0), 0),
        ((701, 11, 0), 1),
        ((0, 0, 11), 2),
    ):
        monkeypatch.setattr(gc, "get_count", lambda counts=counts: counts)
        assert due_generation() == due
