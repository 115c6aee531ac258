"""The four blocks of corner text."""

import itertools
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from viewer.domain.annotation import CornerLine, CornerText
from viewer.ui.canvas.overlays.halo import Face, draw_text, text_size

MARGIN: Final = 8.0
_MOST_LINES: Final = 2
"""So many lines further a line goes to get past the names of cells."""
_AT_EDGE: Final = 16.0
"""Names of rows that stand within so many pixels of a line's outer end are passed."""
COLOR: Final = "#D7DBE0"
_BACKING: Final = QColor(0, 0, 0, 225)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text and its top left corner, in the view's pixels.

    ``source`` is where it was read from, "" if there is none. ``on_names`` says that it
    lies over names of cells, which are then darkened behind it.
    """

    text: str
    at: QPointF
    ground: QRectF
    source: str = ""
    on_names: bool = False


def layout(
    corners: CornerText,
    live: tuple[CornerLine, ...],
    area: QRectF,
    face: Face,
    names: tuple[QRectF, ...] = (),
) -> tuple[Line, ...]:
    """Place the corner text; ``live`` lines end the block at the bottom left.

    Where two blocks do not fit beside each other, the patient stays on top and the
    lossy ratio at the bottom. A line that would meet one of the ``names`` of the grid's
    cells goes past it; one that is wider than the view ends in an ellipsis. In a view
    too low for all lines, those nearest the middle are left out, first of the place.
    """
    last = (*corners.bottom_left, *live)
    top, bottom = area.top() + MARGIN, area.bottom() - MARGIN
    first = _block(corners.top_left, area, face, names, right=False, start=top)
    if not _fit(corners.top_left, corners.top_right, area, face):
        top = max((line.ground.bottom() - 2.0 for line in first), default=top)
    second = _block(corners.top_right, area, face, names, right=True, start=top)
    low = _block(
        corners.bottom_right, area, face, names, right=True, start=bottom, up=True
    )
    if not _fit(last[::-1], corners.bottom_right[::-1], area, face):
        bottom = min((line.ground.top() for line in low), default=bottom)
    beside = _block(last, area, face, names, right=False, start=bottom, up=True)
    return _apart(
        (*first, *second, *beside, *low), (first, low, beside[::-1], second), area
    )


def _apart(
    lines: tuple[Line, ...], by_weight: tuple[list[Line], ...], area: QRectF
) -> tuple[Line, ...]:
    """Return the lines that lie in the view and on no line of more weight."""
    kept: list[Line] = []
    for line in itertools.chain.from_iterable(by_weight):
        inner = line.ground.adjusted(2, 2, -2, -2)
        if area.contains(inner) and not any(k.ground.intersects(inner) for k in kept):
            kept.append(line)
    return tuple(line for line in lines if line in kept)


def lowest_free(lines: tuple[Line, ...], area: QRectF, width: float) -> float:
    """Return how far up from the bottom edge lines reach at the right.

    ``width`` is that of what is to stand above them, from the margin to the left.
    """
    left, middle = area.right() - MARGIN - width, area.center().y()
    tops = [
        line.ground.top()
        for line in lines
        if line.ground.top() > middle and line.ground.right() > left
    ]
    return max(0.0, area.bottom() - MARGIN - min(tops)) if tops else 0.0


def paint(painter: QPainter, lines: tuple[Line, ...], face: Face) -> None:
    """Draw what :func:`layout` placed."""
    for line in lines:
        if line.on_names:
            painter.fillRect(line.ground, _BACKING)
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
    names: tuple[QRectF, ...],
    *,
    right: bool,
    start: float,
    up: bool = False,
) -> list[Line]:
    """Place lines from a height on, downward or ``up``, past the names of cells."""
    step = text_size("Hg", face).height() - 2.0
    y, lines = start - step if up else start, list[Line]()
    for one in texts[::-1] if up else texts:
        text = _elided(one.text, area.width() - 2 * MARGIN, face)
        size = text_size(text, face)
        x = area.right() - MARGIN - size.width() if right else area.left() + MARGIN
        place = QRectF(x, y, size.width(), step)
        beside = _beside(place, names, right=right)
        tried = (_past(each, names, up=up) for each in (place, beside))
        at = next((free for free in tried if free is not None), place.topLeft())
        y = at.y()
        source = one.source if text == one.text else f"{one.text}\n{one.source}"
        ground = QRectF(at, size)
        met = any(name.intersects(ground) for name in names)
        lines.append(Line(text, at, ground, source, met))
        y += -step if up else step
    return lines[::-1] if up else lines


def _beside(line: QRectF, names: tuple[QRectF, ...], *, right: bool) -> QRectF:
    """Return a line moved off the names of rows that stand at its edge of the view."""
    reach = QRectF(line.right() - _AT_EDGE if right else line.left(), 0, _AT_EDGE, 0)
    at_edge = [
        n for n in names if n.left() <= reach.right() and n.right() >= reach.left()
    ]
    moved = QRectF(line)
    if at_edge and right:
        moved.moveRight(min(name.left() for name in at_edge))
    elif at_edge:
        moved.moveLeft(max(name.right() for name in at_edge))
    return moved


def _past(line: QRectF, names: tuple[QRectF, ...], *, up: bool) -> QPointF | None:
    """Return the top left of the next place for a line that meets no name.

    Between the names of small cells there is none: it stays, and gets a dark ground.
    """
    line, first, farthest = QRectF(line), line.top(), _MOST_LINES * line.height()
    while met := [name for name in names if name.intersects(line)]:
        if abs(line.top() - first) > farthest:
            return None
        if up:
            line.moveBottom(min(name.top() for name in met))
        else:
            line.moveTop(max(name.bottom() for name in met))
    return line.topLeft()


def _elided(text: str, width: float, face: Face) -> str:
    """Return a text that is no wider than the view, cut off with an ellipsis."""
    if text_size(text, face).width() <= width:
        return text
    room = width - text_size("", face).width()
    metrics = QFontMetricsF(face.font())
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
