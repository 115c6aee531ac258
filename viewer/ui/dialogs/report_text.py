"""The reports of a study, as text that can be copied."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.annotation import StudyReport
from viewer.domain.escapes import visible
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

_SIZE: Final = (640, 560)
_NAMED: Final = "It names the patient, as the images do."


class ReportText(QDialog):
    """A window of its own; several reports of a study are chosen by their titles."""

    def __init__(
        self, reports: Sequence[StudyReport], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Report")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._reports = tuple(reports)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Report")
        self.choice.addItems([visible(f"{r.title} · {r.name}") for r in reports])
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName("Text of the report")
        self.choice.currentIndexChanged.connect(self._show)
        column = QVBoxLayout(self)
        for widget in (self.choice, self.text, Label(_NAMED)):
            column.addWidget(widget)
        self._show(0)
        resize_on_screen(self, *_SIZE)

    def _show(self, number: int) -> None:
        lines = self._reports[number].lines or ("This report has no text.",)
        self.text.setPlainText("\n".join(map(_seen, lines)))


def _seen(line: str) -> str:
    """Return a line of a report; its own line breaks stay."""
    indent = " " * (len(line) - len(line.lstrip(" ")))
    rows = line.splitlines()
    return "\n".join((visible(rows[0]), *(indent + visible(row) for row in rows[1:])))
