"""A second start finds the open window; a window that was killed is replaced."""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from viewer.services.starting import running_window
from viewer.services.starting.running_window import (
    address,
    hand_over,
    listen,
    packed,
    unpacked,
)
from viewer.settings import Settings

if sys.platform == "win32":
    pytest.skip("sockets of Unix", allow_module_level=True)

_LISTENING = """
import sys, time
from pathlib import Path
from viewer.services.starting.running_window import listen
from viewer.settings import read_settings
held = listen(read_settings())
print(held is not None, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _no_session_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


@pytest.mark.parametrize(
    "names",
    [[], ["film.dcm"], ["a folder", "two\nlines.png"], [os.fsdecode(b"caf\xe9.dcm")]],
)
def test_that_every_name_of_a_file_arrives_whole(
    tmp_path: Path, names: list[str]
) -> None:
    paths = tuple(tmp_path / name for name in names)
    message = packed(paths)
    assert unpacked(message) == paths
    assert {unpacked(message[:length]) for length in range(len(message))} == {None}


def test_that_no_message_fills_the_memory() -> None:
    with pytest.raises(ValueError, match="too long"):
        unpacked(b"\xff\xff\xff\xff")


def test_that_without_a_window_nothing_is_handed_over(settings: Settings) -> None:
    assert not hand_over([Path("film.dcm")], settings)


def test_that_an_open_window_takes_the_paths(settings: Settings) -> None:
    listener = listen(settings)
    assert listener is not None
    film = settings.home / "film.dcm"
    code = (
        "import sys; from pathlib import Path\n"
        "from viewer.services.starting.running_window import hand_over\n"
        "from viewer.settings import read_settings\n"
        f"sys.exit(not hand_over([Path({str(film)!r})], read_settings()))"
    )
    second = subprocess.Popen([sys.executable, "-c", code])
    listener.socket.setblocking(True)
    connection, _ = listener.socket.accept()
    with connection:
        assert unpacked(connection.recv(1 << 16)) == (film,)
        connection.sendall(running_window.ACCEPTED)
    assert second.wait() == 0
    listener.close()


def test_that_a_window_that_does_not_answer_is_not_waited_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_window, "LIMIT_S", 0.05)
    listener = listen(settings)
    assert listener is not None
    assert not hand_over([], settings)
    listener.close()
    listener.close()


def test_that_one_window_listens_until_it_closes(settings: Settings) -> None:
    first = listen(settings)
    assert first is not None
    assert listen(settings) is None
    first.close()
    second = listen(settings)
    assert second is not None
    second.close()
    assert not address(settings).exists()


def test_that_the_socket_of_a_killed_window_is_taken_over(settings: Settings) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _LISTENING], stdout=subprocess.PIPE
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"True\n"
        assert listen(settings) is None
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert address(settings).exists()
    assert not hand_over([], settings)
    listener = listen(settings)
    assert listener is not None
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(str(address(settings)))
    listener.close()


def test_that_only_its_user_may_use_the_socket(settings: Settings) -> None:
    listener = listen(settings)
    assert listener is not None
    assert address(settings).stat().st_mode & 0o777 == 0o600
    listener.close()


def test_that_each_store_folder_and_display_has_its_own_window(
    settings: Settings, tmp_path: Path
) -> None:
    others = [
        address(settings, {"DISPLAY": ":0"}),
        address(settings, {"DISPLAY": ":1"}),
        address(settings, {"WAYLAND_DISPLAY": "wayland-0"}),
        address(replace(settings, store=tmp_path / "other.sqlite"), {}),
        address(replace(settings, home=tmp_path / "home"), {}),
        address(settings, {"XDG_RUNTIME_DIR": str(tmp_path)}),
    ]
    assert len({address(settings, {}), *others}) == 7
    assert others[-1].parent == tmp_path
    gone = {"XDG_RUNTIME_DIR": str(tmp_path / "gone")}
    assert address(settings, gone) == address(settings, {})


def test_that_a_folder_too_deep_for_a_socket_gets_windows_of_their_own(
    tmp_path: Path,
) -> None:
    deep = tmp_path / ("d" * 200)
    assert listen(Settings(deep, deep / "s.sqlite")) is None
    assert not hand_over([], Settings(deep, deep / "s.sqlite"))
