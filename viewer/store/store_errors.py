"""Errors of a store's file, as messages."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viewer.domain.errors import (
    DiskFullError,
    OlderStoreError,
    StoreBusyError,
    StoreError,
    StoreLostError,
)


@contextlib.contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Convert SQLite's errors to messages; everything committed stays."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, str(error)) from error


_REASONS: Final = (
    (
        "readonly",
        "The store is read-only.",
        "Make the file and its folder writable, or name another with --store.",
    ),
    (
        "locked",
        "The store is busy: another program holds it.",
        "Wait until that program is done, then run the same command again.",
    ),
    (
        "not a database",
        "The file is not a store: it is not a SQLite file.",
        "Name another file with --store; this one was left as it is.",
    ),
    (
        "malformed",
        "The store's file is damaged.",
        "Restore it from a backup; the damaged file was left as it is.",
    ),
    (
        "unable to open",
        "The store cannot be opened.",
        "Check that its folder exists and that you may write to it.",
    ),
    (
        "disk i/o error",
        "The disk that holds the store cannot be read or written.",
        "Check the disk, then run the same command again.",
    ),
)


def store_error(path: Path, reason: str) -> StoreError:
    """Return the error for an exception of SQLite."""
    text = reason.lower()
    if "disk is full" in text:
        return DiskFullError(
            f"{path.name}: The disk that holds the store is full.",
            "Free some space and do the same again: it continues where it was.",
        )
    for needle, what, how in _REASONS:
        if needle in text:
            kind = StoreBusyError if needle == "locked" else StoreError
            return kind(f"{path.name}: {what}", how)
    return StoreError(f"{path.name}: the store refused a write ({reason}).")


def lost_error(path: Path) -> StoreLostError:
    """Return the error for a store whose file is no longer at its path."""
    return StoreLostError(
        f"The store '{path.name}' was deleted, moved or replaced while it was open.",
        "Put the file back, and leave it there while Overread runs.",
    )


def older_store_error(path: Path, generation: int, noted: int) -> OlderStoreError:
    """Return the error for a store from a backup."""
    return OlderStoreError(
        f"The store '{path.name}' is an older copy: {noted - generation} later "
        "change(s) are noted outside it, possibly including replies that were paid "
        "for. It can be read, but takes no changes.",
        "Put the newer file back. To continue with this copy instead, type overread "
        "rescue with the rescue file, or overread rescue --keep-older-copy without "
        "one: what the copy lacks is then asked, and paid for, again.",
    )
