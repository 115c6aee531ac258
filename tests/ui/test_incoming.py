"""Paths of a second start open in the window that is there."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from tests.helpers.window_story import Story, open_window
from viewer.__main__ import open_window as open_program
from viewer.services.starting.running_window import address, listen, packed
from viewer.settings import Settings
from viewer.ui.window.incoming import IncomingPaths
from viewer.ui.window.main_window import MainWindow

if sys.platform == "win32":
    pytest.skip("sockets of Unix", allow_module_level=True)


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Iterator[Story]:
    """The window, listening as the program's does."""
    made = open_window(qtbot, settings, write_images(tmp_path / "films", 2))
    listener = listen(settings)
    assert listener is not None
    incoming = IncomingPaths(listener, made.window)
    yield made
    incoming.stop()


def _start(*words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-X", "importtime", "-m", "viewer", *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_that_a_second_start_opens_its_files_in_the_open_window(story: Story) -> None:
    story.window.showMinimized()
    film = min(story.folder.glob("*.png"))
    second = _start(str(film))
    story.wait(lambda: story.read.lightbox.active.shown is not None)
    shown = story.read.lightbox.active.shown
    assert shown is not None
    assert shown.ref.path == film
    assert not story.window.isMinimized()
    _, imported = second.communicate()
    assert second.returncode == 0
    heavy = "PySide6", "numpy", "pydicom", "click", "sqlite3"
    assert [line for line in imported.splitlines() if line.endswith(heavy)] == []


def test_that_a_start_without_files_brings_the_window_to_the_front(
    story: Story,
) -> None:
    story.window.showMinimized()
    second = _start()
    story.wait(lambda: not story.window.isMinimized())
    second.communicate()
    assert second.returncode == 0


def test_that_files_are_not_opened_twice_if_the_second_start_gave_up(
    story: Story, settings: Settings
) -> None:
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(str(address(settings)))
        gone.sendall(packed([story.folder]))
    with socket.socket(socket.AF_UNIX) as broken:
        broken.connect(str(address(settings)))
        broken.sendall(b"\xff\xff\xff\xff")
        story.qtbot.wait(100)
        assert broken.recv(1) == b""
    assert story.read.open_now == ()


def test_that_a_long_message_arrives_in_pieces(
    story: Story, settings: Settings
) -> None:
    many = [story.folder] * 5_000
    answers: list[bytes] = []

    def send() -> None:
        with socket.socket(socket.AF_UNIX) as second:
            second.connect(str(address(settings)))
            second.sendall(packed(many))
            answers.append(second.recv(1))

    sending = threading.Thread(target=send)
    sending.start()
    story.wait(lambda: answers)
    sending.join()
    assert answers == [b"\x06"]
    story.wait(lambda: story.read.lightbox.active.shown is not None)


@pytest.mark.usefixtures("qapp")
def test_that_another_window_opens_where_it_is_asked_for(settings: Settings) -> None:
    first = listen(settings)
    assert first is not None
    before = QApplication.topLevelWidgets()  # also what other tests have left
    opened: list[MainWindow] = []

    def look() -> None:
        new = (one for one in QApplication.topLevelWidgets() if one not in before)
        opened.extend(one for one in new if isinstance(one, MainWindow))
        QApplication.closeAllWindows()

    QTimer.singleShot(0, look)
    assert open_program((), None, demo=False, new_window=True) == 0
    assert len(opened) == 1
    first.close()
