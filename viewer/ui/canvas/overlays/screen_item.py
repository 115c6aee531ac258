"""What lies on an image in native pixels and is drawn in those of the view."""

from abc import abstractmethod

from PySide6.QtGui import QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget


class ScreenItem(QGraphicsItem):
    """An item whose lines and words are as large at any zoom."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the item with the view's pixels as units."""
        native = painter.worldTransform()
        painter.save()
        painter.setWorldTransform(QTransform())
        self.draw(painter, native)
        painter.restore()

    @abstractmethod
    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw it in the view's pixels, to which ``native`` maps."""
