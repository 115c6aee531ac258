"""A worker from its parent's side: start it, send commands, read its events."""

import contextlib
import json
import math
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from viewer.domain.errors import (
    DiskFullError,
    OverreadError,
    StoreBusyError,
    StoreLostError,
    WrongUseError,
)
from viewer.domain.plain import plain
from viewer.domain.run import Event
from viewer.services.events_json import event_of_json, line
from viewer.services.running.stopping import Stop

if TYPE_CHECKING:
    from viewer.services.running.batch_options import BatchOptions

_PATIENCE_S: Final = 10.0
"""Seconds that a worker has besides, to store what came back and to exit."""


def own_program() -> list[str]:
    """Return the command that runs this program again, without its arguments."""
    frozen = getattr(sys, "frozen", False)
    return [sys.executable] if frozen else [sys.executable, "-m", "viewer"]


def worker_command(store_path: Path) -> list[str]:
    """Return the command line of a worker; a frozen program runs itself."""
    return [*own_program(), "worker", "--store", str(store_path)]


def spawn_worker(store_path: Path) -> "subprocess.Popen[bytes]":
    """Start a worker with pipes for its commands and for its events."""
    return subprocess.Popen(  # noqa: S603 - our own program
        worker_command(store_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def run_in_worker(
    store_path: Path, run: int, options: "BatchOptions", cancel: threading.Event
) -> Iterator[Event]:
    """Run a batch in a worker of its own and yield its events.

    Setting ``cancel`` lets the worker finish what is in flight; if it is a `Stop` with
    a limit, a worker that exceeds it is killed. If the worker dies this raises; what it
    had stored stays, and the next batch continues from there.
    """
    with spawn_worker(store_path) as process:
        watcher = threading.Thread(
            target=_forward_cancel, args=(process, run, cancel), daemon=True
        )
        try:
            send(process, {"id": 1, **run_command(run, options)})
            watcher.start()
            yield from _events(process)
        finally:
            cancel.set()
            with contextlib.suppress(OSError):
                command_pipe(process).close()


def run_command(run: int, options: "BatchOptions") -> dict[str, object]:
    """Return the command that starts a batch, without its id."""
    return {"cmd": "run", "run": run, "options": plain(options)}


def command_pipe(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    """Return the pipe that a worker reads its commands from."""
    if process.stdin is None:
        raise RuntimeError("the worker was started without a pipe")
    return process.stdin


def event_pipe(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    """Return the pipe with a worker's replies and events."""
    if process.stdout is None:
        raise RuntimeError("the worker was started without a pipe")
    return process.stdout


def send(process: "subprocess.Popen[bytes]", command: Mapping[str, object]) -> None:
    """Write one command; OSError if the worker is gone."""
    pipe = command_pipe(process)
    pipe.write(line(command))
    pipe.flush()


def _forward_cancel(
    process: "subprocess.Popen[bytes]", run: int, cancel: threading.Event
) -> None:
    cancel.wait()
    # Infinity has no JSON, so no limit travels as null.
    limit_s = cancel.left_s if isinstance(cancel, Stop) else math.inf
    within_s = None if limit_s == math.inf else limit_s
    with contextlib.suppress(OSError, ValueError):
        send(process, {"id": 2, "cmd": "cancel", "run": run, "within_s": within_s})
    if limit_s < math.inf:
        try:
            process.wait(max(0.0, limit_s) + _PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()


def _events(process: "subprocess.Popen[bytes]") -> Iterator[Event]:
    for frame in event_pipe(process):
        value = json.loads(frame)
        if "error" in value:
            raise _error(value["error"])
        if "event" in value:
            yield event_of_json(value)
        # Not until the pipe ends: the worker lives until its input is closed.
        if value.get("event") == "RunEnded":
            return
    raise OverreadError(
        f"The worker ended unexpectedly (exit code {process.wait()}).",
        "Everything answered is kept; run the same command again to continue.",
    )


def _error(told: Mapping[str, str]) -> OverreadError:
    """Return the error that a worker reported, with the command's exit code."""
    kinds = {
        kind.__name__: kind for kind in (DiskFullError, StoreBusyError, StoreLostError)
    }
    return kinds.get(told.get("kind", ""), WrongUseError)(told["what"], told["how"])
