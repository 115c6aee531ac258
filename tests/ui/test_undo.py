"""What a person edits can be taken back."""

import subprocess
import sys

import pytest

from viewer.ui.application.undo import UndoStack

pytestmark = pytest.mark.usefixtures("qapp")


def test_that_an_edit_is_done_undone_and_done_again() -> None:
    stack, values = UndoStack(), list[int]()
    stack.do("length", lambda: values.append(1), values.clear)
    assert (values, stack.undoText()) == ([1], "length")
    stack.undo()
    assert (values, stack.redoText()) == ([], "length")
    stack.redo()
    assert values == [1]


def test_that_no_edit_is_forgotten() -> None:
    stack = UndoStack()
    for _ in range(1000):
        stack.do("edit", lambda: None, lambda: None)
    assert stack.count() == 1000


_QUITS = """
from viewer import app
from viewer.settings import read_settings
application = app.make_application()
window = app.build_window(read_settings())
window.context.undo.do("length", lambda: None, lambda: None)
window.close()
"""


def test_that_quitting_after_an_edit_says_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _QUITS], check=True, capture_output=True, text=True
    )
    assert "Error" not in done.stderr
