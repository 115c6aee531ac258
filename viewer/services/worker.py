"""The worker: asks models for the window, over JSON lines (DESIGN 2).

Commands ``{id, cmd, …}`` arrive on standard input; replies ``{id, ok | error}`` and
events ``{event, seq, run, …}`` leave on what was standard output at the start, which
no library can write to any more; while a model loads, so do steps ``{loading, …}``.
Commands that take their time (``ask``, ``batch``, ``load``) are answered from a thread
of their own, so a reply may overtake an earlier one. On end of input, or when nobody
reads, the worker finishes what is in flight, stores it and exits.
"""

import contextlib
import dataclasses
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
from viewer.domain.run import OrphanPolicy, RunEnded, RunMark
from viewer.services.ask import ONE_QUESTION, Question, plan_question
from viewer.services.burned_in import pixels_to_review
from viewer.services.commands import (
    AskCommand,
    CalibrationStep,
    LoadStep,
    ask_of_json,
    figure_of_json,
    look_as_json,
)
from viewer.services.drawn_figures import drawn_figure, listed_figures
from viewer.services.events_json import event_as_json, line
from viewer.services.interrupted import note_begun, note_ended
from viewer.services.model_profiles import model_named
from viewer.services.plan_run import plan_run
from viewer.services.run_batch import BatchOptions, run_batch
from viewer.services.stopping import Stop, StopSignals
from viewer.services.waits import StoreWait
from viewer.services.worker_endpoints import Calibrations, Probes, listed
from viewer.services.worker_models import HeldModels
from viewer.settings import drain_limit_s, read_settings
from viewer.store import runs
from viewer.store.database import Store, open_store

Result = Mapping[str, object]
_LOOK_S: Final = 0.1
_GRACE_S: Final = 5.0
"""Seconds that storing takes at most once replies are not awaited any more."""


def run_worker(store_path: Path) -> int:
    """Serve commands until the input ends; only then return.

    A signal to end ends the input. What does not come back within its limit is left
    open; how many questions that are is returned.
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
    """Let the loop over commands end; it waits for more of them in a system call."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _private_stdout() -> IO[bytes]:
    """Return the real standard output, and point descriptor 1 at standard error."""
    stream = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return stream


