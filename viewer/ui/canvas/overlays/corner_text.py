"""The four blocks of corner text."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from viewer.domain.annotation import CornerLine, CornerText
from viewer.ui.canvas.overlays.halo import Face, draw_text, text_size

MARGIN: Final = 8.0
COLOR: Final = "#D7DBE0"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text and its top left corner, in the view's pixels.

    ``source`` is where it was read from, "" if there is none.
    """

    text: str
    at: QPointF
    ground: QRectF
    source: str = ""


def layout(
    corners: CornerText, live: tuple[CornerLine, ...], area: QRectF, face: Face
) -> tuple[Line, ...]:
    """Place the corner text; ``live`` lines end the block at the bottom left."""
    blocks = (
        (corners.top_left, False, False),
        (corners.top_right, True, False),
        ((*corners.bottom_left, *live), False, True),
        (corners.bottom_right, True, True),
    )
    return tuple(
        line
        for lines, right, bottom in blocks
        for line in _block(lines, area, face, right=right, bottom=bottom)
    )


def paint(painter: QPainter, lines: tuple[Line, ...], face: Face) -> None:
    """Draw what :func:`layout` placed."""
    for line in lines:
        draw_text(painter, line.at, line.text, face, COLOR)


def _block(
    texts: tuple[CornerLine, ...],
    area: QRectF,
    face: Face,
    *,
    right: bool,
    bottom: bool,
) -> list[Line]:
    height = text_size("Hg", face).height() - 2.0
    y = area.bottom() - MARGIN - len(texts) * height if bottom else area.top() + MARGIN
    lines = []
    for number, one in enumerate(texts):
        size = text_size(one.text, face)
        x = area.right() - MARGIN - size.width() if right else area.left() + MARGIN
        at = QPointF(x, y + number * height)
        lines.append(Line(one.text, at, QRectF(at, size), one.source))
    return lines
