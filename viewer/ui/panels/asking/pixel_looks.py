"""Pixel checks of an image: the worker finds text, the user decides."""

from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError
from viewer.domain.image import PixelImage
from viewer.domain.plain import made
from viewer.domain.privacy import pixels_sha256
from viewer.services.commands import PixelLook
from viewer.services.worker.background import WorkerDied, WorkerReply
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.dialogs.pixel_review import PixelReviewDialog, PixelsDecided

_CHANGED: Final = (
    "The file changed since it was opened; open it again to review its pixels."
)


class PixelLooks(QObject):
    """Runs one check at a time; a later one replaces an earlier."""

    decided = Signal(object)
    """Carries a PixelsDecided that is in the store."""
    cleared = Signal()
    """Nothing is to be decided."""
    refused = Signal(object)
    """Carries a sentence, str, that says why not; "" if the user closed it."""

    def __init__(self, context: AppContext, window: QWidget) -> None:
        super().__init__(window)
        self._context, self._window = context, window
        self._looking = 0
        self._always = False
        self._image: PixelImage | None = None
        context.worker.message.connect(self._hear)

    def look(self, ref: ImageRef, image: PixelImage, *, always: bool = False) -> None:
        """Look for text; ``always`` shows the image even if nothing is pending."""
        self._image, self._always = image, always
        self._looking = self._context.worker.look(ref)

    def stop(self) -> None:
        """Ignore all further results of the worker."""
        self._looking, self._image = 0, None

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerDied) and self._looking:
            self.stop()
            self.refused.emit(message.sentence)
        elif isinstance(message, WorkerReply) and message.id == self._looking:
            self._looking = 0
            self._show(message)

    def _show(self, reply: WorkerReply) -> None:
        if reply.ok is None or self._image is None:
            self.refused.emit(reply.sentence)
            return
        look = made(PixelLook, reply.ok, where="the look")
        if pixels_sha256(self._image) != look.image_sha256:
            self.refused.emit(_CHANGED)
            return
        if not (look.waits or self._always):
            self.cleared.emit()
            return
        dialog = PixelReviewDialog(look, self._image, self._window)
        dialog.decided.connect(self._keep)
        dialog.rejected.connect(lambda: self.refused.emit(""))
        dialog.open()

    def _keep(self, event: PixelsDecided) -> None:
        from viewer.services.privacy.burned_in import keep_review

        store = self._context.settings.store
        run_for(
            self,
            lambda: keep_review(store, event.review),
            lambda _: self.decided.emit(event),
            self._failed,
        )

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self.refused.emit(str(error))
