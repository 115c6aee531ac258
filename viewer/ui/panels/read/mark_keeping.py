"""Stores marks: each edit is in the store before it is on the screen.

That takes a millisecond in the GUI thread, and no kill can come in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer

from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError, StoreBusyError
from viewer.domain.mark import Mark, MarkEdit
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.canvas.events import MarksChanged
from viewer.ui.canvas.marks.book import MarkBook, absolute
from viewer.ui.panels.read.lightbox import Lightbox

if TYPE_CHECKING:
    from viewer.services.viewing.marks import MarkWriter

_BUSY_MS: Final = 200
"""After that, what another process kept from being stored is tried again."""
_PAINTED_MS: Final = 100
"""After the first image, which the store's import would hold up."""


@dataclass(frozen=True)
class _Stored:
    """Every image's marks, and the edits of earlier sessions."""

    marks: Mapping[ImageRef, tuple[Mark, ...]]
    edits: tuple[MarkEdit, ...]


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
        self._whole: dict[ImageRef, tuple[Mark, ...]] = {}
        """Marks, before the edits, of images with edits still to be stored."""
        self._edits: list[MarkEdit] = []
        """Edits that wait to be stored, in the order made."""
        self._writer: MarkWriter | None = None
        lightbox.each(lambda v: v.image_shown.connect(self._fetch_soon))
        book.edited.connect(self._keep_edit)
        book.changed.connect(self._follow)

    def _fetch_soon(self, _: object) -> None:
        if not self._asked:
            self._asked = True
            QTimer.singleShot(_PAINTED_MS, self, self._fetch)

    def _fetch(self) -> None:
        run_for(self, partial(_stored_in, self._store), self._take_in, self._tell)

    def _take_in(self, stored: _Stored) -> None:
        """Show what is stored; marks drawn before that come on top of it.

        They cannot be undone, nor can what was done to the same case before.
        """
        early = tuple(self._early)
        self._edits.clear()
        self._book.take_in(stored.marks)
        spoiled = {edit.place for edit in stored.edits if edit.ref in early}
        self._book.restore(e for e in stored.edits if e.place not in spoiled)
        self.is_read = True
        self._whole = {ref: self._book.of(ref) for ref in early}
        self._write()
        if spoiled:
            run_for(
                self, partial(_forget, self._store, spoiled), lambda _: None, self._tell
            )

    def _follow(self, event: MarksChanged) -> None:
        if self.is_read:
            self._show(event.ref)
        else:
            self._early.add(event.ref)

    def _keep_edit(self, edit: MarkEdit) -> None:
        self._edits.append(edit)
        if self.is_read:
            self._write()

    def _write(self) -> None:
        """Write what waits; what cannot be written waits for the next time."""
        if self._writer is None:
            from viewer.services.viewing.marks import MarkWriter

            self._writer = MarkWriter(self._store)
            self.destroyed.connect(self._writer.close)
        if not self._whole and not self._edits:
            return
        try:
            self._writer.keep(self._whole, self._edits)
        except StoreBusyError:
            QTimer.singleShot(_BUSY_MS, self, self._write)
        except OverreadError as error:
            self._tell(error)
        else:
            self._whole = {}
            self._edits.clear()

    def _show(self, ref: ImageRef) -> None:
        """Go to the image of the series on which an edit was undone."""
        active = self._lightbox.active
        refs = [absolute(image.ref) for image in active.stack_images]
        if ref in refs:
            active.go_to(refs.index(ref))

    def _tell(self, error: Exception) -> None:
        tell_error(self._context, error)


def _stored_in(store: Path) -> _Stored:
    from viewer.services.viewing.marks import kept_edits, kept_marks

    return _Stored(kept_marks(store), kept_edits(store))


def _forget(store: Path, places: set[str]) -> None:
    from viewer.services.viewing.marks import forget_edits

    forget_edits(store, places)
