"""Files and folders dropped anywhere on a widget."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget


class DropTarget(QObject):
    """Accepts drops on a widget and on its children that accept none."""

    dropped = Signal(object)
    """tuple[Path, ...], at least one"""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Accept files; pass other drags on."""
        # Entering and moving are QDropEvents as well (QDragEnterEvent inherits it).
        if isinstance(event, QDropEvent) and _paths(event.mimeData()):
            event.acceptProposedAction()
            if event.type() is QEvent.Type.Drop:
                self.dropped.emit(_paths(event.mimeData()))
            return True
        return super().eventFilter(watched, event)


def _paths(data: QMimeData) -> tuple[Path, ...]:
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
