"""Orientation letters and laterality, as the file gives them and never guessed."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF

from viewer.domain.image_geometry import ImageGeometry, is_direction, opposite
from viewer.ui.canvas.overlays.corner_text import MARGIN, Line
from viewer.ui.canvas.overlays.halo import Face, text_size

_FARTHEST: Final = 3
"""So many of its own widths or heights a letter goes to stand on no name."""
_SIDES: Final = {"L": "Left", "R": "Right", "B": "Both sides"}


@dataclass(frozen=True, slots=True)
class EdgeLetters:
    """What lies towards each edge of the image; "" if the file does not say."""

    left: str
    right: str
    top: str
    bottom: str


def edge_letters(geometry: ImageGeometry) -> EdgeLetters:
    """Return the letters of Patient Orientation (PS3.3 C.7.6.1.1.1).

    Its first value is the direction of the rows (to the right), its second that of
    the columns (downwards); the other two edges are their opposites.
    """
    values = (*geometry.letters, "", "")
    right, bottom = (_known(value) for value in values[:2])
    return EdgeLetters(opposite(right), right, opposite(bottom), bottom)


def laterality_text(geometry: ImageGeometry) -> str:
    """Return the side that was imaged (PS3.3 C.7.3.1, C.8.11.2), "" if unknown."""
    return _SIDES.get(geometry.laterality.strip().upper(), "")


def layout(
    geometry: ImageGeometry,
    area: QRectF,
    face: Face,
    names: tuple[QRectF, ...] = (),
) -> tuple[Line, ...]:
    """Place the letters in the middle of the view's edges, past ``names`` of cells."""
    letters = edge_letters(geometry)
    top = "  ".join(text for text in (letters.top, laterality_text(geometry)) if text)
    return tuple(
        _line(text, QPointF(x, y), area, face, names)
        for text, x, y in (
            (letters.left, 0.0, 0.5),
            (letters.right, 1.0, 0.5),
            (top, 0.5, 0.0),
            (letters.bottom, 0.5, 1.0),
        )
        if text
    )


def _line(
    text: str, part: QPointF, area: QRectF, face: Face, names: tuple[QRectF, ...]
) -> Line:
    """Place a text in a part of the view, from 0 to 1 across and down."""
    size = text_size(text, face)
    at = QPointF(
        area.left() + MARGIN + part.x() * (area.width() - 2 * MARGIN - size.width()),
        area.top() + MARGIN + part.y() * (area.height() - 2 * MARGIN - size.height()),
    )
    ground = _past(QRectF(at, size), part, names)
    on_names = any(name.intersects(ground) for name in names)
    return Line(text, ground.topLeft(), ground, on_names=on_names)


def _past(letter: QRectF, part: QPointF, names: tuple[QRectF, ...]) -> QRectF:
    """Return the next place towards the middle of the view that meets no name.

    Where that is farther than a few letters, it stays, and gets a dark ground.
    """
    wide, high = _FARTHEST * letter.width(), _FARTHEST * letter.height()
    reach, moved = letter.adjusted(-wide, -high, wide, high), QRectF(letter)
    while reach.contains(moved):
        met = [name for name in names if name.intersects(moved)]
        if not met:
            return moved
        if part.x() == 0:
            moved.moveLeft(max(name.right() for name in met))
        elif part.x() == 1:
            moved.moveRight(min(name.left() for name in met))
        elif part.y() == 0:
            moved.moveTop(max(name.bottom() for name in met))
        else:
            moved.moveBottom(min(name.top() for name in met))
    return letter


def _known(value: str) -> str:
    """Return a direction as it is, "" if it holds an unknown letter."""
    value = value.strip().upper()
    return value if is_direction(value) else ""
