"""Marks on images in the store: read with the first image, stored at once."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from viewer.domain.case import ImageRef
from viewer.domain.errors import StoreError
from viewer.domain.mark import Mark, MarkEdit
from viewer.store import marks
from viewer.store.database import Store, open_store

_PATIENCE_S: Final = 0.1


def kept_marks(store: Path) -> Mapping[ImageRef, tuple[Mark, ...]]:
    """Return the marks of every image, by its absolute path and frame."""
    if not store.exists():
        return {}
    with open_store(store) as opened:
        return marks.all_marks(opened)


def keep_marks(store: Path, ref: ImageRef, drawn: tuple[Mark, ...]) -> None:
    """Store an image's marks in place of the previous ones; the path is absolute."""
    with open_store(store) as opened:
        marks.keep_marks(opened, ref, drawn)


def kept_edits(store: Path) -> tuple[MarkEdit, ...]:
    """Return the edits of every case that can be undone or redone, in order."""
    if not store.exists():
        return ()
    with open_store(store) as opened:
        return marks.all_edits(opened)


class MarkWriter:
    """Writes edits through one connection, for the thread that writes first.

    The store stays open, which makes an edit a matter of a millisecond.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store: Store | None = None

    def keep(
        self, drawn: Mapping[ImageRef, tuple[Mark, ...]], edits: Sequence[MarkEdit]
    ) -> None:
        """Store images' marks in place of the previous ones, then edits.

        Paths are absolute.

        Raises
        ------
        StoreBusyError
            If another process writes for longer than a person would not notice.
        StoreError
            If the store cannot be written.
        """
        try:
            if self._store is None:
                self._store = open_store(self._path)
                self._store.patience_s = _PATIENCE_S
            marks.keep_edits(self._store, drawn, edits)
        except StoreError:
            # The next time it may be another file, or there may be room again.
            self.close()
            raise

    def close(self) -> None:
        """Close the store; the next edit opens it again."""
        if self._store is not None:
            self._store.close()
            self._store = None


def forget_edits(store: Path, places: Collection[str]) -> None:
    """Delete what could be undone of some cases; their marks stay."""
    with open_store(store) as opened:
        marks.forget_edits(opened, places)
