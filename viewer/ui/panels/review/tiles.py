"""The images of a case side by side, two by two, each zoomed and windowed by itself."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.form import Form, Part
from viewer.domain.form_values import Canvas
from viewer.domain.reading import ShownExhibit
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import as_tip

_BESIDE: Final = 3
_COLUMNS: Final = 2
_LEAST: Final = 3
"""So many images are shown side by side; of two, one large is the better view."""
_PAIR: Final = 2
"""An image and the one that it was made of are compared."""
_ROOM: Final = {_LEAST: (640, 480), _PAIR: (480, 240)}
"""Pixels: with less room there is one image."""


class ImageTiles(QWidget):
    """The image that is chosen, and up to three others of the case.

    Places are drawn on the first alone.
    """

    def __init__(
        self, image: ReviewImage, decoder: Decoder, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._decoder = decoder
        self._background_tasks = BackgroundTasks(self)
        self._images: tuple[ShownExhibit, ...] = ()
        self._least = _LEAST
        self._canvas: Canvas | None = None
        self._tell: Callable[[Exception], None] | None = None
        self.beside = tuple(ReviewImage() for _ in range(_BESIDE))
        self.toggle = QCheckBox("Side by side")
        self.toggle.setToolTip(
            as_tip("Up to four images, each zoomed and windowed by itself")
        )
        self.toggle.setChecked(True)
        self.toggle.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # keys stay with the image
        self.toggle.hide()
        self.toggle.toggled.connect(self._arrange)
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(1)
        self.titles = tuple(caption() for _ in range(_BESIDE + 1))
        for number, view in enumerate((image, *self.beside)):
            row, column = divmod(number, _COLUMNS)
            grid.addWidget(self.titles[number], 2 * row, column)
            grid.addWidget(view, 2 * row + 1, column)
            self.titles[number].hide()
        for view in self.beside:
            view.hide()

    def show_form(self, form: Form) -> None:
        """Show even two images side by side if a form compares them."""
        self._least = _PAIR if Part.ORIGINAL in form.shown else _LEAST

    def clear(self) -> None:
        """Show the chosen image alone, and drop the others."""
        self._background_tasks.cancel_all()
        self._images = ()
        self.toggle.hide()
        for part in (*self.beside, *self.titles):
            part.hide()
        for view in self.beside:
            view.forget()
            view.clear()

    def show_images(
        self,
        images: Sequence[ShownExhibit],
        chosen: int,
        canvas: Canvas,
        tell: Callable[[Exception], None] | None,
    ) -> None:
        """Show the images of a case but the chosen one, if it has enough, and room."""
        self._canvas, self._tell = canvas, tell
        self._images = (*images[chosen : chosen + 1], *images[:chosen])
        self._images += tuple(images[chosen + 1 :])
        self._arrange()

    @property
    def _can_be_tiled(self) -> bool:
        width, height = _ROOM[self._least]
        room = self.width() >= width and self.height() >= height
        return room and len(self._images) >= self._least

    def _arrange(self) -> None:
        self.toggle.setVisible(self._can_be_tiled)
        tiled = self._can_be_tiled and self.toggle.isChecked()
        shown = self._images[: _BESIDE + 1] if tiled else ()
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, int(len(shown) > 1))
        self._grid.setRowStretch(1, 1)
        self._grid.setRowStretch(3, int(len(shown) > _COLUMNS))
        for number, label in enumerate(self.titles):
            label.setVisible(number < len(shown))
            label.setText(shown[number].exhibit.title if number < len(shown) else "")
        for number, view in enumerate(self.beside, 1):
            view.setVisible(number < len(shown))
            if number >= len(shown):
                view.clear()
        for view, one in zip(self.beside, shown[1:], strict=False):
            ref = one.image
            if ref is not None and view.shown_ref != ref:
                self._open(view, one, ref)

    def _open(self, view: ReviewImage, one: ShownExhibit, ref: ImageRef) -> None:
        canvas = one.canvas or self._canvas

        def show(opened: OpenedImage) -> None:
            if canvas is not None:
                view.show_case(opened, canvas, one.exhibit.boxes)

        self._background_tasks.start(
            view, partial(self._decoder.open, ref), show, self._fail
        )

    def _fail(self, error: Exception) -> None:
        if self._tell is not None:
            self._tell(error)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show the others where there is room for them now."""
        super().resizeEvent(event)
        self._arrange()
