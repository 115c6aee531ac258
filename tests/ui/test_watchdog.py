"""A window that does not answer is noticed, with what it was doing."""

import importlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from viewer.services.inspecting.blocks import Block
from viewer.ui.window.watchdog import Clocks, Watchdog

_LONG_S = 0.3


@pytest.fixture
def told() -> list[Block]:
    return []


@pytest.fixture
def watchdog(qapp: object, told: list[Block]) -> Iterator[Watchdog]:  # noqa: ARG001
    made = Watchdog(told.append)
    yield made
    made.stop()


def _sleep_on_patient_doe() -> None:
    time.sleep(_LONG_S)


def _compute() -> None:
    until = time.thread_time() + _LONG_S
    while time.thread_time() < until:
        sum(range(1_000))


@pytest.mark.usefixtures("watchdog")
def test_that_computing_is_told_as_the_program_s_own(
    qtbot: QtBot, told: list[Block]
) -> None:
    qtbot.wait(50)
    _compute()
    qtbot.waitUntil(lambda: bool(told))
    longest = max(told, key=lambda block: block.seconds)
    assert longest.is_own
    assert longest.own_s > _LONG_S / 2
    assert any("test_watchdog.py" in place for place in longest.places)
    assert any(place.endswith("_compute") for place in longest.places)


@pytest.mark.usefixtures("watchdog")
def test_that_a_wait_of_the_system_is_told_as_such(
    qtbot: QtBot, told: list[Block]
) -> None:
    qtbot.wait(50)
    _sleep_on_patient_doe()
    qtbot.waitUntil(lambda: bool(told))
    longest = max(told, key=lambda block: block.seconds)
    assert not longest.is_own
    assert longest.seconds > _LONG_S / 2


def _keep_the_lock() -> None:
    """Compute without letting another thread of Python have its turn."""
    until = time.thread_time() + _LONG_S
    while time.thread_time() < until:
        sum(range(5_000_000))


@pytest.mark.usefixtures("watchdog")
def test_that_another_thread_which_keeps_the_interpreter_is_the_program_itself(
    qtbot: QtBot, told: list[Block]
) -> None:
    qtbot.wait(50)
    other = threading.Thread(target=_keep_the_lock)
    other.start()
    other.join()
    qtbot.waitUntil(lambda: bool(told))
    longest = max(told, key=lambda block: block.seconds)
    assert longest.is_own  # the watch, kept from its turn too, may begin late


@pytest.mark.parametrize(
    ("end", "own_s"),
    [
        (Clocks(1.0, 0.2, 0.2), 0.2),
        (Clocks(1.0, 0.2, 0.2, queued=0.8), 0.2),
        (Clocks(1.0, 0.2, 0.5), 0.5),
        (Clocks(1.0, 0.2, 0.9, queued=0.7), 0.3),
        (Clocks(1.0, 0.2, 3.0), 1.0),
        (Clocks(1.0, 0.2, 1.2, queued=0.9), 0.2),
    ],
    ids=["alone", "queued", "others", "others while queued", "many", "all queued"],
)
def test_that_waiting_for_a_processor_is_not_the_program_s_own(
    end: Clocks, own_s: float
) -> None:
    seconds, own = end.since(Clocks(0.0, 0.0, 0.0))
    assert seconds == 1.0
    assert own == pytest.approx(own_s)


@pytest.mark.usefixtures("watchdog")
def test_that_a_slow_import_is_told_by_who_imports(
    qtbot: QtBot, told: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_module.py").write_text(f"import time; time.sleep({_LONG_S})")
    monkeypatch.syspath_prepend(str(tmp_path))
    qtbot.wait(50)
    importlib.import_module("slow_module")
    qtbot.waitUntil(lambda: bool(told))
    places = max(told, key=lambda block: block.seconds).places
    assert places[0].startswith("slow_module.py:1")
    assert any("test_watchdog.py" in place for place in places)


def test_that_a_watch_ends_while_the_window_is_stuck(
    watchdog: Watchdog, told: list[Block]
) -> None:
    time.sleep(_LONG_S)
    watchdog.stop()
    assert told == []
