"""The pixels of a whole slide: its overview, and tiles over it as they arrive.

Nothing is decoded while painting. What is missing is named, and until it is there the
next coarser tiles, or the overview, are seen in its place.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QImage, QPainter

from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.slide import SlideMap, SlideRegion
from viewer.ui.application.preferences import current
from viewer.ui.canvas.display import Camera

_CAPACITY: Final = 256 << 20
"""Bytes of tiles that are kept."""
_BEYOND: Final = 0.25
"""So much of the view is fetched beyond each of its edges, as a part."""
_EVEN: Final = 1.0001
"""Levels differ from a half by a rounded pixel; closer than this counts as even."""
_SMALLEST: Final = 256
_BROKEN: Final = QColor(128, 128, 128)


def tile_image(pixels: npt.NDArray[np.uint8]) -> QImage:
    """Return (rows, columns, 3) RGB as Qt paints it fastest; any thread may call it."""
    pixels = np.ascontiguousarray(pixels)
    rows, columns = pixels.shape[:2]
    kind = QImage.Format.Format_RGB888
    image = QImage(pixels.data, columns, rows, pixels.strides[0], kind)
    return image.convertToFormat(QImage.Format.Format_RGB32)


class SlideTiles(QObject):
    """Paints a slide at any zoom from the tiles that are there."""

    wanted = Signal()
    """Tiles are missing for what was just painted."""

    def __init__(
        self, slide: SlideMap, overview: npt.NDArray[np.uint8], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._slide, self._tiles = slide, OrderedDict[SlideRegion, QImage | None]()
        self.missing: tuple[SlideRegion, ...] = ()
        self._visible: tuple[SlideRegion, ...] = ()
        self._bytes = 0
        self.recolour(overview)

    def recolour(self, overview: npt.NDArray[np.uint8]) -> None:
        """Use an overview in other colours, and forget the tiles in the former."""
        self._tiles.clear()
        self._bytes = 0
        self._overviews = list(_halves(tile_image(overview)))

    def add(self, tile: SlideRegion, image: QImage | None) -> None:
        """Keep a tile, None for one that cannot be read; the oldest make room."""
        self._tiles[tile] = image
        self._bytes += image.sizeInBytes() if image is not None else 0
        while self._bytes > _CAPACITY:
            _, oldest = self._tiles.popitem(last=False)
            self._bytes -= oldest.sizeInBytes() if oldest is not None else 0

    def __contains__(self, tile: SlideRegion) -> bool:
        return tile in self._tiles

    @property
    def incomplete(self) -> bool:
        """Whether something coarser is seen in place of tiles that are being read."""
        return any(tile not in self._tiles for tile in self._visible)

    @property
    def broken(self) -> int:
        """The number of tiles looked at that cannot be read."""
        return sum(image is None for image in self._tiles.values())

    @property
    def profiled(self) -> bool:
        """Whether an ICC profile converts the colours, unless it is left out."""
        return self._slide.profiled

    @property
    def size(self) -> SizePx:
        """The overview's rows and columns, the native pixels of what is shown."""
        return self._whole

    def small(self, side: float) -> QImage:
        """Return the slide at least ``side`` pixels long, as far as it is known."""
        long = [i for i in self._overviews if max(i.width(), i.height()) >= side]
        return long[-1] if long else self._overviews[0]

    def seen(self, camera: Camera, screen: SizePx) -> BoxPx:
        """Return the part of the scan that a screen of device pixels shows."""
        corners = (
            camera.to_native(x, y) for x, y in ((0, 0), (screen.columns, screen.rows))
        )
        a, b = (self._slide.on_slide(0, corner) for corner in corners)
        return BoxPx(a.x, a.y, b.x, b.y)

    def value_at(self, point: PointPx) -> str | None:
        """Return the colour at a native position of the overview, None off the slide.

        It is that of the finest tile there is.
        """
        if not self._whole_rect.contains(QPointF(point.x, point.y)):
            return None
        at = self._slide.on_slide(0, point)
        spot = BoxPx(at.x, at.y, at.x, at.y)
        for halving, size in enumerate(self._slide.halvings):
            (tile,) = self._slide.tiles(spot, halving)
            if image := self._tiles.get(tile):
                x = int(at.x * size.columns / self._slide.size.columns) - tile.x
                y = int(at.y * size.rows / self._slide.size.rows) - tile.y
                return _color_words(image.pixelColor(x, y))
        return _color_words(self._overviews[0].pixelColor(int(point.x), int(point.y)))

    def paint(
        self,
        painter: QPainter,
        camera: Camera,
        screen: SizePx,
        ratio: float,
        *,
        inverted: bool = False,
    ) -> None:
        """Paint what a screen of device pixels shows, ``ratio`` of them per unit."""
        places = _Places(camera, self._whole, ratio)
        painter.save()
        smooth = camera.scale * self._factor < 1 or not current().nearest_pixel
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        halving = self._halving(camera)
        if halving is None:
            self._visible = ()
            self._want(())
            self._paint_overview(painter, camera, places)
        else:
            self._paint_tiles(painter, self.seen(camera, screen), halving, places)
        if inverted:
            mode = QPainter.CompositionMode.CompositionMode_Difference
            painter.setCompositionMode(mode)
            painter.fillRect(places.whole, Qt.GlobalColor.white)
        painter.restore()

    @property
    def _whole(self) -> SizePx:
        return self._slide.scales[0].size

    @property
    def _whole_rect(self) -> QRectF:
        return QRectF(0, 0, self._whole.columns - 1, self._whole.rows - 1)

    @property
    def _factor(self) -> float:
        """Native pixels of the overview per pixel of the scan."""
        return self._whole.columns / self._slide.size.columns

    def _halving(self, camera: Camera) -> int | None:
        """Return the coarsest halving at least as fine as the screen.

        None where the overview is fine enough.
        """
        if camera.scale <= 1:
            return None
        fine = [
            n
            for n, size in enumerate(self._slide.halvings)
            if camera.scale * self._whole.columns <= size.columns * _EVEN
        ]
        return fine[-1] if fine else 0

    def _paint_overview(
        self, painter: QPainter, camera: Camera, places: "_Places"
    ) -> None:
        wanted = self._whole.columns * camera.scale
        fine = [image for image in self._overviews if image.width() >= wanted]
        image = fine[-1] if fine else self._overviews[0]
        painter.drawImage(places.whole, image)

    def _paint_tiles(
        self, painter: QPainter, seen: BoxPx, halving: int, places: "_Places"
    ) -> None:
        self._visible = visible = self._slide.tiles(seen, halving)
        around = self._slide.tiles(_grown(seen), halving)
        nearby = (*visible, *(tile for tile in around if tile not in set(visible)))
        self._want(tuple(tile for tile in nearby if tile not in self._tiles))
        if any(self._tiles.get(tile) is None for tile in visible):
            painter.drawImage(places.whole, self._overviews[0])
            for coarser in range(len(self._slide.halvings) - 1, halving, -1):
                self._draw(painter, self._slide.tiles(seen, coarser), places)
        self._draw(painter, visible, places)

    def _draw(
        self, painter: QPainter, tiles: tuple[SlideRegion, ...], places: "_Places"
    ) -> None:
        for tile in tiles:
            if tile not in self._tiles:
                continue
            self._tiles.move_to_end(tile)
            at = places.of(tile, self._slide.halvings[tile.halving])
            image = self._tiles[tile]
            if image is not None:
                painter.drawImage(at, image)
            else:
                painter.fillRect(at, QBrush(_BROKEN, Qt.BrushStyle.BDiagPattern))

    def _want(self, missing: tuple[SlideRegion, ...]) -> None:
        self.missing = missing
        if missing:
            self.wanted.emit()


