"""One coordinator for each run, one reader's window for each session.

Both hold a lock of the operating system, which is released when the process ends, even
by ``kill -9``, so it never has to be removed by hand; the file beside the store only
says who holds it.
"""

import contextlib
import hashlib
import json
import os
import socket
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from viewer.domain.errors import RunHeldError, StoreError, WrongUseError
from viewer.domain.reading import SessionHeldError
from viewer.private_files import open_private

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(1 << 20)  # beyond the text, which others may still read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _look = _lock
else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        # Not lockf: its lock is lost when the process closes any other descriptor of
        # the file, as looking whether a run is held does.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _look(file: IO[bytes]) -> None:
        # Shared, so that two who look at once do not take each other for the holder.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _forget_in_child() -> None:
        """Close what a forked process inherits, or the lock would outlive its owner."""
        for file in tuple(_OPEN):
            file.close()

    os.register_at_fork(after_in_child=_forget_in_child)

_OPEN: Final[weakref.WeakSet[IO[bytes]]] = weakref.WeakSet()
_TRIES, _PAUSE_S = 20, 0.02
"""Who only looks whether a lock is held holds it for a moment himself."""


def hold_file(file: IO[bytes]) -> None:
    """Lock an open file until it is closed; OSError if another process holds it."""
    _lock(file)


@contextlib.contextmanager
def run_lock(store_path: Path, run: int, started_at: str) -> Iterator[None]:
    """Hold the coordination of a run; RunHeldError names the current holder."""
    path = _run_file(store_path, run)
    with _opened(path) as file:
        try:
            _acquire(file)
        except OSError as error:
            raise RunHeldError(
                f"Run {run} is being worked on by {_holder(path)}.",
                "Wait for it to end or cancel it there; its results appear here too.",
            ) from error
        _sign(file, started_at)
        yield


@contextlib.contextmanager
def import_lock(store_path: Path, name: str, started_at: str) -> Iterator[None]:
    """Hold the import of a data set; WrongUseError names the current holder."""
    key = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    path = store_path.with_name(f"{store_path.name}.import-{key}.lock")
    with _opened(path) as file:
        try:
            _acquire(file)
            _check_is_there(file, path)
        except OSError as error:
            raise WrongUseError(
                f"The data set '{name}' is being imported by {_holder(path)}.",
                "Wait for it to end.",
            ) from error
        _sign(file, started_at)
        yield
        with contextlib.suppress(OSError):  # Windows removes no open file
            path.unlink()


def is_run_held(store_path: Path, run: int) -> bool:
    """Tell whether any process coordinates a run now, including this one.

    A suspended process does; one that died does not.
    """
    try:
        with _run_file(store_path, run).open("rb") as file:
            _look(file)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _run_file(store_path: Path, run: int) -> Path:
    return store_path.with_name(f"{store_path.name}.run{run}.lock")


@contextlib.contextmanager
def session_lock(store_path: Path, session: int, started_at: str) -> Iterator[None]:
    """Hold a reader's session; SessionHeldError names the current holder."""
    path = store_path.with_name(f"{store_path.name}.session{session}.lock")
    with _opened(path) as file:
        try:
            _acquire(file)
        except OSError as error:
            raise SessionHeldError(
                f"Session {session} is open in {_holder(path)}.",
                "Continue there, or close it there first; nothing is lost.",
            ) from error
        _sign(file, started_at)
        yield


def _acquire(file: IO[bytes]) -> None:
    for _ in range(_TRIES):
        with contextlib.suppress(OSError):
            return _lock(file)
        time.sleep(_PAUSE_S)
    return _lock(file)


def _check_is_there(file: IO[bytes], path: Path) -> None:
    """Raise OSError if the last holder removed the file while this one waited.

    Another process may hold a new file at the same path by then.
    """
    if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
        raise FileExistsError(path)


def _opened(path: Path) -> IO[bytes]:
    try:
        # Appending: "w" would empty the text of the holder before the lock is tried.
        file = open_private(path, "a+b")
    except OSError as error:
        raise StoreError(
            f"The lock next to the store cannot be created ({error.strerror}).",
            "Make the store's folder writable.",
        ) from error
    _OPEN.add(file)
    return file


def _sign(file: IO[bytes], started_at: str) -> None:
    file.seek(0)
    file.truncate()
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": started_at}
    file.write(json.dumps(who).encode())
    file.flush()


def _holder(path: Path) -> str:
    try:
        who = json.loads(path.read_bytes())
        return f"process {who['pid']} on {who['host']} since {who['since']}"
    except (OSError, ValueError, KeyError):
        return "another process"
