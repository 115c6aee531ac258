"""Private files, which only their owner may read, and exported files.

What the program keeps (store, locks, crash reports, the demo) only its owner may read,
from the first byte on. What the user exports to another folder gets the permissions of
the user's umask. Windows has no such permissions; there the folder of the user's
profile protects its contents.
"""

import contextlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, Literal

from viewer.settings import read_settings

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
MADE_HERE: Final = frozenset(
    {
        *("crashes", "demo", "headers", "predictions", "replies", "rescue"),
        *("sessions", "unpacked"),
    }
)
"""The folders of the data folder that only the program writes to."""
_OTHERS: Final = 0o077
_umask_at_start: list[int] = []
_reading_umask: Final = threading.Lock()


def restrict_umask() -> None:
    """Make every file of this process private unless it is exported by `share`.

    This includes files written by libraries. Call it once, when the program starts.
    """
    _umask_at_start[:] = [os.umask(_OTHERS)]


def is_kept(path: Path) -> bool:
    """Tell whether a path is in the program's data folder."""
    return path.resolve().is_relative_to(read_settings().home.resolve())


def is_made_here(path: Path) -> bool:
    """Tell whether a path is in a folder that only the program writes to.

    The data folder itself may be one where the user keeps images too.
    """
    home, whole = read_settings().home.resolve(), path.resolve()
    if not whole.is_relative_to(home) or whole == home:
        return False
    return whole.relative_to(home).parts[0] in MADE_HERE


def open_private(path: Path, mode: Literal["wb", "xb", "ab", "a+b"]) -> IO[bytes]:
    """Open a file for writing that only its owner may read; links are not followed."""
    return open(path, mode, opener=_private_opener)


def _private_opener(path: str, flags: int) -> int:
    # Windows has no O_NOFOLLOW. The mode is only that of a file made now.
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):  # another user's, who decides
            os.fchmod(descriptor, PRIVATE_FILE)
    return descriptor


def temporary_beside(path: Path) -> tuple[IO[bytes], Path]:
    """Return a new private temporary file, open, in the same folder."""
    # In the same folder: only within a file system does it replace a file atomically.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    return os.fdopen(descriptor, "wb"), Path(name)


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents; only their owner may enter."""
    for missing in _missing(folder):
        # mkdir(parents=True) would give the parents the usual permissions.
        missing.mkdir(PRIVATE_FOLDER, exist_ok=True)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, private in the data folder only."""
    if is_kept(folder):
        make_private_folder(folder)
        return
    for missing in _missing(folder):
        missing.mkdir(exist_ok=True)
        share(missing)


def _missing(folder: Path) -> list[Path]:
    """Return the folder and its parents that do not exist, the uppermost first."""
    return [path for path in (*reversed(folder.parents), folder) if not path.exists()]


def share(path: Path) -> None:
    """Give an exported file or folder the permissions of the user's umask."""
    if sys.platform == "win32":
        return
    mode = path.stat().st_mode
    everything = 0o777 if stat.S_ISDIR(mode) else 0o666
    # A folder shared by a group hands its set-group-ID bit on to new folders.
    path.chmod((mode & (stat.S_ISGID | stat.S_ISVTX)) | (everything & ~_umask()))


def _umask() -> int:
    """Return the umask that this process was started with."""
    # It can only be read by setting it, for all threads of the process.
    with _reading_umask:
        if _umask_at_start:
            return _umask_at_start[0]
        umask = os.umask(_OTHERS)
        os.umask(umask)
        return umask


def tighten(store: Path) -> str:
    """Remove others' permissions from a store and the data folder.

    The folder of a store is left as it is unless it is the data folder.

    Returns
    -------
    str
        A sentence for the user, "" if nothing had to be done.
    """
    home = read_settings().home
    loose = [path for path in (store, home) if _is_loose(path)]
    if home in loose and Path.home().is_relative_to(home):
        loose.remove(home)  # the person's own folder, which holds more than ours
    if store in loose:
        _tighten(_family(store))
    if home in loose:
        _tighten((home, *home.rglob("*")))
    if not loose:
        return ""
    names = " and ".join(f"'{path}'" for path in loose)
    return f"Other users of this machine could read {names}; now only you can."


def _is_loose(path: Path) -> bool:
    """Tell whether a file or folder of this user is accessible to others."""
    if sys.platform == "win32":
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid == os.geteuid() and bool(status.st_mode & _OTHERS)


def _family(store: Path) -> Iterator[Path]:
    """Yield a store and the files beside it that share its name."""
    yield store
    for path in store.parent.iterdir():
        if path.name.startswith((f"{store.name}-", f"{store.name}.")):
            yield path


def _tighten(paths: Iterable[Path]) -> None:
    for path in paths:
        # chmod follows a link to what may be another's file.
        if path.is_symlink() or not _is_loose(path):
            continue
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)
