"""The window in a process of its own, in which a batch is started from a study file.

Run as ``python -m tests.helpers.window_process STORE STUDY.toml``: the program as a
person starts it; then a hand opens the page Batch…, reads the study file and presses
the button that sends. It stays until it is ended from outside.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget

from viewer import app
from viewer.__main__ import open_window
from viewer.settings import STORE_VARIABLE
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.workspaces.measure import MeasureWorkspace

ROOT: Final = Path(__file__).parents[2]
_TURN_MS: Final = 20
Part = TypeVar("Part", bound=QWidget)


def _hand(study_file: Path) -> Iterator[None]:
    """Yield between two looks at the window, until the batch is sent."""
    while (measure := _found(MeasureWorkspace)) is None:
        yield
    measure.batches.open()
    while (page := _found(BatchDialog)) is None or not page.dataset.count():
        yield
    page.read_from(study_file)
    while not page.start.isEnabled():
        yield
    page.start.click()


def _found(kind: type[Part]) -> Part | None:
    widgets = QApplication.allWidgets()
    return next((each for each in widgets if isinstance(each, kind)), None)


def main() -> int:
    """Open the window and start the batch; return the program's exit code."""
    store, study_file = map(Path, sys.argv[1:])
    app.make_application()
    hand, clock = _hand(study_file), QTimer(interval=_TURN_MS)
    clock.timeout.connect(lambda: next(hand, None))
    clock.start()
    return open_window((), store, demo=False)


def start_batch(store: Path, study_file: Path) -> "subprocess.Popen[bytes]":
    """Start the window's process, in a group of its own, and let it send a batch."""
    arguments = "tests.helpers.window_process", str(store), str(study_file)
    return _window(*arguments, store=store)


def open_again(store: Path) -> "subprocess.Popen[bytes]":
    """Start the program as a person does who opens the window once more."""
    return _window("viewer", store=store)


def _window(*module: str, store: Path) -> "subprocess.Popen[bytes]":
    screen = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    return subprocess.Popen(
        [sys.executable, "-m", *module],
        cwd=ROOT,
        env={**screen, STORE_VARIABLE: str(store)},
        start_new_session=True,
    )


if __name__ == "__main__":
    sys.exit(main())
