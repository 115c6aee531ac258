"""Where a text beside something stands: where it covers nothing, if it can."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF

GAP: Final = 4.0


def around(box: QRectF, size: QSizeF) -> tuple[QPointF, ...]:
    """Return the places of a text: right, left, below and above of a box."""
    return (
        QPointF(box.right() + GAP, box.top()),
        QPointF(box.left() - GAP - size.width(), box.top()),
        QPointF(box.left(), box.bottom() + GAP),
        QPointF(box.left(), box.top() - GAP - size.height()),
    )


def stepped_aside(
    places: Sequence[QPointF],
    size: QSizeF,
    area: QRectF,
    taken: Sequence[QRectF],
    clear: QRectF,
) -> QRectF:
    """Return the best place's rectangle, in the view's pixels.

    Best lies in ``area``, then off all that is ``taken``, then off what is to be
    ``clear``; the first of ``places`` where none differs.
    """
    rects = [QRectF(at, size) for at in places]
    seen = [rect for rect in rects if area.contains(rect)] or rects
    apart = [r for r in seen if not any(r.intersects(t) for t in taken)] or seen
    return next((rect for rect in apart if not rect.intersects(clear)), apart[0])
