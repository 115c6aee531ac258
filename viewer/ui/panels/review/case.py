"""A case: its image large, its other images in a strip, and its texts beside them."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.reading import ShownExhibit, Task
from viewer.services.viewing.decoding import Decoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.panels.review.exhibits import THUMBNAIL, ExhibitStrip
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.panels.review.prefetch import Prefetch
from viewer.ui.panels.review.texts import WIDTH, CaseTexts
from viewer.ui.panels.review.tiles import ImageTiles
from viewer.ui.widgets.lighter import Splitter

_NARROW: Final = 640
"""Pixels: if there is less room the texts lie below the image."""


class CaseArea(Splitter):
    """Shows what a case consists of; ``exhibit`` is the image shown large, from 0."""

    turned = Signal()
    """The reader turned to another image."""

    def __init__(self, image: ReviewImage, decoder: Decoder) -> None:
        super().__init__()
        self.strip = ExhibitStrip(lambda ref: decoder.thumbnail(ref, THUMBNAIL))
        self.texts, self.prefetch = CaseTexts(), Prefetch(decoder, self)
        self.exhibit = 0
        self._image, self.tiles = image, ImageTiles(image, decoder)
        self._task: Task | None = None
        self._tell: Callable[[Exception], None] | None = None
        images = QWidget()
        below = QVBoxLayout(images)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self.tiles, 1)
        below.addWidget(self.tiles.toggle)
        below.addWidget(self.strip)
        self.addWidget(images)
        self.addWidget(self.texts)
        self.setChildrenCollapsible(False)
        self.setStretchFactor(0, 1)
        self.setSizes([2 * WIDTH, WIDTH])

    def want(
        self,
        task: Task,
        following: Sequence[ImageRef],
        show: Callable[[OpenedImage], None],
        tell: Callable[[Exception], None],
    ) -> None:
        """Read a case's own image, then its others and those of the next cases."""
        self._task, self._tell = None, tell
        self.tiles.clear()
        refs = [one.image for one in _images_of(task)]
        self.exhibit = refs.index(task.image) if task.image in refs else 0

        def fail(error: Exception) -> None:
            tell(error)
            self._image.fail(str(error))

        self.prefetch.want(task.image, show, fail)
        beside = [ref for ref in refs if ref is not None and ref != task.image]
        self.prefetch.ahead([*beside, *following])

    def show_image(self, task: Task, opened: OpenedImage) -> None:
        """Show the own image of a case."""
        images = _images_of(task)
        boxes = images[self.exhibit].exhibit.boxes if images else ()
        self._image.show_case(opened, task.canvas, boxes)

    def show_task(self, task: Task) -> None:
        """Show the images and texts of a case in its current state."""
        self._task = task
        self.texts.show_task(task)
        self._show_images(_images_of(task))

    def _show_images(self, images: Sequence[ShownExhibit]) -> None:
        """Show which image is the large one, and the others beside it."""
        self.strip.show_exhibits(images, self.exhibit)
        if self._task is not None:
            self.tiles.show_images(images, self.exhibit, self._task.canvas, self._tell)

    def hide_drawn(self, *, hidden: bool) -> None:
        """Hide everything over the images, or show it again."""
        for view in (self._image, *self.tiles.beside):
            view.hide_drawn(hidden=hidden)

    def show_exhibit(self, number: int) -> None:
        """Show another image of the case large, from 0."""
        images = _images_of(self._task) if self._task is not None else ()
        if not 0 <= number < len(images):
            return
        self.exhibit = number
        self._show_images(images)
        self.turned.emit()
        ref, boxes = images[number].image, images[number].exhibit.boxes
        if ref is not None and self._tell is not None:
            self.prefetch.want(
                ref, lambda opened: self._image.show_exhibit(opened, boxes), self._tell
            )

    def step(self, steps: int) -> None:
        """Show the next image of the case, or with -1 the one before it."""
        if count := len(self.strip.cards):
            self.show_exhibit((self.exhibit + steps) % count)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the texts beside the image, or below it where there is little room."""
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        way = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self.orientation() != way:
            self.setOrientation(way)
            self.setStretchFactor(0, 3 if narrow else 1)
            self.setStretchFactor(1, 1 if narrow else 0)
            # Not before the new direction is laid out.
            parts = [(3 if narrow else 2) * WIDTH, WIDTH]
            QTimer.singleShot(0, self, lambda: self.setSizes(parts))


def _images_of(task: Task) -> tuple[ShownExhibit, ...]:
    """Return what a case shows that has an image; () if that is its own alone."""
    return tuple(one for one in task.exhibits if one.image is not None)
