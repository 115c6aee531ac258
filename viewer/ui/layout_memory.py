"""What the window remembers: its place, theme, panels and the paths last opened.

A JSON file in the data folder; of patients it holds no more than those paths.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QIODevice, QSaveFile

FILE: Final = "window.json"


@dataclass(frozen=True)
class Layout:
    """The window as it was left; byte states are Qt's own, in hexadecimal digits."""

    geometry: str = ""
    theme: str = "dark"
    workspace: str = "read"
    paths: tuple[str, ...] = ()
    splitters: Mapping[str, str] = field(default_factory=dict)


def read_layout(home: Path) -> Layout:
    """Return the layout last kept, or the first one.

    A file that is damaged counts as none: it holds nothing that a person made.
    """
    try:
        value = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Layout()
    return _layout(value) if isinstance(value, dict) else Layout()


def keep_layout(layout: Layout, home: Path) -> bool:
    """Write the layout, the whole file or nothing; return whether it was written."""
    home.mkdir(parents=True, exist_ok=True)
    values = {f.name: getattr(layout, f.name) for f in fields(Layout)}
    text = json.dumps(values, indent=2, ensure_ascii=False)
    file = QSaveFile(str(home / FILE))
    if not file.open(QIODevice.OpenModeFlag.WriteOnly):
        return False
    file.write(QByteArray(text.encode()))
    return file.commit()


def bytes_of(state: str) -> QByteArray:
    """Return a state that Qt restores; none where the digits are damaged."""
    return QByteArray.fromHex(QByteArray(state.encode()))


def digits_of(state: QByteArray) -> str:
    """Return a state of Qt's as hexadecimal digits."""
    return bytes(state.toHex().data()).decode()


def _layout(value: Mapping[str, object]) -> Layout:
    first = Layout()
    paths, splitters = value.get("paths"), value.get("splitters")
    return Layout(
        geometry=_text(value.get("geometry"), first.geometry),
        theme=_text(value.get("theme"), first.theme),
        workspace=_text(value.get("workspace"), first.workspace),
        paths=tuple(map(str, paths)) if isinstance(paths, list) else first.paths,
        splitters={str(name): str(state) for name, state in splitters.items()}
        if isinstance(splitters, dict)
        else first.splitters,
    )


def _text(value: object, default: str) -> str:
    return value if isinstance(value, str) else default
