"""A small picture of the whole slide in a corner, with the part that is seen."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from viewer.domain.geometry import PointPx
from viewer.ui.application.preferences import current
from viewer.ui.canvas.overlays.corner_text import MARGIN
from viewer.ui.canvas.overlays.halo import HALO, TEXT, text_size
from viewer.ui.widgets import theme

if TYPE_CHECKING:
    from viewer.ui.canvas.framed_view import FramedView
    from viewer.ui.canvas.slide_tiles import SlideTiles

_LONGEST: Final = 180
_PART: Final = 0.3
"""At most so much of the view's sides."""
_LEAST_FRAME: Final = 6.0
_LINES_ABOVE: Final = 3
"""Space left for the corner text above the minimap."""


class Minimap(QWidget):
    """Shows the field of view on the slide; click or drag to move it."""

    def __init__(self, view: "FramedView") -> None:
        super().__init__(view.viewport())
        self._view = view
        self.setAccessibleName("Where the view lies on the slide")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        # Otherwise the view below it would be painted with it, and once more by itself.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._small, self._scaled_from = QImage(), (0, QSize(), 0.0)
        self.hide()
        view.seen_changed.connect(self.follow)

    def follow(self) -> None:
        """Show what the view shows now; nothing where that is the whole slide."""
        view = self._view
        if view.tiles is None or view.fitted or not current().minimap:
            self.hide()
            return
        self.show()
        whole, area = view.tiles.size, view.area
        most = min(_LONGEST, _PART * area.width(), _PART * area.height())
        scale = most / max(whole.columns, whole.rows)
        self.resize(QSize(round(whole.columns * scale), round(whole.rows * scale)))
        line = text_size("0", TEXT).height()
        left = area.right() - MARGIN - self.width()
        self.move(round(left), round(MARGIN + _LINES_ABOVE * line))
        self.update()

    @property
    def frame(self) -> QRectF:
        """The part that is seen, in the map's own pixels."""
        seen, scale = self._view.seen, self._scale
        box = QRectF(
            seen.x0 * scale,
            seen.y0 * scale,
            max((seen.x1 - seen.x0) * scale, _LEAST_FRAME),
            max((seen.y1 - seen.y0) * scale, _LEAST_FRAME),
        )
        middle = QPointF((seen.x0 + seen.x1), (seen.y0 + seen.y1)) * (scale / 2)
        box.moveCenter(middle)
        return box.intersected(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    @property
    def _scale(self) -> float:
        tiles = self._view.tiles
        return self.width() / tiles.size.columns if tiles else 1.0

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's
        """Paint the slide and outline the field of view."""
        tiles = self._view.tiles
        if tiles is None:
            return
        painter, accent = QPainter(self), QColor(theme.current().accent)
        painter.drawImage(self.rect(), self._slide(tiles))
        _frame(painter, QRectF(self.rect()), 1, HALO)
        frame = self.frame
        _frame(painter, frame.adjusted(-1, -1, 1, 1), 3, HALO)
        _frame(painter, frame, 1, accent)
        painter.end()

    def _slide(self, tiles: "SlideTiles") -> QImage:
        """Return the slide in the map's device pixels, scaled once."""
        ratio = self.devicePixelRatioF()
        large = tiles.small(ratio * _LONGEST)
        wanted = large.cacheKey(), self.size(), ratio
        if self._scaled_from != wanted:
            self._scaled_from = wanted
            self._small = large.scaled(
                (QSizeF(self.size()) * ratio).toSize(),
                Qt.AspectRatioMode.IgnoreAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            self._small.setDevicePixelRatio(ratio)
        return self._small

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Move the view to the place that is clicked."""
        self._go_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Let the view follow a drag."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go_to(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Keep what happens on the map from the view below it."""
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Keep double clicks from the view, which would magnify."""
        event.accept()

    def _go_to(self, event: QMouseEvent) -> None:
        event.accept()
        at, view = event.position() / self._scale, self._view
        view.look_at(PointPx(at.x(), at.y()), view.zoom)


def _frame(painter: QPainter, box: QRectF, width: float, color: QColor) -> None:
    """Frame a rectangle on its inside: filled bands cost a tenth of a wide pen."""
    inner = box.adjusted(width, width, -width, -width)
    for band in (
        QRectF(box.left(), box.top(), box.width(), width),
        QRectF(box.left(), inner.bottom(), box.width(), width),
        QRectF(box.left(), inner.top(), width, inner.height()),
        QRectF(inner.right(), inner.top(), width, inner.height()),
    ):
        painter.fillRect(band, color)
