"""Whatever is pressed, clicked and dragged: nothing raises, warns or stands still."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from PySide6.QtCore import QtMsgType
from pytestqt.logging import Record
from pytestqt.qtbot import QtBot

from tests.helpers.window_monkey import Monkey
from tests.helpers.window_stalls import LIMIT_S, StallWatch
from tests.helpers.window_story import Story, open_demo, open_story
from viewer.services.starting.head_start import begin
from viewer.settings import Settings

_PLATFORM = "This plugin does not support"
"""How the platform without a screen begins what it says of itself."""


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


def test_that_three_hundred_random_actions_raise_and_warn_of_nothing(
    story: Story, qtlog: QtLog
) -> None:
    monkey = Monkey(story, seed=3)
    monkey.act(300)
    assert monkey.waits == []
    assert _warnings(qtlog) == []


@pytest.mark.proof
@pytest.mark.timed
def test_that_ten_thousand_random_actions_never_hold_the_window_up(
    demo: Story, qtlog: QtLog
) -> None:
    """No time the machine kept from the window counts; what is left is its own."""
    monkey = Monkey(demo, seed=11)
    gc.collect()
    gc.freeze()  # the tests' own objects are no part of the window, which does the same
    with StallWatch() as watch:
        monkey.act(10_000)
    print(monkey.done, watch.report(), sep="\n")  # noqa: T201 - a proof tells it
    assert monkey.waits == []
    assert _warnings(qtlog) == []
    assert [stall for stall in watch.stalls if stall.own_s > LIMIT_S] == []


def _warnings(log: QtLog) -> list[str]:
    graver = {QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}
    return [
        record.message
        for record in log.records
        if record.type in graver and not record.message.startswith(_PLATFORM)
    ]
