"""A picture of an image as sent, with an answer's marks drawn on it."""

from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap, QTransform
from PySide6.QtWidgets import QWidget

from viewer.domain.answer import MaskAnswer
from viewer.services.inspecting.marked_images import MarkedImage
from viewer.ui.canvas.overlays.answer_item import AnswerShape
from viewer.ui.canvas.overlays.mask_answer import MaskShape
from viewer.ui.canvas.overlays.rects import rect_of
from viewer.ui.canvas.overlays.report_answer import ReportShape

_LEAST: Final = 1
_Drawn = tuple[AnswerShape, QTransform]


class MarkedPicture(QWidget):
    """A whole image of a given size, with boxes and a region over it.

    ``sent`` is the size of the image as it was sent.

    Parameters
    ----------
    image : MarkedImage
        The bytes and what is drawn on them.
    color : str
        The model's, #RRGGBB.
    side : int
        The longer side of the picture, in the view's pixels.
    name : str
        What it is, for a screen reader.
    """

    def __init__(
        self,
        image: MarkedImage,
        color: str,
        side: int,
        name: str = "The image as it was sent",
    ) -> None:
        super().__init__()
        self._pixmap = QPixmap()
        self._pixmap.loadFromData(image.png)
        self._color, self._shown = QColor(color), True
        self.sent = self._pixmap.size()
        within = self.sent.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio)
        self.setFixedSize(within.expandedTo(QSize(_LEAST, _LEAST)))
        self._drawn = tuple(_drawn(image, QRectF(self.rect())))
        self.setAccessibleName(name)
        labels = ", ".join(box.label for box in image.boxes if box.label)
        self.setAccessibleDescription(f"Boxes: {labels}" if labels else "")

    def show_marks(self, shown: bool) -> None:
        """Show the marks, or the image alone."""
        self._shown = shown
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's
        """Paint the image, and the marks over it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(self.rect(), self._pixmap)
        for shape, native in self._drawn if self._shown else ():
            shape.paint(painter, native, self._color)
        painter.end()


def _drawn(image: MarkedImage, whole: QRectF) -> list[_Drawn]:
    """Return the shapes with the maps from their own pixels to the picture's."""
    drawn: list[_Drawn] = []
    if image.region is not None and not image.region.is_empty:
        size = image.region.size
        field = QRectF(0, 0, size.columns, size.rows)
        shape = MaskShape(MaskAnswer(image.region), None)
        drawn.append((shape, _to(whole, field)))
    if image.boxes:
        drawn.append((ReportShape(image.boxes), _to(whole, rect_of(image.field))))
    return drawn


def _to(whole: QRectF, field: QRectF) -> QTransform:
    """Return the map of a native rectangle onto the whole picture."""
    scale = QTransform.fromScale(
        whole.width() / field.width(), whole.height() / field.height()
    )
    return QTransform.fromTranslate(-field.left(), -field.top()) * scale
