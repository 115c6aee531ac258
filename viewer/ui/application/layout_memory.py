"""What the window remembers: geometry, theme, panels, choices and open files.

It is a JSON file in the data folder; of patients it contains only paths.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Final

from PySide6.QtCore import (
    QByteArray,
    QFile,
    QFileDevice,
    QIODevice,
    QObject,
    QSaveFile,
    QTimer,
)
from PySide6.QtWidgets import QSplitter, QWidget

from viewer.domain.documents import read_json
from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.private_files import make_private_folder
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.choices import restored

FILE: Final = "window.json"
ASIDE: Final = "window.damaged.json"
"""Where a damaged file is kept as it was."""
_OWNER_ONLY: Final = (
    QFileDevice.Permission.ReadOwner | QFileDevice.Permission.WriteOwner
)
KEEP_MS: Final = 1_000
"""How long a change waits to be written, with those that follow it."""
RECENT: Final = 10
"""How many paths are offered to be opened again."""

Choices = Mapping[str, object]
"""By a panel's name, what `viewer.domain.plain` makes of its choice."""


@dataclass(frozen=True, slots=True)
class KeptImage:
    """The image that was displayed: its frame and its file, empty if there is none."""

    path: str = ""
    frame: int = 0


@dataclass(frozen=True)
class Layout:
    """The window as it was left; byte states are Qt's, in hexadecimal."""

    geometry: str = ""
    theme: str = "dark"
    workspace: str = "read"
    tool: str = ""
    """The id of the tool's action."""
    paths: tuple[str, ...] = ()
    """Files and folders that were open."""
    image: KeptImage = field(default_factory=KeptImage)
    recent: tuple[str, ...] = ()
    """Files and folders opened lately, the newest first."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Where files were chosen last, by purpose."""
    splitters: Mapping[str, str] = field(default_factory=dict)
    choices: Choices = field(default_factory=dict)


def without(layout: Layout, gone: AbstractSet[Path]) -> Layout:
    """Return a layout that names none of some deleted files and folders."""

    def left(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(path for path in paths if Path(path) not in gone)

    image = KeptImage() if Path(layout.image.path) in gone else layout.image
    recent = left(layout.recent)
    return replace(layout, paths=left(layout.paths), image=image, recent=recent)


def read_layout(
    home: Path, tell: Callable[[OverreadError], object] | None = None
) -> Layout:
    """Return the stored layout, or the default.

    A damaged file counts as none; if there is somebody to tell, it is kept beside.
    """
    try:
        value = read_json((home / FILE).read_text(encoding="utf-8"))
    except OSError:
        return Layout()
    except ValueError as error:
        if tell is not None:
            tell(set_aside(home, f"{FILE} with the settings is damaged: {error}."))
        return Layout()
    return restored(Layout(), value)


def set_aside(home: Path, what: str) -> OverreadError:
    """Copy a damaged file to one beside it; return the error to show, which says so."""
    aside = str(home / ASIDE)
    QFile.remove(aside)
    kept = QFile.copy(str(home / FILE), aside)  # with its permissions
    where = f"; the file is kept as {ASIDE}" if kept else ""
    return OverreadError(what, f"The defaults are used instead{where}.")


def keep_layout(layout: Layout, home: Path) -> bool:
    """Write the layout atomically; return whether it was written."""
    make_private_folder(home)
    text = json.dumps(plain(layout), indent=2, ensure_ascii=False)
    file = QSaveFile(str(home / FILE))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        return False
    # Before a byte is written: a path may name a patient.
    file.setPermissions(_OWNER_ONLY)
    file.write(QByteArray(text.encode()))
    return file.commit()


def bytes_of(state: str) -> QByteArray:
    """Return a Qt state from hexadecimal digits, empty if they are damaged."""
    return QByteArray.fromHex(QByteArray(state.encode()))


def digits_of(state: QByteArray) -> str:
    """Return a state of Qt's as hexadecimal digits."""
    return bytes(state.toHex().data()).decode()


def splitter_states(name: str, widget: QWidget) -> Mapping[str, str]:
    """Return the state of each splitter in a workspace of that name."""
    return {key: digits_of(one.saveState()) for key, one in _splitters(name, widget)}


def restore_splitters(layout: Layout, name: str, widget: QWidget) -> None:
    """Set the splitters of a workspace as a layout has them."""
    for key, splitter in _splitters(name, widget):
        if key in layout.splitters:
            splitter.restoreState(bytes_of(str(layout.splitters[key])))


def _splitters(name: str, widget: QWidget) -> Iterator[tuple[str, QSplitter]]:
    for number, splitter in enumerate(widget.findChildren(QSplitter)):
        yield f"{name}.{splitter.objectName() or number}", splitter


class LayoutKeeper(QObject):
    """Writes the layout soon after each change, so that no kill loses it.

    Whatever changes it, it is found by comparison: no part of the window has to report.

    Parameters
    ----------
    home : Path
        The data folder.
    take : callable
        Returns the layout as it is now.
    parent : QObject
        What this belongs to.
    """

    def __init__(self, home: Path, take: Callable[[], Layout], parent: QObject) -> None:
        super().__init__(parent)
        self._home, self._take = home, take
        self._lock, self._kept = Lock(), read_layout(home)
        self._newest = self._written = 0
        self._background_tasks = BackgroundTasks(self)
        self._timer = QTimer(self, interval=KEEP_MS)
        self._timer.timeout.connect(self._keep_soon)

    def start(self) -> None:
        """Begin, once everything is as the user left it."""
        self._timer.start()

    def keep_now(self) -> None:
        """Write the layout, for the last time."""
        self._timer.stop()
        self._newest += 1
        self._write(self._take(), self._newest)

    def _keep_soon(self) -> None:
        layout = self._take()
        if layout != self._kept:
            self._kept, number = layout, self._newest + 1
            self._newest = number
            # in the background: the disk may be slow
            self._background_tasks.start(
                number, lambda: self._write(layout, number), lambda _: None, _ignore
            )

    def _write(self, layout: Layout, number: int) -> None:
        """Write a layout, unless a later one was written meanwhile."""
        with self._lock:
            if number > self._written:
                self._written = number
                keep_layout(layout, self._home)


def _ignore(_: Exception) -> None:
    """Leave the layout of before where the disk is full or read-only."""
