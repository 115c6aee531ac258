"""A choice among long names."""

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QComboBox, QWidget

from viewer.ui.widgets.plain_text import as_tip

_SHORTEST: Final = 12
"""Letters that are shown at least."""
_BESIDE: Final = 32
"""What a list's border and bar take of its width."""


class LongChoice(QComboBox):
    """Shows a shortened name; its list and tool tip show the whole one.

    ``tip`` says what it chooses, after the name.
    """

    def __init__(self, tip: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tip = tip
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.setSizeAdjustPolicy(policy)
        self.setMinimumContentsLength(_SHORTEST)
        self.setIconSize(QSize(1, 1))  # or room for an icon makes it higher than others
        self.setToolTip(as_tip(tip))

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        """Show every name in full."""
        view = self.view()
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        room = self.screen().availableGeometry().width()
        view.setMinimumWidth(min(view.sizeHintForColumn(0) + _BESIDE, room))
        super().showPopup()

    def event(self, event: QEvent) -> bool:
        """Show the full name in the tool tip."""
        if event.type() == QEvent.Type.ToolTip:
            self.setToolTip(
                as_tip("\n".join(filter(None, (self.currentText(), self._tip))))
            )
        return super().event(event)
