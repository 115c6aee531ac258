"""The worker: asks models for the window, over JSON lines.

Commands ``{id, cmd, …}`` arrive on standard input; replies ``{id, ok | error}`` and
events ``{event, seq, run, …}`` are written to the original standard output, which
libraries can no longer reach; while a model loads, so are steps ``{step, …}``. Slow
commands (``ask``, ``batch``, ``load``) are answered from a separate thread, so replies
may come out of order. On end of input, or when nobody reads, the worker finishes what
is in flight, stores it and exits.
"""

import contextlib
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import viewer
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.plain import made, plain
from viewer.domain.run import RunEnded, RunMark
from viewer.services.asking.ask import ONE_QUESTION, Question, plan_question
from viewer.services.commands import (
    STEPS,
    AskCommand,
    BundleCommand,
    CalibrationStep,
    EndedBatch,
    FigureCommand,
    FindModels,
    LoadStep,
    NewBatch,
    Nothing,
    OfModel,
    OfRun,
    OfServer,
)
from viewer.services.configuring.model_profiles import model_named
from viewer.services.events_json import event_as_json, line
from viewer.services.privacy.burned_in import pixels_to_review
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.progress_events import StoreWait
from viewer.services.running.run_batch import run_batch
from viewer.services.running.stopping import Stop, StopSignals
from viewer.services.worker.endpoints import (
    Calibrations,
    Probes,
    found_here,
    listed,
)
from viewer.services.worker.interrupted import has_jobs, note_begun, note_ended
from viewer.services.worker.models import HeldModels
from viewer.settings import drain_limit_s, read_settings
from viewer.store import runs
from viewer.store.database import Store, open_store

Result = Mapping[str, object]
_LOOK_S: Final = 0.1
_GRACE_S: Final = 5.0
"""Seconds that storing takes at most once replies are not awaited any more."""


def run_worker(store_path: Path) -> int:
    """Serve commands until the input ends, then return.

    A signal to end closes the input. The number of questions that did not return within
    its limit is returned.
    """
    limit_s = drain_limit_s()
    with _private_stdout() as stream:
        worker = _Worker(store_path, stream)
        with StopSignals(worker.stop, limit_s, _end_input):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the parent's
            for frame in sys.stdin.buffer:
                worker.serve(frame)
            return worker.finish()


