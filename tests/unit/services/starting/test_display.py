"""Displays that are there, and displays that are only named."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from viewer.services.starting import display
from viewer.services.starting.display import has_display

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux names displays")


@pytest.fixture
def folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the folder in which X servers listen in this test."""
    made = tmp_path_factory.mktemp("x")
    monkeypatch.setattr(display, "_X_FOLDER", str(made))
    return made


@pytest.fixture
def listening(folder: Path) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "X7"))
        server.listen()
        yield folder


@pytest.mark.parametrize("name", [":7", ":7.0", "unix:7"])
def test_that_a_local_display_that_answers_is_there(listening: Path, name: str) -> None:
    assert listening.exists()
    assert has_display({"DISPLAY": name})


@pytest.mark.parametrize("name", ["", ":8", ":99", "nonsense", "7", "127.0.0.1:59000"])
def test_that_a_display_that_nobody_serves_is_none(listening: Path, name: str) -> None:
    assert listening.exists()
    assert not has_display({"DISPLAY": name})


def test_that_a_display_on_another_machine_is_asked_by_its_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(display, "_X_PORT", server.getsockname()[1] - 10)
        assert has_display({"DISPLAY": "127.0.0.1:10.0"})


def test_that_wayland_is_asked_in_its_folder(listening: Path) -> None:
    named = {"WAYLAND_DISPLAY": "X7", "XDG_RUNTIME_DIR": str(listening)}
    assert has_display(named)
    assert not has_display({**named, "WAYLAND_DISPLAY": "X8"})


def test_that_a_platform_without_a_display_needs_none() -> None:
    assert has_display({"QT_QPA_PLATFORM": "offscreen"})
    assert not has_display({"QT_QPA_PLATFORM": "xcb"})


def test_that_a_dead_display_is_a_sentence_and_no_abort(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    }
    done = subprocess.run(
        [sys.executable, "-m", "viewer", str(tmp_path)],
        env={**environment, "DISPLAY": ":9999"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("There is no display to open the window on.")
    assert len(done.stderr.splitlines()) == 1
