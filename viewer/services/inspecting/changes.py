"""What other processes changed: the store, or the file of models."""

import os
from dataclasses import dataclass
from pathlib import Path

from viewer.settings import Settings
from viewer.store.watching import StoreWatch


@dataclass(frozen=True, slots=True)
class Changed:
    """What was written since the last check."""

    store: bool
    models: bool


class Watch:
    """Checks the store and the file of models for changes, in microseconds."""

    def __init__(self, settings: Settings) -> None:
        self._store = StoreWatch(settings.store)
        self._models_file = settings.models_file
        self._models = _stamp(self._models_file)

    def look(self) -> Changed:
        """Return the changes since the last check, including those by this process."""
        before, self._models = self._models, _stamp(self._models_file)
        return Changed(self._store.has_changed(), self._models != before)

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return a stamp that changes when a file is written or replaced, None without."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked every second
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
