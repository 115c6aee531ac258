"""Whatever is pressed, clicked and dragged: nothing raises, warns or stands still."""

import gc
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest
from PySide6.QtCore import QtMsgType
from pytestqt.logging import Record
from pytestqt.qtbot import QtBot

from tests.helpers.window_monkey import Monkey
from tests.helpers.window_story import Story, open_demo, open_story
from viewer.services.inspecting.blocks import Block
from viewer.services.starting.head_start import begin
from viewer.settings import Settings
from viewer.ui.window.watchdog import Watchdog

_PLATFORM = "This plugin does not support"
"""How the platform without a screen begins what it says of itself."""
SEED_VARIABLE, ACTIONS_VARIABLE = "OVERREAD_MONKEY_SEED", "OVERREAD_MONKEY_ACTIONS"
"""Name the seed to begin from, and how many actions to do."""
_STRETCH = 1_000
"""So many actions have a seed of their own, from which a failure is resumed."""


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
    begun = begin((), settings, demo=True)
    made = open_demo(qtbot, settings, begun)
    _keep_open(made)
    yield made
    made.window.close()
    begun.end()


def _keep_open(story: Story) -> None:
    """Let the command that leaves the window open the collection once more instead."""
    story.window.context.actions.handle({"file.quit": story.open_collection_again})


def test_that_a_hundred_random_actions_raise_and_warn_of_nothing(
    story: Story, qtlog: QtLog
) -> None:
    monkey = Monkey(story, seed=3)
    monkey.act(100)
    assert monkey.waits == []
    assert _warnings(qtlog) == []


@pytest.mark.proof
@pytest.mark.timed
@pytest.mark.usefixtures("worker_process")
def test_that_a_hundred_thousand_random_actions_never_hold_the_window_up(
    demo: Story, qtlog: QtLog
) -> None:
    """No time that the system kept from the window counts; what is left is its own."""
    first = int(os.environ.get(SEED_VARIABLE, "11"))
    actions = int(os.environ.get(ACTIONS_VARIABLE, "100000"))
    gc.collect()
    gc.freeze()  # the tests' own objects are no part of the window, which does the same
    blocks: list[Block] = []
    watchdog = Watchdog(blocks.append)
    for seed in range(first, first + -(-actions // _STRETCH)):
        told = len(blocks)
        monkey = Monkey(demo, seed)
        monkey.act(min(_STRETCH, actions))
        _print(f"seed {seed}: {monkey.done}", *blocks[told:], *monkey.waits)
        assert monkey.waits == []
        assert _warnings(qtlog) == []
    watchdog.stop()
    own = [block for block in blocks if block.is_own]
    waits = [block for block in blocks if not block.is_own]
    _print(f"{actions} actions from seed {first}", _longest("own", own))
    _print(_longest("waits of the system", waits))
    assert own == []


def _longest(kind: str, blocks: Sequence[Block]) -> str:
    worst = max(blocks, key=lambda block: block.seconds, default="none")
    return f"{len(blocks)} {kind}, the longest {worst}"


def _print(*lines: object) -> None:
    print(*lines, sep="\n", flush=True)  # noqa: T201 - a proof tells it


def _warnings(log: QtLog) -> list[str]:
    graver = {QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}
    return [
        record.message
        for record in log.records
        if record.type in graver and not record.message.startswith(_PLATFORM)
    ]
