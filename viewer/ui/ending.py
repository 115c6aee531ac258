"""The end of the window when its process is told to end, or its user's session ends."""

import contextlib
import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication

from viewer.services.stopping import ending_signals, is_hang_up
from viewer.ui.main_window import MainWindow


class EndingSignals(QObject):
    """Ends the window without asking, at the first signal; a second one kills it.

    The worker is told as well: it stores what is in flight and exits by itself, also
    after the window. Qt waits in C for what happens, so that a signal is heard through
    a socket, which wakes Python.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._woken, self._wake = socket.socketpair()
        for end in (self._woken, self._wake):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(
            self._woken.fileno(), QSocketNotifier.Type.Read, self
        )
        self._notifier.activated.connect(self._wake_python)
        self._before = {n: signal.signal(n, self._hear) for n in ending_signals()}
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.commitDataRequest.connect(self._finish_asking)

    def stop(self) -> None:
        """Hear no more signals."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._woken.close()
        self._wake.close()

    def _wake_python(self) -> None:
        with contextlib.suppress(OSError):
            self._woken.recv(64)

    def _hear(self, number: int, _: object) -> None:
        again = signal.SIG_IGN if is_hang_up(number) else signal.SIG_DFL
        signal.signal(number, again)
        QTimer.singleShot(0, self._end)

    def _end(self) -> None:
        self._window.keep()
        QApplication.exit(0)

    def _finish_asking(self) -> None:
        """Let the worker finish; the session may end the process at any moment now."""
        self._window.desk.worker.close()
