"""Asking before something goes for good."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget


def confirm(
    window: QWidget, question: str, words: str, verb: str, then: Callable[[], None]
) -> None:
    """Ask before something goes for good; Return and Esc cancel."""
    box = QMessageBox(window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle(f"{verb}?")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(question)
    box.setInformativeText(words)
    yes = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    for button in box.buttons():
        button.setIcon(QIcon())  # no other button of the window has one
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    box.setEscapeButton(cancel)
    yes.clicked.connect(then)
    box.open()
