"""Stores marks: each edit is stored at once, off the GUI thread."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from PySide6.QtCore import QObject, QTimer

from viewer.domain.case import ImageRef
from viewer.domain.mark import Mark
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.canvas.events import MarksChanged
from viewer.ui.canvas.marks.book import MarkBook, absolute
from viewer.ui.panels.read.lightbox import Lightbox

_PAINTED_MS: Final = 100
"""After the first image, which the store's import would hold up."""
_StoredMarks = Mapping[ImageRef, tuple[Mark, ...]]


class MarkKeeping(QObject):
    """Loads an image's marks from the store once it is shown, and saves edits."""

    def __init__(self, context: AppContext, lightbox: Lightbox, book: MarkBook) -> None:
        super().__init__(lightbox)
        self._context, self._store = context, context.settings.store
        self._lightbox, self._book = lightbox, book
        self._asked = False
        self.is_read = False
        """Whether the marks of the store are known."""
        self._early: set[ImageRef] = set()
        self._writing = Lock()
        lightbox.each(lambda v: v.image_shown.connect(self._fetch_soon))
        book.changed.connect(self._follow)

    def _fetch_soon(self, _: object) -> None:
        if not self._asked:
            self._asked = True
            QTimer.singleShot(_PAINTED_MS, self, self._fetch)

    def _fetch(self) -> None:
        run_for(self, partial(_marks_in, self._store), self._take_in, self._tell)

    def _take_in(self, stored: _StoredMarks) -> None:
        early = tuple(self._early)
        self._book.take_in(stored)
        self.is_read = True
        for ref in early:
            self._keep(ref)

    def _follow(self, event: MarksChanged) -> None:
        if self.is_read:
            self._keep(event.ref)
            self._show(event.ref)
        else:
            self._early.add(event.ref)

    def _keep(self, ref: ImageRef) -> None:
        run_for(self, partial(self._write, ref), lambda _: None, self._tell)

    def _write(self, ref: ImageRef) -> None:
        """Write the current marks, so that the last write is right."""
        from viewer.services.viewing.marks import keep_marks

        with self._writing:
            keep_marks(self._store, ref, self._book.of(ref))

    def _show(self, ref: ImageRef) -> None:
        """Go to the image of the series on which an edit was undone."""
        active = self._lightbox.active
        refs = [absolute(image.ref) for image in active.stack_images]
        if ref in refs:
            active.go_to(refs.index(ref))

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)


def _marks_in(store: Path) -> _StoredMarks:
    from viewer.services.viewing.marks import kept_marks

    return kept_marks(store)
