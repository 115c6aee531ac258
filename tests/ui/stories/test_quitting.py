"""Whenever the program is quit while it starts, it ends cleanly and leaves nothing."""

from pathlib import Path

import pytest

from tests.helpers.quitting import from_source, quit_often

pytest.importorskip("PySide6.QtWidgets", reason="the window needs PySide6")
pytestmark = pytest.mark.usefixtures("hears_the_terminal_close")


def ended_badly(folder: Path, starts: int, seed: int) -> list[str]:
    ended = quit_often(folder, starts, seed, from_source())
    return [str(each) for each in ended if each.wrong]


def test_that_quitting_during_the_start_is_clean(tmp_path: Path) -> None:
    # Once before there is a window, and once while the first demo is made.
    assert ended_badly(tmp_path, 2, seed=6) == []


@pytest.mark.proof
def test_that_quitting_is_clean_at_every_moment_of_the_start(tmp_path: Path) -> None:
    assert ended_badly(tmp_path, 300, seed=300) == []
