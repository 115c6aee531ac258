"""Printing a picture in many short turns of the event loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPageLayout, QPainter

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

_BAND: Final = 1 << 18
"""Pixels that are packed for the printer in one turn."""
_OVER: Final = 2
"""Rows that a band shares with the one above, so that no seam shows between them."""


class PagePrinter(QObject):
    """Prints a picture on a page, as large as the page allows.

    Qt packs a picture for the printer in one call, half a second for 12 megapixels, in
    which no thread of Python gets its turn.
    """

    progressed = Signal(int)
    """Percent that the printer has."""
    printed = Signal()

    def __init__(self, picture: QImage, parent: QObject) -> None:
        super().__init__(parent)
        self._picture, self._painter = picture, QPainter()
        self._bands: Iterator[float] = iter(())
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._go_on)

    def start(self, printer: "QPrinter") -> bool:
        """Begin the page; return False if the printer takes none."""
        wide = self._picture.width() > self._picture.height()
        way = QPageLayout.Orientation
        printer.setPageOrientation(way.Landscape if wide else way.Portrait)
        if not self._painter.begin(printer):
            self.deleteLater()
            return False
        self._printer = printer  # which has to outlive what paints on it
        page = QRectF(self._painter.viewport())
        self._bands = draw_in_bands(self._painter, page, self._picture)
        self._turns.start()
        return True

    def stop(self) -> None:
        """Print no picture; a printer that cannot take a page back gets it empty."""
        if not self._printer.abort():
            self._painter.fillRect(self._painter.viewport(), Qt.GlobalColor.white)
        self._end()
        if file := self._printer.outputFileName():
            Path(file).unlink(missing_ok=True)

    def _go_on(self) -> None:
        share = next(self._bands, None)
        if share is not None:
            self.progressed.emit(round(100 * share))
            return
        self._end()
        self.printed.emit()

    def _end(self) -> None:
        self._turns.stop()
        self._painter.end()
        self.deleteLater()


def draw_in_bands(painter: QPainter, page: QRectF, picture: QImage) -> Iterator[float]:
    """Draw a picture in the middle of a page; yield the share done after each band."""
    wide, tall = picture.width(), picture.height()
    fitting = QSizeF(wide, tall).scaled(page.size(), Qt.AspectRatioMode.KeepAspectRatio)
    place = QRectF(page.topLeft(), fitting.toSize())
    place.moveCenter(page.center().toPoint())
    scale = place.height() / tall
    high = max(1, _BAND // wide)
    for top in range(0, tall, high):
        first, last = max(0, top - _OVER), min(tall, top + high)
        rows = QRectF(0, first, wide, last - first)
        band = QRectF(
            place.left(), place.top() + first * scale,
            place.width(), (last - first) * scale,
        )  # fmt: skip
        painter.drawImage(band, picture, rows)
        yield last / tall
