"""The tags of a DICOM file, as a list with a search field."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from viewer.services.viewing.view_image import Tag
from viewer.ui.widgets.plain_text import Label, in_role
from viewer.ui.widgets.scrolled import resize_on_screen

_COLUMNS: Final = ("Tag", "Keyword", "VR", "Value")
_ROW_PX: Final = 22
_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX: Final = QModelIndex()


class TagTable(QAbstractTableModel):
    """Tags as rows; an item of a sequence is indented by its depth."""

    def __init__(self, tags: Sequence[Tag]) -> None:
        super().__init__()
        self._tags = tuple(tags)

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return the number of tags."""
        return 0 if parent.isValid() else len(self._tags)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:  # noqa: N802 - Qt's name
        """Return the four columns."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, its whole value as tool tip."""
        if role == Qt.ItemDataRole.FontRole and self._is_private(index):
            font = QGuiApplication.font()
            font.setItalic(True)
            return font
        if role not in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole}:
            return None
        tag = self._tags[index.row()]
        cells = (f"{'  ' * tag.depth}{tag.tag}", tag.keyword, tag.vr, tag.value)
        return in_role(cells[index.column()], role)

    def _is_private(self, index: _Index) -> bool:
        """Tell whether a row's group is odd, a manufacturer's own (PS3.5 7.8)."""
        tag = self._tags[index.row()].tag
        return tag[1:5].isalnum() and int(tag[1:5], 16) % 2 == 1

    def headerData(  # noqa: N802 - Qt's name
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return a column's name."""
        named = orientation is Qt.Orientation.Horizontal
        shown = role == Qt.ItemDataRole.DisplayRole
        return _COLUMNS[section] if named and shown else None


class TagList(QDialog):
    """A window of its own; Ctrl+C copies the chosen rows as tab-separated text."""

    def __init__(
        self, name: str, tags: Sequence[Tag], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Tags of {name}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.search = QLineEdit(placeholderText="Search tag, keyword or value")
        self.search.setAccessibleName("Search the tags")
        self.search.setClearButtonEnabled(True)
        self._table = TagTable(tags)
        self.found = QSortFilterProxyModel(filterKeyColumn=-1)
        self.found.setSourceModel(self._table)
        self.found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.search.textChanged.connect(self.found.setFilterFixedString)
        self.search.textChanged.connect(self._count)
        self.view = self._make_view()
        self.count = Label()
        column = QVBoxLayout(self)
        for widget in (self.search, self.view, self.count):
            column.addWidget(widget)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self)
        copy.activated.connect(self._copy)
        self._count()
        resize_on_screen(self, 760, 600)

    def _make_view(self) -> QTableView:
        view = QTableView(sortingEnabled=False, showGrid=False)
        view.setAccessibleName("Tags")
        view.setTabKeyNavigation(False)
        view.setModel(self.found)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.verticalHeader().hide()
        view.verticalHeader().setDefaultSectionSize(_ROW_PX)
        view.horizontalHeader().setStretchLastSection(True)
        view.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        view.resizeColumnsToContents()  # once: a header that follows measures every row
        return view

    def _count(self, *_: object) -> None:
        found, all_ = self.found.rowCount(), self._table.rowCount()
        if all_:
            self.count.setText(f"{found} of {all_} tags")
        else:
            self.count.setText("This file has no DICOM tags.")

    def _copy(self) -> None:
        rows = sorted({i.row() for i in self.view.selectionModel().selectedIndexes()})
        cells = range(len(_COLUMNS))
        lines = [
            "\t".join(str(self.found.index(r, c).data()) for c in cells) for r in rows
        ]
        QGuiApplication.clipboard().setText("\n".join(lines))
