"""Store a reader's own reading before answers and reference are unlocked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.mark import Mark
from viewer.store import committed
from viewer.store.database import open_store


def commit_reading(
    store: Path, marks: Mapping[ImageRef, Sequence[Mark]], words: str
) -> None:
    """Store the text and the marks of images, each by absolute path and frame."""
    files: dict[Path, dict[int, Sequence[Mark]]] = {}
    for ref, drawn in marks.items():
        files.setdefault(ref.path, {})[ref.frame] = drawn
    with open_store(store) as opened:
        committed.commit_reading(opened, files, words)


def is_committed(store: Path, ref: ImageRef) -> bool:
    """Tell whether an image may show its answers and reference, with Read first on."""
    if not store.exists():
        return False
    with open_store(store) as opened:
        return committed.is_committed(opened, ref)
