"""Headers kept between two openings of a folder, so that unchanged files are not read.

One file for each folder opened, in the program's own folder: headers name patients,
which the store does not.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import viewer
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import path_text
from viewer.domain.file_header import FileHeader
from viewer.domain.plain import packed, unpacked
from viewer.private_files import make_private_folder, temporary_beside
from viewer.services.viewing.header_chunks import Headers, ReadChunk

_ENOUGH: Final = 256
"""Files after which a look into what was kept is worth its time.

Fewer are read before it is there, and the first image does not wait for it.
"""
_IN_PARTS: Final = frozenset({".mhd", ".nhdr"})
"""Headers whose pixels are in another file."""
_MOST_FOLDERS: Final = 30
"""Of further folders, those opened longest ago are forgotten."""


@dataclass(frozen=True, slots=True)
class _KeptHeader:
    size: int
    mtime_ns: int
    header: FileHeader


@dataclass(frozen=True)
class _Kept:
    """``version`` is the program's: another one may read headers differently."""

    version: str
    files: dict[str, _KeptHeader]


class KeptHeaders:
    """The headers of one opened folder; not thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._old: Mapping[str, _KeptHeader] | None = None
        self._now: dict[str, _KeptHeader] = {}
        self.reused = 0
        self._seen = 0

    def read(self, paths: tuple[Path, ...], read: ReadChunk) -> Headers:
        """Return the headers of some files, and read only those that changed."""
        self._seen += len(paths)
        if self._old is None and self._seen > _ENOUGH:
            self._old = _stored(self._file)
        stamps = {path: _stamp(path) for path in paths}
        known = {
            path: old.header
            for path in paths
            if (old := (self._old or {}).get(path_text(path))) is not None
            and (old.size, old.mtime_ns) == stamps[path]
        }
        self.reused += len(known)
        wanted = tuple(path for path in paths if path not in known)
        known_now = dict(zip(wanted, read(wanted), strict=True)) if wanted else {}
        found = tuple(known.get(path) or known_now[path] for path in paths)
        for path, header in zip(paths, found, strict=True):
            stamp = stamps[path]
            if stamp and isinstance(header, FileHeader) and _stands_alone(path, header):
                self._now[path_text(path)] = _KeptHeader(*stamp, header)
        return found

    def keep(self) -> None:
        """Write what was read, for the next time; a full disk only costs that time."""
        old = self._old or {}
        if self._seen <= _ENOUGH or self.reused == len(self._now) == len(old):
            return
        with suppress(OSError):
            make_private_folder(self._file.parent)
            _write(self._file, packed(_Kept(viewer.__version__, self._now)))
            _forget_old(self._file.parent)


@contextmanager
def kept_headers(home: Path, folder: Path) -> Iterator[KeptHeaders]:
    """Give what was kept of an opened folder, and keep what is read meanwhile."""
    headers = KeptHeaders(header_file(home, folder))
    yield headers
    headers.keep()


def header_file(home: Path, folder: Path) -> Path:
    """Return the file in which the headers of an opened folder are kept."""
    name = hashlib.sha256(path_text(folder.absolute()).encode()).hexdigest()[:32]
    return home / "headers" / f"{name}.json"


def _stands_alone(path: Path, header: FileHeader) -> bool:
    """Tell whether a header depends on no file but its own, and can be written."""
    alone = header.path == path and header.slide is None
    return alone and path.suffix not in _IN_PARTS and path_text(path) == str(path)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns


def _stored(file: Path) -> Mapping[str, _KeptHeader]:
    try:
        read = unpacked(_Kept, file.read_bytes())
    except (OSError, WrongUseError):
        return {}  # it is made anew from the files themselves
    return read.files if read.version == viewer.__version__ else {}


def _write(file: Path, content: bytes) -> None:
    stream, temporary = temporary_beside(file)
    try:
        with stream:
            stream.write(content)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _forget_old(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    for file in files[:-_MOST_FOLDERS]:
        file.unlink(missing_ok=True)
