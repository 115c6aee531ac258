"""What each column of a table of predictions is, as a person says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.ui.widgets.plain_text import as_tip

if TYPE_CHECKING:
    from viewer.services.importing.preview_predictions import Column

_HEADER: Final = ("Column", "First row", "Is")
_NOT_USED: Final = "not used"


class ColumnsTable(QTableWidget):
    """A row for each column: its name, an example, and a choice of what it is."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, len(_HEADER), parent)
        self.setHorizontalHeaderLabels(_HEADER)
        self.setAccessibleName("Columns")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)

    def show_columns(self, columns: "Sequence[Column]") -> None:
        """List columns; what one may be by its name is chosen, and said to be so."""
        self.setRowCount(len(columns))
        for row, column in enumerate(columns):
            self.setItem(row, 0, QTableWidgetItem(visible(column.name)))
            example = QTableWidgetItem(visible(column.example))
            example.setToolTip(as_tip(column.example[:200]))
            self.setItem(row, 1, example)
            self.setCellWidget(row, 2, self._choice(column))
        self.resizeRowsToContents()

    def mapping(self) -> Mapping[str, str]:
        """Return the field of each column, "" for an unused one."""
        return {
            self._name(row): self.choice(row).currentData()
            for row in range(self.rowCount())
        }

    def choice(self, row: int) -> QComboBox:
        """Return the choice of what a row's column is."""
        widget = self.cellWidget(row, 2)
        assert isinstance(widget, QComboBox)  # noqa: S101 - show_columns put it there
        return widget

    def _name(self, row: int) -> str:
        item = self.item(row, 0)
        return item.text() if item else ""

    def _choice(self, column: "Column") -> QComboBox:
        from viewer.services.importing.preview_predictions import FIELD_NAMES

        box = QComboBox()
        box.setAccessibleName(f"What {column.name} is")
        box.addItem(_NOT_USED, "")
        for field in FIELD_NAMES:
            mark = "  (suggested)" if field == column.suggested else ""
            box.addItem(f"{field}{mark}", field)
        box.setCurrentIndex(max(0, box.findData(column.suggested)))
        box.activated.connect(self.changed)
        return box
