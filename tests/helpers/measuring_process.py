"""The window in a process of its own, in which a hand measures a length.

Run as ``python -m tests.helpers.measuring_process STORE IMAGE``. It says ``drawn`` once
the mouse is let go, and stays until it is ended from outside.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication

from tests.ui.canvas.conftest import drag
from viewer import app
from viewer.__main__ import open_window
from viewer.ui.canvas.events import Tool
from viewer.ui.workspaces.read import ReadWorkspace

_TURN_MS: Final = 20


def _hand() -> Iterator[None]:
    """Yield between two looks at the window, until the length is drawn."""
    while (read := _read()) is None or read.pair.active.shown is None:
        yield
    view = read.pair.view
    view.set_tool(Tool.LENGTH)
    middle = view.rect().center()
    drag(view, middle, middle + QPoint(40, 30), Qt.MouseButton.LeftButton)
    print("drawn", flush=True)  # noqa: T201 - to whoever started the process


def _read() -> ReadWorkspace | None:
    widgets = QApplication.allWidgets()
    return next((each for each in widgets if isinstance(each, ReadWorkspace)), None)


def main() -> int:
    """Open the window on an image and measure it; return the program's exit code."""
    store, image = map(Path, sys.argv[1:])
    app.make_application()
    hand, clock = _hand(), QTimer(interval=_TURN_MS)
    clock.timeout.connect(lambda: next(hand, None))
    clock.start()
    return open_window((image,), store, demo=False)


if __name__ == "__main__":
    sys.exit(main())
