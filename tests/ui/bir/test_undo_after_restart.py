"""Undo of marks goes on after a restart, as far back as a reader drew."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import click, stroke
from viewer.services.viewing.marks import kept_edits, kept_marks
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.panels.read.mark_keeping import MarkKeeping
from viewer.ui.workspaces.read import ReadWorkspace


def _start(
    qtbot: QtBot, settings: Settings, path: Path
) -> tuple[AppContext, ImageView]:
    """Return the window's parts as a start makes them, once the store is read."""
    context = AppContext(settings, WorkerBridge(settings.store))
    read = ReadWorkspace(context)
    qtbot.addWidget(read)
    context.actions.handle(read.handlers())
    read.resize(900, 700)
    read.show()
    read.open_paths([path])
    keeping = read.findChild(MarkKeeping)
    assert keeping is not None
    qtbot.waitUntil(lambda: keeping.is_read and read.lightbox.active.shown is not None)
    return context, read.lightbox.view


def _steps(settings: Settings) -> list[str]:
    return [edit.step.value for edit in kept_edits(settings.store)]


def test_that_undo_and_redo_go_on_after_a_restart(
    qtbot: QtBot, settings: Settings, series: Path
) -> None:
    context, view = _start(qtbot, settings, series)
    context.actions["tool.length"].trigger()
    for row in (40, 60, 80):
        click(view, 60, row)
        click(view, 140, row)
    context.undo.undo()
    qtbot.waitUntil(
        lambda: [e.step for e in kept_edits(settings.store)][2:] == ["undone"]
    )
    drawn = view.marks.marks
    later, again = _start(qtbot, settings, series)
    qtbot.waitUntil(lambda: again.marks.marks == drawn)
    assert later.undo.undoText() == "length"
    later.undo.redo()
    assert len(again.marks.marks) == 3
    for left in (2, 1, 0):
        later.undo.undo()
        assert len(again.marks.marks) == left
    qtbot.waitUntil(lambda: _steps(settings) == ["undone"] * 3)
    assert not any(kept_marks(settings.store).values())
    last, empty = _start(qtbot, settings, series)
    assert not last.undo.canUndo()
    last.undo.redo()
    assert len(empty.marks.marks) == 1


def test_that_strokes_of_a_brush_are_undone_one_by_one_after_a_restart(
    qtbot: QtBot, settings: Settings, series: Path
) -> None:
    context, view = _start(qtbot, settings, series)
    context.actions["tool.brush"].trigger()
    states = []
    for row in (40, 50, 60):
        stroke(view, (60, row), (140, row))
        states.append(view.marks.marks)
    later, again = _start(qtbot, settings, series)
    qtbot.waitUntil(lambda: again.marks.marks == states[-1])
    for before in (*states[-2::-1], ()):
        later.undo.undo()
        assert again.marks.marks == before
    for after in states:
        later.undo.redo()
        assert again.marks.marks == after
