"""A disk that is full for a reader's answers: SQLite refuses to make the store grow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from viewer.services.readings import recording
from viewer.store.database import Store, open_store


@contextmanager
def full_disk(patch: pytest.MonkeyPatch, spare: int = 0) -> Iterator[None]:
    """Leave the store room for only so many more pages."""

    def limited(path: Path) -> Store:
        store = open_store(path)
        pages = store.rows("PRAGMA page_count")[0][0]
        store.rows(f"PRAGMA max_page_count = {pages + spare}")
        return store

    with patch.context() as inside:
        inside.setattr(recording, "open_store", limited)
        yield
