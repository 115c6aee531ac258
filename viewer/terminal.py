"""Output of a batch on the command line: progress bar, results, and Ctrl+C.

The window starts by way of this module too: what only a batch needs is imported with
it.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from viewer.domain.counting import counted
from viewer.domain.errors import WrongUseError
from viewer.domain.escapes import one_line
from viewer.printing import cell_text, echo, print_json, print_rows
from viewer.settings import Settings, drain_limit_s

if TYPE_CHECKING:
    from viewer.domain.geometry import SizePx
    from viewer.domain.run import (
        Event,
        ModelLoading,
        RunEnded,
        RunWaiting,
        TrialRetried,
    )
    from viewer.services.benchmarking.bench import MeasureWindow
    from viewer.services.running.batch_options import BatchOptions
    from viewer.store.database import Store

_SOON_S: Final = 1.0
"""How long a writer waits before a message says so."""


def crash_sentence(error: Exception, home: Path) -> str:
    """Save a report of an internal failure to a file; return the sentence naming it."""
    from viewer.services.starting import crash_report

    path = crash_report.keep_crash_report(crash_report.crash_report(error), home)
    return crash_report.crash_sentence(error, path)


class OpenWindow(Protocol):
    """Opens the window and returns its exit code; provided by the caller."""

    def __call__(
        self,
        paths: Sequence[Path],
        store: Path | None,
        *,
        demo: bool,
        new_window: bool = False,
    ) -> int:
        """Open files and folders, or the demo collection."""
        ...


@dataclass(frozen=True, slots=True)
class WindowParts:
    """The parts of the window that the caller provides; None if there are none."""

    open: OpenWindow | None = None
    measure: "MeasureWindow | None" = None


NO_WINDOW: Final = WindowParts()


def print_bench(parts: WindowParts, *, as_json: bool) -> None:
    """Measure this machine's speeds and print them beside their budgets."""
    from viewer.services.benchmarking.bench import bench_rows, bench_table

    rows = bench_rows(parts.measure)
    if as_json:
        print_json(rows)
    else:
        columns = ("what", "measured", "range", "budget", "within", "note")
        print_rows(bench_table(rows), columns)


class Progress:
    """A progress bar on standard error; nothing if that is not a terminal."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._bars.add_task(one_line(title), total=None, note="")

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show that ``done`` of ``total`` are settled, and a note beside the bar."""
        self._bars.update(self._task, completed=done, total=total, note=one_line(note))


class BusyLines:
    """Reports once per wait that another process writes to the store."""

    def __init__(self) -> None:
        self._is_shown = False

    def __call__(self, waited_s: float) -> None:
        """Handle a wait of this duration so far."""
        if waited_s < _SOON_S:
            self._is_shown = False
        elif not self._is_shown:
            from viewer.domain.run import STORE_IS_BUSY

            self._is_shown = True
            echo(STORE_IS_BUSY, err=True)


def wait_for_other_writers() -> None:
    """Let this command wait for other writers of the store, reporting the wait."""
    from viewer.store.database import wait_for_writers

    wait_for_writers(BusyLines())


class LoadLines:
    """Reports a model's loading line by line, if no bar is shown."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[str, int]] = {}

    def __call__(self, event: "ModelLoading") -> None:
        """Report a step that is new, or another tenth of it."""
        if sys.stderr.isatty():
            return
        step = event.what.partition(",")[0], int(10 * event.part)
        if event.what and self._shown.get(event.model) != step:
            self._shown[event.model] = step
            echo(event.words, err=True)


class Following:
    """Shows the events of a batch as they come."""

    def __init__(self, progress: Callable[[int, int, str], None]) -> None:
        self._progress, self._lines = progress, LoadLines()
        self._done = self._planned = 0
        self._spent = self._loading = self._waiting = self._shown_waiting = ""
        self._out = ""
        self.finished = False
        """True once every trial ended without a failure."""

    def __call__(self, event: "Event") -> None:
        """Show an event."""
        from viewer.domain.run import (
            ModelLoading,
            ModelStopped,
            RunEnded,
            RunSpent,
            RunStarted,
            RunWaiting,
            TrialDone,
            TrialRetried,
        )
        from viewer.services.configuring.money import spent_words

        match event:
            case RunStarted():
                self._done, self._planned = event.done, event.planned
            case ModelLoading():
                self._loading = event.words
                self._lines(event)
            case TrialDone():
                self._done += 1
            case TrialRetried():
                echo(_again(event), err=True)
            case RunWaiting():
                self._wait(event)
            case ModelStopped():
                echo(event.sentence, err=True)
            case RunSpent():
                self._spent = spent_words(event)
            case RunEnded():
                self._end(event)
        note = self._loading or self._waiting or self._spent
        self._progress(self._done, self._planned, note)

    def _end(self, event: "RunEnded") -> None:
        """Report what is left, here and in batches of providers."""
        from viewer.domain.answer import Status
        from viewer.services.running.stopping import unanswered_sentence

        unfinished = (Status.PROVIDER_ERROR, Status.PENDING)
        self.finished = not any(event.counts.get(s, 0) for s in unfinished)
        if event.unanswered:
            echo(unanswered_sentence(event.unanswered), err=True)
        if self._out:
            how = f"overread resume {event.run} takes its answers in."
            echo(f"The batch goes on without this program: {how}", err=True)

    def _wait(self, event: "RunWaiting") -> None:
        """Report once for whom a batch waits, however often it does."""
        self._waiting = event.words
        self._out = ""
        if event.store_is_busy:
            echo(event.words, err=True)
        elif event.questions:
            self._out = event.words
            echo(f"{event.words}.", err=True)
        elif event.words and event.words != self._shown_waiting:
            self._shown_waiting = event.words
            how = "it is asking the same questions, and its replies are used here."
            echo(f"{event.words}: {how}", err=True)


def _again(event: "TrialRetried") -> str:
    if event.reason == "orphan":
        return (
            f"{event.model}: a question was in flight when a batch was killed; it may"
            " have been paid for, and is asked again"
        )
    return f"{event.model}: {event.reason}, again in {event.pause_s:.1f} s"


def follow(
    events: "Iterator[Event]", progress: Callable[[int, int, str], None]
) -> bool:
    """Show a batch's progress; return whether every trial ended without a failure."""
    shown = Following(progress)
    for event in events:
        shown(event)
    return shown.finished


