"""Reading states of the rows of the case list, in the store."""

from collections.abc import Mapping
from pathlib import Path

from viewer.domain.case import ReadingState
from viewer.store import folders
from viewer.store.database import open_store


def kept_states(store: Path) -> Mapping[str, ReadingState]:
    """Return the state of each row that was ever opened, by the row's key."""
    if not store.exists():
        return {}
    with open_store(store) as opened:
        return folders.reading_states(opened)


def keep_states(store: Path, states: Mapping[str, ReadingState]) -> None:
    """Store the reading states of rows."""
    with open_store(store) as opened:
        folders.keep_reading_states(opened, states)
