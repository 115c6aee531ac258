"""Save, Discard or Cancel: asked before a window closes over unsaved models."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget

_LOST: Final = "Unsaved changes will be lost."
_MOST_NAMED: Final = 5


def ask_about_unsaved(
    names: Sequence[str],
    save: Callable[[], None],
    discard: Callable[[], None],
    parent: QWidget,
) -> QMessageBox:
    """Ask what becomes of models that were changed; Cancel and Esc do nothing.

    Parameters
    ----------
    names : sequence of str
        The models, at least one.
    save, discard : callable
        Done when a person chooses them.
    parent : QWidget
        Whose window the question belongs to.
    """
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("Save models?")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(_question(names))
    box.setInformativeText(_LOST)
    kinds = QMessageBox.StandardButton
    box.setStandardButtons(kinds.Save | kinds.Discard | kinds.Cancel)
    if len(names) > 1:
        box.button(kinds.Save).setText("Save all")
    for button in box.buttons():
        button.setIcon(QIcon())  # no other button of the window has one
    box.setDefaultButton(kinds.Save)
    box.setEscapeButton(kinds.Cancel)
    box.button(kinds.Save).clicked.connect(save)
    box.button(kinds.Discard).clicked.connect(discard)
    box.open()
    return box


def _question(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"Save the changes to {names[0]} before the window closes?"
    more = len(names) - _MOST_NAMED
    shown = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"Save the changes to {len(names)} models before the window closes?\n{shown}"
