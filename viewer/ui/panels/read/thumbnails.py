"""Thumbnails of the rows in view, a few at a time; others are dropped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from viewer.domain.case import ImageRef
from viewer.domain.image import Raster
from viewer.ui.application.background_tasks import run_for

if TYPE_CHECKING:
    from viewer.ui.application.jobs import Job

AT_ONCE: Final = 1
"""Thumbnails under way; one process makes them, and others need threads too."""
_LONGEST_MS: Final = 1500
"""So long they wait for the first image, which may be large."""


@dataclass(frozen=True, eq=False)
class ThumbnailMade:
    """An image's thumbnail, or why there is none."""

    ref: ImageRef
    raster: Raster | None
    error: Exception | None = None


class Thumbnails(QObject):
    """Makes the requested thumbnails in the order of request.

    Parameters
    ----------
    make : callable
        Decodes a thumbnail; called in background threads.
    """

    made = Signal(object)
    """Carries a ThumbnailMade."""

    def __init__(
        self, make: Callable[[ImageRef], Raster], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._make = make
        self._held = False
        self._waiting: list[ImageRef] = []
        self._jobs: dict[ImageRef, Job[Raster]] = {}

    def hold(self) -> None:
        """Make none until told to begin, or long after some are wanted."""
        self._held = True

    def begin(self, *_: object) -> None:
        """Make what is wanted, once the image that is shown now has been painted."""
        if self._held:
            self._held = False
            QTimer.singleShot(0, self, self._start_next)

    def want(self, refs: Sequence[ImageRef]) -> None:
        """Make these; of earlier requests, finish only those under way."""
        self._waiting = [ref for ref in refs if ref not in self._jobs]
        if self._held and refs:
            QTimer.singleShot(_LONGEST_MS, self, self.begin)
        self._start_next()

    def _start_next(self) -> None:
        while not self._held and self._waiting and len(self._jobs) < AT_ONCE:
            self._start(self._waiting.pop(0))

    def _start(self, ref: ImageRef) -> None:
        def on_done(raster: Raster) -> None:
            self._finish(ThumbnailMade(ref, raster))

        def on_error(error: Exception) -> None:
            self._finish(ThumbnailMade(ref, None, error))

        self._jobs[ref] = run_for(
            self, lambda: self._make(ref), on_done, on_error, priority=-1
        )

    def _finish(self, event: ThumbnailMade) -> None:
        del self._jobs[event.ref]
        self.made.emit(event)
        self._start_next()
