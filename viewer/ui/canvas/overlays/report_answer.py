"""The boxes of an answer in free text, each with the label it was given."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.answer import LabelledBox
from viewer.ui.canvas.overlays.aside import nearest_point
from viewer.ui.canvas.overlays.cell_answer import paint_box
from viewer.ui.canvas.overlays.halo import TEXT, draw_text, text_size
from viewer.ui.canvas.overlays.label_places import name_place
from viewer.ui.canvas.overlays.rects import path_of, rect_of

_LONGEST: Final = 40
"""Letters of a label that are drawn; the words beside the image have all of it."""


class ReportShape:
    """Every box that lies on one image, and its label beside it."""

    legend = None

    def __init__(self, boxes: Sequence[LabelledBox]) -> None:
        self._boxes = tuple((rect_of(one.box), _short(one.label)) for one in boxes)
        self.extent = reduce(QRectF.united, (rect for rect, _ in self._boxes), QRectF())

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangle around all boxes: the tag stands beside it."""
        return (native.mapRect(self.extent),)

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the boxes' point, in the view, that is nearest to a label."""
        return nearest_point((native.mapRect(box) for box, _ in self._boxes), label)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the boxes in native pixels."""
        return path_of(rect for rect, _ in self._boxes)

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw each box's frame and fill, then the labels over all of them."""
        for rect, _ in self._boxes:
            paint_box(painter, native.mapRect(rect), color)
        area = QRectF(painter.viewport())
        for label, place in self.labels(native, area):
            draw_text(painter, place.topLeft(), label, TEXT, color.name())

    def labels(self, native: QTransform, area: QRectF) -> Iterator[tuple[str, QRectF]]:
        """Yield each label with its position inside ``area`` of the view."""
        taken: list[QRectF] = []
        for rect, label in self._boxes:
            if label:
                seen = native.mapRect(rect)
                place = name_place(seen, text_size(label, TEXT), taken)
                taken.append(_kept_in(place, area))
                yield label, taken[-1]


def _short(label: str) -> str:
    words = " ".join(label.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rstrip()}…"


def _kept_in(place: QRectF, area: QRectF) -> QRectF:
    """Return a rectangle moved into an area, its upper left corner first."""
    left = max(area.left(), min(place.left(), area.right() - place.width()))
    top = max(area.top(), min(place.top(), area.bottom() - place.height()))
    return QRectF(left, top, place.width(), place.height())
