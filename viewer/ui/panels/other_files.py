"""The files of an opened folder that are no images, by name and with the reason."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.services.open_case import OtherFile
from viewer.ui.labels import caption
from viewer.ui.plain_text import as_tip


class OtherFiles(QDialog):
    """A window of its own; Ctrl+C copies the chosen rows as tab-separated text."""

    def __init__(
        self, files: Sequence[OtherFile], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Other files")
        self.list = QTreeWidget()
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setHeaderLabels(["File", "Why it is not listed"])
        self.list.setAccessibleName("Files that are no images")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.addTopLevelItems([_row(file) for file in files])
        self.list.resizeColumnToContents(0)
        column = QVBoxLayout(self)
        column.addWidget(self.list)
        column.addWidget(caption(f"{len(files):,} of the files opened are no images."))
        copy = QShortcut(QKeySequence.StandardKey.Copy, self)
        copy.activated.connect(self._copy)
        self.resize(640, 420)

    def _copy(self) -> None:
        rows = self.list.selectedItems()
        lines = [f"{row.text(0)}\t{row.text(1)}" for row in rows]
        QGuiApplication.clipboard().setText("\n".join(lines))


def _row(file: OtherFile) -> QTreeWidgetItem:
    row = QTreeWidgetItem([visible(file.path.name), visible(file.reason)])
    row.setToolTip(0, as_tip(str(file.path)))
    row.setToolTip(1, as_tip(file.reason))
    return row
