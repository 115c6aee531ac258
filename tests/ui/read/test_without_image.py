"""Commands that do nothing without an image are disabled until there is one."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from tests.helpers.window_story import Story, open_window
from viewer.settings import Settings
from viewer.ui.panels.read.turn_commands import OF_IMAGE


@pytest.fixture
def story(settings: Settings, qtbot: QtBot, tmp_path: Path) -> Story:
    return open_window(qtbot, settings, write_images(tmp_path / "images", 2))


def _enabled(story: Story) -> set[str]:
    actions = story.window.context.actions
    return {name for name in OF_IMAGE if actions[name].isEnabled()}


def test_that_commands_of_an_image_wait_for_one(story: Story) -> None:
    assert _enabled(story) == set()
    story.window.open_paths([story.folder])
    story.wait(lambda: story.read.lightbox.active.shown is not None)
    story.wait(lambda: _enabled(story) == OF_IMAGE)
    story.window.context.actions["file.close_all"].trigger()
    story.wait(lambda: _enabled(story) == set())
