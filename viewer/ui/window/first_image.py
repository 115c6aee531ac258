"""Notes in a file when the first image was painted, for ``doctor --bench``."""

import json
import os
import time
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QWidget

from viewer.ui.panels.read.viewport import ImageShown, Viewport

_PROCESSES: Final = Path("/proc")
_PARENT, _TIMES = 1, slice(11, 15)
"""Fields of /proc/PID/stat after the name: ticks of it and of those it waited for."""
_MEMORY: Final = Path("/proc/self/statm")
_SETTLED_MS: Final = 1500
"""After this the rest of the window is there, and memory is what it will stay."""


class FirstImage(QObject):
    """Waits for the first image in a window, writes the file and closes the window.

    The file is JSON: ``painted_ns`` on the system's monotonic clock, ``cpu_seconds`` of
    all processes until then, ``resident_bytes`` of this one; null what is not known.
    """

    def __init__(self, window: QWidget, report: Path) -> None:
        super().__init__(window)
        self._window, self._report = window, report
        self._waiting = False
        self._painted_ns = 0
        self._cpu: float | None = None
        for viewport in window.findChildren(Viewport):
            viewport.image_shown.connect(self._await_paint)

    def _await_paint(self, event: ImageShown) -> None:
        if not self._waiting:
            self._waiting = True
            event.viewport.view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Detect the first paint; an event posted here arrives just after the flush."""
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            first = Qt.EventPriority.HighEventPriority.value
            QCoreApplication.postEvent(self, QEvent(QEvent.Type.User), first)
        return super().eventFilter(watched, event)

    def customEvent(self, event: QEvent) -> None:  # noqa: N802, ARG002 - Qt's names
        """Read the clock, now that the image has reached the screen."""
        self._painted_ns = time.monotonic_ns()
        self._cpu = cpu_seconds()
        QTimer.singleShot(_SETTLED_MS, self._tell)

    def _tell(self) -> None:
        measured = {
            "painted_ns": self._painted_ns,
            "cpu_seconds": self._cpu,
            "resident_bytes": resident_bytes(),
        }
        self._report.write_text(json.dumps(measured), encoding="utf-8")
        self._window.close()


def resident_bytes() -> int | None:
    """Return the resident memory of this process in bytes, None except on Linux."""
    if not _MEMORY.exists():
        return None
    pages = _MEMORY.read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds() -> float | None:
    """Return what this process and those it started took, None except on Linux."""
    if not _MEMORY.exists():
        return None
    used = {path.name: _stat(path) for path in _PROCESSES.glob("[0-9]*")}
    ours: set[str] = set()
    found = {str(os.getpid())}
    while found - ours:
        ours |= found
        found = {pid for pid, stat in used.items() if stat and stat[_PARENT] in ours}
    ticks = sum(int(tick) for pid in ours for tick in used[pid][_TIMES])
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: Path) -> list[str]:
    """Return the fields after a process's name, none if it has ended."""
    try:
        return (process / "stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return []
