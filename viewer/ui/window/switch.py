"""The narrow workspace switch at the left edge: icon and word."""

from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QToolButton, QVBoxLayout, QWidget

from viewer.ui.application.action_set import Actions
from viewer.ui.widgets import theme

_ICON: Final = 24
_WIDTH: Final = 64


class Switch(QFrame):
    """One button per workspace."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("switch")
        self.setFixedWidth(_WIDTH + 4 * theme.STEP)
        self._actions = actions
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 8, 8, 8)
        self._column.setSpacing(theme.STEP)
        self._column.addStretch(1)
        self.buttons: dict[str, QToolButton] = {}

    def refresh(self) -> None:
        """Add the buttons of workspaces that were added since."""
        for spec, action in self._actions:
            if spec.group == "workspace" and spec.id not in self.buttons:
                button = QToolButton(self)
                button.setDefaultAction(action)
                button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
                button.setIconSize(QSize(_ICON, _ICON))
                button.setFixedSize(_WIDTH, _WIDTH - 2 * theme.STEP)
                button.setFont(theme.caption_font(button.font()))
                self._column.insertWidget(len(self.buttons), button)
                self.buttons[spec.id] = button