@dataclass(frozen=True)
class _Answer:
    """What is replied to a command, and the batches that start once it is."""

    ok: Result
    batches: tuple[threading.Thread, ...] = ()


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
        self._calibrations = Calibrations(
            store_path, self._tell_calibration, self._tell_step
        )
        self._probes = Probes(store_path)

    def serve(self, frame: bytes) -> None:
        """Answer one command; a bad one is answered too."""
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
        """Let what begins in a thread be stopped by the very next command."""
        kinds = {
            "load": self._models.loading,
            "probe": self._probes.going,
            "calibrate": self._calibrations.going,
        }
        stops, name = kinds.get(str(command["cmd"])), command.get("name")
        if stops is not None and isinstance(name, str):
            stops.expect(name)

    def _answer(self, command: Result) -> None:
        number = command.get("id")
        try:
            answer = _COMMANDS[str(command["cmd"])](self, command)
        except OverreadError as error:
            self._emit({"id": number, "error": _refusal(error)})
        except Exception as error:
            what = f"The worker failed with {type(error).__name__}."
            self._emit({"id": number, "error": {"what": what, "how": ""}})
            raise
        else:
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
        """Let batches keep to the limit of a signal that came meanwhile."""
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

    def hello(self, _command: Result) -> _Answer:
        """Say who answers."""
        return _Answer({"version": viewer.__version__, "pid": os.getpid()})

    def run(self, command: Result) -> _Answer:
        """Start a batch; its events follow, ended by RunEnded or an error."""
        run, options = _run_arguments(command)
        with open_store(self._store_path) as store:
            runs.run_summary(store, run)  # an unknown one is refused
        return _Answer({"run": run}, (self._batch_thread(run, options),))

    def batch(self, command: Result) -> _Answer:
        """Plan a run and start it; a run of the same plan goes on instead."""
        spec, concurrency = command.get("spec"), _number(command, "concurrency")
        if not isinstance(spec, dict):
            raise WrongUseError("The command's 'spec' is no table.", "Mend it.")
        with self._starting, open_store(self._store_path) as store:
            run = plan_run(store, runs.spec_of_json(spec))
            planned = runs.run_summary(store, run).n_planned
        thread = self._batch_thread(run, BatchOptions(concurrency=concurrency))
        return _Answer({"run": run, "planned": planned}, (thread,))

    def ask(self, command: Result) -> _Answer:
        """Ask one question of each model named, each in an ad hoc run of its own."""
        question = ask_of_json(command)
        with open_store(self._store_path) as store:
            planned = [plan_question(store, q) for q in self._questions(question)]
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

    def cancel(self, command: Result) -> _Answer:
        """Let a batch finish what is in flight, then end, marked as a person wished."""
        run, mark = _number(command, "run"), command.get("mark")
        if mark is not None:
            with open_store(self._store_path) as store:
                runs.run_summary(store, run)  # an unknown one is refused
                runs.mark_run(store, run, _mark(mark))
        cancel = self._cancels.get(run)
        if cancel is not None:
            cancel.request(_limit(command))
        return _Answer({"cancelling": cancel is not None})

    def look(self, command: Result) -> _Answer:
        """Look for text in an image's pixels; nothing is decided."""
        ref = ImageRef(Path(str(command.get("path"))), _number(command, "frame"))
        return _Answer(look_as_json(pixels_to_review(self._store_path, ref)))

    def figures(self, command: Result) -> _Answer:
        """List a run's figures."""
        return _Answer(listed_figures(self._store_path, _number(command, "run")))

    def draw_figure(self, command: Result) -> _Answer:
        """Draw a figure of a run, or write it as a file."""
        return _Answer(drawn_figure(self._store_path, figure_of_json(command)))

    def states(self, _command: Result) -> _Answer:
        """Say of each model that is loaded before it is asked where it stands."""
        return _Answer(
            {"models": [dataclasses.asdict(m) for m in self._models.states()]}
        )

    def load(self, command: Result) -> _Answer:
        """Load a model; its steps are told meanwhile."""
        return _Answer(dataclasses.asdict(self._models.load(_name(command))))

    def unload(self, command: Result) -> _Answer:
        """Give a model's memory back, once its questions in flight are answered."""
        return _Answer(dataclasses.asdict(self._models.unload(_name(command))))

    def cancel_load(self, command: Result) -> _Answer:
        """Stop the loading of a model soon."""
        return _Answer({"cancelling": self._models.loading.stop(_name(command))})

    def probe(self, command: Result) -> _Answer:
        """Find out what a model's endpoint does; asks about a dozen questions."""
        return _Answer(self._probes.probe(_name(command)))

    def cancel_probe(self, command: Result) -> _Answer:
        """Stop the test of an endpoint; no further question of it leaves."""
        return _Answer({"cancelling": self._probes.going.stop(_name(command))})

    def list_models(self, command: Result) -> _Answer:
        """Say which models a server offers."""
        return _Answer(listed(self._store_path, command.get("table")))

    def calibrate(self, command: Result) -> _Answer:
        """Find out which convention of coordinates a model answers in."""
        return _Answer(self._calibrations.calibrate(_name(command)))

    def cancel_calibration(self, command: Result) -> _Answer:
        """Stop a calibration; no further question of it leaves."""
        return _Answer({"cancelling": self._calibrations.going.stop(_name(command))})

    def _tell_calibration(self, step: CalibrationStep) -> None:
        self._emit({"calibrating": step.name, "done": step.done, "total": step.total})

    def _tell_step(self, step: LoadStep) -> None:
        self._emit({"loading": step.name, "part": step.part, "what": step.what})

    def _batch_thread(self, run: int, options: BatchOptions) -> threading.Thread:
        cancel = Stop()
        if self._cancels.setdefault(run, cancel) is not cancel:
            raise WrongUseError(
                f"Run {run} is going on already.", "Wait until it ends, or cancel it."
            )
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
        """Note an end that somebody saw, or chose; one cut off goes on later."""
        if not self._ending:
            note_ended(self._store_path, run)

    def _fail(self, run: int, failure: Mapping[str, str]) -> None:
        self._cancels.pop(run, None)
        self._note_ended(run)
        self._emit({"event": "BatchFailed", "run": run, "error": failure})


_COMMANDS: Final[Mapping[str, Callable[[_Worker, Result], _Answer]]] = {
    "hello": _Worker.hello,
    "run": _Worker.run,
    "batch": _Worker.batch,
    "ask": _Worker.ask,
    "cancel": _Worker.cancel,
    "look": _Worker.look,
    "figures": _Worker.figures,
    "draw_figure": _Worker.draw_figure,
    "states": _Worker.states,
    "load": _Worker.load,
    "unload": _Worker.unload,
    "cancel_load": _Worker.cancel_load,
    "probe": _Worker.probe,
    "cancel_probe": _Worker.cancel_probe,
    "list_models": _Worker.list_models,
    "calibrate": _Worker.calibrate,
    "cancel_calibration": _Worker.cancel_calibration,
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
            "The worker got a line that is no command it knows.",
            f"Send one JSON object a line with cmd one of {', '.join(_COMMANDS)}.",
        )
    return value


def _number(command: Result, key: str) -> int:
    value = command.get(key)
    if not isinstance(value, int):
        raise WrongUseError(f"The command's '{key}' is no whole number.", "Mend it.")
    return value


def _limit(command: Result) -> float:
    within_s = command.get("within_s")
    return float(within_s) if isinstance(within_s, int | float) else math.inf


def _name(command: Result) -> str:
    name = command.get("name")
    if not isinstance(name, str):
        raise WrongUseError("The command's 'name' is no text.", "Mend it.")
    return name


def _mark(word: object) -> RunMark:
    try:
        return RunMark(str(word))
    except ValueError:
        what = "The command's 'mark' is no mark of a run."
        raise WrongUseError(what, f"Use one of {', '.join(RunMark)}.") from None


def _run_arguments(command: Result) -> tuple[int, BatchOptions]:
    orphans = command.get("orphans")
    return _number(command, "run"), BatchOptions(
        concurrency=_number(command, "concurrency"),
        orphans=OrphanPolicy(str(orphans)) if orphans else None,
        retry_failed=bool(command.get("retry_failed")),
    )
