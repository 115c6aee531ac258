"""The table of hanging protocols, to edit."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.hanging import Protocol, read_stage
from viewer.services.viewing.hanging_protocols import (
    check_protocols,
    default_protocols,
    keep_protocols,
)
from viewer.ui.widgets.labels import caption, primary
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

_COLUMNS: Final = ("Name", "Modalities", "Stages")
_ANY: Final = "*"
_PICTURE: Final = "picture"
_HELP: Final = (
    "The first protocol that fits the chosen image is used. Stages are separated by ;, "
    "viewports of a row by |, rows by /. A viewport shows frontal, lateral, CC, MLO, "
    "series (the chosen one), next (the study's next series) or tile (the series' next "
    "image), after prior, right or left where needed. Modality * is any, picture a "
    "file such as PNG."
)


class ProtocolEditor(QDialog):
    """A row a protocol, in the order in which they are tried.

    Parameters
    ----------
    protocols : iterable of Protocol
        Those in use.
    home : Path
        The folder that the user's table is kept in.
    kept : callable
        Called once changes have been saved.
    parent : QWidget, optional
        The owner.
    """

    def __init__(
        self,
        protocols: Iterable[Protocol],
        home: Path,
        kept: Callable[[], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Hanging protocols")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._home, self._kept = home, kept
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setTabKeyNavigation(False)
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setAccessibleName("Hanging protocols")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().hide()
        self.problem = Label()
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._lay_out()
        self._show(protocols)
        resize_on_screen(self, 860, 460)

    def _lay_out(self) -> None:
        row, column = QHBoxLayout(), QVBoxLayout(self)
        acts: tuple[tuple[str, Callable[[], object]], ...] = (
            ("Add", self.add),
            ("Delete", self.delete),
            ("Move up", lambda: self.move_by(-1)),
            ("Move down", lambda: self.move_by(1)),
        )
        for text, act in acts:
            button = QPushButton(text)
            button.setAutoDefault(False)
            button.clicked.connect(act)
            row.addWidget(button)
        row.addStretch(1)
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.RestoreDefaults | kinds.Cancel)
        self.save = primary("Save protocols")
        buttons.addButton(self.save, QDialogButtonBox.ButtonRole.AcceptRole)
        restore = buttons.button(kinds.RestoreDefaults)
        restore.clicked.connect(lambda: self._show(default_protocols()))
        buttons.accepted.connect(self.keep)
        buttons.rejected.connect(self.close)
        for part in (caption(_HELP), self.table):
            column.addWidget(part)
        column.addLayout(row)
        for widget in (self.problem, buttons):
            column.addWidget(widget)

    def add(self) -> None:
        """Add a protocol above the selected one."""
        at = max(self.table.currentRow(), 0)
        self._insert(at, ("New protocol", _ANY, "series"))
        self.table.setCurrentCell(at, 0)

    def delete(self) -> None:
        """Delete the selected protocol; it is gone once the table is saved."""
        self.table.removeRow(self.table.currentRow())

    def move_by(self, steps: int) -> None:
        """Move the selected protocol up or down."""
        at = self.table.currentRow()
        to = at + steps
        if at >= 0 and 0 <= to < self.table.rowCount():
            cells = self._cells(at)
            self.table.removeRow(at)
            self._insert(to, cells)
            self.table.setCurrentCell(to, 0)

    def keep(self) -> None:
        """Save the table, or say what is wrong with it."""
        try:
            protocols = tuple(
                _protocol(self._cells(row)) for row in range(self.table.rowCount())
            )
            check_protocols(protocols)
            keep_protocols(self._home, protocols)
        except OverreadError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self._kept()
        self.close()

    def _show(self, protocols: Iterable[Protocol]) -> None:
        self.table.setRowCount(0)
        for protocol in protocols:
            modalities = (modality or _PICTURE for modality in protocol.modalities)
            stages = (stage.words for stage in protocol.stages)
            cells = (protocol.name, ", ".join(modalities), "; ".join(stages))
            self._insert(self.table.rowCount(), cells)
        self.table.resizeColumnsToContents()

    def _insert(self, at: int, cells: Iterable[str]) -> None:
        self.table.insertRow(at)
        for column, text in enumerate(cells):
            self.table.setItem(at, column, QTableWidgetItem(text))

    def _cells(self, row: int) -> tuple[str, ...]:
        items = (self.table.item(row, column) for column in range(len(_COLUMNS)))
        return tuple(item.text().strip() if item else "" for item in items)


def _protocol(cells: tuple[str, ...]) -> Protocol:
    name, modalities, stages = cells
    named = (word.strip() for word in modalities.split(","))
    return Protocol(
        name,
        tuple("" if word == _PICTURE else word for word in named if word),
        tuple(read_stage(stage) for stage in stages.split(";") if stage.strip()),
    )