class _Places:
    """Where tiles lie on the screen; neighbours share an edge on whole pixels."""

    def __init__(self, camera: Camera, overview: SizePx, ratio: float) -> None:
        self._camera, self._overview, self._ratio = camera, overview, ratio
        self.whole = self._rect(0, 0, overview.columns, overview.rows)

    def of(self, tile: SlideRegion, size: SizePx) -> QRectF:
        """Return the rectangle of a tile of a slide that has a size at its level."""
        x = self._overview.columns / size.columns
        y = self._overview.rows / size.rows
        box = tile.box
        return self._rect(box.x0 * x, box.y0 * y, box.x1 * x, box.y1 * y)

    def _rect(self, x0: float, y0: float, x1: float, y1: float) -> QRectF:
        camera, ratio = self._camera, self._ratio
        left, right = (round(camera.left + x * camera.scale) for x in (x0, x1))
        top, bottom = (round(camera.top + y * camera.scale_y) for y in (y0, y1))
        corner = (left / ratio, top / ratio)
        return QRectF(*corner, (right - left) / ratio, (bottom - top) / ratio)


def _color_words(color: QColor) -> str:
    return f"R {color.red()} G {color.green()} B {color.blue()}"


def _grown(box: BoxPx) -> BoxPx:
    x, y = _BEYOND * (box.x1 - box.x0), _BEYOND * (box.y1 - box.y0)
    return BoxPx(box.x0 - x, box.y0 - y, box.x1 + x, box.y1 + y)


def _halves(image: QImage) -> Iterator[QImage]:
    """Yield an image and its halves, down to a small one."""
    yield image
    while min(image.width(), image.height()) > _SMALLEST:
        image = image.scaled(
            image.width() // 2,
            image.height() // 2,
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        yield image
