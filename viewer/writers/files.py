"""Atomic file writes."""

import hashlib
import os
from pathlib import Path

from viewer.domain.errors import WrongUseError
from viewer.private_files import is_kept, make_folder, share, temporary_beside


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file atomically, so that no reader or interruption sees half of it.

    The bytes go to a temporary file beside ``path``, are flushed to the disk and then
    take its name. Folders are made as needed. In the program's data folder only the
    owner may read the file; elsewhere the person's umask decides. What the operating
    system refuses (a full disk, a read-only folder) raises WrongUseError and leaves
    nothing behind.
    """
    try:
        make_folder(path.parent)
        _replace(path, data)
    except OSError as error:
        raise WrongUseError(
            f"{path.name} cannot be written to {path.parent}: {error.strerror}.",
            "Choose a writable folder, on a disk with free space.",
        ) from error


def write_by_content(folder: Path, data: bytes, suffix: str) -> Path:
    """Write a file into a folder under a name made of what it says; return it."""
    path = folder / f"{hashlib.sha256(data).hexdigest()}{suffix}"
    write_atomically(path, data)
    return path


def _replace(path: Path, data: bytes) -> None:
    file, temporary = temporary_beside(path)
    try:
        with file:
            file.write(data)
            file.flush()
            # Else the new name may reach the disk before the bytes do.
            os.fsync(file.fileno())
        if not is_kept(path):
            share(temporary)
        temporary.replace(path)
    # Ctrl+C as well must not leave the temporary file.
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
