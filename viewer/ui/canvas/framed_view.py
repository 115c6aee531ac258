"""A view of an image that can be fitted, zoomed, moved and turned."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QResizeEvent, QTransform
from PySide6.QtWidgets import QWidget

from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import then
from viewer.ui.canvas.display import MAX_SCALE, Camera, Frame
from viewer.ui.canvas.events import ZoomChanged
from viewer.ui.canvas.turning import TurnedScreen
from viewer.ui.canvas.windowed_view import WindowedView

if TYPE_CHECKING:
    from viewer.domain.mark import Mark
    from viewer.services.viewing.view_image import ShownImage
    from viewer.ui.canvas.slide_tiles import SlideTiles

_BEYOND_SCAN: Final = 8.0
"""How far the pixels of a slide's scan can be magnified."""


class FramedView(WindowedView):
    """Maps native pixels to the view; a whole image stays whole in a new size."""

    zoom_changed = Signal(object)
    """ZoomChanged"""
    seen_changed = Signal()
    """Another part of the image is seen, or another mark is chosen."""
    framed = Signal()
    """The user zoomed or moved the image, or fitted it."""
    screen_changed = Signal()
    """The view is on another screen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: ShownImage | None = None
        self._tiles: SlideTiles | None = None
        self._seen: object = None
        self._camera = Camera(1.0, 1.0, 0, 0)
        self.orientation = 1
        """How the image is turned, as in TIFF 6.0; 1 is as in the file."""
        self._fitted = True
        self._drawn_for = self.devicePixelRatioF()

    @property
    def zoom(self) -> float:
        """Device pixels per native pixel."""
        return self._camera.scale

    def fit(self) -> None:
        """Show the whole image, and keep it whole when the view changes its size."""
        self._fitted = True
        self._recentre()
        self.framed.emit()

    @property
    def fitted(self) -> bool:
        """Whether the whole image is kept in view."""
        return self._fitted

    @property
    def whole_zoom(self) -> float:
        """The zoom that shows the whole image."""
        return self._whole().scale

    @property
    def centre(self) -> PointPx:
        """The native position in the middle of the view."""
        return self.native_at(self.area.center())

    def look_at(self, centre: PointPx, zoom: float) -> None:
        """Show a native position in the middle, at a zoom."""
        self._camera = self._camera.zoomed(zoom / self._camera.scale, 0.0, 0.0)
        moved = self.area.center() - self.to_view(centre)
        self.pan_by(moved.x(), moved.y())

    def frame_area(self, area: BoxPx | None, zoom: float | None = None) -> None:
        """Show a native rectangle, None for all, at a zoom or as large as fits."""
        if self._shown is None or (area is None and zoom is None):
            self.fit()
            return
        whole = self._shown.image.size
        area = area or BoxPx(0, 0, whole.columns, whole.rows)
        width, height = area.x1 - area.x0, area.y1 - area.y0
        size, aspect = SizePx(round(height), round(width)), self._camera.aspect
        scale = zoom or Camera.fitted(size, self._turned.size_before, aspect).scale
        self.look_at(PointPx(area.x0 + width / 2, area.y0 + height / 2), scale)

    def bring_in_sight(self, box: BoxPx, least: float = 0.0) -> None:
        """Go to a native rectangle, unless all of it is seen and not too small.

        It has to span ``least``, a part of the view's width or height.
        """
        area = self.area
        corners = QRectF(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)
        there = self.native_transform.mapRect(corners)
        part = max(there.width() / area.width(), there.height() / area.height())
        if part > 1 or part < least:
            self.frame_area(box)
        elif not area.contains(there):
            middle = PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)
            self.look_at(middle, self.zoom)

    @property
    def seen(self) -> BoxPx:
        """The native rectangle that the view shows, beyond the image too."""
        area = self.area
        a, b = self.native_at(area.topLeft()), self.native_at(area.bottomRight())
        return BoxPx(a.x, a.y, b.x, b.y)

    def show_tiles(self, tiles: "SlideTiles") -> None:
        """Paint the image, the overview of a whole slide, from tiles."""
        self._tiles = tiles
        self._seen = None
        self.redraw()

    def _tell_seen(self, chosen: "Mark | None") -> None:
        """Tell if another part of the image is seen, or another mark chosen."""
        seen = (self._shown, self._camera, self.area, chosen)
        if self._seen != seen:
            self._seen = seen
            self.seen_changed.emit()

    @property
    def tiles(self) -> "SlideTiles | None":
        """The tiles of the whole slide that is shown, None for another image."""
        return self._tiles

    @property
    def scan_zoom(self) -> float | None:
        """The zoom that shows a whole slide's scan 1:1, None for another image."""
        if self._shown is None or self._shown.slide is None or self._shown.ref.frame:
            return None
        return self._shown.slide.to_scan(0).a

    def one_to_one(self) -> None:
        """Show each native pixel as one of the screen's; of a slide, the scan's."""
        if self.scan_zoom is not None:
            self.look_at(self.centre, self.scan_zoom)
        elif self._shown is not None:
            image, screen = self._shown.image, self._turned.size_before
            aspect = image.geometry.pixel_aspect
            self._move(Camera.centred(image.size, screen, aspect, 1.0))

    def zoom_by(self, factor: float) -> None:
        """Zoom about the middle of the view."""
        self.zoom_at(self.area.center(), factor)

    def zoom_at(self, at: QPointF, factor: float) -> None:
        """Zoom and keep the point at a position of the view."""
        x, y = self._unturned(at)
        self._move(self._camera.zoomed(factor, x, y))

    def pan_by(self, x: float, y: float) -> None:
        """Move the image by pixels of the view."""
        ratio = self.ratio
        x, y = self._turned.moved_before(x * ratio, y * ratio)
        self._move(self._camera.panned(x, y))

    def turn(self, further: int) -> None:
        """Turn the image once more, about the middle of the view."""
        if self._shown is None:
            return
        centre, fitted = self.centre, self._fitted
        self.orientation = then(self.orientation, further)
        if fitted:
            self.fit()
        else:
            self.look_at(centre, self.zoom)

    def sampled(self) -> Frame:
        """Return the image at the resolution of the view."""
        assert self._display is not None  # noqa: S101 - there is an image
        seen = self._camera.viewport(self._turned.size_before)
        return self._display.frame(seen, self._turned)

    @property
    def _turned(self) -> TurnedScreen:
        """The view's screen, with the turn of the image."""
        return TurnedScreen(self.screen_size, self.orientation)

    def _unturned(self, at: QPointF) -> tuple[float, float]:
        """Return the device position of a position of the view, before the turn."""
        ratio = self.ratio
        return self._turned.before(at.x() * ratio, at.y() * ratio)

    @property
    def native_transform(self) -> QTransform:
        """Maps native pixels to those of the view."""
        ratio = self.ratio
        return self._camera.transform(ratio) * self._turned.transform(ratio)

    def to_native(self, at: QPoint) -> PointPx:
        """Return the native position under a pixel of the viewport."""
        return self.native_at(QPointF(at))

    def native_at(self, at: QPointF) -> PointPx:
        """Return the native position under a position of the view."""
        return self._camera.to_native(*self._unturned(at))

    def to_view(self, point: PointPx) -> QPointF:
        """Return a native position in the view's pixels."""
        return self.native_transform.map(QPointF(point.x, point.y))

    def event(self, event: QEvent) -> bool:
        """Show the same part on a screen with pixels of another size."""
        if event.type() is QEvent.Type.DevicePixelRatioChange:
            finer, self._drawn_for = self.ratio / self._drawn_for, self.ratio
            self._camera = self._camera.finer(finer)
            self._recentre()
        elif event.type() is QEvent.Type.ScreenChangeInternal:
            self.screen_changed.emit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the whole image in view, or else the point in the middle."""
        super().resizeEvent(event)
        self.stage.setSceneRect(self.area)
        with self._redrawn_later():
            if self._fitted:
                self._recentre()
            elif event.oldSize().isValid():
                self._grow(event.size() - event.oldSize())

    def _grow(self, grown: QSize) -> None:
        """Keep the point in the middle."""
        ratio = self.ratio / 2
        wider, higher = grown.width() * ratio, grown.height() * ratio
        if self._turned.turn.transpose:
            wider, higher = higher, wider
        self._camera = self._camera.panned(wider, higher)
        self.redraw()

    def _recentre(self) -> None:
        """Fit the image if it is to be whole, else keep it where it is."""
        if self._shown is None:
            return
        if not self._fitted:
            self.redraw()
            return
        self._move(self._whole(), fitted=True)

    def _whole(self) -> Camera:
        """Return the camera that shows the whole image, as it is without one."""
        if self._shown is None:
            return self._camera
        image = self._shown.image
        aspect = image.geometry.pixel_aspect
        camera = Camera.fitted(image.size, self._turned.size_before, aspect)
        most = max(MAX_SCALE, _BEYOND_SCAN * (self.scan_zoom or 0.0))
        return replace(camera, most=most)

    def _move(self, camera: Camera, *, fitted: bool = False) -> None:
        if self._shown is None:
            return
        before, self._camera, self._fitted = self._camera, camera, fitted
        self.redraw()
        if not fitted:
            self.framed.emit()
        if camera.scale != before.scale:
            self.zoom_changed.emit(ZoomChanged(camera.scale))
