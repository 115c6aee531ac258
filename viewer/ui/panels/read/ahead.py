"""Images that will probably be wanted next, decoded while the reader looks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from viewer.domain.case import ImageRef
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.background_tasks import run_for

if TYPE_CHECKING:
    from viewer.ui.application.jobs import Job

_MOST_BYTES: Final = 48 * 1024 * 1024
"""Of pixels as decoded; codes and further scales make it up to 7/3 of that."""


class Ahead(QObject):
    """The first images of the next stage and of the next row of the case list."""

    held_changed = Signal()

    def __init__(self, decoder: Decoder, parent: QObject) -> None:
        super().__init__(parent)
        self._decoder = decoder
        self._images: dict[ImageRef, OpenedImage] = {}
        self._jobs: dict[ImageRef, Job[OpenedImage]] = {}

    def __contains__(self, ref: ImageRef) -> bool:
        return ref in self._images

    @property
    def held_bytes(self) -> int:
        """The size of the images held, as decoded."""
        return sum(image.shown.image.values.nbytes for image in self._images.values())

    def expect(self, refs: Sequence[ImageRef]) -> None:
        """Decode these, the likeliest first, and forget all others."""
        for ref in self._jobs.keys() - set(refs):
            self._jobs.pop(ref).cancel()
        self._images = {r: image for r, image in self._images.items() if r in refs}
        self.held_changed.emit()
        for ref in refs:
            if ref not in self._images and ref not in self._jobs:
                self._start(ref)

    def take(self, ref: ImageRef) -> OpenedImage | None:
        """Return an image if it is there; once only, as its file may change."""
        return self._images.pop(ref, None)

    def _start(self, ref: ImageRef) -> None:
        def done(opened: OpenedImage) -> None:
            self._jobs.pop(ref, None)
            if self.held_bytes + opened.shown.image.values.nbytes <= _MOST_BYTES:
                self._images[ref] = opened
                self.held_changed.emit()

        def failed(_: Exception) -> None:
            self._jobs.pop(ref, None)  # told when it is shown

        self._jobs[ref] = run_for(
            self, lambda: self._decoder.open(ref), done, failed, priority=-1
        )
