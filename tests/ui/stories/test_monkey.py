"""Whatever is pressed, clicked and dragged: nothing raises, warns or stands still."""

import gc
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from traceback import format_exception
from typing import Protocol

import pytest
from PySide6.QtCore import QtMsgType
from pytestqt.exceptions import capture_exceptions
from pytestqt.logging import Record
from pytestqt.qtbot import QtBot

from tests.helpers.sealed_sessions import PANEL, READER, store_of_questions
from tests.helpers.window_monkey import Monkey
from tests.helpers.window_story import Story, open_demo, open_story
from viewer.services.inspecting.blocks import Block
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.task_readings import open_task
from viewer.services.starting.head_start import begin
from viewer.services.synthetic.demo import prepare_demo
from viewer.settings import Settings
from viewer.ui.window.watchdog import Watchdog

_PLATFORM = "This plugin does not support"
"""How the platform without a screen begins what it says of itself."""
SEED_VARIABLE, ACTIONS_VARIABLE = "OVERREAD_MONKEY_SEED", "OVERREAD_MONKEY_ACTIONS"
"""Name the seed to begin from, and how many actions to do."""
_STRETCH = 1_000
"""So many actions have a seed of their own, from which a failure is resumed."""
_PATIENTS = 3
"""The demo has more of them, drawn one by one, which takes a quarter of a minute."""


class QtLog(Protocol):
    """What pytest-qt's fixture qtlog offers."""

    @property
    def records(self) -> list[Record]:
        """What Qt said so far."""


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Iterator[Story]:
    """The window over two patients."""
    made = open_story(qtbot, settings, tmp_path / "phantom")
    made.open_collection()
    _keep_open(made)
    yield made
    made.window.close()


@pytest.fixture
def demo(qtbot: QtBot, settings: Settings) -> Iterator[Story]:
    """The window over the demo collection."""
    prepare_demo(settings.home, lambda *_: None, _PATIENTS)
    begun = begin((), settings, demo=True)
    made = open_demo(qtbot, settings, begun)
    _keep_open(made)
    yield made
    made.window.close()
    begun.end()


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A sealed session of questions about three images."""
    origin = store_of_questions(tmp_path / "origin")
    session = open_task(origin, PANEL, READER)
    return seal_session(origin, session, tmp_path / "zoe.session").path


def _keep_open(story: Story) -> None:
    """Let the command that leaves the window open the collection once more instead."""
    story.window.context.actions.handle({"file.quit": story.open_collection_again})


def test_that_a_hundred_random_actions_raise_and_warn_of_nothing(
    story: Story, qtlog: QtLog
) -> None:
    assert _faults(Monkey(story, seed=3), 100, qtlog) == []


@pytest.mark.proof
@pytest.mark.timed
@pytest.mark.usefixtures("worker_process")
def test_that_a_hundred_thousand_random_actions_never_hold_the_window_up(
    demo: Story, sealed: Path, qtlog: QtLog
) -> None:
    """No time that the system kept from the window counts; what is left is its own.

    Two processes halve the hour that it takes, each with half of the actions and seeds
    of its own (OVERREAD_MONKEY_SEED=11 and 61, OVERREAD_MONKEY_ACTIONS=50000 for both).
    A seed in which something is wrong is named, and the next one follows.
    """
    first = int(os.environ.get(SEED_VARIABLE, "11"))
    actions = int(os.environ.get(ACTIONS_VARIABLE, "100000"))
    gc.collect()
    gc.freeze()  # the tests' own objects are no part of the window, which does the same
    # The tests' way of starting a process takes seconds, the program's a few ms.
    demo.window.context.worker.model_states()
    blocks: list[Block] = []
    wrong: dict[int, list[str]] = {}
    watchdog = Watchdog(blocks.append)
    for seed in range(first, first + -(-actions // _STRETCH)):
        told, since_s = len(blocks), perf_counter()
        monkey = Monkey(demo, seed, (sealed,))
        faults = _faults(monkey, min(_STRETCH, actions), qtlog)
        faults += [str(block) for block in blocks[told:] if block.is_own]
        if faults:
            wrong[seed] = faults
        rate = min(_STRETCH, actions) / (perf_counter() - since_s)
        _print(f"seed {seed}: {rate:.0f} actions a second, {monkey.done}", *faults)
    watchdog.stop()
    _print(f"{actions} actions from seed {first}")
    _print(_longest("own", [block for block in blocks if block.is_own]))
    _print(_longest("waits of the system", [b for b in blocks if not b.is_own]))
    assert wrong == {}


def _faults(monkey: Monkey, actions: int, log: QtLog) -> list[str]:
    """Return what was raised, warned of and waited for in so many actions."""
    known = len(log.records)
    with capture_exceptions() as raised:
        monkey.act(actions)
    told = ["".join(format_exception(*each)) for each in raised]
    return [*told, *_warnings(log.records[known:]), *monkey.waits]


def _longest(kind: str, blocks: Sequence[Block]) -> str:
    worst = max(blocks, key=lambda block: block.seconds, default="none")
    return f"{len(blocks)} {kind}, the longest {worst}"


def _print(*lines: object) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201 - a proof tells it


def _warnings(records: Sequence[Record]) -> list[str]:
    graver = {QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}
    return [
        record.message
        for record in records
        if record.type in graver and not record.message.startswith(_PLATFORM)
    ]
