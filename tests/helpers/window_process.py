"""The window in a process of its own, in which a hand does one thing.

Run as ``python -m tests.helpers.window_process STORE WHAT WITH``: the program as a
person starts it. Then a hand sends a batch from a study file (``batch``), measures a
length in an image (``measure``), draws, deletes and undoes without end (``draw``),
reads a data set's cases (``read``), or changes what a window remembers (``arrange``).
It stays until it is ended from outside.
"""

import json
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from tests.helpers.forked import start_program
from viewer import app
from viewer.__main__ import open_window
from viewer.domain.answer import CellAnswer
from viewer.domain.grid import Cell
from viewer.domain.mark import Mark
from viewer.domain.plain import plain
from viewer.domain.reading import TaskState
from viewer.settings import STORE_VARIABLE
from viewer.ui.application.action_set import Actions
from viewer.ui.application.action_spec import Place
from viewer.ui.application.layout_memory import Layout
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.panels.read.mark_keeping import MarkKeeping
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.measure import MeasureWorkspace
from viewer.ui.workspaces.models import ModelsWorkspace
from viewer.ui.workspaces.read import ReadWorkspace
from viewer.ui.workspaces.review import ReviewWorkspace

if TYPE_CHECKING:
    import subprocess

READER: Final = "Reader A"
_TURN_MS: Final = 5
Part = TypeVar("Part", bound=QWidget)
Hand = Iterator[None]
"""Yields between two looks at the window, until its work is done."""


def batch(study_file: str) -> Hand:
    """Open the page Batch…, read the study file and press the button that sends."""
    while (measure := _found(MeasureWorkspace)) is None:
        yield
    measure.batches.open()
    while (page := _found(BatchDialog)) is None or not page.dataset.count():
        yield
    page.read_from(Path(study_file))
    while not page.start.isEnabled():
        yield
    page.start.click()


def measure(_image: str) -> Hand:
    """Draw a length, and say ``drawn`` once the mouse is let go."""
    from tests.ui.canvas.conftest import drag

    while (read := _found(ReadWorkspace)) is None or read.lightbox.active.shown is None:
        yield
    view = read.lightbox.view
    view.set_tool(Tool.LENGTH)
    middle = view.rect().center()
    drag(view, middle, middle + QPoint(40, 30), Qt.MouseButton.LeftButton)
    _tell("drawn")


def draw(_image: str) -> Hand:
    """Undo and redo all that was drawn before, then draw, delete and undo at random.

    Says ``marks DIGEST`` at the start and after each edit, and ``empty DIGEST`` once
    all is undone.
    """
    while (read := _found(ReadWorkspace)) is None or read.lightbox.active.shown is None:
        yield
    window = _found(MainWindow)
    keeping = read.findChild(MarkKeeping)
    assert window is not None
    assert keeping is not None
    while not keeping.is_read:
        yield
    view, undo, actions = (
        read.lightbox.view,
        window.context.undo,
        window.context.actions,
    )
    rng = random.Random(undo.count())
    _tell("marks", digest(view.marks.marks))
    while undo.canUndo():
        undo.undo()
        _tell("marks", digest(view.marks.marks))
        yield
    _tell("empty", digest(view.marks.marks))
    while undo.canRedo():
        undo.redo()
        _tell("marks", digest(view.marks.marks))
        yield
    while True:
        _edit_marks(view, actions, rng)
        _tell("marks", digest(view.marks.marks))
        for _ in range(rng.randrange(1, 6)):
            yield


def _edit_marks(view: ImageView, actions: Actions, rng: random.Random) -> None:
    """Draw, move or delete a mark with the mouse, or undo or redo an edit."""
    from tests.ui.canvas.conftest import drag

    tools = ("tool.length", "tool.rectangle", "tool.point", "tool.freehand")
    commands = ("edit.undo", "edit.undo", "edit.redo", "mark.delete", "mark.clear")
    if rng.random() < 0.3:
        actions[rng.choice(commands)].trigger()
        return
    actions[rng.choice(tools)].trigger()
    start, end = (
        QPoint(rng.randrange(40, view.width() - 40), rng.randrange(40, 400))
        for _ in range(2)
    )
    drag(view, start, end, Qt.MouseButton.LeftButton)


def digest(marks: Iterable[Mark]) -> str:
    """Return a short name for marks in their order."""
    return sha256(repr(tuple(marks)).encode()).hexdigest()[:16]


def read(dataset: str) -> Hand:
    """Answer case after case, and say what the window says is kept.

    That is ``marked POSITION ROW COLUMN`` once something is placed, and ``locked
    POSITION ROW COLUMN`` once a case is locked.
    """
    while (review := _found(ReviewWorkspace)) is None:
        yield
    window = _found(MainWindow)
    assert window is not None
    window.enter(Place.REVIEW)
    start, page = review.start, review.page
    while not start.read.isEnabled() or start.datasets.currentData() != dataset:
        yield
    start.reader.setText(READER)
    start.read.click()
    while True:
        while not page.ready:
            if (asked := _found(QMessageBox)) is not None:
                # It is the same reader who goes on.
                next(b for b in asked.buttons() if "Continue" in b.text()).click()
            yield
        task = page.task
        assert task is not None
        if task.state is TaskState.LOCKED:
            return
        position, cell = task.position, cell_for(task.position)
        page.image.placed.emit(CellAnswer(cell, "reader"))
        _tell("marked", position, cell.row, cell.column)
        yield
        page.side.form.boxes["confidence"].set_value(4)
        yield
        page.lock()
        _tell("locked", position, cell.row, cell.column)
        yield


