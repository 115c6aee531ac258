"""Annotations over the image, fixed in the view."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from viewer.domain.annotation import CornerLine
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.canvas.display import Display, window_text
from viewer.ui.canvas.overlays import corner_text, letters, scale_bar
from viewer.ui.canvas.overlays.halo import LETTER, TEXT

_OWN_WINDOW: Final = "Not from the file: set here, or fitted to the image's values"
_ZOOM: Final = "Screen pixels per image pixel"


class Annotations:
    """Corner text, orientation letters and scale bar of one image."""

    def __init__(self, shown: ShownImage) -> None:
        self._shown = shown
        self._area = QRectF()
        self._lines: tuple[corner_text.Line, ...] = ()
        self._letters: tuple[corner_text.Line, ...] = ()
        self._bar: scale_bar.ScaleBar | None = None

    @property
    def grounds(self) -> tuple[QRectF, ...]:
        """The rectangles that text covers."""
        return tuple(line.ground for line in (*self._lines, *self._letters))

    def source_at(self, at: QPointF) -> str:
        """Return the source of the line at a position of the view, "" without one."""
        return next((one.source for one in self._lines if one.ground.contains(at)), "")

    def place(self, area: QRectF, scale: float, ratio: float, display: Display) -> None:
        """Lay out for a view; ``scale`` is device pixels per native, ``ratio`` DPR."""
        grey = self._shown.image.values.ndim == 2
        from_file = (
            display.window is None or display.window in self._shown.image.windows
        )
        read = self._shown.corners.window_source if from_file else ""
        window = CornerLine(window_text(display.shown_window), read or _OWN_WINDOW)
        live = (*((window,) if grey else ()), CornerLine(f"Zoom {scale:.0%}", _ZOOM))
        self._area = area
        self._lines = corner_text.layout(self._shown.corners, live, area, TEXT)
        geometry = self._shown.image.geometry
        self._letters = letters.layout(geometry, area, LETTER)
        self._bar = scale_bar.scale_bar(geometry.spacing, scale / ratio)

    def paint(self, painter: QPainter) -> None:
        """Draw everything."""
        corner_text.paint(painter, self._lines, TEXT)
        corner_text.paint(painter, self._letters, LETTER)
        if self._bar is not None:
            last = len(self._shown.corners.bottom_right)
            lines = self._lines[len(self._lines) - last :]
            above = sum(line.ground.height() for line in lines)
            scale_bar.paint(painter, self._bar, self._area, TEXT, above)
