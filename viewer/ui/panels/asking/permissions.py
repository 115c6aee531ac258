"""The user's decisions before a question may leave this machine, in order.

First whether the pixels may leave, then, of each endpoint not allowed yet, whether
what is shown may go there. The gate in the services checks all of it again.
"""

from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.image import PixelImage
from viewer.domain.privacy import ReviewDecision
from viewer.services.commands import AskCommand
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.pixel_review import PixelsDecided
from viewer.ui.panels.asking.consents import Consents
from viewer.ui.panels.asking.pixel_looks import PixelLooks

STAYED: Final = "Nothing was sent."


class Permissions(QObject):
    """Asks one question at a time until a command may be sent or is refused."""

    may_ask = Signal(object)
    """Carries the AskCommand."""
    stayed = Signal(object)
    """Carries a sentence, str, that says why nothing was sent."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._store = context.settings.store
        self._command: AskCommand | None = None
        self._looks = PixelLooks(context, window)
        self._looks.cleared.connect(self._preview)
        self._looks.decided.connect(self._decided)
        self._consents = Consents(self._store, window)
        self._consents.allowed.connect(self._allowed)
        for asking in (self._looks, self._consents):
            asking.refused.connect(lambda why: self._stay(why or STAYED))

    def check(self, command: AskCommand, image: PixelImage) -> None:
        """Check the pixels of ``command``, then ask for the consents it needs."""
        self._command = command
        self._looks.look(command.ref, image)

    def stop(self) -> None:
        """Send nothing if the user is still being asked."""
        if self._command is not None:
            self._looks.stop()
            self._stay(STAYED)

    def _decided(self, event: PixelsDecided) -> None:
        if event.review.decision is ReviewDecision.BLOCKED:
            self._stay(STAYED)
        else:
            self._preview()

    def _preview(self) -> None:
        from viewer.services.asking.preview import previews_of_question

        command, settings = self._command, self._context.settings
        if command is not None:
            self._consents.ask(
                lambda: previews_of_question(
                    settings.store, settings.models_file, command
                )
            )

    def _allowed(self) -> None:
        command, self._command = self._command, None
        if command is not None:
            self.may_ask.emit(command)

    def _stay(self, sentence: str) -> None:
        self._command = None
        self.stayed.emit(sentence)
