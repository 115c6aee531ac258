"""ZIP files that are opened: unpacked once into a private folder, while it is needed.

Pixels are read many times and in any order, and answers refer to files that last. These
are patients' images, so a copy that neither a window nor the store needs is deleted; it
comes back at the same path, and with it its marks, when the ZIP file is opened again.
"""

import contextlib
import shutil
import weakref
import zlib
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import IO, Final
from zipfile import BadZipFile, ZipFile, is_zipfile

from viewer.domain.errors import UnreadableInputError
from viewer.domain.escapes import path_text
from viewer.private_files import make_private_folder, open_private
from viewer.settings import Settings

_LEFT: Final = 1 << 30
"""Bytes that are left free on the disk."""
_COMPLETE: Final = "complete"
"""A file beside a folder in which nothing is missing."""


def is_zip(path: Path) -> bool:
    """Tell whether a file is a ZIP file, by its name and its content."""
    return path.suffix.lower() == ".zip" and path.is_file() and is_zipfile(path)


class UnpackedZips:
    """The folders of unpacked ZIP files of one store, below ``home``.

    Those in use are held by a lock of the operating system until this object ends.
    """

    def __init__(self, settings: Settings) -> None:
        self._home, self._store = settings.home, settings.store
        self._held: dict[Path, IO[bytes]] = {}
        weakref.finalize(self, _close_all, self._held)

    @cached_property
    def _root(self) -> Path:
        return self._home / "unpacked" / _hashed(path_text(self._store))

    def is_unpacked(self, path: Path) -> bool:
        """Tell whether a ZIP file was unpacked since it changed."""
        return (self._place(path) / _COMPLETE).exists()

    def folder_of(self, path: Path, stopped: Callable[[], bool]) -> Path:
        """Return a folder with the content of a ZIP file, called like the file.

        It is unpacked unless that was done since the file changed. Once ``stopped``,
        the rest stays packed, and it is unpacked again the next time.

        Raises
        ------
        UnreadableInputError
            If the file is damaged or encrypted, or there is no room on the disk.
        """
        place = self._place(path)
        folder, complete = place / path.stem, place / _COMPLETE
        self._hold(place)
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

    def hold(self, path: Path) -> None:
        """Keep the unpacked copy that a path lies in, if it lies in one."""
        if self._home in path.parents and self._root in path.parents:
            self._hold(self._root / path.relative_to(self._root).parts[0])

    def delete_unneeded(self, still_open: Collection[Path]) -> int:
        """Delete what no window uses and the store does not need; return how many.

        The store needs images that runs, readings, consents, imports or marks refer to.
        """
        if not (self._home / "unpacked").exists():
            return 0
        unused = [place for place in _folders_in(self._root) if self._hold(place)]
        unneeded = [
            place
            for place in unused
            if not any(place in path.parents for path in still_open)
        ]
        if unneeded and self._store.exists():
            from viewer.store.database import open_store
            from viewer.store.folders import forget_opened

            with open_store(self._store) as store:
                unneeded = [place for place in unneeded if forget_opened(store, place)]
        for place in unneeded:
            shutil.rmtree(place, ignore_errors=True)
        for place in unused:
            self._held.pop(place).close()
        return len(unneeded)

    def _place(self, path: Path) -> Path:
        stat = path.stat()
        facts = f"{path_text(path.absolute())}\0{stat.st_size}\0{stat.st_mtime_ns}"
        return self._root / _hashed(facts)

    def _hold(self, place: Path) -> bool:
        """Keep other windows from deleting a folder; False if one holds it already."""
        from viewer.store.locks import hold_file  # with the first ZIP file

        if place in self._held:
            return False
        make_private_folder(self._root)
        with contextlib.ExitStack() as failed:
            file = failed.enter_context(open_private(place.with_suffix(".lock"), "ab"))
            with contextlib.suppress(OSError):
                hold_file(file)
                self._held[place] = file
                failed.pop_all()
        return place in self._held


def _close_all(held: Mapping[Path, IO[bytes]]) -> None:
    for file in held.values():
        file.close()


def _hashed(text: str) -> str:
    import hashlib  # with the first ZIP file, not with the window

    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _folders_in(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()] if root.exists() else []


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
