"""The reader's preferences, each a box to tick that takes effect at once."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.application import preferences
from viewer.ui.application.preferences import WORDS, Preferences
from viewer.ui.widgets.plain_text import as_tip


class PreferencesDialog(QDialog):
    """The table of preferences.

    Parameters
    ----------
    changed : callable
        Called after each change, so that images on the screen follow.
    parent : QWidget, optional
        The owner.
    """

    def __init__(
        self, changed: Callable[[], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._changed = changed
        self.boxes: dict[str, QCheckBox] = {}
        column = QVBoxLayout(self)
        for name, wording in WORDS.items():
            box = self.boxes[name] = QCheckBox(wording.line)
            box.setToolTip(as_tip(wording.tip))
            box.setAccessibleDescription(wording.tip)
            box.setChecked(getattr(preferences.current(), name))
            box.toggled.connect(partial(self._set, name))
            column.addWidget(box)
        foot = QHBoxLayout()
        for name, act in (("Restore defaults", self._restore), ("Close", self.close)):
            button = QPushButton(name)
            button.clicked.connect(act)
            foot.addWidget(button)
        column.addLayout(foot)

    def _set(self, name: str, ticked: bool) -> None:
        values: dict[str, Any] = {name: ticked}
        preferences.use(replace(preferences.current(), **values))
        self._changed()

    def _restore(self) -> None:
        for name, box in self.boxes.items():
            box.setChecked(getattr(Preferences(), name))
