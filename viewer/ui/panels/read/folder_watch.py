"""Notices when the files of an opened folder come and go, or the folder itself."""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from viewer.ui.application.background_tasks import run_for

INTERVAL_MS: Final = 5_000
_SHARE: Final = 50
"""Looking may take one part in so many of the time, as on a slow share."""
_FIRST_MS: Final = 500
_UNSEEN: Final = ""
"""The listing of a folder that was not looked at yet."""


@dataclass(frozen=True, slots=True)
class FolderChanged:
    """Files were added or removed; ``reachable`` is False if the folder is gone."""

    folder: Path
    reachable: bool = True


class FolderWatch(QObject):
    """Looks at the folders every few seconds: a share tells nobody of its changes."""

    changed = Signal(object)
    """Carries a FolderChanged."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[Path, str | None] = {}
        self._stop = Event()
        self._clock = QTimer(self, singleShot=True)
        self._clock.timeout.connect(self.look)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self._stop.set)

    def watch(self, paths: Iterable[Path]) -> None:
        """Watch those of the paths that are folders, and no others any more."""
        known = self._known
        folders = [path for path in paths if path in known or path.is_dir()]
        self._known = {folder: known.get(folder, _UNSEEN) for folder in folders}
        if self._known.keys() - known.keys():
            self._clock.start(_FIRST_MS)

    def look(self) -> None:
        """Look at every folder, in the background."""
        folders, began = tuple(self._known), time.monotonic()

        def found(now: Mapping[Path, str | None]) -> None:
            took_ms = 1_000 * (time.monotonic() - began)
            if self._known and not self._stop.is_set():
                self._clock.start(max(INTERVAL_MS, round(_SHARE * took_ms)))
                for folder, listing in now.items():
                    self._compare(folder, listing)

        def failed(error: Exception) -> None:
            raise error

        def work() -> Mapping[Path, str | None]:
            return {folder: self._listing(folder) for folder in folders}

        run_for(self, work, found, failed, priority=-1)

    def _compare(self, folder: Path, now: str | None) -> None:
        before = self._known.get(folder, now)
        if folder in self._known:
            self._known[folder] = now
        if before not in {now, _UNSEEN}:
            self.changed.emit(FolderChanged(folder, reachable=now is not None))

    def _listing(self, folder: Path) -> str | None:
        """Return a hash of names, sizes and times; None if it cannot be reached."""
        try:
            os.scandir(folder).close()
        except OSError:
            return None
        import hashlib  # OpenSSL's library takes a while to load

        digest = hashlib.sha256()
        for above, folders, names in os.walk(folder):
            folders.sort()
            if self._stop.is_set():
                break
            for name in sorted(names):
                path = Path(above, name)
                with suppress(OSError):
                    stat = path.lstat()
                    line = f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n"
                    digest.update(line.encode(errors="surrogateescape"))
        return digest.hexdigest()
