"""A row of masks, each drawn on its image in the background."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.image import Raster
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.pixmaps import pixmap_of
from viewer.ui.widgets.plain_text import Label, as_tip

if TYPE_CHECKING:
    from viewer.services.importing.mask_pictures import MaskShown

MOST: Final = 5
_SIDE: Final = 128
_RATIO: Final = 2
_ODD: Final = "Show this one"


class MaskStrip(QWidget):
    """The masks that a data set is about to be registered with; odd ones first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._background_tasks = BackgroundTasks(self)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(MOST, 1)
        self.pictures: tuple[QLabel, ...] = ()

    def show_masks(self, masks: "tuple[MaskShown, ...]") -> None:
        """Show some masks in place of those before; none hides the row."""
        self._background_tasks.cancel_all()
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.pictures = tuple(map(self._add, range(len(masks)), masks))
        self.setVisible(bool(masks))

    def _add(self, column: int, shown: "MaskShown") -> QLabel:
        from viewer.services.importing.mask_pictures import mask_picture

        picture = Label("…")
        picture.setFixedSize(_SIDE, _SIDE)
        picture.setWordWrap(True)
        picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        tip = "\n".join((f"{shown.image}: {shown.finding}", *shown.odd))
        picture.setToolTip(as_tip(tip))
        picture.setAccessibleName(tip)
        words = caption(f"{shown.finding}\n{_ODD}" if shown.odd else shown.finding)
        words.setFixedWidth(_SIDE)
        self._grid.addWidget(picture, 0, column)
        self._grid.addWidget(words, 1, column, Qt.AlignmentFlag.AlignTop)

        def drawn(raster: Raster) -> None:
            pixmap = pixmap_of(raster)
            pixmap.setDevicePixelRatio(_RATIO)
            picture.setPixmap(pixmap)

        def failed(error: Exception) -> None:
            if not isinstance(error, OverreadError):
                raise error
            picture.setText(error.what)

        self._background_tasks.start(
            column, lambda: mask_picture(shown, _SIDE * _RATIO), drawn, failed
        )
        return picture
