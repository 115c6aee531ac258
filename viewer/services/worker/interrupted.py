"""Runs that were in progress when their window ended, found and continued later.

A file beside the store lists the runs that a window's worker has in progress. A run
that ends, is paused or fails is removed; one that was cut off by the end of a window or
machine is not, and is found when a window opens.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.plain import made
from viewer.domain.run import RunStatus, RunSummary
from viewer.models.prices import may_cost
from viewer.private_files import open_private
from viewer.store import runs
from viewer.store.batch_job_rows import unfinished_jobs
from viewer.store.database import Store, open_store
from viewer.store.locks import is_run_held


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """A run that stopped unexpectedly after ``done`` of ``planned`` trials.

    ``held`` is True while another process works on it, such as one that stores what was
    in flight; ``priced`` if continuing may cost money. It does not where all that is
    left is ``out`` in batches of providers: they only have to be looked at. If a file
    for a batch ``may_be_left`` at its provider, nothing asks its questions any more.
    """

    run: int
    done: int
    planned: int
    held: bool
    priced: bool
    out: int = 0
    may_be_left: bool = False


def note_begun(store: Path, run: int) -> None:
    """Record that a run is in progress for a window."""
    _change(store, lambda noted: noted | {run})


def note_ended(store: Path, run: int) -> None:
    """Record that a run ended in any way while the window was open."""
    _change(store, lambda noted: noted - {run})


def has_jobs(store: Path, run: int) -> bool:
    """Tell whether a provider may have a batch of a run, or a file of one."""
    with open_store(store) as opened:
        return bool(unfinished_jobs(opened, run))


def runs_out(store: Path) -> tuple[RunSummary, ...]:
    """Return the runs with questions in batches of providers, newest first."""
    if not store.exists():
        return ()
    with open_store(store) as opened:
        numbers = sorted(runs.submitted_by_run(opened), reverse=True)
        return tuple(runs.run_summary(opened, run) for run in numbers)


def interrupted_runs(store: Path) -> tuple[InterruptedRun, ...]:
    """Return the recorded runs that are not finished, oldest first.

    Single questions are left out: nobody waits for them any more.
    """
    noted = _noted(store)
    if not noted or not store.exists():
        return ()
    with open_store(store) as opened:
        return tuple(
            _interrupted(opened, summary)
            for summary in runs.run_summaries(opened, include_adhoc=False)
            if summary.id in noted and _is_left(opened, summary)
        )


def _is_left(store: Store, run: RunSummary) -> bool:
    """Tell whether there is work; of a finished run, at the provider of a batch."""
    unfinished = run.status is RunStatus.UNFINISHED
    left = run.status is RunStatus.FINISHED and unfinished_jobs(store, run.id)
    return unfinished or bool(left)


def _interrupted(store: Store, summary: RunSummary) -> InterruptedRun:
    pending = summary.counts.get(Status.PENDING, 0)
    out = runs.submitted_by_run(store).get(summary.id)
    questions = out.questions if out else 0
    models = runs.run_spec(store, summary.id).models
    return InterruptedRun(
        summary.id,
        summary.n_planned - pending,
        summary.n_planned,
        held=is_run_held(store.path, summary.id),
        priced=any(map(may_cost, models)) and questions < pending,
        out=questions,
        may_be_left=any(not job.batch for job in unfinished_jobs(store, summary.id)),
    )


def _file(store: Path) -> Path:
    return store.with_name(f"{store.name}.going_on.json")


def _noted(store: Path) -> frozenset[int]:
    """Return the recorded runs, none if the file is missing or damaged."""
    try:
        value = json.loads(_file(store).read_bytes())
        return made(frozenset[int], value, where="the note")
    except (OSError, ValueError, WrongUseError):
        return frozenset()


def _change(store: Path, change: Callable[[frozenset[int]], frozenset[int]]) -> None:
    """Update the record; if that fails, runs are not continued automatically."""
    before = _noted(store)
    after = change(before)
    if after != before:
        try:
            with open_private(_file(store), "wb") as file:
                file.write(json.dumps(sorted(after)).encode())
        except OSError:
            return
