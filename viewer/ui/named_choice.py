"""A choice of things that files call by another name than people do."""

from collections.abc import Mapping

from PySide6.QtWidgets import QComboBox

from viewer.domain.escapes import visible


class NamedChoice(QComboBox):
    """Shows titles and gives names."""

    @property
    def name(self) -> str:
        """The chosen thing as files call it, "" for none."""
        return str(self.currentData() or "")

    def offer(self, titles: Mapping[str, str]) -> None:
        """Offer things by name, and keep the chosen one; nothing is emitted."""
        chosen = self.name
        self.blockSignals(True)
        self.clear()
        for name, title in titles.items():
            self.addItem(visible(title), name)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(False)

    def choose(self, name: str) -> None:
        """Choose a thing; one that is not offered is added, and refused later."""
        if self.findData(name) < 0:
            self.addItem(visible(name), name)
        self.setCurrentIndex(self.findData(name))
