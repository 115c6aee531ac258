"""What a person edits can be taken back."""

import pytest

from viewer.ui.undo import LIMIT, UndoStack

pytestmark = pytest.mark.usefixtures("qapp")


def test_that_an_edit_is_done_undone_and_done_again() -> None:
    stack, values = UndoStack(), list[int]()
    stack.do("length", lambda: values.append(1), values.clear)
    assert (values, stack.undoText()) == ([1], "length")
    stack.undo()
    assert (values, stack.redoText()) == ([], "length")
    stack.redo()
    assert values == [1]


def test_that_the_oldest_edits_are_forgotten_at_the_limit() -> None:
    stack = UndoStack()
    for _ in range(LIMIT + 5):
        stack.do("edit", lambda: None, lambda: None)
    assert stack.count() == LIMIT
