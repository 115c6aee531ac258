"""The provider's view: the image as sent and as a model sees it, pixel for pixel."""

from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QScrollBar,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.image import Raster
from viewer.services.asking.provider_views import ProviderSight, ViewOffer, view_offers
from viewer.ui.widgets.icons import IconLabel
from viewer.ui.widgets.labels import caption, title
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

_ZOOMS: Final = 8
_ZOOM: Final = 2
_SIGN: Final = 16


class ProviderView(QDialog):
    """A window beside the image; one pixel is a square of whole screen pixels.

    It follows the image that has the focus: `show_sight` is called anew.
    """

    provider_changed = Signal(object)
    """ViewOffer"""

    def __init__(self, provider: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Provider's view")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sight: ProviderSight | None = None
        self.providers, self.zoom = QComboBox(), QSpinBox(minimum=1, maximum=_ZOOMS)
        self.sent, self.seen = _Picture("As sent"), _Picture("As the model sees it")
        self.words, self.warnings = caption(), QVBoxLayout()
        self.problem = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.problem.hide()
        for offer in view_offers():
            self.providers.addItem(f"{offer.name}: {offer.summary}", offer)
            if offer.name == provider:
                self.providers.setCurrentIndex(self.providers.count() - 1)
        self.zoom.setValue(round(_ZOOM * self.devicePixelRatioF()))
        self._lay_out()
        self.providers.currentIndexChanged.connect(self._choose)
        self.zoom.valueChanged.connect(self._paint)
        resize_on_screen(self, 1100, 720)

    def _lay_out(self) -> None:
        self.providers.setAccessibleName("Provider")
        self.zoom.setAccessibleName("Screen pixels per pixel")
        self.zoom.setSuffix(" ×")
        self.zoom.setToolTip("Width of a pixel in screen pixels")
        row = QHBoxLayout()
        row.addWidget(self.providers, 1)
        row.addWidget(self.zoom)
        pictures = QGridLayout()
        for place, picture in enumerate((self.sent, self.seen)):
            pictures.addWidget(picture, 0, place)
            pictures.setColumnStretch(place, 1)
        pairs = zip(self.sent.bars, self.seen.bars, strict=True)
        self._links = [_Link(sent, seen) for sent, seen in pairs]
        self.warnings.setSpacing(4)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addLayout(row)
        column.addLayout(pictures, 1)
        column.addWidget(self.problem, 1)
        column.addLayout(self.warnings)
        column.addWidget(self.words)

    @property
    def offer(self) -> ViewOffer:
        """The provider chosen."""
        offer: ViewOffer = self.providers.currentData()
        return offer

    @property
    def warned(self) -> tuple[str, ...]:
        """The details that the model may not see, as they are shown."""
        return self._sight.warnings if self._sight else ()

    def show_sight(self, sight: ProviderSight) -> None:
        """Show another image, or another provider's view of it."""
        self._sight = sight
        self.words.setText(f"{_tokens(sight)} Resampling: {sight.resampling}.")
        self._show_pictures(shown=True)
        self._warn()
        self._paint()

    def show_working(self) -> None:
        """Say that a view is being made; the one before stays meanwhile."""
        self.words.setText("Calculating…")

    def show_problem(self, sentence: str) -> None:
        """Say why there is no view of the image."""
        self._sight = None
        self.problem.setText(sentence)
        self.words.clear()
        self._show_pictures(shown=False)
        self._warn()

    def _show_pictures(self, *, shown: bool) -> None:
        self.problem.setVisible(not shown)
        for picture in (self.sent, self.seen):
            picture.setVisible(shown)

    def _choose(self) -> None:
        self.provider_changed.emit(self.offer)

    def _warn(self) -> None:
        while (item := self.warnings.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for sentence in self.warned:
            self.warnings.addWidget(_Warning(sentence))

    def _paint(self) -> None:
        if self._sight is not None:
            self.sent.show_raster(self._sight.sent, self.zoom.value())
            self.seen.show_raster(self._sight.seen, self.zoom.value())


class _Picture(QWidget):
    """A raster, each pixel a square, with its size above; it scrolls."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words
        self.head, self.picture, self._scroll = title(words), Label(), QScrollArea()
        self.picture.setAccessibleName(words)
        self._scroll.setWidget(self.picture)
        self._scroll.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._scroll.setStyleSheet("QScrollArea { background: black; border: none; }")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.head)
        column.addWidget(self._scroll, 1)

    @property
    def bars(self) -> tuple[QScrollBar, QScrollBar]:
        """The scroll bars, across and down."""
        return self._scroll.horizontalScrollBar(), self._scroll.verticalScrollBar()

    def show_raster(self, raster: Raster, zoom: int) -> None:
        """Show a raster, each pixel ``zoom`` screen pixels wide."""
        size, ratio = raster.size, self.devicePixelRatioF()
        self.head.setText(f"{self._words}: {size.columns} × {size.rows} px")
        pixmap = QPixmap.fromImage(_image(raster))
        # Qt's default, without smoothing: every pixel stays a square.
        pixmap = pixmap.scaled(pixmap.width() * zoom, pixmap.height() * zoom)
        pixmap.setDevicePixelRatio(ratio)
        self.picture.setPixmap(pixmap)
        self.picture.resize(pixmap.deviceIndependentSize().toSize())


class _Link:
    """Keeps two scroll bars at the same part of two pictures."""

    def __init__(self, first: QScrollBar, second: QScrollBar) -> None:
        self._led = False
        first.valueChanged.connect(partial(self._lead, first, second))
        second.valueChanged.connect(partial(self._lead, second, first))

    def _lead(self, bar: QScrollBar, other: QScrollBar, _value: int) -> None:
        if self._led:
            return
        middle = (bar.value() + bar.pageStep() / 2) / (bar.maximum() + bar.pageStep())
        at = middle * (other.maximum() + other.pageStep()) - other.pageStep() / 2
        self._led = True  # by rounding it would lead back to another place
        other.setValue(round(at))
        self._led = False


class _Warning(QWidget):
    """A sentence with a sign before it."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(IconLabel("alert-outline", _SIGN))
        row.addWidget(Label(sentence, wordWrap=True), 1)


def _image(raster: Raster) -> QImage:
    """Return a raster as an image of its own, grey or RGB."""
    pixels, size = raster.pixels, raster.size
    color = pixels.ndim > 2  # rows, columns and RGB
    kind = QImage.Format.Format_RGB888 if color else QImage.Format.Format_Grayscale8
    stride = size.columns * (3 if color else 1)
    data = pixels.tobytes()
    # Copied: a QImage of a buffer only refers to it.
    return QImage(data, size.columns, size.rows, stride, kind).copy()


def _tokens(sight: ProviderSight) -> str:
    if sight.tokens is None:
        return "Its cost in tokens is not published."
    return f"It costs {sight.tokens} tokens."
