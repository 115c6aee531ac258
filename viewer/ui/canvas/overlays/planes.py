"""The overlay planes of a file, and what a shutter hides, drawn as they are."""

from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

WHITE: Final = 0xE6FFFFFF
"""ARGB; a little clear."""


def opaque(grey: int) -> int:
    """Return a grey level of 0 to 255 as ARGB."""
    return 0xFF000000 | grey << 16 | grey << 8 | grey


class PlanesItem(QGraphicsItem):
    """A bitmap over the image, one pixel a pixel."""

    def __init__(
        self, bits: npt.NDArray[np.bool_], parent: QGraphicsItem, argb: int = WHITE
    ) -> None:
        super().__init__(parent)
        self._pixels = np.where(bits, np.uint32(argb), np.uint32(0))
        rows, columns = bits.shape
        kind = QImage.Format.Format_ARGB32
        self._picture = QImage(self._pixels.data, columns, rows, 4 * columns, kind)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the whole image, in native pixels."""
        return QRectF(self._picture.rect())

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the bitmap."""
        painter.drawImage(self.boundingRect(), self._picture)
