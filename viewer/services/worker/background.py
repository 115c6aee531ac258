"""The window's worker: one long-lived process that asks models."""

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from viewer.domain.case import ImageRef
from viewer.domain.plain import made, plain
from viewer.domain.run import Event, RunMark, RunSpec
from viewer.services.commands import (
    STEPS,
    AskCommand,
    CalibrationStep,
    FigureCommand,
    HeldModel,
    LoadStep,
)
from viewer.services.events_json import event_of_json
from viewer.services.worker.jobs import (
    command_pipe,
    event_pipe,
    run_command,
    send,
    spawn_worker,
)

__all__ = [
    "AskCommand",
    "BackgroundWorker",
    "HeldModel",
    "LoadStep",
    "WorkerCalibrating",
    "WorkerDied",
    "WorkerEvent",
    "WorkerLoading",
    "WorkerMessage",
    "WorkerReply",
    "held_models",
]

_PATIENCE_S: Final = 2.0
"""Seconds that closing waits for a worker; after that it ends by itself."""


@dataclass(frozen=True)
class WorkerReply:
    """The reply to the command with this id.

    ``ok`` is the result (``{"run": 3, "planned": 24}``, ``{"runs": [4, 5]}``), or None
    if it was refused; ``sentence`` says why. A run that fails after it began is
    reported by a second reply to the same command, with its ``run``.
    """

    id: int
    ok: Mapping[str, object] | None
    sentence: str
    run: int | None = None


@dataclass(frozen=True)
class WorkerEvent:
    """Something happened in a run; only a hint, the store is authoritative."""

    event: Event


@dataclass(frozen=True)
class WorkerLoading:
    """A model is being loaded; the reply to the command ends this."""

    step: LoadStep


@dataclass(frozen=True)
class WorkerCalibrating:
    """A model is being calibrated or checked; the reply to the command ends this."""

    step: CalibrationStep


@dataclass(frozen=True)
class WorkerDied:
    """The worker ended unexpectedly; the next command starts another."""

    sentence: str


WorkerMessage = (
    WorkerReply | WorkerEvent | WorkerLoading | WorkerCalibrating | WorkerDied
)


def held_models(reply: WorkerReply) -> tuple[HeldModel, ...]:
    """Return the models in a reply to ``model_states``, ``load`` or ``unload``."""
    ok: Mapping[str, Any] = reply.ok or {}
    rows = ok.get("models", [ok] if "memory_bytes" in ok else [])
    return made(tuple[HeldModel, ...], rows, where="the worker's reply")


