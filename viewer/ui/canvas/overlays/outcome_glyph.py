"""The sign of an outcome, drawn as a shape so that no font needs it.

Full hit ◼, partial ◧, miss ◇, unparsed ?, refused ⊘; a dot, which has no text form, if
no reference judges the answer.
"""

from enum import StrEnum
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from viewer.domain.answer import UNREADABLE, Status
from viewer.domain.result import Score
from viewer.domain.styles import style_of

_STROKE: Final = 1.5
_DOT: Final = 2.5


class Glyph(StrEnum):
    """The signs as text has them."""

    FULL = "◼"
    PARTIAL = "◧"
    MISS = "◇"
    UNPARSED = "?"
    REFUSED = "⊘"
    NONE = ""


_OF_REASON: Final = {"no_gt": "no reference", "ungraded": "not graded"}
_OF_STATUS: Final = {Status.SCORED_CORRECT: "right", Status.SCORED_WRONG: "wrong"}
"""Of answers in words, which are not a place that could be a hit."""


def glyph_of(score: Score) -> Glyph:
    """Return the sign of a verdict, NONE without a reference."""
    return _sign_and_words(score)[0]


def words_of(score: Score) -> str:
    """Return a verdict in words: ``full hit``, ``unparsed: ambiguous``."""
    return _sign_and_words(score)[1]


def _sign_and_words(score: Score) -> tuple[Glyph, str]:
    if score.status is Status.REFUSED:
        return Glyph.REFUSED, "refused"
    if score.status in UNREADABLE:
        reason = score.reason or score.status.value.replace("_", " ")
        return Glyph.UNPARSED, f"unparsed: {reason}"
    if score.outcome is not None:
        look = style_of(score.outcome)
        return Glyph(look.sign), look.words
    if score.reason in _OF_REASON:
        return Glyph.NONE, _OF_REASON[score.reason]
    words = _OF_STATUS.get(score.status) or score.status.value.replace("_", " ")
    return Glyph.NONE, words


def paint_glyph(painter: QPainter, glyph: Glyph, box: QRectF, color: QColor) -> None:
    """Draw a sign into a square of the view's pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, _STROKE))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = box.adjusted(1, 1, -1, -1)
    if glyph is Glyph.FULL:
        painter.fillRect(inner, color)
    elif glyph is Glyph.PARTIAL:
        painter.drawRect(inner)
        half = QRectF(inner.topLeft(), inner.bottomRight())
        half.setRight(inner.center().x())
        painter.fillRect(half, color)
    elif glyph is Glyph.MISS:
        painter.drawPolygon(_diamond(inner))
    elif glyph is Glyph.REFUSED:
        painter.drawEllipse(inner)
        cut = inner.width() * 0.15
        small = inner.adjusted(cut, cut, -cut, -cut)
        painter.drawLine(small.bottomLeft(), small.topRight())
    elif glyph is Glyph.UNPARSED:
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, glyph.value)
    else:
        painter.setBrush(color)
        painter.drawEllipse(inner.center(), _DOT, _DOT)
    painter.restore()


def _diamond(box: QRectF) -> QPolygonF:
    middle = box.center()
    return QPolygonF(
        [
            QPointF(middle.x(), box.top()),
            QPointF(box.right(), middle.y()),
            QPointF(middle.x(), box.bottom()),
            QPointF(box.left(), middle.y()),
        ]
    )
