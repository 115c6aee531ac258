"""Marks on images in the store: read with the first image, stored at once."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.mark import Mark, MarkEdit
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


def kept_edits(store: Path) -> tuple[MarkEdit, ...]:
    """Return the edits of every case that can be undone or redone, in order."""
    if not store.exists():
        return ()
    with open_store(store) as opened:
        return marks.all_edits(opened)


def keep_edits(
    store: Path,
    drawn: Mapping[ImageRef, tuple[Mark, ...]],
    edits: Sequence[MarkEdit],
) -> None:
    """Store images' marks in place of the previous ones, then edits; paths absolute."""
    with open_store(store) as opened:
        marks.keep_edits(opened, drawn, edits)


def forget_edits(store: Path, places: Collection[str]) -> None:
    """Delete what could be undone of some cases; their marks stay."""
    with open_store(store) as opened:
        marks.forget_edits(opened, places)
