"""Deadlines of requests, each in the thread that all of them share."""

import threading
import time

import pytest

from viewer.models.openai_api import deadlines
from viewer.models.openai_api.deadlines import Deadlines


def test_that_each_deadline_that_is_not_cancelled_expires_once() -> None:
    heard: list[str] = []
    done = threading.Event()
    watched = Deadlines(0.02)
    watched.add(lambda: heard.append("first"))
    watched.add(lambda: heard.append("cancelled")).cancel()
    second = watched.add(lambda: heard.append("second"))
    watched.add(done.set)
    assert done.wait(60)
    second.expire()
    assert heard == ["first", "second"]
    assert second.is_over


def test_that_many_deadlines_share_one_thread_which_ends_after_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlines, "_LINGER_S", 0.05)
    before = threading.active_count()
    watched = Deadlines(0.05)
    for _ in range(20):
        watched.add(lambda: None)
    assert threading.active_count() <= before + 1
    while watched._is_watched:
        time.sleep(0.01)
    done = threading.Event()
    watched.add(done.set)
    assert done.wait(60)


def test_that_a_deadline_after_a_pause_is_watched_by_the_same_thread() -> None:
    watched = Deadlines(0.01)
    for _ in range(2):
        done = threading.Event()
        watched.add(done.set)
        assert done.wait(60)
