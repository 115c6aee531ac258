"""The About box."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

import viewer


def about_box(parent: QWidget) -> QMessageBox:
    """Return the non-modal box with version and purpose."""
    box = QMessageBox(parent)
    box.setModal(False)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setWindowTitle("About Overread")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"Overread {viewer.__version__}")
    box.setInformativeText("For research; not a medical device.")
    return box