def _end_input() -> None:
    """End the loop over commands, which waits in a system call."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    # Its end of file ends the read, which a flag could not interrupt.
    os.dup2(nothing, 0)
    os.close(nothing)


def _private_stdout() -> IO[bytes]:
    """Return the real standard output, and redirect descriptor 1 to standard error."""
    # Unbuffered, so that each line leaves in one write and none is lost at a crash.
    stream = os.fdopen(os.dup(1), "wb", buffering=0)
    # By descriptor: C libraries write past sys.stdout.
    os.dup2(2, 1)
    return stream


@dataclass(frozen=True)
class _Answer:
    """The reply to a command, and the batches that start after it."""

    ok: Result
    batches: tuple[threading.Thread, ...] = ()


@dataclass(frozen=True)
class KnownBatch:
    """A run to start or to continue."""

    run: int
    options: BatchOptions


class _Worker:
    def __init__(self, store_path: Path, stream: IO[bytes]) -> None:
        self._store_path, self._stream = store_path, stream
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._deaf = False
        self.stop = Stop()
        self._ending = False
        self._unanswered = 0
        self._cancels: dict[int, Stop] = {}
        self._threads: list[threading.Thread] = []
        models_file = read_settings(store_path).models_file
        self._models = HeldModels(models_file, self._tell_step)
        self._calibrations = Calibrations(store_path, self._tell_step, self._tell_step)
        self._probes = Probes(store_path)

    def serve(self, frame: bytes) -> None:
        """Answer one command; an invalid one gets an error."""
        try:
            command = _command(frame)
        except WrongUseError as error:
            self._emit({"id": None, "error": _refusal(error)})
            return
        self._expect(command)
        if command["cmd"] in _QUICK:
            self._answer(command)
        else:
            self._start(threading.Thread(target=self._answer, args=(command,)))

    def _expect(self, command: Result) -> None:
        """Allow the very next command to stop what is about to begin in a thread."""
        kinds = {
            "load": self._models.loading,
            "probe": self._probes.going,
            "calibrate": self._calibrations.going,
            "check": self._calibrations.going,
        }
        stops, name = kinds.get(str(command["cmd"])), command.get("name")
        if stops is not None and isinstance(name, str):
            stops.expect(name)

    def _answer(self, command: Result) -> None:
        number = command.get("id")
        kind, do = _COMMANDS[str(command["cmd"])]
        entries = {k: v for k, v in command.items() if k not in ("id", "cmd")}
        try:
            answer = do(self, made(kind, entries, where="the command"))
        except OverreadError as error:
            self._emit({"id": number, "error": _refusal(error)})
        except Exception as error:
            what = f"The worker failed with {type(error).__name__}."
            self._emit({"id": number, "error": {"what": what, "how": ""}})
            raise
        else:
            # Before the batch starts: its events must not overtake this reply.
            self._emit({"id": number, "ok": answer.ok})
            for thread in answer.batches:
                self._start(thread)

    def finish(self) -> int:
        """Let every batch finish what is in flight; return how much was left open."""
        self._cancel_all()
        while self._threads and not self._is_stuck():  # one may still start another
            thread = self._threads[-1]
            thread.join(_LOOK_S)
            if not thread.is_alive():
                self._threads.remove(thread)
            self._hurry()
        return self._unanswered

    def _hurry(self) -> None:
        """Apply the limit of a signal that came meanwhile to the batches."""
        if self.stop.is_set():
            for cancel in tuple(self._cancels.values()):
                cancel.request(self.stop.left_s)

    def _is_stuck(self) -> bool:
        return self.stop.left_s < -_GRACE_S

    def _cancel_all(self) -> None:
        self._ending = True
        self._models.loading.end()
        self._probes.going.end()
        self._calibrations.going.end()
        for cancel in tuple(self._cancels.values()):
            cancel.set()
        self._hurry()

    def _start(self, thread: threading.Thread) -> None:
        self._threads.append(thread)
        thread.start()

    def _emit(self, value: Result) -> None:
        with self._lock:
            if self._deaf:
                return
            try:
                self._stream.write(line(value))
            except OSError:
                self._deaf = True  # nobody reads: what is in flight is still stored
                self._cancel_all()

    def hello(self, _: Nothing) -> _Answer:
        """Say who answers."""
        return _Answer({"version": viewer.__version__, "pid": os.getpid()})

    def run(self, command: KnownBatch) -> _Answer:
        """Start a batch; its events follow, ended by RunEnded or an error."""
        run = command.run
        with open_store(self._store_path) as store:
            runs.run_summary(store, run)  # an unknown one is refused
        return _Answer({"run": run}, (self._batch_thread(run, command.options),))

    def batch(self, command: NewBatch) -> _Answer:
        """Plan a run and start it; an existing run of the same plan is continued."""
        # One at a time: two equal commands must find one run, not plan two.
        with self._starting, open_store(self._store_path) as store:
            run = plan_run(store, command.spec)
            planned = runs.run_summary(store, run).n_planned
        options = BatchOptions(concurrency=command.concurrency)
        thread = self._batch_thread(run, options)
        return _Answer({"run": run, "planned": planned}, (thread,))

    def ask(self, command: AskCommand) -> _Answer:
        """Ask one question of each named model, each in its own ad hoc run."""
        with open_store(self._store_path) as store:
            planned = [plan_question(store, q) for q in self._questions(command)]
        threads = tuple(self._batch_thread(run, ONE_QUESTION) for run in planned)
        return _Answer({"runs": planned}, threads)

    def _questions(self, command: AskCommand) -> list[Question]:
        models_file = read_settings(self._store_path).models_file
        return [
            Question(
                command.ref,
                command.finding,
                model_named(name, models_file),
                command.grid,
                command.view,
                command.window,
                command.letters,
                command.boxes,
            )
            for name in command.models
        ]

    def cancel(self, command: EndedBatch) -> _Answer:
        """End a batch with the user's mark; else, what it has left at providers."""
        run, within_s = command.run, command.within_s
        if command.mark is not None:
            with open_store(self._store_path) as store:
                runs.run_summary(store, run)  # an unknown one is refused
                runs.mark_run(store, run, command.mark)
        cancel = self._cancels.get(run)
        if cancel is not None:
            cancel.request(math.inf if within_s is None else within_s)
        elif command.mark is not RunMark.PAUSED and has_jobs(self._store_path, run):
            thread = self._batch_thread(run, BatchOptions())
            self._cancels[run].set()  # nothing is asked
            told = {"run": run} if command.mark else {}  # else it is nobody's business
            return _Answer({**told, "cancelling": True}, (thread,))
        return _Answer({"cancelling": cancel is not None})

    def look(self, ref: ImageRef) -> _Answer:
        """Look for text in an image's pixels; nothing is decided."""
        return _Answer(plain(pixels_to_review(self._store_path, ref)))

    def figures(self, command: OfRun) -> _Answer:
        """List a run's figures."""
        from viewer.services.worker.figures import listed_figures

        return _Answer(listed_figures(self._store_path, command.run))

    def draw_figure(self, command: FigureCommand) -> _Answer:
        """Draw a figure of a run, or write it to a file."""
        from viewer.services.worker.figures import drawn_figure

        return _Answer(drawn_figure(self._store_path, command))

    def bundle(self, command: BundleCommand) -> _Answer:
        """Write the bundle of a run, including its figures."""
        from viewer.services.exporting.export_bundle import export_stored_bundle

        export_stored_bundle(self._store_path, command.run, Path(command.path))
        return _Answer({})

    def states(self, _: Nothing) -> _Answer:
        """Return the state of each model that needs loading."""
        return _Answer({"models": plain(self._models.states())})

    def load(self, command: OfModel) -> _Answer:
        """Load a model, reporting its steps meanwhile."""
        return _Answer(plain(self._models.load(command.name)))

    def unload(self, command: OfModel) -> _Answer:
        """Unload a model once its questions in flight are answered."""
        return _Answer(plain(self._models.unload(command.name)))

    def cancel_load(self, command: OfModel) -> _Answer:
        """Stop the loading of a model soon."""
        return _Answer({"cancelling": self._models.loading.stop(command.name)})

    def probe(self, command: OfModel) -> _Answer:
        """Find out what a model's endpoint does; asks about a dozen questions."""
        return _Answer(self._probes.probe(command.name))

    def cancel_probe(self, command: OfModel) -> _Answer:
        """Stop the test of an endpoint; no further question is sent."""
        return _Answer({"cancelling": self._probes.going.stop(command.name)})

    def list_models(self, command: OfServer) -> _Answer:
        """Return which models a server offers."""
        return _Answer(listed(self._store_path, command.table))

    def find_models(self, command: FindModels) -> _Answer:
        """Return the models of servers on this machine."""
        return _Answer(found_here(ask=command.ask))

    def calibrate(self, command: OfModel) -> _Answer:
        """Find out which convention of coordinates a model answers in."""
        return _Answer(self._calibrations.calibrate(command.name))

    def check(self, command: OfModel) -> _Answer:
        """Ask a model a few questions about a known mark."""
        return _Answer(self._calibrations.check(command.name))

    def cancel_calibration(self, command: OfModel) -> _Answer:
        """Stop a calibration or a check; no further question is sent."""
        return _Answer({"cancelling": self._calibrations.going.stop(command.name)})

    def _tell_step(self, step: LoadStep | CalibrationStep) -> None:
        self._emit(STEPS.plain(step))

    def _batch_thread(self, run: int, options: BatchOptions) -> threading.Thread:
        cancel = Stop()
        # setdefault is atomic: of two threads only one gets its own flag back.
        if self._cancels.setdefault(run, cancel) is not cancel:
            raise WrongUseError(
                f"Run {run} is already running.", "Wait until it ends, or cancel it."
            )
        # A command may be under way when the end comes: its batch ends at once.
        if self._ending:
            cancel.set()
        return threading.Thread(
            target=self._batch, args=(run, options, cancel), name=f"run-{run}"
        )

    def _batch(self, run: int, options: BatchOptions, cancel: Stop) -> None:
        try:
            with open_store(self._store_path) as store:
                self._drain(store, run, options, cancel)
        except OverreadError as error:
            self._fail(run, _refusal(error))
        except Exception as error:
            what = f"The batch failed with {type(error).__name__}."
            self._fail(run, {"what": what, "how": ""})
            raise

    def _drain(
        self, store: Store, run: int, options: BatchOptions, cancel: Stop
    ) -> None:
        ended: Result | None = None
        note_begun(self._store_path, run)
        wait = StoreWait(run, lambda event: self._emit(event_as_json(event, 0)))
        store.on_wait = wait
        for seq, event in enumerate(run_batch(store, run, options, cancel)):
            wait.over()
            if isinstance(event, RunEnded):
                self._unanswered += event.unanswered
                ended = event_as_json(event, seq)
            else:
                self._emit(event_as_json(event, seq))
        # only now may who hears of the end start the run again
        self._cancels.pop(run, None)
        self._note_ended(run)
        if ended is not None:
            self._emit(ended)

    def _note_ended(self, run: int) -> None:
        """Record an end that was seen or chosen; one cut off continues later."""
        if not self._ending:
            note_ended(self._store_path, run)

    def _fail(self, run: int, failure: Mapping[str, str]) -> None:
        self._cancels.pop(run, None)
        self._note_ended(run)
        self._emit({"event": "BatchFailed", "run": run, "error": failure})


