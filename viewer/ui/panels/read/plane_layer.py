"""Overlay planes of the images on the screen, read once an image stays."""

from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, QTimer

from viewer.services.viewing.view_image import ShownImage, overlay_planes
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import run_for
from viewer.ui.application.tell import tell_error
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

_STAYS_MS: Final = 150
"""So long an image is shown before its file is read again: scrolling comes first."""


class PlaneLayer(QObject):
    """Draws the overlay planes of every viewport, unless they are turned off."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        super().__init__(lightbox)
        self._lightbox, self._context, self.shown = lightbox, context, True
        context.actions.set_checked("overlays.planes", True)
        lightbox.each(self._watch)

    def toggle(self) -> None:
        """Show the planes, or hide them."""
        self.shown = not self.shown
        self._context.actions.set_checked("overlays.planes", self.shown)
        for viewport in self._lightbox.viewports:
            viewport.view.set_planes(None)
            self._fetch(viewport)

    def _watch(self, viewport: Viewport) -> None:
        timer = QTimer(viewport, singleShot=True, interval=_STAYS_MS)
        timer.timeout.connect(partial(self._fetch, viewport))
        viewport.image_shown.connect(lambda _: timer.start())

    def _fetch(self, viewport: Viewport) -> None:
        shown = viewport.shown
        if self.shown and shown is not None and shown.state is not None:
            # It turns on some of the image's planes, and has its own.
            self._draw(viewport, shown, shown.state.planes)
        elif self.shown and shown is not None:
            run_for(
                viewport,
                partial(overlay_planes, shown.ref),
                partial(self._draw, viewport, shown),
                partial(tell_error, self._context),
            )

    def _draw(
        self,
        viewport: Viewport,
        shown: ShownImage,
        bits: npt.NDArray[np.bool_] | None,
    ) -> None:
        fits = bits is not None and bits.shape == shown.image.values.shape[:2]
        if fits and self.shown and viewport.shown is shown:
            viewport.view.set_planes(bits)
