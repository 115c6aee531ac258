"""Undo and Redo in the menu: their names, actions and messages."""

from PySide6.QtCore import QObject

from viewer.ui.application.action_spec import Place
from viewer.ui.application.actions import Handlers
from viewer.ui.application.app_context import AppContext


class Undoing(QObject):
    """Offers the edits of the current place; Review has its own Undo."""

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._stack = context, context.undo
        self._place = Place.READ
        for changed in (
            self._stack.canUndoChanged,
            self._stack.canRedoChanged,
            self._stack.undoTextChanged,
            self._stack.redoTextChanged,
        ):
            changed.connect(self._offer)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {"edit.undo": self.undo, "edit.redo": self.redo}

    def enter(self, place: Place) -> None:
        """Undo in another workspace from now on; Read reports its case itself."""
        self._place = place
        if place is not Place.READ:
            self._stack.look_at(place)
        self._offer()

    def undo(self) -> None:
        """Undo the last edit, and name it."""
        what = self._stack.undoText()
        self._stack.undo()
        self._context.notices.say(f"Undid: {what}" if what else "Nothing to undo.")

    def redo(self) -> None:
        """Redo the last undone edit, and name it."""
        what = self._stack.redoText()
        self._stack.redo()
        self._context.notices.say(f"Redid: {what}" if what else "Nothing to redo.")

    def _offer(self, *_: object) -> None:
        actions, stack = self._context.actions, self._stack
        own = self._place is Place.REVIEW
        undo, redo = actions["edit.undo"], actions["edit.redo"]
        possible = {
            "edit.undo": own or stack.canUndo(),
            "edit.redo": not own and stack.canRedo(),
        }
        actions.bar("edits", (name for name, can in possible.items() if not can))
        undo.setText("Undo" if own else f"Undo {stack.undoText()}".strip())
        redo.setText("Redo" if own else f"Redo {stack.redoText()}".strip())
