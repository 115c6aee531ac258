"""What the window remembers: geometry, theme, panels, choices and open files.

It is a JSON file in the data folder; of patients it contains only paths.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QFileDevice, QIODevice, QSaveFile

from viewer.domain.documents import read_json
from viewer.domain.plain import plain
from viewer.private_files import make_private_folder
from viewer.ui.application.choices import restored

FILE: Final = "window.json"
_OWNER_ONLY: Final = (
    QFileDevice.Permission.ReadOwner | QFileDevice.Permission.WriteOwner
)
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
    splitters: Mapping[str, str] = field(default_factory=dict)
    choices: Choices = field(default_factory=dict)


def read_layout(home: Path) -> Layout:
    """Return the stored layout, or the default.

    A damaged file counts as none: it contains no work of the user's.
    """
    try:
        value = read_json((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Layout()
    return restored(Layout(), value)


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
