"""A row of captioned pictures, each drawn in the background when it comes into view."""

from collections.abc import Hashable
from typing import Final, Generic, Protocol, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QListView, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.image import Raster
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.measure.film_picture import FilmPicture
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import in_role

Index = QModelIndex | QPersistentModelIndex
NOWHERE: Final = QModelIndex()
SIDE: Final = 144
"""Pixels of a picture's side."""
_KEPT: Final = 512
_RATIO: Final = 2.0
_AIR: Final = 6
_PRIORITY: Final = -1
Item = TypeVar("Item")
_Shown_contra = TypeVar("_Shown_contra", contravariant=True)


class Look(Protocol[_Shown_contra]):
    """How an item is shown."""

    def trial_of(self, item: _Shown_contra) -> int:
        """Return the trial that an item is found by."""
        ...

    def key_of(self, item: _Shown_contra) -> Hashable:
        """Return the key of an item's picture."""
        ...

    def caption_of(self, item: _Shown_contra) -> str:
        """Return the caption of an item's picture."""
        ...

    def story_of(self, item: _Shown_contra, provenance: str, failure: str) -> str:
        """Return the full description of an item, with the source of its picture."""
        ...

    def draw(self, item: _Shown_contra) -> FilmPicture:
        """Return an item's picture; runs in the background."""
        ...


class PicturesModel(QAbstractListModel, Generic[Item]):
    """Items with their pictures."""

    def __init__(self, look: Look[Item], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: tuple[Item, ...] = ()
        self._look, self._background_tasks = look, BackgroundTasks(self)
        self._pictures: dict[Hashable, QPixmap] = {}
        self._provenance: dict[Hashable, str] = {}
        self._failures: dict[Hashable, str] = {}

    @property
    def pictures_drawn(self) -> int:
        """How many pictures are in memory."""
        return len(self._pictures)

    def show_items(self, items: tuple[Item, ...]) -> None:
        """Replace the items; pictures not yet drawn of the old ones are dropped."""
        self.beginResetModel()
        self._background_tasks.cancel_all()
        self._failures.clear()
        self.items = items
        self.endResetModel()

    def forget(self) -> None:
        """Drop every picture; those in sight are drawn again."""
        self._pictures.clear()
        self._provenance.clear()
        self.show_items(self.items)

    def row_of(self, trial: int) -> int | None:
        """Return the row of a trial, None if it is not shown."""
        rows = (
            i for i, one in enumerate(self.items) if self._look.trial_of(one) == trial
        )
        return next(rows, None)

    def rowCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of items."""
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return an item's caption, picture or full description."""
        if not index.isValid():
            return None
        item = self.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return in_role(self._look.caption_of(item), role)
        if role == Qt.ItemDataRole.DecorationRole:
            return self._picture(item)
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            key = self._look.key_of(item)
            known, failed = self._provenance.get(key, ""), self._failures.get(key, "")
            return in_role(self._look.story_of(item, known, failed), role)
        return None

    def _picture(self, item: Item) -> QPixmap | QColor:
        """Return the picture, or black while it is drawn or if it cannot be."""
        key = self._look.key_of(item)
        if key in self._pictures:
            return self._pictures[key]
        if key not in self._background_tasks and key not in self._failures:
            self._background_tasks.start(
                key,
                lambda: self._look.draw(item),
                lambda picture: self._keep(item, picture),
                lambda error: self._fail(item, error),
                priority=_PRIORITY,
            )
        return QColor(Qt.GlobalColor.black)

    def _keep(self, item: Item, picture: FilmPicture) -> None:
        while len(self._pictures) >= _KEPT:
            oldest = next(iter(self._pictures))
            del self._pictures[oldest], self._provenance[oldest]
        key = self._look.key_of(item)
        asked = picture.asked
        self._pictures[key] = _words(asked) if asked else _pixmap(picture.raster)
        self._provenance[key] = picture.provenance
        self._tell(item)

    def _fail(self, item: Item, error: Exception) -> None:
        """Show the error's message in place of a picture; raise bugs."""
        if not isinstance(error, OverreadError):
            raise error
        self._failures[self._look.key_of(item)] = str(error)
        self._tell(item)

    def _tell(self, item: Item) -> None:
        row = self.row_of(self._look.trial_of(item))
        if row is not None:
            self.dataChanged.emit(self.index(row), self.index(row))


def _pixmap(raster: Raster) -> QPixmap:
    rows, columns = raster.pixels.shape[:2]
    image = QImage(
        raster.pixels.tobytes(), columns, rows, 3 * columns, QImage.Format.Format_RGB888
    )
    scaled = image.scaled(SIDE, SIDE, mode=Qt.TransformationMode.SmoothTransformation)
    return QPixmap.fromImage(scaled)


def _words(text: str) -> QPixmap:
    """Return text in place of a picture, on black like pictures."""
    pixmap = QPixmap(round(SIDE * _RATIO), round(SIDE * _RATIO))
    pixmap.setDevicePixelRatio(_RATIO)
    pixmap.fill(Qt.GlobalColor.black)
    painter = QPainter(pixmap)
    painter.setFont(theme.caption_font(painter.font()))
    painter.setPen(QColor(Qt.GlobalColor.lightGray))
    inner = QRect(_AIR, _AIR, SIDE - 2 * _AIR, SIDE - 2 * _AIR)
    painter.drawText(inner, Qt.TextFlag.TextWordWrap, text)
    painter.end()
    return pixmap


class PictureStrip(QListView):
    """A row of pictures with captions of some ``lines``; Enter chooses as a click."""

    chosen = Signal(int)
    """The row chosen with the mouse or Enter."""

    def __init__(
        self,
        model: QAbstractListModel,
        name: str,
        parent: QWidget | None = None,
        *,
        lines: int = 1,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setModel(model)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setFlow(QListView.Flow.LeftToRight)
        self.setMovement(QListView.Movement.Static)
        self.setWrapping(False)
        # Else Qt asks for the size of every item.
        self.setUniformItemSizes(True)
        self.setIconSize(QSize(SIDE, SIDE))
        caption = lines * self.fontMetrics().height()
        self.setGridSize(QSize(SIDE + 12, SIDE + caption + 12))
        self.setFixedHeight(SIDE + caption + 26)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.clicked.connect(self._choose)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Choose with Enter, else move as lists do."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(index.row())
