"""Backup, restore and compaction of the store's file.

A backup is a store of its own, complete in one file, taken while others go on writing.
"""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.store import copying
from viewer.store.database import open_store


@dataclass(frozen=True, slots=True)
class StoreContent:
    """How much a store holds, and how large its file is in bytes."""

    datasets: int
    images: int
    runs: int
    replies: int
    size: int

    def __str__(self) -> str:
        return (
            f"{counted(self.datasets, 'data set')}, {counted(self.images, 'image')}, "
            f"{counted(self.runs, 'run')}, "
            f"{counted(self.replies, 'reply', 'replies')}, {self.size / 1e6:.1f} MB"
        )


def content_of(store: Path) -> StoreContent:
    """Return what a store holds; a file that is none raises StoreError."""
    if not store.is_file():
        raise WrongUseError(
            f"There is no store at '{store}'.", "Name the file of a store or a backup."
        )
    with open_store(store) as opened:
        return StoreContent(*copying.counts(opened), store.stat().st_size)


def back_up(store: Path, path: Path) -> StoreContent:
    """Write a backup to a new file that only its owner may read; return its content.

    Raises
    ------
    WrongUseError
        If there is a file at the path, or no folder for it.
    """
    if path.exists():
        raise WrongUseError(
            f"'{path.name}' is there already.", "Name a file that does not exist yet."
        )
    if not path.absolute().parent.is_dir():
        raise WrongUseError(
            f"There is no folder '{path.absolute().parent}'.", "Name another folder."
        )
    with open_store(store) as opened:
        copying.copy_to(opened, path)
    return content_of(path)


def restore(backup: Path, store: Path) -> StoreContent:
    """Put a backup's content in the place of the store's; return it.

    All or nothing: an interruption leaves the store as it was.

    Raises
    ------
    WrongUseError
        If the backup is the store itself, or is missing.
    RunHeldError
        If a run of the store is being worked on.
    """
    content_of(backup)
    if store.exists() and backup.samefile(store):
        raise WrongUseError(
            f"'{backup.name}' is the store itself.", "Name a backup of it."
        )
    with open_store(store) as opened:
        copying.copy_from(opened, backup)
    return content_of(store)


def compact(store: Path) -> tuple[int, int]:
    """Rewrite the store's file without free pages; return its bytes before and after.

    Raises
    ------
    StoreBusyError
        If another program writes to the store or reads from it.
    """
    with open_store(store) as opened:
        before = store.stat().st_size
        opened.compact()
    return before, store.stat().st_size
