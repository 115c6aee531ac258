"""A decoding process: reads calls on its standard input, replies on its output.

In a separate process a C decoder that crashes or hangs does not affect the window, and
none holds the window's interpreter lock.
"""

import contextlib
import io
import os
import re
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.errors import MissingDependencyError
from viewer.domain.secret_values import is_secret
from viewer.models.keys import known_keys
from viewer.services.viewing.memory_limit import limit_memory
from viewer.services.viewing.pickled_frames import read_message, widen, write_message
from viewer.settings import HOME_VARIABLE, STORE_VARIABLE

WORD: Final = "_decoder"
"""The hidden first argument with which the program runs itself as this process."""
# The parent's timer goes first, since it knows the file to name.
_SPARE_S: Final = 5.0
_NEEDED: Final = re.compile(
    r"PATH|PATHEXT|HOME|USERPROFILE|(LOCAL)?APPDATA|PROGRAMDATA|COMSPEC|SYSTEMROOT"
    r"|SYSTEMDRIVE|WINDIR|NUMBER_OF_PROCESSORS|TMP|TEMP|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+|XDG_[A-Z_]+"
    r"|(LD|DYLD)_[A-Z_]+|PYTHON[A-Z_]*|_?(PYI|PYINSTALLER|MEI)[A-Z0-9_]*"
    rf"|{HOME_VARIABLE}|{STORE_VARIABLE}",
    re.IGNORECASE,
)
"""Where programs, libraries, languages and temporary files are; a frozen program's own;
ours."""


_FRUGAL: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Arrow's own allocators reserve more than they use, which counts as used.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


@dataclass(frozen=True, slots=True)
class Call:
    """A function to call, its arguments, and its limits.

    After ``limit_s`` seconds nobody waits for it; ``memory`` is in bytes.
    """

    function: Callable[..., object]
    arguments: tuple[object, ...]
    named: dict[str, Any]
    limit_s: float
    memory: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call returned, or the exception it raised."""

    value: Any = None
    error: Exception | None = None


def decoder_command() -> list[str]:
    """Return the command line of a decoding process; a frozen program runs itself."""
    program = [sys.executable]
    if not getattr(sys, "frozen", False):
        program += ["-m", "viewer"]
    return [*program, WORD]


def decoder_environment() -> dict[str, str]:
    """Return its environment: decoding needs no threads for linear algebra.

    It reads untrusted files, so it inherits only the variables that a program needs to
    run, and none that is or looks like a key, whatever its name.
    """
    known = known_keys()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if _NEEDED.fullmatch(name) and not is_secret(value, known)
    }
    return {**inherited, **_FRUGAL}


def spawn_decoder() -> "subprocess.Popen[bytes]":
    """Start a decoding process; closing its input ends it."""
    return subprocess.Popen(  # noqa: S603 - our own program
        decoder_command(),
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=decoder_environment(),
    )


def serve() -> None:
    """Answer calls until the input ends, as when the window is gone."""
    from viewer.store.lean_import import without

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the window's to answer
    calls = io.FileIO(sys.stdin.fileno(), "rb", closefd=False)
    # A duplicate, because descriptor 1 itself is redirected below.
    replies = io.FileIO(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # no library breaks the stream
    widen(replies)
    # pydicom imports what downloads its examples, a third of its import time.
    with replies, contextlib.suppress(EOFError, BrokenPipeError):
        if _is_called(calls):
            write_message(replies, _first_answer(read_message(calls)))
        else:
            with without("requests"):
                _import_readers()
        while True:
            write_message(replies, _answer(read_message(calls)))


def _first_answer(call: Call) -> Reply:
    from viewer.store.lean_import import without

    with without("requests"):
        reply = _answer(call)
    # Slides of DICOM need what is hidden: wsidicom imports requests.
    return _answer(call) if isinstance(reply.error, MissingDependencyError) else reply


def _is_called(calls: io.FileIO) -> bool:
    """Tell whether a call waits already; Windows cannot tell that of a pipe."""
    if sys.platform == "win32":
        return False
    return bool(select.select([calls], [], [], 0)[0])


def _import_readers() -> None:
    """Import what most images need, while none is requested yet."""
    import viewer.readers.dicom.header
    import viewer.readers.headers
    import viewer.readers.pixels
    import viewer.services.viewing.opened_image  # noqa: F401 - used by name in a call


def _answer(call: Call) -> Reply:
    with _ending_itself_after(call.limit_s + _SPARE_S):
        try:
            # For each call anew: how much is free changes.
            limit_memory(call.memory)
            return Reply(call.function(*call.arguments, **call.named))
        except Exception as error:  # noqa: BLE001 - raised again where it was called
            frames = traceback.format_tb(error.__traceback__)
            error.add_note("".join(["In a decoding process:\n", *frames]))
            return Reply(error=error)


@contextlib.contextmanager
def _ending_itself_after(seconds: float) -> Iterator[None]:
    """Make the system end this process after a time, if its parent does not.

    The signal's default action needs no interpreter, whose lock a decoder may hold.
    """
    if sys.platform == "win32":
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
