"""The worker: asks models for the window, over JSON lines (DESIGN 2).

Commands ``{id, cmd, …}`` arrive on standard input; replies ``{id, ok | error}`` and
events ``{event, seq, run, …}`` leave on what was standard output at the start, which
no library can write to any more. On end of input, or when nobody reads, the worker
finishes what is in flight, stores it and exits.
"""

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final

import viewer
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.run import OrphanPolicy
from viewer.services.events_json import event_as_json, line
from viewer.services.run_batch import BatchOptions, run_batch
from viewer.store.database import open_store


def run_worker(store_path: Path) -> None:
    """Serve commands until the input ends; only then return."""
    with _private_stdout() as stream:
        worker = _Worker(store_path, stream)
        for frame in sys.stdin.buffer:
            worker.serve(frame)
        worker.finish()


def _private_stdout() -> IO[bytes]:
    """Return the real standard output, and point descriptor 1 at standard error."""
    stream = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return stream


class _Worker:
    def __init__(self, store_path: Path, stream: IO[bytes]) -> None:
        self._store_path, self._stream = store_path, stream
        self._lock = threading.Lock()
        self._deaf = False
        self._cancels: dict[int, threading.Event] = {}
        self._threads: list[threading.Thread] = []

    def serve(self, frame: bytes) -> None:
        """Answer one command; a bad one is answered too."""
        number: object = None
        try:
            command = _command(frame)
            number = command.get("id")
            result = _COMMANDS[str(command["cmd"])](self, command)
        except OverreadError as error:
            refusal = {"what": error.what, "how": error.how}
            self._emit({"id": number, "error": refusal})
        else:
            self._emit({"id": number, "ok": result})

    def finish(self) -> None:
        """Let every batch finish what is in flight."""
        for cancel in self._cancels.values():
            cancel.set()
        for thread in self._threads:
            thread.join()

    def _emit(self, value: Mapping[str, object]) -> None:
        with self._lock:
            if self._deaf:
                return
            try:
                self._stream.write(line(value))
            except OSError:
                self._deaf = True  # nobody reads: what is in flight is still stored
                for cancel in self._cancels.values():
                    cancel.set()

    def hello(self, _command: Mapping[str, object]) -> object:
        """Say who answers."""
        return {"version": viewer.__version__, "pid": os.getpid()}

    def run(self, command: Mapping[str, object]) -> object:
        """Start a batch; its events follow, ended by RunEnded or an error."""
        run, options = _run_arguments(command)
        cancel = threading.Event()
        self._cancels[run] = cancel
        thread = threading.Thread(
            target=self._batch, args=(run, options, cancel), name=f"run-{run}"
        )
        self._threads.append(thread)
        thread.start()
        return {"run": run}

    def cancel(self, command: Mapping[str, object]) -> object:
        """Let a batch finish what is in flight, then end."""
        cancel = self._cancels.get(_number(command, "run"))
        if cancel is not None:
            cancel.set()
        return {"cancelling": cancel is not None}

    def _batch(self, run: int, options: BatchOptions, cancel: threading.Event) -> None:
        try:
            with open_store(self._store_path) as store:
                events = run_batch(store, run, options, cancel)
                for seq, event in enumerate(events):
                    self._emit(event_as_json(event, seq))
        except OverreadError as error:
            self._fail(run, error.what, error.how)
        except Exception as error:
            self._fail(run, f"The batch failed with {type(error).__name__}.", "")
            raise

    def _fail(self, run: int, what: str, how: str) -> None:
        failure = {"what": what, "how": how}
        self._emit({"event": "BatchFailed", "run": run, "error": failure})


_COMMANDS: Final[Mapping[str, Callable[[_Worker, Mapping[str, object]], object]]] = {
    "hello": _Worker.hello,
    "run": _Worker.run,
    "cancel": _Worker.cancel,
}


def _command(frame: bytes) -> Mapping[str, object]:
    value: object = None
    with contextlib.suppress(ValueError):
        value = json.loads(frame)
    if not isinstance(value, dict) or value.get("cmd") not in _COMMANDS:
        raise WrongUseError(
            "The worker got a line that is no command it knows.",
            f"Send one JSON object a line with cmd one of {', '.join(_COMMANDS)}.",
        )
    return value


def _number(command: Mapping[str, object], key: str) -> int:
    value = command.get(key)
    if not isinstance(value, int):
        raise WrongUseError(f"The command's '{key}' is no whole number.", "Mend it.")
    return value


def _run_arguments(command: Mapping[str, object]) -> tuple[int, BatchOptions]:
    orphans = command.get("orphans")
    return _number(command, "run"), BatchOptions(
        concurrency=_number(command, "concurrency"),
        orphans=OrphanPolicy(str(orphans)) if orphans else None,
        retry_failed=bool(command.get("retry_failed")),
    )
