"""The 2 × 2 of two models on the same items: four cells, each a filter."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from viewer.domain.study_words import HITS, Verdicts, capital
from viewer.domain.styles import Style
from viewer.services.comparing.statistics import GroupCounts
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, as_html, as_tip

Cell = tuple[bool, bool]
"""Whether the first, and the second, hits."""
CELLS: Final[tuple[Cell, ...]] = (
    (True, True), (True, False), (False, True), (False, False),
)  # fmt: skip
_FLIPS: Final = frozenset({(True, False), (False, True)})
_BY: Final = {
    (True, True): "both",
    (True, False): "the first alone",
    (False, True): "the second alone",
    (False, False): "neither",
}


class CompareCells(QWidget):
    """Four counts as toggle buttons; the two flips are on at first."""

    cells_chosen = Signal()
    """Another choice of cells."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = {cell: QPushButton("–") for cell in CELLS}
        self._first, self._second = Label(), Label()
        self._captions: dict[bool, list[QLabel]] = {True: [], False: []}
        self._lay_out()
        self._speak(HITS)
        for cell, button in self.buttons.items():
            button.setCheckable(True)
            button.setChecked(cell in _FLIPS)
            button.toggled.connect(lambda _: self.cells_chosen.emit())

    @property
    def chosen(self) -> frozenset[Cell]:
        """The cells that are on."""
        return frozenset(c for c, button in self.buttons.items() if button.isChecked())

    def show_counts(
        self,
        group: GroupCounts,
        sides: Sequence[tuple[str, Style]],
        verdicts: Verdicts,
    ) -> None:
        """Show the counts of two sides under their names, each with its style."""
        self._speak(verdicts)
        table = group.table
        counts = (table.both, table.only_first, table.only_second, table.neither)
        for button, n in zip(self.buttons.values(), counts, strict=True):
            button.setText(f"{n:,}")
            button.setAccessibleDescription(f"{button.accessibleName()}: {n}")
        labels = self._first, self._second
        for label, (name, look) in zip(labels, sides, strict=True):
            label.setTextFormat(Qt.TextFormat.RichText)
            sign = f'<span style="color:{look.colour}">{look.sign}</span>'
            label.setText(f"{sign} {as_html(name)}")

    def _speak(self, verdicts: Verdicts) -> None:
        """Use the study's words for right and wrong answers."""
        got = capital(verdicts.got)
        for cell, button in self.buttons.items():
            name = f"{got} by {_BY[cell]}"
            button.setAccessibleName(name)
            button.setToolTip(as_tip(f"{name}: show these items below, or not"))
        for right, word in ((True, verdicts.rights), (False, verdicts.wrongs)):
            for label in self._captions[right]:
                label.setText(word)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        for label in (self._first, self._second):
            label.setWordWrap(True)
        grid.addWidget(self._second, 0, 1, 1, 2)
        grid.addWidget(self._first, 1, 0)
        for column, right in ((1, True), (2, False)):
            grid.addWidget(self._caption(right=right), 1, column)
        for row, hits in enumerate((True, False), 2):
            grid.addWidget(self._caption(right=hits), row, 0)
            for column, also in ((1, True), (2, False)):
                grid.addWidget(self.buttons[hits, also], row, column)
        for column in (1, 2):
            grid.setColumnStretch(column, 1)

    def _caption(self, *, right: bool) -> QLabel:
        label = Label()
        label.setFont(theme.caption_font(label.font()))
        label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._captions[right].append(label)
        return label
