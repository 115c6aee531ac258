"""Orientation letters and laterality, as the file gives them and never guessed."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF

from viewer.domain.image_geometry import ImageGeometry, is_direction, opposite
from viewer.ui.canvas.overlays.corner_text import MARGIN, Line
from viewer.ui.canvas.overlays.halo import Face, text_size

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
    """Place the letters in the middle of the view's edges, over ``names`` of cells."""
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
    ground = QRectF(at, size)
    on_names = any(name.intersects(ground) for name in names)
    return Line(text, at, ground, on_names=on_names)


def _known(value: str) -> str:
    """Return a direction as it is, "" if it holds an unknown letter."""
    value = value.strip().upper()
    return value if is_direction(value) else ""
