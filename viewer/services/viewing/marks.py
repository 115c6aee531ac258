"""Marks on images in the store: read with the first image, stored at once."""

from collections.abc import Mapping
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.mark import Mark
from viewer.store import marks
from viewer.store.database import open_store


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