_COMMANDS: Final[Mapping[str, tuple[type, Callable[[_Worker, Any], _Answer]]]] = {
    "hello": (Nothing, _Worker.hello),
    "run": (KnownBatch, _Worker.run),
    "batch": (NewBatch, _Worker.batch),
    "ask": (AskCommand, _Worker.ask),
    "cancel": (EndedBatch, _Worker.cancel),
    "look": (ImageRef, _Worker.look),
    "figures": (OfRun, _Worker.figures),
    "draw_figure": (FigureCommand, _Worker.draw_figure),
    "bundle": (BundleCommand, _Worker.bundle),
    "states": (Nothing, _Worker.states),
    "load": (OfModel, _Worker.load),
    "unload": (OfModel, _Worker.unload),
    "cancel_load": (OfModel, _Worker.cancel_load),
    "probe": (OfModel, _Worker.probe),
    "cancel_probe": (OfModel, _Worker.cancel_probe),
    "list_models": (OfServer, _Worker.list_models),
    "find_models": (FindModels, _Worker.find_models),
    "calibrate": (OfModel, _Worker.calibrate),
    "check": (OfModel, _Worker.check),
    "cancel_calibration": (OfModel, _Worker.cancel_calibration),
}
_QUICK: Final = frozenset(
    {"hello", "run", "cancel", "cancel_load", "cancel_probe", "cancel_calibration"}
)
"""Commands answered at once; others wait for files, weights or servers."""


def _refusal(error: OverreadError) -> Mapping[str, str]:
    return {"what": error.what, "how": error.how, "kind": type(error).__name__}


def _command(frame: bytes) -> Mapping[str, Any]:
    value: object = None
    with contextlib.suppress(ValueError):
        value = json.loads(frame)
    if not isinstance(value, dict) or value.get("cmd") not in _COMMANDS:
        raise WrongUseError(
            "The worker got a line that is not a known command.",
            f"Send one JSON object per line, with cmd one of {', '.join(_COMMANDS)}.",
        )
    return value
