"""Pages beside the window that are shown only once."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def show_once(parent: QWidget, name: str, make: Callable[[], QWidget]) -> None:
    """Show a page, or bring an existing one of that name to the front with focus.

    Parameters
    ----------
    parent : QWidget
        The page's owner.
    name : str
        The page's name among those of its parent.
    make : callable
        Creates the page, a child of ``parent``, if none is shown.
    """
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    known = parent.findChildren(QWidget, name, direct)
    page = next((each for each in known if each.isVisible()), None) or make()
    page.setObjectName(name)
    page.show()
    page.raise_()
    page.activateWindow()
