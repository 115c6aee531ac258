"""Check the flat table of predictions against its trials, or rebuild it."""

from pathlib import Path

from viewer.store import flat
from viewer.store.database import open_store


def check_index(store: Path) -> int:
    """Return how many trials the table has wrong, or has not at all."""
    with open_store(store) as opened:
        return flat.differing(opened)


def rebuild_index(store: Path) -> int:
    """Make the table anew in one transaction; return how many rows it has."""
    with open_store(store) as opened:
        return flat.rebuild(opened)
