"""Counts for the status bar what was asked since the window opened."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer

from viewer.domain.errors import OverreadError
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks

if TYPE_CHECKING:
    from viewer.services.inspecting.session_use import SessionUse

_PAUSE_MS: Final = 1000


class SessionMeter(QObject):
    """Reads the store in the background: soon, then after every write."""

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._use: SessionUse | None = None
        self._background_tasks = BackgroundTasks(self)
        soon = QTimer(self, interval=_PAUSE_MS, singleShot=True)
        soon.timeout.connect(self._look)
        soon.start()
        context.changes.store_written.connect(self._look)

    def _look(self) -> None:
        store, before = self._context.settings.store, self._use

        def read() -> "SessionUse":
            from viewer.services.inspecting.session_use import session_use

            return session_use(store, before)

        self._background_tasks.start("use", read, self._show, self._fail)

    def _show(self, use: "SessionUse") -> None:
        self._use = use
        self._context.status.show_use(use.words)

    def _fail(self, error: Exception) -> None:
        """Show nothing if the store cannot be read; others report why."""
        if not isinstance(error, OverreadError):
            raise error
        self._context.status.show_use("")
