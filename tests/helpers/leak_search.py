"""A search of everything that a window holds, shows and reads for secret words.

Each channel yields texts with the place where each was found.
"""

import contextlib
import gc
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QModelIndex,
    QObject,
    Qt,
)
from PySide6.QtGui import QAction, QClipboard
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTabWidget,
    QTextEdit,
    QToolTip,
    QWidget,
)

from tests.helpers.secret_words import secrets_in
from viewer.domain.form import RankedTextQuestion
from viewer.domain.reading import Task
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.reference import ReferenceItem

Found = tuple[str, str]
"""A place, and the text found there."""
_ROLES: Final = (*range(14), *range(Qt.ItemDataRole.UserRole, 0x100 + 6))
_MOST_ROWS: Final = 300
_MOST_OBJECTS: Final = 500_000
_ENDS: Final = (type, ModuleType, AppContext)
"""What is common to the whole program is not looked through."""


DRAWN: Final = "a reference is drawn"
"""Found instead of a text where a reference is on the image."""


def advice_before(position: int, stage: int) -> str:
    """Return what is found instead of a text where a case has a model's answer."""
    return f"a model's answer in case {position} at stage {stage}"


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that was found, by the channel and the place there."""

    channel: str
    place: str
    secret: str


@dataclass
class Reads:
    """What was read from the store; each row is looked at once."""

    rows: list[tuple[str, sqlite3.Row]] = field(default_factory=list)
    listening: bool = False

    def note(self, sql: str, rows: Iterable[sqlite3.Row]) -> None:
        """Note the rows of a query."""
        if self.listening:
            self.rows += [(sql, row) for row in rows]

    def taken(self) -> list[tuple[str, sqlite3.Row]]:
        """Return what was noted, and forget it."""
        taken, self.rows = self.rows, []
        return taken


@dataclass(frozen=True, eq=False)
class Place:
    """What is searched: the parts that show a case, and what they may not name.

    ``vocabulary`` are the names offered to complete a line with, the same for every
    case: only all of them together tell nothing.
    """

    root: QWidget
    image: ImageView
    settings: Settings
    reads: Reads
    vocabulary: frozenset[str] = frozenset()


def leaks(
    place: Place, secrets: Collection[str], shapes: Collection[str]
) -> list[Leak]:
    """Return the secrets found; ``shapes`` are secret masks in run lengths."""
    return [
        Leak(channel, where, secret)
        for channel, texts in CHANNELS.items()
        for where, text in texts(place)
        for secret in _named(text, secrets, shapes)
        if not (place.vocabulary and place.vocabulary <= secrets_in(text))
    ]


def _named(
    text: str, secrets: Collection[str], shapes: Collection[str]
) -> Iterator[str]:
    yield from secrets_in(text).intersection(secrets)
    if len(text) > _SHORTEST:
        yield from (shape for shape in shapes if shape in text)


_SHORTEST: Final = 8


def _of_widgets(_: Place) -> Iterator[Found]:
    """Yield the texts of every widget of the program, shown or hidden."""
    for widget in QApplication.allWidgets():
        texts = [get() for get in _common(widget)]
        texts += [get() for get in _own(widget)]
        yield type(widget).__name__, "\n".join(filter(None, texts))
    yield "tool tip", QToolTip.text()


def _common(widget: QWidget) -> tuple[Callable[[], str], ...]:
    return (
        widget.windowTitle,
        widget.toolTip,
        widget.statusTip,
        widget.whatsThis,
        widget.accessibleName,
        widget.accessibleDescription,
        widget.objectName,
        widget.windowFilePath,
    )


def _own(widget: QWidget) -> tuple[Callable[[], str], ...]:
    match widget:
        case QLabel() | QAbstractButton():
            return (widget.text,)
        case QLineEdit():
            return (widget.text, widget.placeholderText)
        case QPlainTextEdit() | QTextEdit():
            return (widget.toPlainText, widget.placeholderText)
        case QComboBox():
            return (widget.currentText, widget.placeholderText)
        case QGroupBox() | QMenu():
            return (widget.title,)
        case QTabWidget():
            return tuple(partial(widget.tabText, i) for i in range(widget.count()))
    return ()


def _of_actions(_: Place) -> Iterator[Found]:
    """Yield the texts of every command, shown or not."""
    for window in QApplication.topLevelWidgets():
        for action in window.findChildren(QAction):
            told = (action.text(), action.toolTip(), action.statusTip())
            yield "command", "\n".join((*told, action.iconText(), repr(action.data())))


def _of_models(_: Place) -> Iterator[Found]:
    """Yield what lists and tables have to show, in every role, and what is dragged."""
    for widget in QApplication.allWidgets():
        if isinstance(widget, QComboBox | QAbstractItemView):
            model = widget.model()
            if model is not None:
                yield type(widget).__name__, "\n".join(_cells(model))
                if isinstance(widget, QAbstractItemView) and widget.dragEnabled():
                    yield "dragged", "\n".join(_dragged(model))
        if isinstance(widget, QLineEdit) and (of := widget.completer()) is not None:
            yield "completions", "\n".join(_cells(of.completionModel()))


def _cells(model: QAbstractItemModel) -> Iterator[str]:
    for index in _indexes(model):
        for role in _ROLES:
            data = model.data(index, role)
            if data is not None:
                yield data if isinstance(data, str) else repr(data)


def _dragged(model: QAbstractItemModel) -> Iterator[str]:
    dragged = model.mimeData(_indexes(model))
    if dragged is not None:
        yield from (_text_of(dragged.data(kind)) for kind in dragged.formats())


def _indexes(model: QAbstractItemModel) -> list[QModelIndex]:
    root = QModelIndex()
    return [
        model.index(row, column, root)
        for row in range(min(model.rowCount(root), _MOST_ROWS))
        for column in range(_columns(model))
    ]


def _columns(model: QAbstractItemModel) -> int:
    # Qt hides how many columns a list has: one.
    is_list = isinstance(model, QAbstractListModel)
    return 1 if is_list else model.columnCount(QModelIndex())


def _text_of(data: Any) -> str:  # noqa: ANN401 - a QByteArray of any kind of data
    raw = bytes(data.data())
    return raw.decode("utf-8", "replace") + raw.decode("utf-16", "replace")


def _of_clipboard(_: Place) -> Iterator[Found]:
    """Yield every form of what was copied or selected."""
    clipboard = QApplication.clipboard()
    for mode in (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection):
        held = clipboard.mimeData(mode)
        for kind in held.formats() if held is not None else ():
            yield kind, _text_of(held.data(kind))


def _of_files(place: Place) -> Iterator[Found]:
    """Yield open files' names, and names and content of what the program keeps."""
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # that of the listing itself
            yield "open file", str(descriptor.readlink())
    store = place.settings.store.name
    for folder, _, names in os.walk(place.settings.home):
        for path in (Path(folder, name) for name in names):
            yield "file", str(path)
            if not path.name.startswith(store):
                yield path.name, path.read_bytes().decode("utf-8", "replace")


