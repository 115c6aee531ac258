"""What can be done with a mark, on a right click."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QMenu, QWidget

from viewer.domain.mark import NAMES, REGIONS
from viewer.ui.canvas.mark_editing import MarkEditing
from viewer.ui.canvas.mark_label import ask_label


def mark_menu(
    marks: MarkEditing, at: QPointF, outline: Callable[[], object], parent: QWidget
) -> QMenu | None:
    """Choose the mark at a position of the view and return its menu, None without."""
    mark = marks.choose_at(at)
    if mark is None:
        return None
    menu = QMenu(parent)
    # popup() returns at once, and the view would keep every closed menu as a child.
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if mark.kind in REGIONS:
        menu.addAction("Outline it", outline)
    menu.addAction("Label…", partial(ask_label, marks, parent, mark))
    menu.addAction(f"Delete {NAMES[mark.kind]}", marks.delete_chosen)
    return menu
