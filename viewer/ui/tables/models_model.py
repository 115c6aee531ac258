"""The models as a table: name, state in words, kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from viewer.services.commands import HeldModel, LoadStep
from viewer.services.configuring.model_list import ModelLine, Readiness
from viewer.ui.widgets import theme
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.plain_text import in_role

Index = QModelIndex | QPersistentModelIndex
_NOWHERE: Final = QModelIndex()
_HEADERS: Final = ("Model", "State", "Kind")
_STATE: Final = 1
_PART: Final = Qt.ItemDataRole.UserRole
_BAR: Final = 3
_AIR: Final = 16
_MB, _GB = 10**6, 10**9
_SIGNS: Final[Mapping[Readiness, str]] = {
    Readiness.READY: "check-circle-outline",
    Readiness.NEEDS_KEY: "key-outline",
    Readiness.NEEDS_PACKAGE: "package-down",
    Readiness.NEEDS_CONSENT: "lock-outline",
    Readiness.UNUSABLE: "alert-circle-outline",
}


@dataclass(frozen=True)
class ModelRow:
    """A model with its state in memory; ``key`` identifies the row.

    ``edited``: it was changed and not saved. ``held`` is None if it is not loaded
    before it is asked, ``step`` where it is not being loaded.
    """

    key: str
    line: ModelLine
    edited: bool = False
    held: HeldModel | None = None
    step: LoadStep | None = None

    @property
    def state(self) -> str:
        """The state in words."""
        words = self.line.state if self.held is None else self._held_words(self.held)
        if self.step is not None:
            words = f"loading {round(100 * self.step.part)} %"
        if self.edited:
            return f"{words} · edited, not saved"
        if self.line.changed:
            return f"{words} · changed since the check"
        return (
            f"{words} · the check found a problem" if self.line.check_wrong else words
        )

    def _held_words(self, held: HeldModel) -> str:
        if held.error:
            return held.error
        if held.state == "loading":
            return held.state
        if held.state == "loaded":
            return f"loaded, {bytes_text(held.memory_bytes)}"
        if self.line.readiness is not Readiness.READY or not held.memory_bytes:
            return self.line.state
        return f"{self.line.state}, takes {bytes_text(held.memory_bytes)}"

    @property
    def sign(self) -> str:
        """The name of its icon."""
        if self.step is not None:
            return "progress-download"
        if self.edited:
            return "pencil-outline"
        if self.held is not None and self.held.error:
            return _SIGNS[Readiness.UNUSABLE]
        if self.held is not None and self.held.state == "loaded":
            return "memory"
        if self.line.can_ask and self.line.check_wrong:
            return "alert-outline"
        return _SIGNS[self.line.readiness]


def bytes_text(count: int) -> str:
    """Return a number of bytes such as ``4.1 GB`` or ``412 MB``."""
    if count >= _GB:
        return f"{count / _GB:.1f} GB"
    return f"{max(1, round(count / _MB))} MB"


class ModelsModel(QAbstractTableModel):
    """The rows; the person's own models come first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[ModelRow, ...] = ()

    def show_rows(self, rows: Sequence[ModelRow]) -> None:
        """Replace the rows; where they are the same models, only repaint them."""
        ordered = tuple(sorted(rows, key=lambda row: (not row.line.own, row.key)))
        if not ordered and not self.rows:
            return
        if [row.key for row in ordered] == [row.key for row in self.rows]:
            self.rows = ordered
            last = self.index(len(ordered) - 1, len(_HEADERS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self.rows = ordered
        self.endResetModel()

    def row_of(self, key: str) -> int | None:
        """Return the row of a model, None without one."""
        return next((i for i, row in enumerate(self.rows) if row.key == key), None)

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of models."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(_HEADERS)

    def headerData(  # noqa: N802 - Qt's name
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return a column's title."""
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return _HEADERS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's words, its sign, or how much of the model is loaded."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        kind = row.line.kind or row.line.adapter
        words = (row.line.name, row.state, kind)[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return in_role(words, role)
        if role == Qt.ItemDataRole.ToolTipRole:
            about = (f"{row.line.name}: {row.state}", row.line.check_wrong)
            tip = "\n".join((*filter(None, about), row.line.summary))
            return in_role(tip, role)
        if index.column() == _STATE:
            if role == Qt.ItemDataRole.DecorationRole:
                return icon(row.sign)
            if role == _PART:
                return None if row.step is None else row.step.part
        return None


class LoadingPainter(QStyledItemDelegate):
    """Draws, below the text of a loading model, how much of it is done."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """Return the text's size with a margin."""
        return super().sizeHint(option, index) + QSize(_AIR, 0)

    def initStyleOption(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Leave out the focus frame of a cell, because whole rows are selected."""
        super().initStyleOption(option, index)
        option.state &= ~QStyle.StateFlag.State_HasFocus

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paint a cell."""
        super().paint(painter, option, index)
        part = index.data(_PART)
        if not isinstance(part, float):
            return
        cell: QRect = option.rect
        track = QRect(cell.left() + 4, cell.bottom() - _BAR, cell.width() - 8, _BAR)
        painter.fillRect(track, QColor(theme.current().line))
        track.setWidth(round(part * track.width()))
        painter.fillRect(track, QColor(theme.current().accent))