def _of_objects(place: Place) -> Iterator[Found]:
    """Yield every text that is reachable from what shows a case.

    Texts of one collection belong together.
    """
    seen: set[int] = set()
    waiting: list[object] = [place.root, *place.root.findChildren(QObject)]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _ENDS):
            continue
        seen.add(id(one))
        if len(seen) > _MOST_OBJECTS:
            raise AssertionError("A case leads to the whole program.")
        parts = _parts_of(one)
        texts = [text for part in parts if (text := _words(part))]
        if isinstance(one, Task) and one.advice:
            texts.append(advice_before(one.position, one.stage))
        if texts:
            yield type(one).__name__, "\n".join(texts)
        waiting += [part for part in parts if gc.is_tracked(part)]


def _parts_of(one: object) -> list[Any]:
    if isinstance(one, FunctionType):
        return [one.__closure__, one.__defaults__]
    if isinstance(one, MethodType):
        return [one.__self__]
    if isinstance(one, RankedTextQuestion):
        return [one.id, one.text, one.help, "\n".join(one.suggestions)]
    parts: list[Any] = gc.get_referents(one)
    if isinstance(one, QObject):
        parts.append(vars(one))
    return parts


def _words(part: object) -> str:
    if isinstance(part, str):
        return part
    return part.decode("utf-8", "replace") if isinstance(part, bytes) else ""


def _of_store(place: Place) -> Iterator[Found]:
    """Yield the values that were read from the store since the last search."""
    for sql, row in place.reads.taken():
        for name, value in zip(row.keys(), row, strict=True):
            if text := _words(value):
                yield f"{name} of {sql[:60]}", text


def _of_canvas(place: Place) -> Iterator[Found]:
    """Yield that a reference is drawn: it has no words."""
    if any(isinstance(item, ReferenceItem) for item in place.image.stage.items()):
        yield "canvas", DRAWN


CHANNELS: Final[Mapping[str, Callable[[Place], Iterable[Found]]]] = {
    "widgets": _of_widgets,
    "commands": _of_actions,
    "lists": _of_models,
    "clipboard": _of_clipboard,
    "files": _of_files,
    "objects": _of_objects,
    "store": _of_store,
    "canvas": _of_canvas,
}
"""Where a secret could be, by name."""
