"""Navigating a whole slide: from a position to the field that magnifies it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.slide import SlideMap, SlideScale
from viewer.ui.canvas.events import CursorMoved
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label, as_tip


@dataclass(frozen=True, slots=True)
class ScaleChosen:
    """The user wants to see the slide at this magnification."""

    scale: SlideScale


class SlideBar(QWidget):
    """Shows the magnification, and lets the user choose another."""

    scale_chosen = Signal(object)
    """Carries a ScaleChosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scales = QComboBox()
        self.scales.setAccessibleName("Magnification")
        self.scales.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.scales.activated.connect(self._tell)
        self.place, self.hint = Label(), caption()
        self.hint.setWordWrap(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        label = Label("Magnification")
        label.setBuddy(self.scales)
        for widget in (label, self.scales, self.place):
            row.addWidget(widget)
        row.addWidget(self.hint, 1)
        self.hide()

    def show_slide(self, slide: SlideMap | None, frame: int = 0) -> None:
        """Show where a frame of a slide is; hide the line without a slide."""
        self.setVisible(slide is not None)
        if slide is None:
            return
        scale = slide.scale_of(frame)
        self.scales.clear()
        for offered in slide.scales:
            self.scales.addItem(scale_words(offered), offered)
        self.scales.setCurrentIndex(slide.scales.index(scale))
        number = f"field {frame - scale.first + 1} of {scale.count}"
        self.place.setText(number if scale.count > 1 else "")
        finer = slide.finer(frame)
        self.hint.setText(
            f"Double-click, or Enter, opens {finer.name} there" if finer else ""
        )

    def _tell(self, row: int) -> None:
        self.scale_chosen.emit(ScaleChosen(self.scales.itemData(row)))


def scale_words(scale: SlideScale) -> str:
    """Return ``10x · 48 fields``, or ``Overview`` where one image shows it all."""
    return scale.name if scale.count == 1 else f"{scale.name} · {scale.count} fields"


_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_CLICK_PX: Final = 4
"""A press that moved less is a click; further, it is a drag of the view's own."""


class SlideNavigation(QObject):
    """Opens fields by double click, Enter, context menu and the line over the slide.

    Parameters
    ----------
    lightbox : Lightbox
        Where images are shown.
    choose : callable
        Brings an image of the open cases up; the case browser's.
    """

    def __init__(
        self,
        lightbox: Lightbox,
        choose: Callable[[ImageRef], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._lightbox, self._choose = lightbox, choose
        self.bar = SlideBar()
        self.bar.scale_chosen.connect(self._open_middle)
        lightbox.active_changed.connect(self._follow)
        lightbox.each(self._watch)

    def _watch(self, viewport: Viewport) -> None:
        viewport.image_shown.connect(self._follow)
        _Gestures(viewport, self)

    def open_at(self, viewport: Viewport, scale: SlideScale, point: PointPx) -> None:
        """Open the field of a magnification that shows a native position."""
        shown = viewport.shown
        if shown is None or shown.slide is None:
            return
        place = shown.slide.on_slide(shown.ref.frame, point)
        frame = shown.slide.frame_at(scale, place)
        self._choose(ImageRef(shown.ref.path, frame))

    def look_closer(self, viewport: Viewport, point: PointPx) -> bool:
        """Open the next magnification there; False if there is none."""
        shown = viewport.shown
        if shown is None or shown.slide is None:
            return False
        finer = shown.slide.finer(shown.ref.frame)
        if finer is not None:
            self.open_at(viewport, finer, point)
        return finer is not None

    def menu_at(self, viewport: Viewport, point: PointPx) -> QMenu | None:
        """Return the fields that can be opened at a position, None off a slide."""
        slide = slide_of(viewport)
        if slide is None or viewport.shown is None:
            return None
        menu = QMenu(viewport)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        now = slide.scale_of(viewport.shown.ref.frame)
        for scale in slide.scales:
            where = " here" if scale.first else ""
            action = menu.addAction(f"Open {'at ' if where else ''}{scale.name}{where}")
            action.setToolTip(as_tip(scale_words(scale)))
            action.setEnabled(scale != now)
            action.triggered.connect(partial(self.open_at, viewport, scale, point))
        return menu

    def _open_middle(self, event: ScaleChosen) -> None:
        viewport = self._lightbox.active
        middle = viewport.view.native_at(viewport.view.area.center())
        self.open_at(viewport, event.scale, middle)
        viewport.view.setFocus()

    def _follow(self, *_: object) -> None:
        viewport = self._lightbox.active
        frame = viewport.shown.ref.frame if viewport.shown else 0
        self.bar.show_slide(slide_of(viewport), frame)


class _Gestures(QObject):
    """Watches one viewport for the gestures of a slide; a drag is left alone."""

    def __init__(self, viewport: Viewport, navigation: SlideNavigation) -> None:
        super().__init__(navigation)
        self._viewport, self._navigation = viewport, navigation
        self._pressed: QPointF | None = None
        self._cursor: PointPx | None = None
        viewport.view.cursor_moved.connect(self._remember)
        # A QGraphicsView gets the keys, its viewport the mouse.
        viewport.view.installEventFilter(self)
        viewport.view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Handle what opens a field, and pass everything else on."""
        if slide_of(self._viewport) is not None:
            view = self._viewport.view
            if watched is view and isinstance(event, QKeyEvent):
                return self._key(event)
            if watched is view.viewport() and isinstance(event, QMouseEvent):
                return self._mouse(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        if event.type() is not QEvent.Type.KeyPress or event.key() not in _ENTER:
            return False
        view = self._viewport.view
        point = self._cursor or view.native_at(view.area.center())
        return self._navigation.look_closer(self._viewport, point)

    def _mouse(self, event: QMouseEvent) -> bool:
        kind, right = event.type(), event.button() is Qt.MouseButton.RightButton
        if kind is QEvent.Type.MouseButtonDblClick and not right:
            point = self._viewport.view.native_at(event.position())
            return self._navigation.look_closer(self._viewport, point)
        if kind is QEvent.Type.MouseButtonPress and right:
            self._pressed = event.position()
        elif kind is QEvent.Type.MouseButtonRelease and right:
            self._released(event)
        return False

    def _released(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if pressed is None:
            return
        moved = (event.position() - pressed).manhattanLength()
        if moved < _CLICK_PX:
            self._show_menu(event.position(), event.globalPosition().toPoint())

    def _show_menu(self, at: QPointF, on_screen: QPoint) -> None:
        view = self._viewport.view
        if view.marks.choose_at(at) is not None:
            return  # The view offers what can be done with the mark.
        point = view.native_at(at)
        menu = self._navigation.menu_at(self._viewport, point)
        if menu is not None:
            menu.popup(on_screen)

    def _remember(self, event: CursorMoved) -> None:
        self._cursor = event.point


def slide_of(viewport: Viewport) -> SlideMap | None:
    """Return the slide that a viewport shows a field of."""
    return viewport.shown.slide if viewport.shown is not None else None
