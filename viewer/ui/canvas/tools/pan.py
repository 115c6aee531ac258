"""Moving the image by dragging it."""

from PySide6.QtCore import QPointF

from viewer.ui.canvas.tools.drag import Canvas


class PanDrag:
    """The image follows the mouse."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._at = canvas, at

    def move(self, at: QPointF) -> None:
        """Move the image by what the mouse moved."""
        moved = at - self._at
        self._canvas.pan_by(moved.x(), moved.y())
        self._at = at

    def end(self, at: QPointF) -> None:
        """Leave the image where it is at the release."""
        self.move(at)
