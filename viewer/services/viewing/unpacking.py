"""ZIP files that are opened: unpacked once into a private folder, and kept there.

Pixels are read many times and in any order, and answers refer to files that last.
"""

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, is_zipfile

from viewer.domain.errors import UnreadableInputError
from viewer.domain.escapes import path_text
from viewer.private_files import make_private_folder

_LEFT: Final = 1 << 30
"""Bytes that are left free on the disk."""


def is_zip(path: Path) -> bool:
    """Tell whether a file is a ZIP file, by its name and its content."""
    return path.suffix.lower() == ".zip" and path.is_file() and is_zipfile(path)


def unpacked_zip(home: Path, path: Path, stopped: Callable[[], bool]) -> Path:
    """Return a folder with the content of a ZIP file, called like the file.

    It is unpacked unless that was done since the file changed. Once ``stopped``, the
    rest stays packed, and it is unpacked again the next time.

    Raises
    ------
    UnreadableInputError
        If the file is damaged or encrypted, or there is no room on the disk.
    """
    import hashlib  # with the first ZIP file, not with the window

    stat = path.stat()
    facts = f"{path_text(path.absolute())}\0{stat.st_size}\0{stat.st_mtime_ns}"
    place = home / "unpacked" / hashlib.sha256(facts.encode()).hexdigest()[:16]
    folder, complete = place / path.stem, place / "complete"
    if complete.exists():
        return folder
    shutil.rmtree(place, ignore_errors=True)
    make_private_folder(folder)
    try:
        if _unpack(path, folder, stopped):
            complete.touch()
    except (BadZipFile, OSError, RuntimeError, zlib.error) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise _refusal(path, error) from error
    return folder


def _unpack(path: Path, folder: Path, stopped: Callable[[], bool]) -> bool:
    """Unpack a file; return whether all of it."""
    with ZipFile(path) as archive:
        needed = sum(member.file_size for member in archive.infolist())
        free = shutil.disk_usage(folder).free - _LEFT
        if needed > free:
            raise UnreadableInputError(
                f"{path.name} unpacks to {needed / (1 << 30):.1f} GB, but "
                f"{max(free, 0) / (1 << 30):.1f} GB of the disk can be used.",
                "Make room on the disk, or unpack it elsewhere and open the folder.",
            )
        for member in archive.infolist():
            if stopped():
                return False
            # What a Mac adds to each file is hidden, and no image.
            if not member.filename.startswith("__MACOSX/"):
                archive.extract(member, folder)  # below the folder, whatever its name
    return True


def _refusal(path: Path, error: Exception) -> UnreadableInputError:
    if isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError):
        return UnreadableInputError(
            f"{path.name} is encrypted.", "Unpack it with its password, and open that."
        )
    if isinstance(error, OSError):
        return UnreadableInputError(
            f"{path.name} cannot be unpacked: {error.strerror or error}.",
            "Unpack it elsewhere, and open the folder.",
        )
    return UnreadableInputError(
        f"{path.name} is damaged: {error}.", "Copy or download it again."
    )
