"""Runs whose reader has withdrawn: kept unchanged, but not counted."""

from collections.abc import Iterable
from typing import Final

from viewer.store import runs
from viewer.store.database import Store

WITHDRAWN: Final = "reader_withdrawn"
"""The kind of a run's note whose reader took the answers back."""


def withdrawn_among(store: Store, numbers: Iterable[int]) -> tuple[int, ...]:
    """Return which of some runs are left out because their reader has withdrawn."""
    return tuple(
        run
        for run in sorted(set(numbers))
        if any(note.kind == WITHDRAWN for note in runs.run_notes(store, run))
    )
