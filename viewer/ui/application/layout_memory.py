"""What the window remembers: its place, theme, panels, choices and what was open.

A JSON file in the data folder; of patients it holds no more than paths.
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
    """The image on the screen: its file, empty without one, and the frame of it."""

    path: str = ""
    frame: int = 0


@dataclass(frozen=True)
class Layout:
    """The window as it was left; byte states are Qt's own, in hexadecimal digits."""

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
    """Return the layout last kept, or the first one.

    A file that is damaged counts as none: it holds nothing that a person made.
    """
    try:
        value = read_json((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Layout()
    return restored(Layout(), value)


def keep_layout(layout: Layout, home: Path) -> bool:
    """Write the layout, the whole file or nothing; return whether it was written."""
    make_private_folder(home)
    text = json.dumps(plain(layout), indent=2, ensure_ascii=False)
    file = QSaveFile(str(home / FILE))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        return False
    file.setPermissions(_OWNER_ONLY)
    file.write(QByteArray(text.encode()))
    return file.commit()


def bytes_of(state: str) -> QByteArray:
    """Return a state that Qt restores; none if the digits are damaged."""
    return QByteArray.fromHex(QByteArray(state.encode()))


def digits_of(state: QByteArray) -> str:
    """Return a state of Qt's as hexadecimal digits."""
    return bytes(state.toHex().data()).decode()
