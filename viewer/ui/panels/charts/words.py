"""What the charts share: axes in the theme's colours, and keys in words."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor

from viewer.domain.escapes import visible
from viewer.domain.styles import Style, contrast
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import as_html

_AXIS_HEIGHT: Final = 58
_LETTERS: Final = 14
_PATTERNS: Final = {
    "": Qt.BrushStyle.SolidPattern,
    "/": Qt.BrushStyle.BDiagPattern,
    "x": Qt.BrushStyle.DiagCrossPattern,
    ".": Qt.BrushStyle.Dense6Pattern,
}
"""How Qt fills what matplotlib hatches with a letter."""
_FILLED: Final = {"": "◼", "/": "▨", "x": "▩", ".": "▤"}
"""What stands for it in a key."""
_LEAST_CONTRAST: Final = 1.2
"""Between a colour and its ground, 1 to 21."""


def quiet(plot: Any) -> None:  # noqa: ANN401 - pyqtgraph has no types
    """Leave a plot without menus, buttons and dragging, in the theme's colours."""
    colours = theme.current()
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setMouseEnabled(x=False, y=False)
    for name in ("left", "bottom"):
        plot.getAxis(name).setPen(colours.line)
        plot.getAxis(name).setTextPen(colours.muted)


def tick_axis(plot: Any, groups: Sequence[str]) -> None:  # noqa: ANN401
    """Write the groups' lines under the bars."""
    quiet(plot)
    axis = plot.getAxis("bottom")
    axis.setHeight(_AXIS_HEIGHT)
    axis.setStyle(hideOverlappingLabels=False)
    axis.setTicks([[*enumerate(map(visible, groups))]])
    plot.showGrid(y=True, alpha=0.15)


def folded(name: str) -> str:
    """Return a name broken into lines between words."""
    return "\n".join(textwrap.wrap(name, _LETTERS, break_long_words=False))


def brush_of(look: Style) -> QBrush:
    """Return the brush for bars of a style in the current theme."""
    colour = look.colour_on(theme.current().ground)
    return QBrush(QColor(colour), _PATTERNS[look.hatch[:1]])


def filled_sign(look: Style) -> str:
    """Return a legend patch that is filled like the bars of a style."""
    return _FILLED[look.hatch[:1]]


def is_faint(color: str) -> bool:
    """Tell whether a colour has too little contrast with its background."""
    return contrast(color, theme.current().panel) < _LEAST_CONTRAST


def lines_of(color: str, name: str, sign: str = "◼") -> str:
    """Return a name after its coloured sign, as rich text; hollow where it is faint."""
    if is_faint(color):
        color, sign = theme.current().muted, "◻"
    return f'<span style="color:{color}">{sign}</span> {as_html(name)}'
