"""What a person decides before a question may leave this machine, in its order.

First whether the pixels may leave, then, of each endpoint not allowed yet, whether
what is shown may go there. The gate in the services checks all of it again.
"""

from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.image import PixelImage
from viewer.domain.privacy import ReviewDecision
from viewer.services.background import AskCommand, WorkerDied, WorkerReply
from viewer.services.commands import look_of_json
from viewer.ui.desk import Desk
from viewer.ui.dialogs.pixel_review import PixelReviewDialog, PixelsDecided
from viewer.ui.errands import run_for
from viewer.ui.panels.consents import Consents

STAYED: Final = "Nothing was sent."


class Leaving(QObject):
    """Asks a person, one question at a time, until a command may leave or stays."""

    may_ask = Signal(object)
    """Carries the AskCommand."""
    stayed = Signal(object)
    """Carries a sentence, str, that says why nothing was sent."""

    def __init__(self, desk: Desk, window: QWidget) -> None:
        super().__init__(window)
        self._desk, self._window = desk, window
        self._store = desk.settings.store
        self._looking = 0
        self._command: AskCommand | None = None
        self._image: PixelImage | None = None
        self._consents = Consents(self._store, window)
        self._consents.allowed.connect(self._allowed)
        self._consents.refused.connect(lambda why: self._stay(why or STAYED))
        desk.worker.message.connect(self._hear)

    def check(self, command: AskCommand, image: PixelImage) -> None:
        """Look at the pixels of ``command``, then ask for the consents it needs."""
        self._command, self._image = command, image
        self._looking = self._desk.worker.look(command.ref)

    def stop(self) -> None:
        """Let nothing leave, where a person is still being asked."""
        if self._command is not None:
            self._stay(STAYED)

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerDied) and self._looking:
            self._stay(message.sentence)
        elif isinstance(message, WorkerReply) and message.id == self._looking:
            self._looking = 0
            if message.ok is None:
                self._stay(message.sentence)
            else:
                self._review(message)

    def _review(self, reply: WorkerReply) -> None:
        look = look_of_json(reply.ok or {})
        if not look.waits or self._image is None:
            self._preview()
            return
        dialog = PixelReviewDialog(look, self._image, self._window)
        dialog.decided.connect(self._decided)
        dialog.rejected.connect(lambda: self._stay(STAYED))
        dialog.open()

    def _decided(self, event: PixelsDecided) -> None:
        from viewer.services.burned_in import keep_review

        store, review = self._store, event.review
        goes_on = review.decision is not ReviewDecision.BLOCKED
        run_for(
            self,
            lambda: keep_review(store, review),
            lambda _: self._preview() if goes_on else self._stay(STAYED),
            self._failed,
        )

    def _preview(self) -> None:
        from viewer.services.preview import previews_of_question

        command, settings = self._command, self._desk.settings
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

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._stay(str(error))

    def _stay(self, sentence: str) -> None:
        self._looking, self._command, self._image = 0, None, None
        self.stayed.emit(sentence)
