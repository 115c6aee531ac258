"""Menus that come up beside a button."""

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget


def pop_up(menu: QMenu, button: QWidget, *_: object) -> None:
    """Show a menu below a button, or above it where the screen ends.

    A button's own menu turns an event loop of its own, in which all else would wait.
    """
    below = button.mapToGlobal(QPoint(0, button.height()))
    room = button.screen().availableGeometry().bottom() - below.y()
    size = menu.sizeHint()
    if room < size.height():
        below = button.mapToGlobal(
            QPoint(button.width() - size.width(), -size.height())
        )
    menu.popup(below)
