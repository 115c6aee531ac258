"""Keeps the provider's view in step with the image with the focus."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from viewer.domain.errors import OverreadError
from viewer.domain.grid import Grid
from viewer.domain.image import PixelImage, Raster, Window
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

if TYPE_CHECKING:
    from viewer.services.asking.provider_views import ProviderSight
    from viewer.ui.dialogs.provider_view import ProviderView

_NO_IMAGE: Final = "Open an image to see what a provider makes of it."
_SETTLED_MS: Final = 60


@dataclass(frozen=True, slots=True)
class ViewShown:
    """The provider's view was opened or closed."""

    shown: bool


class ProviderLook(QObject):
    """Opens the provider's view and fills it in the background."""

    toggled = Signal(object)
    """ViewShown"""

    def __init__(self, lightbox: Lightbox) -> None:
        super().__init__(lightbox)
        self._lightbox = lightbox
        self._background_tasks = BackgroundTasks(self)
        self._dialog: ProviderView | None = None
        self._subject: _Subject | None = None
        self.provider = "none"
        self._soon = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._soon.timeout.connect(self._look)
        lightbox.active_changed.connect(self._follow)
        lightbox.grid_changed.connect(self._follow)
        lightbox.each(self._watch)

    def _watch(self, viewport: Viewport) -> None:
        viewport.image_shown.connect(self._follow)
        viewport.view.window_changed.connect(self._follow)

    def toggle(self) -> None:
        """Open the view beside the image, or close it."""
        if self._dialog is not None:
            self._dialog.close()
            return
        from viewer.ui.dialogs.provider_view import ProviderView

        self._dialog = ProviderView(self.provider, self._lightbox)
        self._dialog.provider_changed.connect(self._choose)
        self._dialog.destroyed.connect(self._forget)
        self._dialog.show()
        self.toggled.emit(ViewShown(shown=True))
        self._look()

    @property
    def dialog(self) -> "ProviderView | None":
        """The view, while it is open."""
        return self._dialog

    def _forget(self) -> None:
        self._dialog = None
        self._background_tasks.cancel_all()
        self.toggled.emit(ViewShown(shown=False))

    def _choose(self, _event: object) -> None:
        self._look()

    def _follow(self, _event: object) -> None:
        if self._dialog is not None:
            self._soon.start()

    def _look(self) -> None:
        dialog, shown = self._dialog, self._lightbox.active.shown
        if dialog is None:
            return
        self.provider = dialog.offer.name
        if shown is None:
            dialog.show_problem(_NO_IMAGE)
            return
        subject = _Subject(
            shown.image,
            self._lightbox.active.chosen_window,
            self._lightbox.grid_choice.grid,
        )
        # An equal one is kept: its slow `sent` may be computed already.
        if self._subject != subject:
            self._subject = subject
        self._work(dialog, self._subject, self.provider)

    def _work(self, dialog: "ProviderView", subject: "_Subject", provider: str) -> None:
        dialog.show_working()
        self._background_tasks.start(
            "sight", lambda: subject.seen_by(provider), self._show, self._fail
        )

    def _show(self, sight: "ProviderSight") -> None:
        if self._dialog is not None:
            self._dialog.show_sight(sight)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        if self._dialog is not None:
            self._dialog.show_problem(str(error))


@dataclass(frozen=True)
class _Subject:
    """The image shown; compared by identity."""

    image: PixelImage
    window: Window | None
    grid: Grid

    @cached_property
    def sent(self) -> Raster:
        """The image as it is sent; slow the first time."""
        from viewer.services.asking.provider_views import sent_raster

        return sent_raster(self.image, self.window, self.grid)

    def seen_by(self, provider: str) -> "ProviderSight":
        """Return how a provider processes the image."""
        from viewer.services.asking.provider_views import provider_sight

        return provider_sight(self.sent, self.grid, provider)
