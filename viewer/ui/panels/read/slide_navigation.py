"""Looking at a whole slide as with a microscope: magnifications, and where to."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QWidget

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.slide import SlideMap
from viewer.ui.application.actions import PRESETS, Handlers
from viewer.ui.canvas.events import CursorMoved
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import ImageShown, Viewport
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label

_WHOLE: Final = "Whole slide"
_ALIKE: Final = 1.01
"""Zooms that differ by less are one magnification."""
_UNKNOWN: Final = "The file does not say its magnification or pixel size"


@dataclass(frozen=True, slots=True)
class MagnificationChosen:
    """The user wants to see the scan reduced by a factor; None for all of it."""

    factor: float | None


class SlideBar(QWidget):
    """Shows the magnification, and lets the user choose another."""

    chosen = Signal(object)
    """Carries a MagnificationChosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._slide: SlideMap | None = None
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

    def show_slide(
        self, slide: SlideMap | None, frame: int = 0, factor: float | None = None
    ) -> None:
        """Show a frame of a slide, and how far its scan is reduced, None for fitted.

        Without a slide the line is hidden.
        """
        self.setVisible(slide is not None)
        if slide is None:
            return
        if slide != self._slide:
            self._offer(slide)
        near = [p for p in slide.presets if factor and 1 / _ALIKE < p / factor < _ALIKE]
        self.scales.setCurrentIndex(self.scales.findData(near[0]) if near else -1)
        self.scales.setPlaceholderText(slide.name_at(factor) if factor else _WHOLE)
        scale = slide.scale_of(frame)
        number = f"field {frame - scale.first + 1} of {scale.count}"
        self.place.setText(f"{scale.name}, {number}" if frame else "")
        known = slide.magnification is not None
        self.hint.setText("Double-click, or Enter, magnifies" if known else _UNKNOWN)

    def _offer(self, slide: SlideMap) -> None:
        self._slide = slide
        self.scales.clear()
        self.scales.addItem(_WHOLE, None)
        for factor in slide.presets:
            self.scales.addItem(slide.name_at(factor), factor)

    def _tell(self, row: int) -> None:
        self.chosen.emit(MagnificationChosen(self.scales.itemData(row)))


_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_CLICK_PX: Final = 4
"""A press that moved less is a click; further, it is a drag of the view's own."""


class SlideNavigation(QObject):
    """Magnifies by double click, Enter, context menu and the line over the slide.

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
        self._later: tuple[ImageRef, float | None, PointPx] | None = None
        self.bar = SlideBar()
        self.bar.chosen.connect(self._magnify_middle)
        lightbox.active_changed.connect(self._follow)
        lightbox.each(self._watch)

    def _watch(self, viewport: Viewport) -> None:
        viewport.image_shown.connect(self._arrive)
        viewport.view.zoom_changed.connect(self._follow)
        viewport.view.framed.connect(self._follow)
        _Gestures(viewport, self)

    def magnify(
        self, viewport: Viewport, factor: float | None, point: PointPx | None = None
    ) -> None:
        """Show the scan reduced by a factor, with a native position in the middle.

        By default that is what is in the middle now. A field is left for the slide
        around it. Without a factor the whole slide is shown.
        """
        shown, slide = viewport.shown, slide_of(viewport)
        if shown is None or slide is None:
            return
        place = slide.on_slide(shown.ref.frame, point or viewport.view.centre)
        if shown.ref.frame:
            whole = ImageRef(shown.ref.path, 0)
            self._later = whole, factor, place
            self._choose(whole)
        elif factor is None:
            viewport.view.fit()
        else:
            at = slide.to_scan(0).inverse().apply(place)
            viewport.view.look_at(at, (viewport.view.scan_zoom or 1.0) / factor)

    def on_keys(self, handlers: Handlers) -> Handlers:
        """Return the handlers of the window presets, which magnify a slide instead."""
        names = [f"preset.{n}" for n in range(PRESETS)]
        return {
            name: partial(self._preset, n, handlers[name])
            for n, name in enumerate(names)
        }

    def _preset(self, number: int, of_window: Callable[[], None]) -> None:
        """Show all of a slide (0) or a magnification (from 1); else set a window."""
        viewport, slide = self._lightbox.active, slide_of(self._lightbox.active)
        if slide is None:
            of_window()
            return
        factors = (None, *slide.presets)
        if number < len(factors):
            self.magnify(viewport, factors[number])
        else:
            most = slide.name_at(1.0)
            self.bar.hint.setText(f"Scanned at {most}, no higher magnification")

    def look_closer(self, viewport: Viewport, point: PointPx) -> bool:
        """Show the next magnification there; False if there is none."""
        slide = slide_of(viewport)
        if slide is None or viewport.shown is None:
            return False
        now = factor_of(viewport)
        if now is None:  # a field, at the magnification it has
            size = slide.scale_of(viewport.shown.ref.frame).size
            now = slide.size.columns / size.columns
        finer = next((p for p in slide.presets if p * _ALIKE < now), None)
        if finer is not None:
            self.magnify(viewport, finer, point)
        return finer is not None

    def menu_at(self, viewport: Viewport, point: PointPx) -> QMenu | None:
        """Return the magnifications offered at a position, None off a slide."""
        slide = slide_of(viewport)
        if slide is None:
            return None
        menu = QMenu(viewport)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for factor in (None, *slide.presets):
            name = f"{slide.name_at(factor)} here" if factor else _WHOLE
            action = menu.addAction(name)
            action.triggered.connect(partial(self.magnify, viewport, factor, point))
        return menu

    def _magnify_middle(self, event: MagnificationChosen) -> None:
        viewport = self._lightbox.active
        self.magnify(viewport, event.factor)
        viewport.view.setFocus()
        self._follow()

    def _arrive(self, event: ImageShown) -> None:
        """Go to the place of the slide that was wanted from one of its fields."""
        later, viewport = self._later, event.viewport
        if later is not None and later[0] == event.shown.ref and event.shown.slide:
            self._later = None
            _, factor, place = later
            point = event.shown.slide.to_scan(0).inverse().apply(place)
            self.magnify(viewport, factor, point)
        self._follow()

    def _follow(self, *_: object) -> None:
        viewport = self._lightbox.active
        frame = viewport.shown.ref.frame if viewport.shown else 0
        factor = None if viewport.view.fitted else factor_of(viewport)
        self.bar.show_slide(slide_of(viewport), frame, factor)


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


def factor_of(viewport: Viewport) -> float | None:
    """Return how far the scan of a whole slide is reduced, None for another image."""
    scan = viewport.view.scan_zoom
    return None if scan is None else scan / viewport.view.zoom
