"""Files that are whole or not there."""

import os
import threading
from pathlib import Path

from viewer.domain.errors import WrongUseError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that no reader and no interruption ever sees half of it.

    The bytes go to a temporary file beside ``path``, are flushed to the disk and then
    take its name. Folders are made as needed. What the operating system refuses (a
    full disk, a read-only folder) raises WrongUseError and leaves nothing behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        raise WrongUseError(
            f"{path.name} cannot be written to {path.parent}: {error.strerror}.",
            "Choose a folder that can be written, on a disk with room.",
        ) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
