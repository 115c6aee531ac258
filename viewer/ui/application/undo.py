"""Undo of the user's edits, separately for each case."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QUndoCommand, QUndoGroup, QUndoStack


class _Edit(QUndoCommand):
    def __init__(
        self, text: str, do: Callable[[], object], undo: Callable[[], object]
    ) -> None:
        super().__init__(text)
        self._do, self._undo = do, undo
        self.is_restoring = False

    def redo(self) -> None:
        """Do the edit, the first time or again."""
        if not self.is_restoring:
            self._do()

    def undo(self) -> None:
        """Undo the edit."""
        if not self.is_restoring:
            self._undo()


@dataclass(frozen=True)
class PastEdit:
    """An edit of an earlier session, how to undo and redo it, and whether it is done.

    ``text`` follows "Undo" in the menu.
    """

    text: str
    do: Callable[[], object]
    undo: Callable[[], object]
    is_done: bool


class UndoStack(QUndoGroup):
    """The edits by place, newest on top, as many as there are.

    ``undo`` and ``redo`` apply to the current place: a case in Read, or another
    workspace.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stacks: dict[str, QUndoStack] = {}
        self.place = ""
        """The current place of edits."""
        self.look_at("")

    def look_at(self, place: str) -> None:
        """Make a place current, whose edits are undone from now on."""
        self.place = place
        self.setActiveStack(self._stack(place))

    def forget(self) -> None:
        """Drop the edits of the current place."""
        self._stack(self.place).clear()

    def forget_all(self) -> None:
        """Drop the edits of every place."""
        for stack in self._stacks.values():
            stack.clear()

    def count(self) -> int:
        """Return how many edits can be undone in the current place."""
        return self._stack(self.place).count()

    def do(
        self,
        text: str,
        do: Callable[[], object],
        undo: Callable[[], object],
        place: str | None = None,
    ) -> None:
        """Do an edit and remember how to undo it.

        Parameters
        ----------
        text : str
            What was done, to follow "Undo" in the menu: "length", "finding".
        do, undo : callable
            The edit and its opposite; both may be called many times, in turn.
        place : str, optional
            Where it was made, if not at the current place.
        """
        where = self.place if place is None else place
        self._stack(where).push(_Edit(text, do, undo))

    def restore(self, place: str, past: Sequence[PastEdit]) -> None:
        """Put edits of an earlier session below those of this one, doing nothing.

        Edits already made in this session would not fit; then all stay as they are.
        """
        stack = self._stack(place)
        if stack.count():
            return
        edits = [_Edit(each.text, each.do, each.undo) for each in past]
        for edit in edits:
            edit.is_restoring = True
            stack.push(edit)
        stack.setIndex(sum(each.is_done for each in past))
        for edit in edits:
            edit.is_restoring = False

    def _stack(self, place: str) -> QUndoStack:
        if place not in self._stacks:
            self._stacks[place] = QUndoStack(self)
        return self._stacks[place]
