"""Window, its presets by modality, and the sense of the grey scale."""

from functools import partial
from typing import Final

from PySide6.QtWidgets import QMenu

from viewer.imaging.window_presets import (
    FIRST_KEY,
    NoWindow,
    preset_window,
    presets_of,
)
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.actions import PRESETS, SPECS, Handlers
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import current
from viewer.ui.canvas.display import window_text
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

_KEYS: Final = range(PRESETS)


class WindowCommands:
    """Commands on the window of the image with the focus."""

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        self._lightbox, self._actions = lightbox, context.actions
        self._notices = context.notices
        lightbox.each(self._watch)
        lightbox.active_changed.connect(self._follow)

    def _watch(self, viewport: Viewport) -> None:
        viewport.view.sense_changed.connect(self._follow_sense)
        viewport.image_shown.connect(self._follow)

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {
            "image.invert": self.invert,
            "image.clamp": self.clamp,
            "image.presets": self.offer_presets,
            **{f"preset.{n}": partial(self.set_preset, n) for n in _KEYS},
        }

    def invert(self) -> None:
        """Invert the grey scale, if there is an image."""
        self._lightbox.view.invert()
        self._follow_sense()

    def clamp(self) -> None:
        """Keep the lower limit of the window at 0, or let it move again."""
        view = self._lightbox.view
        view.clamp(not view.clamped)
        self._follow_sense()

    def set_preset(self, number: int) -> None:
        """Set the window on a key, or say why the image has no such window."""
        shown, window = self._lightbox.active.shown, self._lightbox.view.window_shown
        if shown is None:
            return
        modality = shown.header.modality
        stored = current().window_of_stored
        chosen = preset_window(number, shown.image, modality, window, of_stored=stored)
        if isinstance(chosen, NoWindow):
            self._notices.say(chosen.sentence)
        else:
            self._lightbox.view.set_window(chosen)

    def offer_presets(self) -> None:
        """Show the presets of the image with the focus, with their keys."""
        view, actions = self._lightbox.view, self._actions
        menu = QMenu("Window presets", view)
        menu.aboutToHide.connect(menu.deleteLater)
        for n in _KEYS:
            if actions[f"preset.{n}"].isVisible():
                menu.addAction(actions[f"preset.{n}"])
        menu.addSeparator()
        menu.addAction(actions["image.invert"])
        menu.addAction(actions["image.clamp"])
        menu.popup(view.mapToGlobal(view.rect().center()))

    def _follow(self, *_: object) -> None:
        """Name the presets after the modality of the image with the focus."""
        shown = self._lightbox.active.shown
        named = _names_on_keys(shown) if shown else ()
        for n in _KEYS:
            action = self._actions[f"preset.{n}"]
            text, tip = named[n] if n < len(named) else (SPECS[f"preset.{n}"].text, "")
            action.setVisible(n < max(len(named), FIRST_KEY))
            action.setText(text)
            action.setStatusTip(tip)
        self._follow_sense()

    def _follow_sense(self, *_: object) -> None:
        view = self._lightbox.view
        self._actions.set_checked("image.invert", view.inverted)
        self._actions.set_checked("image.clamp", view.clamped)


def _names_on_keys(shown: ShownImage) -> tuple[tuple[str, str], ...]:
    """Return name and status tip of each key: magnifications of a slide, or windows."""
    slide = shown.slide
    if slide is not None:
        names = ("Whole slide", *map(slide.name_at, slide.presets))
        return tuple((name, "Magnification") for name in names)
    windows = presets_of(shown.image, shown.header.modality)
    every = ((SPECS[f"preset.{n}"].text, "") for n in range(FIRST_KEY))
    return (*every, *((w.explanation, window_text(w)) for w in windows))
