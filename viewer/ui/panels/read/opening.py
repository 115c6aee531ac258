"""Opening files and folders in the background, and what is open."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer, Signal

from viewer.domain.case import ImageRef, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import FileHeader
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.header_chunks import Headers, ReadChunk, Refused
from viewer.services.viewing.open_case import Index, Indexed, IndexState, open_cases
from viewer.services.viewing.unpacking import UnpackedZips, is_zip
from viewer.settings import Settings
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.notices import Notice
from viewer.ui.panels.read.case_listing import Entries, Listed
from viewer.ui.panels.read.folder_watch import FolderChanged, FolderWatch
from viewer.ui.panels.read.hanging import CaseRows, rows_of

_PAINT_S: Final = 1.0
"""After this the rest is read, whether the first image is seen or not."""


@dataclass(eq=False)
class Wanted:
    """A request to open something."""

    paths: tuple[Path, ...]
    show: bool
    """Whether its first image comes up."""
    image: ImageRef | None = None
    """What is to come up instead of the first, and therefore to be read first."""
    cancelled: Event = field(default_factory=Event)
    painted: Event = field(default_factory=Event)
    """Set when its first image is seen: reading on meanwhile would hold it up."""
    listed: bool = False
    """Whether it counts among what is open, as it does once an image is found."""
    packed: dict[Path, Path] = field(default_factory=dict)
    """The ZIP file of each folder among ``paths`` that was unpacked."""


@dataclass(frozen=True, eq=False)
class Found:
    """Indexing has progressed: how far it is, and what the case browser now lists."""

    wanted: Wanted
    event: Indexed
    rows: tuple[CaseRows, ...]
    entries: Listed | None
    closings: int
    """How often cases had been closed when the rows were made."""


@dataclass(frozen=True, eq=False)
class OpenFailed:
    """Nothing of the request can be opened."""

    wanted: Wanted
    error: Exception


@dataclass(frozen=True, eq=False)
class Relisted:
    """What is open is listed anew, because images show another view."""

    rows: tuple[CaseRows, ...]
    entries: Listed


class Opening(QObject):
    """Indexes files in the background; everything open is one index."""

    found = Signal(object)
    """Carries a Found."""
    failed = Signal(object)
    """Carries an OpenFailed."""
    relisted = Signal(object)
    """Carries a Relisted."""
    unpacked = Signal(object)
    """Carries a Notice: where a ZIP file was unpacked just now."""
    _arrived = Signal(object)

    def __init__(
        self, decoder: Decoder, parent: QObject, settings: Settings | None = None
    ) -> None:
        super().__init__(parent)
        self._decoder, self._home = decoder, settings.home if settings else None
        self._zips = UnpackedZips(settings) if settings else None
        self._index, self._entries = Index(), Entries()
        self._running: list[Wanted] = []
        self._paths: tuple[Path, ...] = ()
        self.lately: tuple[Path, ...] = ()
        """The files and folders that were opened, the newest first."""
        self._closings = 0
        self._watch = FolderWatch(self)
        self._watch.changed.connect(self._follow_disk)
        # Emitted in the thread that indexes; queued, it arrives in the window's.
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        application = QCoreApplication.instance()
        if application is not None:
            # The program's end waits for its threads, and a folder may take minutes.
            application.aboutToQuit.connect(self.cancel)

    @property
    def running(self) -> bool:
        """Whether files are being indexed."""
        return bool(self._running)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders that are open, in the order opened."""
        return self._paths

    def open(self, wanted: Wanted) -> None:
        """Index files and folders; `found` follows, or `failed`."""
        self._running.append(wanted)

        def on_error(error: Exception) -> None:
            self._running.remove(wanted)
            self.failed.emit(OpenFailed(wanted, error))

        run_for(self, lambda: self._look_through(wanted), lambda _: None, on_error)

    def _follow_disk(self, event: FolderChanged) -> None:
        """List a folder anew; if it is not there, say so once and keep the list."""
        wanted = Wanted((event.folder,), show=False)
        if event.reachable:
            self.open(wanted)
            return
        name = event.folder.name
        error = UnreadableInputError(
            f"The folder {name} cannot be reached any more.",
            "What was found in it stays listed; it is read again once it is back.",
        )
        self.failed.emit(OpenFailed(wanted, error))

    def cancel(self) -> None:
        """Stop indexing; keep the files found."""
        for wanted in self._running:
            wanted.cancelled.set()
            wanted.painted.set()

    def read_on(self, *_: object) -> None:
        """Read what is left once the image that is shown now has been painted."""
        running = tuple(self._running)

        def go_on() -> None:
            for wanted in running:
                wanted.painted.set()

        QTimer.singleShot(0, self, go_on)

    def close_case(self, key: str) -> None:
        """Close a patient's files."""
        self._close(partial(self._index.remove, key))

    def forget(self, gone: AbstractSet[Path]) -> None:
        """Close deleted files, by absolute path, and name them as opened no more."""
        self._close(partial(self._index.drop, gone))
        left = self._index.paths
        self.lately = tuple(p for p in self.lately if not _is_gone(p, gone, left))

    def _close(self, remove: Callable[[], object]) -> None:
        before = self._index.paths
        remove()
        gone = set(before) - set(self._index.paths)
        self._paths = tuple(
            path
            for opened in self._paths
            for path in _still_open(opened, gone, self._index.paths)
        )
        self._watch.watch(self._paths)
        self._closings += 1

    def close_all(self) -> None:
        """Close every file, and stop indexing."""
        self.cancel()
        self._index.clear()
        self._paths = ()
        self._watch.watch(())
        self._closings += 1

    def set_views(self, views: Mapping[Path, View]) -> None:
        """Set the views of files by absolute path; `relisted` follows a change."""
        closings = self._closings

        def work() -> Relisted | None:
            if not self._index.set_views(views):
                return None
            rows = self.rows()
            return Relisted(rows, self._entries.of(rows))

        def done(listed: Relisted | None) -> None:
            # What was closed since is listed by who closed it, with these views.
            if listed is not None and closings == self._closings:
                self.relisted.emit(listed)

        def failed(error: Exception) -> None:
            raise error

        run_for(self, work, done, failed, priority=-1)

    def rows(self) -> tuple[CaseRows, ...]:
        """Return the rows of the case browser."""
        return rows_of(self._index.cases())

    def _look_through(self, wanted: Wanted) -> None:
        if self._zips is not None:
            wanted.paths = tuple(
                self._folder_of(self._zips, path, wanted) for path in wanted.paths
            )
        if self._home is None or not wanted.paths[0].is_dir():
            self._read_all(wanted, self._decoder.headers)
            return
        from viewer.services.viewing.kept_headers import kept_headers

        with kept_headers(self._home, wanted.paths[0]) as kept:
            self._read_all(
                wanted, lambda paths: kept.read(paths, self._decoder.headers)
            )

    def _folder_of(self, zips: UnpackedZips, path: Path, wanted: Wanted) -> Path:
        """Return a path, or for a ZIP file the folder with its content."""
        if not is_zip(path):
            zips.hold(path)
            return path
        known = zips.is_unpacked(path)
        folder = zips.folder_of(path, wanted.cancelled.is_set)
        wanted.packed[folder] = path
        if not known:
            self.unpacked.emit(_unpacked_notice(folder))
        return folder

    def _read_all(self, wanted: Wanted, read_headers: ReadChunk) -> None:
        def read(paths: tuple[Path, ...]) -> Headers:
            headers = read_headers(paths)
            wanted.paths = _as_listed(
                wanted.paths, dict(zip(paths, headers, strict=True))
            )
            return headers

        events = open_cases(
            wanted.paths,
            wanted.cancelled,
            self._index,
            read,
            wanted.image.path if wanted.image else None,
        )
        for event in events:
            rows = rows_of(event.cases)
            entries = self._entries.of(rows)
            first = wanted.show and not wanted.listed
            self._arrived.emit(Found(wanted, event, rows, entries, self._closings))
            if first and event.state is IndexState.RUNNING:
                wanted.painted.wait(_PAINT_S)

    def _deliver(self, found: Found) -> None:
        wanted = found.wanted
        if found.event.state is not IndexState.RUNNING:
            self._running.remove(wanted)
            self._watch.watch((*self._paths, *wanted.paths))
        if found.closings != self._closings:
            found = replace(
                found, rows=self.rows(), entries=None
            )  # it lists what was closed since
        elif not wanted.listed:
            wanted.listed = True
            self._paths = tuple(dict.fromkeys((*self._paths, *wanted.paths)))
            chosen = (wanted.packed.get(path, path) for path in wanted.paths)
            self.lately = tuple(dict.fromkeys((*chosen, *self.lately)))
        self.found.emit(found)


