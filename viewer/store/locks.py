"""One coordinator for each run, one reader's window for each session.

Both are held by a lock of the operating system.

The lock dies with its process, also by ``kill -9``, so it never has to be broken by
hand; the file beside the store only says who holds it.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from viewer.domain.errors import RunHeldError, StoreError
from viewer.domain.reading import SessionHeldError
from viewer.private_files import open_private

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(1 << 20)  # beyond the text, which others may still read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def run_lock(store_path: Path, run: int, started_at: str) -> Iterator[None]:
    """Hold the coordination of a run; RunHeldError names who holds it already."""
    path = store_path.with_name(f"{store_path.name}.run{run}.lock")
    with _opened(path) as file:
        try:
            _lock(file)
        except OSError as error:
            raise RunHeldError(
                f"Run {run} is being worked on by {_holder(path)}.",
                "Wait for it to end or cancel it there; its results appear here too.",
            ) from error
        _sign(file, started_at)
        yield


@contextlib.contextmanager
def session_lock(store_path: Path, session: int, started_at: str) -> Iterator[None]:
    """Hold a reader's session; SessionHeldError names who holds it already."""
    path = store_path.with_name(f"{store_path.name}.session{session}.lock")
    with _opened(path) as file:
        try:
            _lock(file)
        except OSError as error:
            raise SessionHeldError(
                f"Session {session} is open in {_holder(path)}.",
                "Go on there, or close it there first; nothing is lost.",
            ) from error
        _sign(file, started_at)
        yield


def _opened(path: Path) -> IO[bytes]:
    try:
        return open_private(path, "a+b")
    except OSError as error:
        raise StoreError(
            f"The lock beside the store cannot be made ({error.strerror}).",
            "Make the store's folder writable.",
        ) from error


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
