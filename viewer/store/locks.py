"""One coordinator for each run, held by a lock of the operating system.

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
    try:
        file = path.open("a+b")
    except OSError as error:
        raise StoreError(
            f"The lock beside the store cannot be made ({error.strerror}).",
            "Make the store's folder writable.",
        ) from error
    with file:
        try:
            _lock(file)
        except OSError as error:
            raise _held(path, run) from error
        _sign(file, started_at)
        yield


def _sign(file: IO[bytes], started_at: str) -> None:
    file.seek(0)
    file.truncate()
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": started_at}
    file.write(json.dumps(who).encode())
    file.flush()


def _held(path: Path, run: int) -> RunHeldError:
    try:
        who = json.loads(path.read_bytes())
        holder = f"process {who['pid']} on {who['host']} since {who['since']}"
    except (OSError, ValueError, KeyError):
        holder = "another process"
    return RunHeldError(
        f"Run {run} is being worked on by {holder}.",
        "Wait for it to end or cancel it there; its results appear here too.",
    )
