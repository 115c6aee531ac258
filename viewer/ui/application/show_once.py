"""A page beside the window is shown once, however often it is asked for."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def show_once(parent: QWidget, name: str, make: Callable[[], QWidget]) -> None:
    """Show a page, or bring the one of that name to the front with the keyboard.

    Parameters
    ----------
    parent : QWidget
        What the page belongs to.
    name : str
        Names the page among those of its parent.
    make : callable
        Makes the page, a child of ``parent``, where none is shown.
    """
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    known = parent.findChildren(QWidget, name, direct)
    page = next((each for each in known if each.isVisible()), None) or make()
    page.setObjectName(name)
    page.show()
    page.raise_()
    page.activateWindow()
