"""Runs that were going on when their window went away: found again, and gone on with.

A file beside the store names the runs that a window's worker has under way. A run that
ends, is paused or fails leaves it; one that a window's or a machine's end cut off does
not, and is found when a window opens.
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
from viewer.store.database import Store, open_store
from viewer.store.locks import is_run_held


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """A run that stopped unasked after ``done`` of ``planned`` trials.

    ``held`` while another process works on it, as the one that stores what was in
    flight does; ``priced`` where going on may cost money.
    """

    run: int
    done: int
    planned: int
    held: bool
    priced: bool


def note_begun(store: Path, run: int) -> None:
    """Note that a run is under way for a window."""
    _change(store, lambda noted: noted | {run})


def note_ended(store: Path, run: int) -> None:
    """Note that a run ended, whichever way, while somebody looked."""
    _change(store, lambda noted: noted - {run})


def interrupted_runs(store: Path) -> tuple[InterruptedRun, ...]:
    """Return the runs noted that are not finished, oldest first.

    Single questions are left out: nobody waits for them any more.
    """
    noted = _noted(store)
    if not noted or not store.exists():
        return ()
    with open_store(store) as opened:
        return tuple(
            _interrupted(opened, summary)
            for summary in runs.run_summaries(opened, include_adhoc=False)
            if summary.id in noted and summary.status is RunStatus.UNFINISHED
        )


def _interrupted(store: Store, summary: RunSummary) -> InterruptedRun:
    done = summary.n_planned - summary.counts.get(Status.PENDING, 0)
    models = runs.run_spec(store, summary.id).models
    return InterruptedRun(
        summary.id,
        done,
        summary.n_planned,
        held=is_run_held(store.path, summary.id),
        priced=any(map(may_cost, models)),
    )


def _file(store: Path) -> Path:
    return store.with_name(f"{store.name}.going_on.json")


def _noted(store: Path) -> frozenset[int]:
    """Return the runs named; a file that is missing or damaged names none."""
    try:
        value = json.loads(_file(store).read_bytes())
        return made(frozenset[int], value, where="the note")
    except (OSError, ValueError, WrongUseError):
        return frozenset()


def _change(store: Path, change: Callable[[frozenset[int]], frozenset[int]]) -> None:
    """Write what is noted; where it cannot be written, nothing goes on by itself."""
    before = _noted(store)
    after = change(before)
    if after != before:
        try:
            with open_private(_file(store), "wb") as file:
                file.write(json.dumps(sorted(after)).encode())
        except OSError:
            return
