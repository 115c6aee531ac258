"""A viewport: one image view that scrolls through a stack, and its position."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QSlider, QVBoxLayout, QWidget

from viewer.domain.case import ImageHeader, ImageRef
from viewer.domain.image import Window
from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.background_tasks import run_for
from viewer.ui.canvas.events import Scrolled
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.panels.read.ahead import Ahead
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label, as_tip

if TYPE_CHECKING:
    from viewer.domain.geometry import BoxPx
    from viewer.ui.application.jobs import Job
    from viewer.ui.canvas.minimap import Minimap
    from viewer.ui.panels.read.tile_loading import TileLoading

_CACHE_BYTES: Final = 48 * 1024 * 1024
"""Of pixels as decoded; codes and further scales make it up to 7/3 of that."""
_SHARED_BYTES: Final = 2 * _CACHE_BYTES
"""What several viewports keep together."""
_AHEAD: Final = 6
_PAGE: Final = 10


@dataclass(frozen=True, eq=False)
class ImageShown:
    """A viewport painted an image."""

    viewport: "Viewport"
    shown: ShownImage


@dataclass(frozen=True, eq=False)
class ImageFailed:
    """An image could not be read."""

    ref: ImageRef
    error: Exception


@dataclass(frozen=True, slots=True)
class PositionChanged:
    """A viewport went from an image of its stack, the one ``before``, to another."""

    before: int


@dataclass(frozen=True, eq=False)
class ViewportEntered:
    """A viewport got the focus, so that commands apply to it."""

    viewport: "Viewport"


class ImageCache:
    """The most recent images, up to a number of bytes; the newest always stays."""

    def __init__(self, capacity: int = _CACHE_BYTES) -> None:
        self.capacity, self.held_bytes = capacity, 0
        self._images: OrderedDict[ImageRef, OpenedImage] = OrderedDict()

    def __contains__(self, ref: ImageRef) -> bool:
        return ref in self._images

    def __len__(self) -> int:
        return len(self._images)

    def get(self, ref: ImageRef) -> OpenedImage | None:
        """Return an image and make it the newest."""
        if ref in self._images:
            self._images.move_to_end(ref)
        return self._images.get(ref)

    def add(self, loaded: OpenedImage) -> None:
        """Keep an image, dropping the oldest beyond the capacity."""
        ref = loaded.shown.ref
        if ref in self._images:
            return
        self._images[ref] = loaded
        self.held_bytes += loaded.shown.image.values.nbytes
        while self.held_bytes > self.capacity and len(self._images) > 1:
            _, oldest = self._images.popitem(last=False)
            self.held_bytes -= oldest.shown.image.values.nbytes


class Viewport(QWidget):
    """Shows a stack, and decodes a few images ahead of the wheel."""

    image_shown = Signal(object)
    """Carries an ImageShown."""
    image_failed = Signal(object)
    """Carries an ImageFailed."""
    scrolled = Signal(object)
    """Carries a PositionChanged."""
    entered = Signal(object)
    """Carries a ViewportEntered."""
    stack_changed = Signal()
    """It hangs another stack, or none."""
    held_changed = Signal()
    """It keeps more images in memory, or fewer."""

    def __init__(
        self,
        decoder: Decoder | None = None,
        parent: QWidget | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        super().__init__(parent)
        self._decoder = decoder or LocalDecoder()
        self._ahead = ahead or Ahead(self._decoder, self)
        self.stack: Stack | None = None
        self.shown: ShownImage | None = None
        self.field: BoxPx | None = None
        self.position = 0
        self.model = ""
        """Whose answers alone are drawn here; "" for all."""
        self._cache = ImageCache()
        self._jobs: dict[ImageRef, Job[OpenedImage]] = {}
        self._broken: set[ImageRef] = set()
        self._tiles: TileLoading | None = None
        self._minimap: Minimap | None = None
        self.view = ImageView()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Position in the series")
        self.caption, self.role = Label(), Label()
        self.role.hide()
        self.mark = ActiveMark()
        self.mark.hide()
        self._lay_out()
        self.view.installEventFilter(self)
        self.view.scrolled.connect(self._wheel)
        self.slider.valueChanged.connect(self.go_to)

    def _lay_out(self) -> None:
        column, foot = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        foot.setContentsMargins(8, 4, 8, 4)
        foot.setSpacing(8)
        foot.addWidget(self.role)
        foot.addStretch()
        foot.addWidget(self.slider, 100)
        foot.addWidget(self.caption)
        column.addWidget(self.mark)
        column.addWidget(self.view, 1)
        column.addLayout(foot)
        self._show_foot()

    @property
    def header(self) -> ImageHeader | None:
        """The header of the image at the current position."""
        return self.stack.images[self.position] if self.stack else None

    @property
    def place(self) -> str:
        """The key of its stack's edits in Undo, "" without one."""
        return self.stack.key if self.stack else ""

    @property
    def stack_images(self) -> tuple[ImageHeader, ...]:
        """The images that the wheel scrolls through."""
        return self.stack.images if self.stack else ()

    @property
    def held_bytes(self) -> int:
        """The size of the images kept in memory, as decoded."""
        return self._cache.held_bytes

    @property
    def chosen_window(self) -> Window | None:
        """The window that the user set, None for the file's own."""
        return self.view.window_set

    def share_memory(self, viewports: int) -> None:
        """Keep as many images as leaves memory for so many viewports."""
        self._cache.capacity = min(_CACHE_BYTES, _SHARED_BYTES // viewports)

    def show_role(self, role: str, model: str = "") -> None:
        """Say what the image is in a comparison, such as "Prior"; "" says nothing.

        With a ``model``, only that model's answers are to be drawn on it.
        """
        self.model = model
        self.role.setText(role)
        self.role.setVisible(bool(role))

    def show_stack(self, stack: Stack | None, position: int | None = None) -> None:
        """Show a stack at a position, or nothing.

        Without a position, a stack that is shown stays where it is, and another one
        comes up at its first image.
        """
        if stack is None:
            self._forget()
        elif stack == self.stack:
            self._go_to(self.position if position is None else position)
        elif self.stack is not None and stack.key == self.stack.key:
            self._grow(stack)
        else:
            self._forget()
            self.stack, self.position = stack, position or 0
            self._show_foot()
            self._await(stack.images[self.position])
            self.stack_changed.emit()

    def _grow(self, stack: Stack) -> None:
        """Stay on the current image while others of its stack come or go."""
        here = self._wanted()
        refs = [image.ref for image in stack.images]
        self.stack = stack
        self.position = refs.index(here) if here in refs else 0
        self._show_foot()
        if here in refs:
            self._look_ahead()
        else:
            self._await(stack.images[0])

    def go_to(self, position: int) -> None:
        """Show the image at a position, clamped to the stack."""
        before = self.position
        self._go_to(position)
        if self.position != before:
            self.scrolled.emit(PositionChanged(before))

    def _go_to(self, position: int) -> None:
        if self.stack is None:
            return
        position = min(max(position, 0), len(self.stack.images) - 1)
        if position == self.position and self.shown is not None:
            return
        self.position = position
        self._show_foot()
        ref = self.stack.images[position].ref
        known = self._cache.get(ref)
        if known is not None:
            self._paint(known)
        else:
            self._await(self.stack.images[position])

    def scroll_by(self, steps: int) -> None:
        """Scroll by a number of images, negative for back."""
        self.go_to(self.position + steps)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Track the focus, and handle the keys that scroll a stack."""
        if watched is self.view and event.type() is QEvent.Type.FocusIn:
            self.entered.emit(ViewportEntered(self))
        elif isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        steps = self._keys().get(Qt.Key(event.key()))
        if steps is None or self.stack is None or len(self.stack.images) < 2:
            return False
        self.scroll_by(steps)
        return True

    def _keys(self) -> dict[Qt.Key, int]:
        whole = len(self.stack.images) if self.stack else 0
        return {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Home: -whole,
            Qt.Key.Key_End: whole,
        }

    def _wheel(self, event: Scrolled) -> None:
        self.scroll_by(event.steps)

    def _forget(self) -> None:
        for job in self._jobs.values():
            job.cancel()
        self._jobs.clear()
        self._broken.clear()
        self._end_tiles()
        self._cache = ImageCache(self._cache.capacity)
        self.held_changed.emit()
        self.stack, self.shown, self.position = None, None, 0
        self.view.clear()
        self._show_foot()
        self.stack_changed.emit()

    def _await(self, image: ImageHeader) -> None:
        """Show what is being opened, and have it decoded."""
        size = f"{image.size.columns} × {image.size.rows}"
        self.view.waiting.start(f"Opening {image.ref.path.name}, {size}…")
        self._load(image.ref)

    def _load(self, ref: ImageRef, *, ahead: bool = False) -> None:
        if ref in self._jobs or ref in self._cache:
            return

        def on_done(loaded: OpenedImage) -> None:
            self._jobs.pop(ref, None)
            self._cache.add(loaded)
            self.held_changed.emit()
            if self._wanted() == ref:
                self._paint(loaded)

        def on_error(error: Exception) -> None:
            self._jobs.pop(ref, None)
            self._broken.add(ref)
            if self._wanted() == ref:
                self.shown = None
                self.view.fail(f"{ref.path.name} cannot be shown.")
                self.image_failed.emit(ImageFailed(ref, error))
                self._look_ahead()

        self._jobs[ref] = run_for(
            self,
            lambda: self._opened(ref),
            on_done,
            on_error,
            # The image that is waited for overtakes those decoded ahead.
            priority=0 if ahead else 1,
        )

    def _opened(self, ref: ImageRef) -> OpenedImage:
        """Return an image, decoded now unless it was prefetched."""
        return self._ahead.take(ref) or self._decoder.open(ref)

    def _wanted(self) -> ImageRef | None:
        return self.header.ref if self.header else None

    def _paint(self, loaded: OpenedImage) -> None:
        shown = loaded.shown
        self.shown, self.field = shown, loaded.field
        with self.view.redrawn_once():  # with all that lies over it
            self.view.show_image(shown, loaded.pyramid)
            self._load_tiles(shown)
            self.image_shown.emit(ImageShown(self, shown))
        self._look_ahead()

    def _load_tiles(self, shown: ShownImage) -> None:
        """Bring the overview of a slide the pixels that a closer look needs."""
        self._end_tiles()
        if shown.slide is None or shown.ref.frame:
            return
        from viewer.ui.canvas.minimap import Minimap
        from viewer.ui.panels.read.tile_loading import TileLoading

        self._minimap = self._minimap or Minimap(self.view)
        self._tiles = TileLoading(self._decoder, self.view, shown)
        self.view.show_tiles(self._tiles.tiles)
        self._tiles.follow_colours()

    def follow_preferences(self) -> None:
        """Show the image as the reader prefers now."""
        self.view.redraw()
        if self._tiles is not None:
            self._tiles.follow_colours()

    def _end_tiles(self) -> None:
        if self._tiles is not None:
            self._tiles.end()
        self._tiles = None

    def _look_ahead(self) -> None:
        images = self.stack.images if self.stack else ()
        near = sorted(
            range(max(0, self.position - _AHEAD), self.position + _AHEAD + 1),
            key=lambda i: abs(i - self.position),
        )
        wanted = [images[i].ref for i in near if i < len(images)]
        # Images that the wheel has left behind need not be decoded any more.
        for ref in self._jobs.keys() - set(wanted):
            self._jobs.pop(ref).cancel()
        for ref in wanted:
            if ref not in self._broken:
                self._load(ref, ahead=True)

    def _show_foot(self) -> None:
        count = len(self.stack.images) if self.stack else 0
        for widget in (self.slider, self.caption):
            widget.setVisible(count > 1)
        # setValue() would go to the image once more.
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, count - 1))
        self.slider.setPageStep(_PAGE)
        self.slider.setValue(self.position)
        self.slider.blockSignals(False)
        self.caption.setText(f"image {self.position + 1} of {count}")


_HEIGHT: Final = 3


class ActiveMark(QWidget):
    """A line in the accent colour over the active viewport, not on the image."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(_HEIGHT)
        self.active = False

    def show_active(self, active: bool) -> None:
        """Show whether commands and Ask apply to the viewport."""
        self.active = active
        words = "Commands and Ask apply to this image" if active else ""
        self.setToolTip(as_tip(words))
        self.setAccessibleName(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Fill it, in the colours of the theme in use."""
        colors = theme.current()
        fill = colors.accent if self.active else colors.surroundings
        QPainter(self).fillRect(event.rect(), QColor(fill))
