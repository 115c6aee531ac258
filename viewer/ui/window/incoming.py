"""Paths that later starts of the program hand to the open window."""

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, Qt

from viewer.services.starting.running_window import ACCEPTED, Listener, unpacked
from viewer.ui.window.main_window import MainWindow

_CHUNK: Final = 1 << 16


class _Request(QObject):
    """One message on its way, read without blocking the window."""

    def __init__(
        self,
        connection: socket.socket,
        accept: Callable[[tuple[Path, ...]], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._connection, self._accept = connection, accept
        self._received = b""
        connection.setblocking(False)
        self._notifier = QSocketNotifier(
            connection.fileno(), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._read)

    def _read(self) -> None:
        try:
            chunk = self._connection.recv(_CHUNK)
            self._received += chunk
            paths = unpacked(self._received)
        except (OSError, ValueError):
            chunk, paths = b"", None
        if paths is None and chunk:
            return
        answered = paths is not None and self._answer()
        self._end()
        if answered and paths is not None:
            self._accept(paths)

    def _answer(self) -> bool:
        """Answer; False if the other gave up, and opened a window of its own."""
        try:
            self._connection.sendall(ACCEPTED)
        except OSError:
            return False
        return True

    def _end(self) -> None:
        self._notifier.setEnabled(False)
        self._connection.close()
        self.deleteLater()


class IncomingPaths(QObject):
    """Opens what later starts hand over, and brings the window to the front."""

    def __init__(self, listener: Listener, window: MainWindow) -> None:
        super().__init__(window)
        self._listener, self._window = listener, window
        self._notifier = QSocketNotifier(
            listener.socket.fileno(), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._accept)

    def stop(self) -> None:
        """Listen no more, so that the next start opens a window."""
        self._notifier.setEnabled(False)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the other has gone already
            connection, _ = self._listener.socket.accept()
            _Request(connection, self._open, self)

    def _open(self, paths: tuple[Path, ...]) -> None:
        self._come_to_front()
        self._window.open_paths(paths)

    def _come_to_front(self) -> None:
        state = self._window.windowState() & ~Qt.WindowState.WindowMinimized
        self._window.setWindowState(state | Qt.WindowState.WindowActive)
        self._window.raise_()
        self._window.activateWindow()
