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
    """Place the corner text; ``live`` lines end the block at the bottom left.

    Where two blocks do not fit beside each other, the patient stays on top and the
    lossy ratio at the bottom.
    """
    fits = _fit(corners.top_left, corners.top_right, area, face)
    down = 0 if fits else len(corners.top_left)
    up = raised(corners, live, area, face)
    blocks = (
        (corners.top_left, False, False, 0),
        (corners.top_right, True, False, down),
        ((*corners.bottom_left, *live), False, True, up),
        (corners.bottom_right, True, True, 0),
    )
    return tuple(
        line
        for lines, right, bottom, away in blocks
        for line in _block(lines, area, face, right=right, bottom=bottom, away=away)
    )


def raised(
    corners: CornerText, live: tuple[CornerLine, ...], area: QRectF, face: Face
) -> int:
    """Return how many lines up the block at the bottom left stands in a narrow view."""
    left = (*corners.bottom_left, *live)[::-1]
    right = corners.bottom_right
    return 0 if _fit(left, right[::-1], area, face) else len(right)


def paint(painter: QPainter, lines: tuple[Line, ...], face: Face) -> None:
    """Draw what :func:`layout` placed."""
    for line in lines:
        draw_text(painter, line.at, line.text, face, COLOR)


def _fit(
    left: tuple[CornerLine, ...],
    right: tuple[CornerLine, ...],
    area: QRectF,
    face: Face,
) -> bool:
    """Tell whether lines fit beside each other, with a margin between them."""
    room = area.width() - 3 * MARGIN
    widths = (
        text_size(one.text, face).width() + text_size(other.text, face).width()
        for one, other in zip(left, right, strict=False)
    )
    return all(width <= room for width in widths)


def _block(
    texts: tuple[CornerLine, ...],
    area: QRectF,
    face: Face,
    *,
    right: bool,
    bottom: bool,
    away: int,
) -> list[Line]:
    """Place lines from an edge, ``away`` lines from it."""
    height = text_size("Hg", face).height() - 2.0
    if bottom:
        y = area.bottom() - MARGIN - (len(texts) + away) * height
    else:
        y = area.top() + MARGIN + away * height
    lines = []
    for number, one in enumerate(texts):
        size = text_size(one.text, face)
        x = area.right() - MARGIN - size.width() if right else area.left() + MARGIN
        at = QPointF(x, y + number * height)
        lines.append(Line(one.text, at, QRectF(at, size), one.source))
    return lines
