"""File > Open recent: the files and folders opened recently."""

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from viewer.ui.application.layout_memory import RECENT
from viewer.ui.widgets.plain_text import as_tip


class RecentMenu(QMenu):
    """Filled when it is opened; paths that no longer exist are left out.

    Parameters
    ----------
    recent : callable
        Returns the paths, the newest first.
    """

    chosen = Signal(object)
    """Path"""

    def __init__(self, recent: Callable[[], Iterable[Path]], parent: QWidget) -> None:
        super().__init__("Open recent", parent)
        self.setToolTipsVisible(True)
        self._recent = recent
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        for number, path in enumerate(self._there(), 1):
            mark = f"&{number % 10} " if number <= RECENT else ""
            name = f"{path.parent.name}/{path.name}".replace("&", "&&")
            action = self.addAction(f"{mark}{name}")
            action.setToolTip(as_tip(str(path)))
            # _ takes what triggered() sends: whether the action is checked.
            action.triggered.connect(lambda _=False, path=path: self.chosen.emit(path))
        if not self.actions():
            self.addAction("Nothing was opened yet").setEnabled(False)

    def _there(self) -> list[Path]:
        return [path for path in self._recent() if path.exists()][:RECENT]
