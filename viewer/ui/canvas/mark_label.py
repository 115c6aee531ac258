"""Asking for the words beside a mark."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QWidget

from viewer.domain.mark import NAMES, Mark
from viewer.ui.canvas.mark_editing import MarkEditing


def ask_label(marks: MarkEditing, parent: QWidget, mark: Mark) -> None:
    """Let the reader write beside a mark; the image stays usable meanwhile."""
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle("Label")
    dialog.setLabelText(f"Words beside the {NAMES[mark.kind]}")
    dialog.setTextValue(mark.text)
    dialog.accepted.connect(lambda: marks.label(mark, dialog.textValue().strip()))
    dialog.rejected.connect(lambda: marks.label(mark, mark.text))
    dialog.open()
