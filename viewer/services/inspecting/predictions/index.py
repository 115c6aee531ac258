"""Checking of the flat table of predictions against its trials, and rebuilding it."""

from pathlib import Path

from viewer.store import flat
from viewer.store.database import open_store


def check_index(store: Path) -> int:
    """Return how many trials are wrong in the table or missing from it."""
    with open_store(store) as opened:
        return flat.differing(opened)


def rebuild_index(store: Path) -> int:
    """Rebuild the table in one transaction; return the number of rows."""
    with open_store(store) as opened:
        return flat.rebuild(opened)
