"""Icons of the Material Design set, drawn in the colours of the theme in use.

The font comes with qtawesome; it is read directly, because importing the package takes
a quarter of the time the window may take to open.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QIcon,
    QIconEngine,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import isValid

from viewer.ui.widgets import theme

_IN_USE: list[QIconEngine] = []
"""Engines that Qt uses and deletes.

PySide does not keep the Python half of one alive: Qt would call what is gone.
"""
_MANY: Final = 256


@cache
def icon(name: str) -> QIcon:
    """Return an icon by its name in the Material Design set (``grid``, ``undo``).

    The same one each time, never taken down and with it its engine. It follows the
    theme: muted where disabled, the accent where checked.

    Raises
    ------
    KeyError
        If the set has no icon of that name.
    """
    # A copy: of the first one PySide makes the engine a child, which it deletes twice
    # where the collector finds both in one cycle, as at the interpreter's end.
    return QIcon(QIcon(_retained(_Engine(chr(int(_codes()[name], 16))))))


class IconLabel(QLabel):
    """An icon as a label, repainted when the theme changes."""

    def __init__(self, name: str, size: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = size
        self.show_icon(name)

    def show_icon(self, name: str) -> None:
        """Show another icon."""
        self._icon = icon(name)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Take the colours of the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        size = QSize(self._size, self._size)
        self.setPixmap(self._icon.pixmap(size, self.devicePixelRatioF()))


class _Engine(QIconEngine):
    """One glyph, painted in each colour and size that is asked for."""

    def __init__(self, glyph: str) -> None:
        super().__init__()
        self._glyph = glyph
        self._drawn: dict[tuple[int, int, str], QPixmap] = {}

    def clone(self) -> QIconEngine:
        """Return a copy, as Qt asks for one."""
        return _retained(_Engine(self._glyph))

    def paint(
        self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State
    ) -> None:
        """Draw the glyph into a rectangle."""
        font = QFont(_family())
        font.setPixelSize(max(1, min(rect.width(), rect.height())))
        painter.setFont(font)
        painter.setPen(QColor(_color(mode, state)))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self._glyph)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the glyph on a transparent background, drawn once for each look."""
        look = size.width(), size.height(), _color(mode, state)
        if look not in self._drawn:
            self._drawn[look] = self._pictured(size, mode, state)
        return self._drawn[look]

    def _pictured(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        if size.isEmpty():  # a button that is being laid out has no room yet
            return pixmap
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap


def _retained(engine: QIconEngine) -> QIconEngine:
    """Keep an engine while Qt uses it; release deleted ones later."""
    if len(_IN_USE) >= _MANY and len(_IN_USE).bit_count() == 1:
        _IN_USE[:] = [known for known in _IN_USE if isValid(known)]
    _IN_USE.append(engine)
    return engine


def _color(mode: QIcon.Mode, state: QIcon.State) -> str:
    palette = theme.current()
    if mode is QIcon.Mode.Disabled:
        return palette.line
    return palette.accent if state is QIcon.State.On else palette.muted


def _font_file(pattern: str) -> Path:
    spec = find_spec("qtawesome")
    folders = spec.submodule_search_locations if spec else None
    found = sorted(Path((folders or [""])[0], "fonts").glob(pattern))
    if not found:
        raise FileNotFoundError(f"qtawesome's {pattern} is not installed")
    return found[-1]


@cache
def _codes() -> Mapping[str, str]:
    """Return the code points of all glyphs, in hexadecimal; few are ever used."""
    text = _font_file("materialdesignicons6-*.json").read_text(encoding="utf-8")
    codes: Mapping[str, str] = json.loads(text)
    return codes


@cache
def _family() -> str:
    number = QFontDatabase.addApplicationFont(
        str(_font_file("materialdesignicons6-*.ttf"))
    )
    return QFontDatabase.applicationFontFamilies(number)[0]
