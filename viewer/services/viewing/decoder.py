"""One decoding process, started when needed and restarted after it ended."""

import io
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from viewer.domain.errors import UnreadableInputError
from viewer.services.viewing.decoder_limits import (
    MEMORY_VARIABLE,
    OUTPUT_VARIABLE,
    SECONDS_VARIABLE,
    DecoderLimits,
)
from viewer.services.viewing.decoder_process import Call, Reply, spawn_decoder
from viewer.services.viewing.pickled_frames import (
    TooLongError,
    read_message,
    write_message,
)

if TYPE_CHECKING:
    import subprocess

T = TypeVar("T")


class DecodingProcess:
    """One decoding process and its waiting callers."""

    def __init__(
        self, limits: DecoderLimits, running: "subprocess.Popen[bytes] | None" = None
    ) -> None:
        self._limits = limits
        self._turn = threading.Lock()
        self._process = running
        self._closed = False

    def start(self) -> None:
        """Start the process, so that the first image need not wait for it."""
        with self._turn:
            self._running()

    def close(self) -> None:
        """End the process; waiting callers get an error, and it is not restarted."""
        self._closed = True
        if self._process is not None:
            self._process.kill()  # lets go who waits for it, and with it the turn
        with self._turn:
            if self._process is not None:
                self._forget(self._process)

    def call(
        self,
        function: Callable[..., T],
        path: Path,
        arguments: tuple[object, ...],
        named: dict[str, Any] | None = None,
    ) -> T:
        """Call a function in the process with a file.

        Raises UnreadableInputError if the process crashed, or reached a limit.
        """
        limits = self._limits
        call = Call(
            function, arguments, named or {}, limits.seconds, limits.memory_now()
        )
        with self._turn:
            reply = self._ask(self._running(), call, path)
        if reply.error is not None:
            raise reply.error
        return cast("T", reply.value)

    def _ask(self, process: "subprocess.Popen[bytes]", call: Call, path: Path) -> Reply:
        overdue = threading.Event()
        # Killing the process ends the read below, which has no timeout of its own.
        timer = threading.Timer(call.limit_s, _end, (process, overdue))
        timer.daemon = True
        timer.start()
        try:
            write_message(_raw(process.stdin), call)
            return cast(
                "Reply", read_message(_raw(process.stdout), self._limits.output)
            )
        except TooLongError:
            self._forget(process)
            raise _too_large(path, self._limits) from None
        except (EOFError, OSError):
            self._forget(process)
            if overdue.is_set():
                raise _too_slow(path, self._limits) from None
            raise _crashed(path) from None
        finally:
            timer.cancel()

    def _running(self) -> "subprocess.Popen[bytes]":
        process = self._process
        if process is not None and process.poll() is not None:
            self._forget(process)
            process = None
        if process is None:
            process = self._process = spawn_decoder()
        # It was closed while the process started: nobody would end it later.
        if self._closed:
            process.kill()
        return process

    def _forget(self, process: "subprocess.Popen[bytes]") -> None:
        process.kill()
        process.wait()
        # Behind a kill the pipes may hold half a message: they are never used again.
        for pipe in (process.stdin, process.stdout):
            _raw(pipe).close()
        self._process = None


def _raw(pipe: Any) -> io.FileIO:  # noqa: ANN401 - typed too widely by subprocess
    """Return the unbuffered stream of a pipe."""
    return cast("io.FileIO", pipe)


def _end(process: "subprocess.Popen[bytes]", overdue: threading.Event) -> None:
    overdue.set()
    process.kill()


def _too_slow(path: Path, limits: DecoderLimits) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} was not decoded within {limits.seconds:g} seconds.",
        f"Export it again, uncompressed or smaller, or set {SECONDS_VARIABLE} to more.",
    )


def _too_large(path: Path, limits: DecoderLimits) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} decodes to more than {limits.output / (1 << 20):g} MB.",
        f"Export it again in smaller parts, or set {OUTPUT_VARIABLE} to more.",
    )


def _crashed(path: Path) -> UnreadableInputError:
    return UnreadableInputError(
        f"{path.name} crashed its decoder.",
        "The file is damaged or incomplete, or needs more memory than a decoder may "
        f"use: copy or export it again, or set {MEMORY_VARIABLE} to more.",
    )
