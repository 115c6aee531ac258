"""A window in a process of its own in which a reader answers case after case.

Run as ``python -m tests.helpers.reader_process STORE DATASET``. It tells a line for
each answer that the window says is kept: ``marked POSITION CELL`` once something is
placed, ``locked POSITION CELL`` once a case is locked. It reads until it is ended.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viewer.domain.answer import CellAnswer
from viewer.domain.grid import Cell
from viewer.domain.reading import TaskState

ROOT: Final = Path(__file__).parents[2]
READER: Final = "Reader A"
_TURN_MS: Final = 5


def cell_for(position: int) -> Cell:
    """Return the cell that the reader names in a case."""
    return Cell(position % 8, (3 * position) % 8)


def start_reader(store: Path, dataset: str) -> "subprocess.Popen[str]":
    """Start the process; its lines come on standard output."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.reader_process", str(store), dataset],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    )


def main() -> int:
    """Open the window on the store and read until the process is ended."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from viewer import app
    from viewer.settings import read_settings
    from viewer.ui.application.actions import Place
    from viewer.ui.workspaces.review import ReviewWorkspace

    store, dataset = Path(sys.argv[1]), sys.argv[2]
    app.make_application()
    window = app.build_window(read_settings(store))
    app.furnish(window)
    window.show()
    window.enter(Place.REVIEW)
    review = window.findChild(ReviewWorkspace)
    assert isinstance(review, ReviewWorkspace)
    hand, clock = _hand(review, dataset), QTimer(interval=_TURN_MS)
    clock.timeout.connect(lambda: next(hand, None))
    clock.start()
    return QApplication.exec()


def _hand(review: object, dataset: str) -> Iterator[None]:
    """Yield between two things that the reader does."""
    from viewer.ui.workspaces.review import ReviewWorkspace

    assert isinstance(review, ReviewWorkspace)
    start, page = review.start, review.page
    while not start.read.isEnabled() or start.datasets.currentData() != dataset:
        yield
    start.reader.setText(READER)
    start.read.click()
    while True:
        while not page.ready:
            yield
        task = page.task
        assert task is not None
        if task.state is TaskState.LOCKED:
            return
        position, cell = task.position, cell_for(task.position)
        page.image.placed.emit(CellAnswer(cell, "reader"))
        _tell("marked", position, cell)
        yield
        page.side.form.boxes["confidence"].set_value(4)
        yield
        page.lock()
        _tell("locked", position, cell)
        yield


def _tell(what: str, position: int, cell: Cell) -> None:
    sys.stdout.write(f"{what} {position} {cell.row} {cell.column}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
