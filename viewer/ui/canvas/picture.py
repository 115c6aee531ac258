"""A view as a picture: what is seen, at the image's full resolution."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QStyleOptionGraphicsItem

from viewer.domain.annotation import CornerText
from viewer.ui.application.background_tasks import run_for
from viewer.ui.canvas.display import Frame
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.layer import MarksLayer
from viewer.ui.canvas.overlays.corner_text import COLOR
from viewer.ui.canvas.overlays.halo import TEXT, forget_large, stamp
from viewer.ui.widgets.theme import current

_LONGEST: Final = 8192
"""Pixels of a picture's longer side."""
_BAND: Final = 1 << 21
"""Pixels that are painted before another turn of the event loop may come."""
_TURN_S: Final = 0.015
"""After this the next item is painted in another turn."""


class _Twin(ImageView):
    """The same part of the image, with more device pixels; it is never shown."""

    def __init__(self, view: ImageView, *, identified: bool) -> None:
        super().__init__()
        self._frame: Frame | None = None
        self.resize(view.viewport().size())
        self.viewport().resize(self.size())
        longer = max(view.screen_size.rows, view.screen_size.columns)
        finer = min(max(1.0, 1 / view.zoom), max(1.0, _LONGEST / longer))
        self._own_ratio = view.ratio * finer
        self._rows = range(self.screen_size.rows)
        self.stage.setSceneRect(view.area)
        self.imitate(view, finer)
        if not identified and self._shown is not None:
            self.rename(replace(self._shown, corners=CornerText()))
            self.leave_out_texts()
        self.marks.leave()  # or what is drawn meanwhile would be in half of it

    @property
    def ratio(self) -> float:
        """Device pixels of the picture per pixel of the view."""
        return self._own_ratio

    @property
    def settled(self) -> bool:
        """Whether every label has its place."""
        return self._layers.settled

    def settle(self) -> None:
        """Give every label its place now."""
        self._layers.settle()

    def sample(self) -> None:
        """Sample the image, which any thread may do, for use in every band."""
        if self._display is not None and self._tiles is None:
            self._frame = super().sampled()

    def sampled(self) -> Frame:
        """Return the rows of the image in the band that is painted.

        Qt would turn all of it into colours for each band.
        """
        whole = self._frame or super().sampled()
        first = max(0, self._rows.start - whole.top)
        last = min(whole.image.height(), self._rows.stop - whole.top)
        part = whole.image.copy(0, first, whole.image.width(), max(0, last - first))
        return replace(whole, image=part, top=whole.top + first)

    def blank(self) -> QImage:
        """Return a picture to paint on, as large as it has to be."""
        size = self.screen_size
        picture = QImage(size.columns, size.rows, QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(self.ratio)
        return picture

    def paint_on(self, painter: QPainter, part: QRectF | None = None) -> Iterator[None]:
        """Paint background, items and foreground, with a pause after each."""
        painter.save()
        if part is not None:
            painter.setClipRect(part)
        self.drawBackground(painter, self.area)
        yield
        option = QStyleOptionGraphicsItem()
        for item in self.stage.items(Qt.SortOrder.AscendingOrder):
            if item.isVisible():
                painter.save()
                painter.setOpacity(item.effectiveOpacity())
                painter.setWorldTransform(item.sceneTransform())
                if isinstance(item, MarksLayer):
                    yield from item.paint_each(painter)
                else:
                    item.paint(painter, option, None)
                painter.restore()
                yield
        painter.setWorldTransform(QTransform())
        self.drawForeground(painter, self.area)
        painter.restore()
        yield

    def _write(self, ratio: float) -> Iterator[None]:
        """Make the letters of each text, large as they are, before they are painted."""
        texts = self._annotations.texts if self._annotations else ()
        own = QColor(current().reader).name()
        marked = ((words, TEXT) for item in self.mark_items for words in item.words)
        for color, each in ((COLOR, texts), (own, marked)):
            for text, face in each:
                stamp(text, face, color, ratio)
                yield

    def paint_bands(self, picture: QImage) -> Generator[None]:
        """Paint on a picture, a band of it after the other."""
        high, ratio = max(1, _BAND // picture.width()), self.ratio
        yield from self._write(picture.devicePixelRatioF())
        painter = QPainter(picture)
        try:
            for top in range(0, picture.height(), high):
                self._rows = range(top, top + high)
                band = QRectF(0, top / ratio, picture.width() / ratio, high / ratio)
                yield from self.paint_on(painter, band)
        finally:
            painter.end()
            forget_large()  # hundreds of letters that no view needs


class PictureMaker(QObject):
    """Makes the picture of a view in many short turns of the event loop."""

    made = Signal(object)
    """QImage"""
    ended = Signal()
    """The picture is made, or no longer wanted."""

    def __init__(self, view: ImageView, *, identified: bool) -> None:
        super().__init__(view)
        self._twin = _Twin(view, identified=identified)
        self._picture = QImage()
        self._steps = self._twin.paint_bands(self._picture)
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._go_on)

    def start(self) -> None:
        """Sample the image in the background, then paint."""
        run_for(self, self._twin.sample, self._begin, self._fail)

    def stop(self) -> None:
        """Make no picture."""
        self._turns.stop()
        self._steps.close()  # a painter must end before what it paints on
        self._end()

    def _begin(self, _: None) -> None:
        self._picture = self._twin.blank()
        self._steps = self._twin.paint_bands(self._picture)
        self._turns.start()

    def _fail(self, error: Exception) -> None:
        self._end()
        raise error

    def _go_on(self) -> None:
        until = perf_counter() + _TURN_S
        if not self._twin.settled:
            return
        for _ in self._steps:
            if perf_counter() > until:
                return
        self._turns.stop()
        self._end()  # before what is done with it, which may show work of its own
        self.made.emit(self._picture)

    def _end(self) -> None:
        self.ended.emit()
        self._twin.deleteLater()
        self.deleteLater()


def picture_of(view: ImageView, *, identified: bool) -> QImage:
    """Return a view, with everything drawn over it, at one pixel or more per pixel.

    Unless ``identified``, corner text, overlay planes and the texts of a presentation
    state are left out; text in the pixels themselves stays.
    """
    twin = _Twin(view, identified=identified)
    twin.settle()
    twin.sample()
    picture = twin.blank()
    for _ in twin.paint_bands(picture):
        continue
    twin.deleteLater()
    return picture


def write_svg(view: ImageView, path: Path, *, identified: bool) -> None:
    """Write a view with marks, grid and answers as vectors over the image."""
    twin = _Twin(view, identified=identified)
    twin.settle()
    drawing = QSvgGenerator()
    drawing.setFileName(str(path))
    drawing.setSize(view.viewport().size())
    drawing.setViewBox(QRectF(view.area))
    drawing.setTitle("Overread")
    painter = QPainter(drawing)
    for _ in twin.paint_on(painter):
        continue
    painter.end()
    twin.deleteLater()