def drive(store: "Store", run: int, options: "BatchOptions", *, worker: bool) -> bool:
    """Ask the pending trials, here or in a worker; return whether none failed."""
    from viewer.services.running.run_batch import run_batch
    from viewer.services.running.stopping import Stop, StopSignals
    from viewer.services.worker.jobs import run_in_worker

    stop, limit_s = Stop(), drain_limit_s()
    if worker:
        events = run_in_worker(store.path, run, options, stop)
    else:
        events = run_batch(store, run, options, stop)
    with StopSignals(stop, limit_s), Progress(f"Run {run}") as progress:
        return follow(events, progress)


def run_number(text: str, store: "Store") -> int:
    """Return the run that the user named by its number, or by ``last``."""
    from viewer.store import runs

    if text == "last":
        known = runs.run_summaries(store, include_adhoc=False)
        if not known:
            raise WrongUseError("There is no run yet.", "overread run makes one.")
        return known[-1].id
    if not text.isdecimal():
        raise WrongUseError(
            f"'{text}' is not a run.",
            "Give its number, or last; overread runs lists them.",
        )
    return int(text)


def print_run(store: "Store", number: int, *, as_json: bool) -> None:
    """Print a run's results, whole as JSON or in short as a table."""
    from viewer.services.reporting.report_run import report_data
    from viewer.services.reporting.run_in_words import (
        endings_in_words,
        made_in_words,
        rows_in_words,
        rows_of,
    )

    report = report_data(store, number)
    if as_json:
        counts = dict(report.summary.counts)
        status = report.summary.status.value
        notes = [str(note) for note in report.summary.notes]
        run = {"run": number, "status": status, "counts": counts, "notes": notes}
        warnings = list(report.warnings)
        print_json({**run, "warnings": warnings, "results": rows_of(report)})
        return
    made = made_in_words(report)
    if made:
        echo(f"{made.title}. {made.text}")
    shown = made.table.records() if made else rows_in_words(report)
    print_rows(shown, tuple(shown[0]) if shown else ())
    counts_text = cell_text(endings_in_words(report))
    mark = " (incomplete)" if report.data.incomplete else ""
    echo(f"Run {number}: {counts_text}{mark}")
    for note in report.summary.notes:
        echo(f"Note: {note}")
    for sentence in report.warnings:
        echo(f"Note: {sentence}")
    echo(f"Report: overread report {number} --out DIR")


def demo_batch(settings: Settings, *, prepare: bool) -> bool:
    """Make the demo collection, run its batch and report; return whether all ended.

    With ``prepare`` only the collection is made and registered.
    """
    from viewer.services.running.batch_options import BatchOptions
    from viewer.services.synthetic.demo_run import (
        demo_report,
        register_demo,
        run_demo_spec,
    )
    from viewer.store.database import open_store

    wait_for_other_writers()
    with open_store(settings.store) as store:
        with Progress("Demo collection") as progress:
            dataset = register_demo(store, settings.home, progress)
        echo(
            f"Demo collection: {dataset.root} ({counted(len(dataset.images), 'image')})"
        )
        if prepare:
            return True
        run = run_demo_spec(store)
        ended = drive(store, run, BatchOptions(), worker=False)
        print_run(store, run, as_json=False)
        page = demo_report(store, run, settings.home)
    echo(f"The report is at {page}")
    return ended


def size_of(text: str) -> "SizePx":
    """Parse a size written as width x height."""
    from viewer.domain.geometry import SizePx

    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise WrongUseError(
            f"The size '{text}' cannot be read.", "Write width x height: 2000x2500."
        )
    return SizePx(int(height), int(width))
