"""Cases decoded in advance, so that the next one appears at once."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject

from viewer.domain.case import ImageRef
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.background_tasks import BackgroundTasks

AHEAD: Final = 2
"""So many cases beyond the one on the screen are decoded."""
_KEPT: Final = AHEAD + 2
"""And so many are held: the one on the screen and the one before it as well."""
_MOST: Final = 12
"""Of a case with several images all are held, up to so many."""


class Prefetch(QObject):
    """Opens images in the background and caches the last few."""

    def __init__(self, decoder: Decoder, parent: QObject) -> None:
        super().__init__(parent)
        self._decoder = decoder
        self._background_tasks = BackgroundTasks(self)
        self._held: OrderedDict[ImageRef, OpenedImage] = OrderedDict()
        self._kept = _KEPT
        self._wanted: ImageRef | None = None
        self._show: Callable[[OpenedImage], None] | None = None
        self._tell: Callable[[Exception], None] | None = None

    def __contains__(self, ref: ImageRef) -> bool:
        return ref in self._held

    def want(
        self,
        ref: ImageRef,
        show: Callable[[OpenedImage], None],
        tell: Callable[[Exception], None],
    ) -> None:
        """Call ``show`` with an image: now where it is held, else once it is read.

        Only the image wanted last is shown; ``tell`` gets why it cannot be read.
        """
        self._wanted, self._show, self._tell = ref, show, tell
        held = self._held.get(ref)
        if held is not None:
            self._held.move_to_end(ref)
            show(held)
        else:
            self._load(ref, priority=1)

    def ahead(self, refs: Sequence[ImageRef]) -> None:
        """Decode the images likely to be needed next, the likeliest first."""
        self._kept = min(max(_KEPT, len(refs) + 2), _MOST)
        for ref in refs[: _MOST - 2]:
            if ref not in self._held:
                self._load(ref, priority=0)

    def forget(self) -> None:
        """Drop all images, including those that are still being read."""
        self._background_tasks.cancel_all()
        self._held.clear()
        self._wanted = None

    def _load(self, ref: ImageRef, priority: int) -> None:
        if ref in self._background_tasks:
            return

        def done(opened: OpenedImage) -> None:
            self._held[ref] = opened
            while len(self._held) > self._kept:
                self._held.popitem(last=False)
            if ref == self._wanted and self._show is not None:
                self._show(opened)

        def failed(error: Exception) -> None:
            if ref == self._wanted and self._tell is not None:
                self._tell(error)

        self._background_tasks.start(
            ref, lambda: self._decoder.open(ref), done, failed, priority=priority
        )
