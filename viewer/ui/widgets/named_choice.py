"""A choice with separate display titles and file names."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox

from viewer.domain.escapes import visible

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class NamedChoice(QComboBox):
    """Shows titles and returns names."""

    @property
    def name(self) -> str:
        """The name of the choice as used in files, "" for none."""
        return str(self.currentData() or "")

    def offer(
        self, titles: Mapping[str, str], unusable: Mapping[str, str] = _NONE
    ) -> None:
        """Offer things by name, and keep the chosen one; nothing is emitted.

        What is ``unusable`` stands greyed below them, and its tool tip says why.
        """
        chosen = self.name
        self.blockSignals(True)
        self.clear()
        for name, title in titles.items():
            self.addItem(visible(title), name)
        for name, why in unusable.items():
            self.addItem(visible(f"{name} – cannot be used"), name)
            self.setItemData(
                self.count() - 1, visible(why), Qt.ItemDataRole.ToolTipRole
            )
            self.grey(self.count() - 1)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(False)

    def grey(self, row: int) -> None:
        """Show an entry that cannot be chosen."""
        model = self.model()
        if isinstance(model, QStandardItemModel):
            model.item(row).setEnabled(False)

    def choose(self, name: str) -> None:
        """Choose a thing; one that is not offered is added, and refused later."""
        if self.findData(name) < 0:
            self.addItem(visible(name), name)
        self.setCurrentIndex(self.findData(name))