def _unpacked_notice(folder: Path) -> Notice:
    return Notice(
        f"{folder.name}.zip was unpacked into the program's data folder.",
        "This copy is deleted at a later start, unless it is still open or runs, "
        "readings or marks refer to its images.",
        str(folder),
        warning=False,
    )


def lies_in(path: Path, opened: Path) -> bool:
    """Tell whether a file was opened itself or is in an opened folder."""
    return path == opened or opened in path.parents


def _as_listed(
    opened: tuple[Path, ...], read: Mapping[Path, FileHeader | Refused]
) -> tuple[Path, ...]:
    """Return what was opened; for a slide in several files, the listed one."""
    listed = {path: h.path for path, h in read.items() if isinstance(h, FileHeader)}
    return tuple(dict.fromkeys(listed.get(path, path) for path in opened))


def _still_open(
    opened: Path, gone: AbstractSet[Path], left: Sequence[Path]
) -> tuple[Path, ...]:
    """Return a path, or the remaining files of it if some are gone."""
    if not any(lies_in(path, opened) for path in gone):
        return (opened,)
    return tuple(path for path in left if lies_in(path, opened))


def _is_gone(opened: Path, gone: AbstractSet[Path], left: Sequence[Path]) -> bool:
    """Tell whether something was opened of which all images are gone."""
    whole = opened.absolute()
    return any(lies_in(path, whole) for path in gone) and not any(
        lies_in(path.absolute(), whole) for path in left
    )