def arrange(folder: str) -> Hand:
    """Change at random what a window remembers, and say it time and again.

    Says ``back STATE`` once the window is as it was left, then ``now STATE`` at each
    change, and whenever the window looks whether there is something to write.
    """
    while (window := _found(MainWindow)) is None or not _is_settled(window):
        yield
    read = _found(ReadWorkspace)
    assert read is not None
    while window.remembered.paths and read.lightbox.active.shown is None:
        yield
    _tell("back", _remembered(window._as_left()))
    if not window.remembered.paths:
        window.open_paths([Path(folder)])
    _tell_what_is_written(window)
    rng = random.Random(os.getpid())
    while True:
        rng.choice(_CHANGES)(window, rng)
        _tell("now", _remembered(window._as_left()))
        for _ in range(rng.randrange(2, 40)):
            yield


def _tell_what_is_written(window: MainWindow) -> None:
    """Say each state that the window takes to write it."""

    def take() -> Layout:
        layout = window._as_left()
        _tell("now", _remembered(layout))
        return layout

    window._keeper._take = take


def _type_draft(window: MainWindow, rng: random.Random) -> None:
    """Change the name of a model that is not saved."""
    window.enter(Place.MODELS)
    models = _found(ModelsWorkspace)
    assert models is not None
    if not models._drafts:
        models._draft_new("draft", {"adapter": "scripted"})
    models.profile.name.setText(f"draft {rng.randrange(1000)}")
    models.profile.name.textEdited.emit(models.profile.name.text())


def _type_seed(window: MainWindow, rng: random.Random) -> None:
    """Change the seed on the page Batch, which stays open."""
    window.enter(Place.MEASURE)
    if (measure := _found(MeasureWorkspace)) is not None:
        measure.batches.open()
    if (page := _found(BatchDialog)) is not None:
        page.seed.setValue(rng.randrange(1000))


def _turn(window: MainWindow, _: random.Random) -> None:
    window.enter(Place.READ)
    window.context.actions["image.next"].trigger()


def _go(window: MainWindow, rng: random.Random) -> None:
    window.enter(rng.choice([Place.READ, Place.MEASURE, Place.MODELS]))


def _change_theme(window: MainWindow, _: random.Random) -> None:
    window.context.actions["view.theme"].trigger()


_CHANGES: Final = (_type_draft, _type_seed, _turn, _go, _change_theme)


def _is_settled(window: MainWindow) -> bool:
    """Tell whether the window is as it was left, and keeps what changes."""
    return window._keeper._timer.isActive()


def _remembered(left: Layout) -> str:
    """Return what the window should come back with, as JSON on one line."""
    names = ("theme", "workspace", "paths", "image", "tool")
    kept = {name: plain(getattr(left, name)) for name in names}
    drafts = {name: left.choices[name] for name in ("models", "measure")}
    return json.dumps({**kept, **drafts})


def cell_for(position: int) -> Cell:
    """Return the cell that the reader names in a case."""
    return Cell(position % 8, (3 * position) % 8)


def _tell(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - to whoever started the process


def _found(kind: type[Part]) -> Part | None:
    widgets = QApplication.allWidgets()
    return next((each for each in widgets if isinstance(each, kind)), None)


HANDS: Final[dict[str, Callable[[str], Hand]]] = {
    "batch": batch,
    "measure": measure,
    "draw": draw,
    "read": read,
    "arrange": arrange,
}


def main() -> int:
    """Open the window and let the hand work; return the program's exit code."""
    store, what, with_ = sys.argv[1:]
    app.make_application()
    hand, clock = HANDS[what](with_), QTimer(interval=_TURN_MS)
    clock.timeout.connect(lambda: next(hand, None))
    clock.start()
    images = (Path(with_),) if what in {"measure", "draw"} else ()
    return open_window(images, Path(store), demo=False)


def start_window(
    store: Path, what: str, with_: Path | str, stdout: int | None = None
) -> "subprocess.Popen[Any]":
    """Start the window's process, in a group of its own, and let a hand work in it."""
    module = "tests.helpers.window_process"
    return _started(module, str(store), what, str(with_), store=store, stdout=stdout)


def open_again(store: Path) -> "subprocess.Popen[Any]":
    """Start the program as a person does who opens the window once more."""
    return _started("viewer", store=store)


def _started(
    module: str, *words: str, store: Path, stdout: int | None = None
) -> "subprocess.Popen[Any]":
    screen = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    return start_program(
        *words,
        module=module,
        env={**screen, STORE_VARIABLE: str(store)},
        start_new_session=True,
        stdout=stdout,
        text=True,
    )


if __name__ == "__main__":
    sys.exit(main())