class BackgroundWorker:
    """A worker process and the thread that listens to it.

    Parameters
    ----------
    store : Path
        The store's file, which the worker writes and the window reads.
    listener : callable
        Called with every message, on the listening thread.
    """

    def __init__(self, store: Path, listener: Callable[[WorkerMessage], None]) -> None:
        self._store, self._listener = store, listener
        self._ids = itertools.count(1)
        # RLock: a listener may close the worker from within its message.
        self._lock, self._telling = threading.Lock(), threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closing = False
        self._begun_by: dict[int, int] = {}

    def start(self) -> None:
        """Start the process unless it is running."""
        with self._lock:
            self._running()

    def ask(self, command: AskCommand) -> int:
        """Ask one question; return the id of the reply."""
        return self._send({"cmd": "ask", **plain(command)})

    def run_batch(self, spec: RunSpec, concurrency: int) -> int:
        """Plan and start a run, or continue it, in the worker; return the id."""
        command = {"cmd": "batch", "spec": plain(spec)}
        return self._send({**command, "concurrency": concurrency})

    def resume(self, run: int, concurrency: int) -> int:
        """Continue a run; return the id."""
        from viewer.services.running.batch_options import BatchOptions

        return self._send(run_command(run, BatchOptions(concurrency=concurrency)))

    def pause(self, run: int) -> int:
        """Finish the requests in flight, then pause a run; return the id."""
        return self._stop(run, RunMark.PAUSED)

    def cancel(self, run: int) -> int:
        """Finish the requests in flight, then cancel a run; return the id."""
        return self._stop(run, RunMark.CANCELLED)

    def tidy(self, run: int) -> int:
        """Delete what a killed run left at its providers; return the id."""
        return self._send({"cmd": "cancel", "run": run})

    def look(self, ref: ImageRef) -> int:
        """Look for text in an image's pixels; return the id."""
        return self._send({"cmd": "look", **plain(ref)})

    def figures(self, run: int) -> int:
        """Ask for the list of a run's figures; return the id."""
        return self._send({"cmd": "figures", "run": run})

    def draw_figure(self, command: FigureCommand) -> int:
        """Ask for a figure as a picture or another file; return the id."""
        return self._send({"cmd": "draw_figure", **plain(command)})

    def write_bundle(self, run: int, path: Path) -> int:
        """Write a run's bundle; the reply comes once it is written; return the id."""
        return self._send({"cmd": "bundle", "run": run, "path": str(path.absolute())})

    def model_states(self) -> int:
        """Ask which models are loaded, or could be; return the id."""
        return self._send({"cmd": "states"})

    def load_model(self, name: str) -> int:
        """Load a model; the reply comes when it is loaded; return the id."""
        return self._send({"cmd": "load", "name": name})

    def unload_model(self, name: str) -> int:
        """Unload a model; return the id."""
        return self._send({"cmd": "unload", "name": name})

    def cancel_load(self, name: str) -> int:
        """Stop the loading of a model; return the id."""
        return self._send({"cmd": "cancel_load", "name": name})

    def probe_model(self, name: str) -> int:
        """Probe a model's endpoint; return the id."""
        return self._send({"cmd": "probe", "name": name})

    def cancel_probe(self, name: str) -> int:
        """Stop probing a model's endpoint; return the id."""
        return self._send({"cmd": "cancel_probe", "name": name})

    def list_models(self, table: Mapping[str, object]) -> int:
        """Ask for the models of a profile's server; return the request's id."""
        return self._send({"cmd": "list_models", "table": plain(table)})

    def find_models(self, *, ask: bool) -> int:
        """Ask for the models of servers on this machine; return the request's id."""
        return self._send({"cmd": "find_models", "ask": ask})

    def calibrate(self, name: str) -> int:
        """Calibrate a model's coordinate convention; return the id."""
        return self._send({"cmd": "calibrate", "name": name})

    def check_model(self, name: str) -> int:
        """Check what a model does with a known mark; return the id."""
        return self._send({"cmd": "check", "name": name})

    def cancel_calibration(self, name: str) -> int:
        """Stop a calibration or a check; return the id."""
        return self._send({"cmd": "cancel_calibration", "name": name})

    def _stop(self, run: int, mark: RunMark) -> int:
        return self._send({"cmd": "cancel", "run": run, "mark": mark.value})

    def close(self) -> None:
        """Close the worker's input: it stores what is in flight and exits."""
        with self._lock:
            self._closing = True
            process, thread = self._process, self._thread
        if process is None or thread is None:
            return
        with contextlib.suppress(OSError):  # it may have ended already
            command_pipe(process).close()
        # A listener may close the worker, and a thread cannot join itself.
        if threading.current_thread() is not thread:
            thread.join(_PATIENCE_S)
        with self._telling:  # what comes later finds nobody who listens
            self._listener = _nobody
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Reaps the process if it has ended; one that is still storing goes on.
            process.wait(0)

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._closing = False  # a session's end may be called off
            self._process = spawn_worker(self._store)
            self._thread = threading.Thread(
                target=self._listen, args=(self._process,), daemon=True, name="worker"
            )
            self._thread.start()
        return self._process

    def _send(self, command: Mapping[str, object]) -> int:
        number = next(self._ids)
        with self._lock:
            process = self._running()
            # the listening thread tells that it died; one whose input is closed ends
            with contextlib.suppress(OSError, ValueError):
                send(process, {"id": number, **command})
        return number

    def _listen(self, process: "subprocess.Popen[bytes]") -> None:
        with event_pipe(process) as frames:
            for frame in frames:
                self._tell(json.loads(frame))
        code = process.wait()
        with self._lock:
            self._process = None
            with contextlib.suppress(OSError):  # what it no longer reads is lost
                command_pipe(process).close()
            expected = self._closing
        if not expected:
            self._say(WorkerDied(_died(code)))

    def _tell(self, value: Mapping[str, Any]) -> None:
        if value.get("event") == "BatchFailed":
            run = int(value["run"])
            number = self._begun_by.pop(run, 0)
            self._say(WorkerReply(number, None, _sentence(value["error"]), run))
        elif "event" in value:
            self._say(WorkerEvent(event_of_json(value)))
        elif "step" in value:
            step = STEPS.made(value, where="the worker's step")
            if isinstance(step, LoadStep):
                self._say(WorkerLoading(step))
            else:
                self._say(WorkerCalibrating(step))
        elif "error" in value:
            sentence = _sentence(value["error"])
            self._say(WorkerReply(int(value["id"] or 0), None, sentence))
        else:
            self._remember(value)
            self._say(WorkerReply(int(value["id"]), value["ok"], ""))

    def _say(self, message: WorkerMessage) -> None:
        with self._telling:
            self._listener(message)

    def _remember(self, reply: Mapping[str, Any]) -> None:
        ok = reply["ok"]
        for run in [ok["run"]] if "run" in ok else ok.get("runs", []):
            self._begun_by[int(run)] = int(reply["id"])


def _nobody(_: WorkerMessage) -> None:
    """Ignore a message."""


def _sentence(error: Mapping[str, str]) -> str:
    return f"{error['what']} {error['how']}".strip()


def _died(code: int) -> str:
    return (
        f"The process that asks the models ended unexpectedly (exit code {code}). "
        "Everything answered is kept; resume the run to continue."
    )
