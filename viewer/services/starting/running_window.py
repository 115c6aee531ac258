"""The window that is already open: a second start hands its paths to that one.

The window listens on a Unix socket that only its user may use; the second process sends
the paths and ends. Nothing here imports Qt. Windows has no such sockets in Python, so
each start opens a window there.
"""

import contextlib
import os
import socket
import struct
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from viewer.private_files import PRIVATE_FILE, make_private_folder, open_private
from viewer.settings import Settings

LIMIT_S: Final = 1.0
"""An open window that has not answered by then is not waited for."""
ACCEPTED: Final = b"\x06"
"""What the window answers once it has all paths."""
_LENGTH: Final = struct.Struct(">I")
_MOST_BYTES: Final = 1 << 22
"""More than any system lets a command line hold."""
_WAITING: Final = 16
_LONGEST_ADDRESS: Final = 100
"""Of a Unix socket, in bytes; Linux takes 107, macOS 103."""


def address(settings: Settings, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the socket of the window of this user, data folder, store and display.

    It lies in the session's own folder where there is one, else in the data folder.
    Both are private, and the data folder may be shared by several machines.
    """
    screen = (environment.get(name, "") for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    folders = (str(settings.home.absolute()), str(settings.store))
    named = "\0".join((*folders, socket.gethostname(), *screen))
    key = f"{zlib.crc32(os.fsencode(named)):08x}"
    session = environment.get("XDG_RUNTIME_DIR", "")
    folder = Path(session) if session and Path(session).is_dir() else settings.home
    return folder.absolute() / f"overread-{key}.socket"


def hand_over(paths: Sequence[Path], settings: Settings) -> bool:
    """Let the window that is open show these files and folders, in front of others.

    Without paths it only comes to the front. Returns False if there is none, or if it
    does not answer within `LIMIT_S`.
    """
    if sys.platform == "win32":
        return False
    until_s = time.monotonic() + LIMIT_S
    try:
        with socket.socket(socket.AF_UNIX) as window:
            window.settimeout(LIMIT_S)
            window.connect(str(address(settings)))
            window.sendall(packed(paths))
            window.settimeout(max(until_s - time.monotonic(), 0.001))
            return window.recv(len(ACCEPTED)) == ACCEPTED
    except OSError:
        return False


def packed(paths: Sequence[Path]) -> bytes:
    """Return a message: the length of what follows, then each path ended by a zero."""
    body = b"".join(os.fsencode(path.absolute()) + b"\0" for path in paths)
    return _LENGTH.pack(len(body)) + body


def unpacked(received: bytes) -> tuple[Path, ...] | None:
    """Return the paths of a message, None while some of it is still to come.

    Raises
    ------
    ValueError
        If it is longer than any command line.
    """
    if len(received) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(received)
    if length > _MOST_BYTES:
        raise ValueError("the message is too long")
    if len(received) < _LENGTH.size + length:
        return None
    names = received[_LENGTH.size :].split(b"\0")[:-1]
    return tuple(Path(os.fsdecode(name)) for name in names)


class Listener:
    """The socket of the open window, and the lock of who listens on it."""

    def __init__(self, place: Path, lock: IO[bytes]) -> None:
        self._place, self._lock = place, lock
        place.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(place))
        place.chmod(PRIVATE_FILE)
        self.socket.listen(_WAITING)
        self.socket.setblocking(False)

    def close(self) -> None:
        """Listen no more, so that the next start opens a window; again does nothing."""
        if not self._lock.closed:
            self._place.unlink(missing_ok=True)
            self.socket.close()
            self._lock.close()


def listen(settings: Settings) -> Listener | None:
    """Listen as the open window; None where another one does, or where none can.

    Who holds the lock beside the socket listens. The system frees the lock of a killed
    program, whose socket is then replaced. Starts that come before the window is built
    wait in the socket's queue.
    """
    place = address(settings)
    if sys.platform == "win32" or len(os.fsencode(place)) > _LONGEST_ADDRESS:
        return None
    import fcntl

    with contextlib.suppress(OSError), contextlib.ExitStack() as made:
        make_private_folder(place.parent)
        lock = made.enter_context(open_private(place.with_suffix(".lock"), "ab"))
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        listener = Listener(place, lock)
        made.pop_all()
        return listener
    return None  # another holds the lock, or the disk takes no sockets
