"""Asks the user about each endpoint that is not allowed yet, one after the other."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.ui.application.background_tasks import run_for
from viewer.ui.dialogs.consent import ConsentDialog, ConsentGiven

if TYPE_CHECKING:
    from viewer.services.asking.preview import Preview

Previews = Callable[[], "tuple[Preview, ...]"]
"""Returns what would leave for each endpoint not allowed yet; called off the window."""


class Consents(QObject):
    """Shows what would be sent until everything is allowed or something is refused."""

    allowed = Signal()
    """Nothing more is to be asked."""
    refused = Signal(object)
    """Carries a sentence, str, that says why not; "" if the user refused."""

    def __init__(self, store: Path, window: QWidget) -> None:
        super().__init__(window)
        self._store, self._window = store, window

    def ask(self, previews: Previews) -> None:
        """Ask about the first pending endpoint, then about the next."""

        def show(waiting: "tuple[Preview, ...]") -> None:
            if waiting:
                self._show(waiting[0], previews)
            else:
                self.allowed.emit()

        run_for(self, previews, show, self._failed)

    def _show(self, preview: "Preview", previews: Previews) -> None:
        dialog, store = ConsentDialog(preview, self._window), self._store

        def keep(event: ConsentGiven) -> None:
            run_for(
                self,
                lambda: _keep(store, preview, event),
                lambda _: self.ask(previews),
                self._failed,
            )

        dialog.given.connect(keep)
        dialog.rejected.connect(lambda: self.refused.emit(""))
        dialog.open()

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self.refused.emit(str(error))


def _keep(store: Path, preview: "Preview", event: ConsentGiven) -> None:
    from viewer.services.asking.preview import keep_consent

    keep_consent(store, preview, for_any=event.for_any, unencrypted=event.unencrypted)
