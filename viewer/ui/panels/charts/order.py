"""By which two series the groups of bars are ordered."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from viewer.ui.long_choice import LongChoice
from viewer.ui.plain_text import Label

_TIP: Final = "Groups by (first − second) / second, greatest first"


class OrderChoice(QWidget):
    """Two lists: the groups are ordered by (first − second) / second."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.above, self.below = LongChoice(_TIP), LongChoice(_TIP)
        self.above.setAccessibleName("Order by the difference of")
        self.below.setAccessibleName("to")
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(Label("Order by"))
        box.addWidget(self.above)
        box.addWidget(Label("over"))
        box.addWidget(self.below)
        for combo in (self.above, self.below):
            combo.currentIndexChanged.connect(self.changed)

    @property
    def chosen(self) -> tuple[str, str] | None:
        """The two series, None where there is nothing to choose."""
        if self.isHidden() or not self.above.count():
            return None
        return self.above.currentText(), self.below.currentText()

    def offer(self, names: tuple[str, ...]) -> None:
        """Offer a figure's series; what was chosen stays where it is still there."""
        self.setVisible(bool(names))
        if names:
            for combo, first in ((self.above, 0), (self.below, 1)):
                _fill(combo, names, first)


def _fill(combo: QComboBox, names: tuple[str, ...], first: int) -> None:
    kept = combo.currentText()
    combo.blockSignals(True)
    combo.clear()
    combo.addItems(list(names))
    combo.setCurrentIndex(names.index(kept) if kept in names else first)
    combo.blockSignals(False)
