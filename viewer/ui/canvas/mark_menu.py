"""What can be done with a mark, on a right click or the menu key."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from viewer.domain.mark import NAMES, REGIONS, Mark
from viewer.ui.canvas.mark_editing import MarkEditing
from viewer.ui.canvas.mark_label import ask_label


def mark_menu(
    marks: MarkEditing, mark: Mark, outline: Callable[[], object], parent: QWidget
) -> QMenu:
    """Return the menu of the chosen mark."""
    menu = QMenu(parent)
    # popup() returns at once, and the view would keep every closed menu as a child.
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if mark.kind in REGIONS:
        menu.addAction("Outline it", outline)
    menu.addAction("Label…", partial(ask_label, marks, parent, mark))
    menu.addAction(f"Delete {NAMES[mark.kind]}", marks.delete_chosen)
    return menu
