"""Presentation states of opened files: a list to choose from, and what is applied."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

from viewer.domain.case import ImageRef
from viewer.services.viewing.opened_image import OpenedImage
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import ImageShown, Viewport

if TYPE_CHECKING:
    from viewer.domain.errors import OverreadError
    from viewer.domain.presentation import PresentationState
    from viewer.services.viewing.view_image import ShownImage

_NONE = "None of the opened files is a presentation state of this image."


class PresentationLayer(QObject):
    """Offers the states of the image with the focus, and applies the one chosen.

    An image keeps its state until another is chosen, or none.
    """

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        super().__init__(lightbox)
        self._lightbox, self._context = lightbox, context
        self._chosen: dict[ImageRef, PresentationState] = {}
        self._stored: dict[ImageRef, ShownImage] = {}
        """Images as their files have them, of those shown by a state."""
        self._made: ShownImage | None = None
        """The last one that was shown as chosen."""
        lightbox.each(self._follow)

    def _follow(self, viewport: Viewport) -> None:
        viewport.image_shown.connect(self._apply_again)
        viewport.view.screen_changed.connect(partial(self._size_again, viewport))

    def _size_again(self, viewport: Viewport) -> None:
        """Apply a true size again, on a screen with pixels of another size."""
        shown = viewport.shown
        state = self._chosen.get(shown.ref) if shown else None
        if shown is not None and state is not None and state.true_size is not None:
            self.choose(viewport, shown.ref, state)

    def offer(self) -> None:
        """Show a menu of the states that refer to the image with the focus."""
        viewport = self._lightbox.active
        if viewport.shown is None:
            self._context.notices.say("Open an image first to choose how it is shown.")
            return
        from viewer.services.viewing.presenting import presentation_states

        run_for(
            viewport,
            partial(presentation_states, viewport.shown.ref, self._lightbox.others),
            partial(self._list, viewport, viewport.shown.ref),
            partial(tell_error, self._context),
        )

    def _list(
        self,
        viewport: Viewport,
        ref: ImageRef,
        found: "tuple[tuple[PresentationState, ...], tuple[OverreadError, ...]]",
    ) -> None:
        states, damaged = found
        for error in damaged:
            self._context.notices.error(error)
        if not states:
            if not damaged:
                self._context.notices.say(_NONE)
            return
        chosen = self._chosen.get(ref)
        menu = QMenu("Presentation state", viewport.view)
        menu.aboutToHide.connect(menu.deleteLater)
        for state in (None, *states):
            name = state.name if state else "None: as the file says"
            action = menu.addAction(name, partial(self.choose, viewport, ref, state))
            action.setCheckable(True)
            action.setChecked((state and state.path) == (chosen and chosen.path))
        menu.popup(viewport.view.mapToGlobal(viewport.view.rect().center()))

    def choose(
        self, viewport: Viewport, ref: ImageRef, state: "PresentationState | None"
    ) -> None:
        """Show an image by a state, or as its file says, if it is still shown."""
        shown = viewport.shown
        if shown is None or shown.ref != ref:
            return
        stored = self._stored.setdefault(ref, shown)
        if state is None:
            self._chosen.pop(ref, None)
            del self._stored[ref]
        else:
            self._chosen[ref] = state
            state = _sized(state, viewport.view)
        from viewer.services.viewing.presenting import present

        run_for(
            viewport,
            partial(present, stored, state),
            partial(self._show, viewport, state),
            partial(self._fail, ref),
        )

    def _fail(self, ref: ImageRef, error: Exception) -> None:
        self._chosen.pop(ref, None)
        tell_error(self._context, error)

    def _show(
        self, viewport: Viewport, state: "PresentationState | None", opened: OpenedImage
    ) -> None:
        ref = opened.shown.ref
        if viewport.shown is not None and viewport.shown.ref == ref:
            self._made = viewport.shown = opened.shown
            viewport.view.present(opened.shown, opened.pyramid, state)
            # Grid, planes, reference and answers are drawn on it as on any image.
            viewport.image_shown.emit(ImageShown(viewport, opened.shown))

    def _apply_again(self, event: ImageShown) -> None:
        """Show an image that comes back by the state chosen for it before."""
        state = self._chosen.get(event.shown.ref)
        if state is not None and event.shown is not self._made:
            self._stored[event.shown.ref] = event.shown
            self.choose(event.viewport, event.shown.ref, state)


def _sized(state: "PresentationState", view: QWidget) -> "PresentationState":
    """Return a state with its true size as a magnification on the screen of a view."""
    if state.true_size is None:
        return state
    screen = view.screen()
    wide = screen.size().width() * screen.devicePixelRatio()
    pitch_mm = screen.physicalSize().width() / wide
    if pitch_mm <= 0:
        missed = (*state.left_out, "true size, screen size unknown")
        return replace(state, true_size=None, left_out=missed)
    return replace(state, magnified=state.true_size / pitch_mm)
