"""The images of a case in a strip: a card for each, in the colour of its evidence."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QScrollArea, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.image import Raster
from viewer.domain.reading import Exhibit, ShownExhibit
from viewer.domain.styles import style_of
from viewer.ui.panels.read.thumbnails import ThumbnailMade, Thumbnails
from viewer.ui.widgets import theme
from viewer.ui.widgets.pixmaps import pixmap_of
from viewer.ui.widgets.plain_text import as_tip
from viewer.ui.widgets.scrolled import scrolled

THUMBNAIL: Final = 64
_WIDTH: Final = 112
_GAP: Final = 4
_FRAME: Final = 2


class ExhibitCard(QAbstractButton):
    """A thumbnail over its title, both in the colour of its kind of evidence."""

    def __init__(
        self, exhibit: Exhibit, number: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._kind = exhibit.kind
        self.words = exhibit.title or f"Image {number}"
        self._picture = QPixmap()
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFont(theme.caption_font(self.font()))
        self.setAccessibleName(f"Image {number}: {self.words}")
        self.setToolTip(as_tip(f"{self.words} (Page Up, Page Down)"))

    def show_picture(self, raster: Raster) -> None:
        """Show the thumbnail."""
        self._picture = pixmap_of(raster)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size of thumbnail and title."""
        return QSize(_WIDTH, THUMBNAIL + self.fontMetrics().height() + 3 * _GAP)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the card; the image on the screen has a ground and a thicker frame."""
        painter, palette = QPainter(self), theme.current()
        look = style_of(self._kind) if self._kind else None
        color = QColor(look.colour_on(palette.ground) if look else palette.text)
        whole = self.rect().adjusted(1, 1, -1, -1)
        painter.fillRect(whole, QColor(palette.chosen if self.isChecked() else "black"))
        picture = QRect(_GAP, _GAP, self.width() - 2 * _GAP, THUMBNAIL)
        painter.fillRect(picture, Qt.GlobalColor.black)
        if not self._picture.isNull():
            square = QRect(0, 0, THUMBNAIL, THUMBNAIL)
            square.moveCenter(picture.center())
            painter.drawPixmap(square, self._picture)
        ground = QColor(palette.chosen if self.isChecked() else palette.panel)
        line = QRect(1, picture.bottom() + 1, self.width() - 2, self.height())
        painter.fillRect(line.intersected(whole), ground)
        painter.setPen(QPen(color, _FRAME if self.isChecked() else 1))
        painter.drawRect(whole)
        if self.hasFocus():
            painter.setPen(QPen(QColor(palette.accent), 1, Qt.PenStyle.DashLine))
            painter.drawRect(whole.adjusted(3, 3, -3, -3))
        painter.setPen(QColor(palette.text) if self.isChecked() else color)
        words = f"{look.sign} {self.words}" if look else self.words
        room = self.width() - 2 * _GAP
        elided = self.fontMetrics().elidedText(
            words, Qt.TextElideMode.ElideMiddle, room
        )
        text = QRect(_GAP, picture.bottom() + _GAP, room, self.fontMetrics().height())
        painter.drawText(text, Qt.AlignmentFlag.AlignCenter, elided)


class ExhibitStrip(QScrollArea):
    """A card for each image of a case, hidden for a single one.

    Parameters
    ----------
    thumbnail : callable
        Decodes a square picture of an image; called in background threads.
    """

    chosen = Signal(object)
    """int: the image that the reader wants to see, from 0"""

    def __init__(
        self, thumbnail: Callable[[ImageRef], Raster], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.cards: list[ExhibitCard] = []
        self._shown: tuple[ShownExhibit, ...] = ()
        self._thumbnails = Thumbnails(thumbnail, self)
        self._thumbnails.made.connect(self._take)
        inner = QWidget()
        self._row = QHBoxLayout(inner)
        self._row.setContentsMargins(_GAP, _GAP, _GAP, _GAP)
        self._row.setSpacing(_GAP)
        self._row.addStretch(1)
        scrolled(inner, self)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_exhibits(self, images: Sequence[ShownExhibit], current: int) -> None:
        """Show the images of a case, and which of them is on the screen."""
        if tuple(images) != self._shown:
            self._make(tuple(images))
        for number, card in enumerate(self.cards):
            card.setChecked(number == current)
        self.setVisible(len(self.cards) > 1)
        if self.cards:
            self.ensureWidgetVisible(self.cards[current])

    def _make(self, images: tuple[ShownExhibit, ...]) -> None:
        for card in self.cards:
            card.setParent(None)
            card.deleteLater()
        self._shown = images
        self.cards = [
            ExhibitCard(one.exhibit, number) for number, one in enumerate(images, 1)
        ]
        for number, card in enumerate(self.cards):
            card.clicked.connect(partial(self._choose, number))
            self._row.insertWidget(number, card)
        if len(images) > 1:
            self.setFixedHeight(self.cards[0].sizeHint().height() + 6 * _GAP)
            self._thumbnails.want([one.image for one in images if one.image])

    def _choose(self, number: int, _checked: bool = False) -> None:
        self.chosen.emit(number)

    def _take(self, event: ThumbnailMade) -> None:
        for card, one in zip(self.cards, self._shown, strict=True):
            if one.image == event.ref and event.raster is not None:
                card.show_picture(event.raster)
