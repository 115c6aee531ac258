"""A view as a picture: what is seen, at the image's full resolution."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from viewer.domain.annotation import CornerText
from viewer.ui.canvas.image_view import ImageView

_LONGEST: Final = 8192
"""Pixels of a picture's longer side."""


class _Twin(ImageView):
    """The same part of the image, with more device pixels; it is never shown."""

    def __init__(self, view: ImageView, *, identified: bool) -> None:
        super().__init__()
        self.viewport().resize(view.viewport().size())
        longer = max(view.screen_size.rows, view.screen_size.columns)
        finer = min(max(1.0, 1 / view.zoom), max(1.0, _LONGEST / longer))
        self._own_ratio = view.ratio * finer
        self.stage.setSceneRect(view.area)
        self.imitate(view, finer)
        if not identified and self._shown is not None:
            self.rename(replace(self._shown, corners=CornerText()))
            self.leave_out_texts()

    @property
    def ratio(self) -> float:
        """Device pixels of the picture per pixel of the view."""
        return self._own_ratio


def picture_of(view: ImageView, *, identified: bool) -> QImage:
    """Return a view, with everything drawn over it, at one pixel or more per pixel.

    Unless ``identified``, corner text, overlay planes and the texts of a presentation
    state are left out; text in the pixels themselves stays.
    """
    twin = _Twin(view, identified=identified)
    size = twin.screen_size
    picture = QImage(size.columns, size.rows, QImage.Format.Format_RGB32)
    picture.setDevicePixelRatio(twin.ratio)
    painter = QPainter(picture)
    twin.render(painter, twin.area, twin.viewport().rect())
    painter.end()
    twin.deleteLater()
    return picture


def write_svg(view: ImageView, path: Path, *, identified: bool) -> None:
    """Write a view with marks, grid and answers as vectors over the image."""
    twin = _Twin(view, identified=identified)
    drawing = QSvgGenerator()
    drawing.setFileName(str(path))
    drawing.setSize(view.viewport().size())
    drawing.setViewBox(QRectF(view.area))
    drawing.setTitle("Overread")
    painter = QPainter(drawing)
    twin.render(painter, twin.area, twin.viewport().rect())
    painter.end()
    twin.deleteLater()
