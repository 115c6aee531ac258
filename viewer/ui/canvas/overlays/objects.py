"""The objects on a slide, drawn as one picture however many they are."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.geometry import Affine, SizePx
from viewer.domain.slide import SlideMap
from viewer.domain.slide_objects import SlideObjects
from viewer.imaging.outlines import draw_outlines, pan_outlines
from viewer.ui.canvas.overlays.corner_text import MARGIN
from viewer.ui.canvas.overlays.halo import Face, draw_text, text_size
from viewer.ui.canvas.overlays.screen_item import ScreenItem

COLOURS: Final = ("#E69F00", "#56B4E9", "#F0E442", "#009E73", "#CC79A7", "#D55E00")
"""Of the classes in the order they are first named; the palette of Okabe and Ito."""
_LISTED: Final = 12
_WHOLE: Final = 1e-3
"""A move that differs less from whole pixels is of whole pixels."""
_Argb = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A picture in device pixels, 0xAARRGGBB, and how the scan was mapped to it."""

    pixels: _Argb
    to_screen: Affine


class ObjectsItem(ScreenItem):
    """Outlines of objects in their class's colour, and the classes at the left."""

    def __init__(
        self, objects: SlideObjects, slide: SlideMap, face: Face, parent: QGraphicsItem
    ) -> None:
        super().__init__(parent)
        self.objects, self._slide, self._face = objects, slide, face
        colours = (_colour(n) for n in range(len(objects.names)))
        self._colours = np.array([QColor(c).rgba() for c in colours], np.uint32)
        self._drawn: _Drawn | None = None

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the overview's rectangle in native pixels."""
        size = self._slide.scales[0].size
        return QRectF(0, 0, size.columns, size.rows)

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw the picture, made anew only where the view has moved."""
        area, ratio = QRectF(painter.viewport()), painter.device().devicePixelRatioF()
        size = (area.size() * ratio).toSize()
        to_screen = _onto(self._slide.to_scan(0).inverse(), native, ratio)
        pixels = self._pixels(SizePx(size.height(), size.width()), to_screen)
        rows, columns = pixels.shape
        kind = QImage.Format.Format_ARGB32_Premultiplied
        picture = QImage(pixels.data, columns, rows, 4 * columns, kind)
        picture.setDevicePixelRatio(ratio)
        painter.drawImage(area.topLeft(), picture)
        self._paint_classes(painter, area)

    def _pixels(self, screen: SizePx, to_screen: Affine) -> _Argb:
        """Return the picture for a screen, of which a pan draws only what is new."""
        drawn, shape = self._drawn, (screen.rows, screen.columns)
        moved = _moved(drawn.to_screen, to_screen) if drawn else None
        known = drawn.pixels if drawn else np.empty((0, 0), np.uint32)
        near = moved is not None and max(map(abs, moved)) < min(shape)
        args = self.objects, to_screen, self._colours
        if moved is not None and near and known.shape == shape:
            pixels = pan_outlines(known, moved, *args) if any(moved) else known
        else:
            pixels = draw_outlines(self.objects, screen, to_screen, self._colours)
        self._drawn = _Drawn(pixels, to_screen)
        return pixels

    def _paint_classes(self, painter: QPainter, area: QRectF) -> None:
        """Name the classes in their colours, with a count of each one's outlines."""
        counts = np.bincount(self.objects.kinds, minlength=len(self.objects.names))
        each = zip(self.objects.names, counts, strict=True)
        words = [f"{name}  {count:,}" for name, count in each]
        if len(words) > _LISTED:
            words[_LISTED - 1 :] = [f"and {len(words) - _LISTED + 1} more classes"]
        line = text_size("0", self._face).height()
        top = area.center().y() - len(words) * line / 2
        for n, text in enumerate(words):
            at = QPointF(area.left() + MARGIN, top + n * line)
            draw_text(painter, at, text, self._face, _colour(n))


def _moved(before: Affine, now: Affine) -> tuple[int, int] | None:
    """Return a move by whole device pixels, right and down; None for any other."""
    right, down = round(now.c - before.c), round(now.f - before.f)
    same = (before.a, before.e) == (now.a, now.e)
    off = max(abs(now.c - before.c - right), abs(now.f - before.f - down))
    return (right, down) if same and off < _WHOLE else None


def _colour(kind: int) -> str:
    return COLOURS[kind % len(COLOURS)]


def _onto(to_native: Affine, native: QTransform, ratio: float) -> Affine:
    """Return the map from pixels of the scan to device pixels of the view."""
    x, y = native.m11() * ratio, native.m22() * ratio
    return Affine(
        to_native.a * x,
        0.0,
        to_native.c * x + native.dx() * ratio,
        0.0,
        to_native.e * y,
        to_native.f * y + native.dy() * ratio,
    )
