"""The table of models at the left of Models, with Connect, Duplicate and Delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.tables.models_model import LoadingPainter, ModelRow, ModelsModel
from viewer.ui.widgets.labels import primary, title
from viewer.ui.widgets.plain_text import Label, as_tip

_HINT: Final = (
    "No model of your own yet.\n\nConnect… adds one. A model's folder, a .gguf file or "
    "a network's description (.toml) can be dropped here too."
)
_HINT_WIDTH: Final = 420


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The user selected the model of this row; its key."""

    key: str


@dataclass(frozen=True, slots=True)
class ConnectWanted:
    """The user wants to see which models can be connected."""


@dataclass(frozen=True, slots=True)
class DuplicateWanted:
    """The user wants a new model with the settings of this one."""

    key: str


@dataclass(frozen=True, slots=True)
class DeleteWanted:
    """The user wants to delete this model."""

    key: str


class ModelsList(QWidget):
    """Every model with its state; the chosen one can be copied or deleted."""

    model_chosen = Signal(object)
    """ModelChosen"""
    connect_wanted = Signal(object)
    """ConnectWanted"""
    duplicate_wanted = Signal(object)
    """DuplicateWanted"""
    delete_wanted = Signal(object)
    """DeleteWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._announced = ""
        self.models = ModelsModel(self)
        self.view = _View(self)
        self.view.setModel(self.models)
        self.connecting = primary("Connect…")
        self.duplicate = QPushButton("Duplicate")
        self.delete, self.hint = QPushButton("Delete"), self.view.hint
        self.connecting.setToolTip("Add a model")
        self.duplicate.setToolTip("Add a model with the settings of the selected one")
        self._lay_out()
        self._connect()
        self._offer()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(title("Models"), 1)
        for button in (self.connecting, self.duplicate, self.delete):
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.view, 1)
        self.view.fit_columns()

    def _connect(self) -> None:
        self.view.selectionModel().currentRowChanged.connect(self._announce)
        self.view.delete_pressed.connect(self.ask_to_delete)
        self.connecting.clicked.connect(
            lambda: self.connect_wanted.emit(ConnectWanted())
        )
        self.duplicate.clicked.connect(self.ask_to_duplicate)
        self.delete.clicked.connect(self.ask_to_delete)

    def show_rows(self, rows: Sequence[ModelRow], chosen: str = "") -> None:
        """Show the models; make ``chosen`` the current one, else keep the current."""
        before, bar = self.current, self.view.verticalScrollBar()
        key, scrolled = chosen or (before.key if before else ""), bar.value()
        self.models.show_rows(rows)
        self.view.show_hint(on=not any(row.line.table for row in rows))
        if rows:
            self.choose(self.models.row_of(key) or 0)
        if not chosen:
            bar.setValue(scrolled)
        self._offer()

    def choose(self, row: int) -> None:
        """Make a row the current one."""
        flags = QItemSelectionModel.SelectionFlag
        self.view.selectionModel().setCurrentIndex(
            self.models.index(row, 0), flags.ClearAndSelect | flags.Rows
        )
        self.view.scrollTo(self.view.currentIndex())

    @property
    def current(self) -> ModelRow | None:
        """The chosen model."""
        index = self.view.currentIndex()
        return self.models.rows[index.row()] if index.isValid() else None

    def ask_to_duplicate(self) -> None:
        """Request a copy of the chosen model, if it can be copied."""
        if self.current is not None and self.duplicate.isEnabled():
            self.duplicate_wanted.emit(DuplicateWanted(self.current.key))

    def ask_to_delete(self) -> None:
        """Request deletion of the chosen model, if it is one of the user's."""
        if self.current is not None and self.delete.isEnabled():
            self.delete_wanted.emit(DeleteWanted(self.current.key))

    def _announce(self, index: QModelIndex) -> None:
        """Emit if another model is chosen, not if the same one moves to another row."""
        self._offer()
        key = self.models.rows[index.row()].key if index.isValid() else self._announced
        if key != self._announced:
            self._announced = key
            self.model_chosen.emit(ModelChosen(key))

    def _offer(self) -> None:
        row = self.current
        is_own = row is not None and row.line.own
        self.duplicate.setEnabled(is_own)
        self.delete.setEnabled(is_own)
        self.delete.setText(f"Delete {row.line.name}" if row and is_own else "Delete")
        self.delete.setToolTip(
            as_tip("Edit ▸ Undo restores it" if is_own else "It is built in")
        )


class _View(QTableView):
    """The table; Del requests deletion of the chosen model."""

    delete_pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName("Models")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setWordWrap(False)
        self.setItemDelegate(LoadingPainter(self))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 14)
        self.hint = Label(_HINT, self.viewport(), wordWrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        # It lies over the table, which gets the clicks.
        self.hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hint.hide()

    def show_hint(self, *, on: bool) -> None:
        """Show, below the built-in models, how to add another."""
        self.hint.setVisible(on)
        self._place_hint()

    def _place_hint(self) -> None:
        below = self.verticalHeader().length()
        room = self.viewport().size()
        width = min(_HINT_WIDTH, room.width())
        left = (room.width() - width) // 2
        self.hint.setGeometry(left, below, width, max(0, room.height() - below))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the hint centred below the rows."""
        super().resizeEvent(event)
        self._place_hint()

    def fit_columns(self) -> None:
        """Give the column of states the remaining width."""
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        modes = QHeaderView.ResizeMode
        for column, mode in enumerate(
            (modes.ResizeToContents, modes.Stretch, modes.ResizeToContents)
        ):
            header.setSectionResizeMode(column, mode)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Handle Del."""
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)
