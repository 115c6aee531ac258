"""Rotating and flipping the active image where that is safe; commands without use."""

from functools import partial
from typing import Final

from viewer.domain.case import View
from viewer.domain.image_geometry import (
    FLIPPED,
    MIRRORED,
    ROTATED_LEFT,
    ROTATED_RIGHT,
)
from viewer.ui.application.action_set import Actions
from viewer.ui.application.actions import Handlers
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport

TURNS: Final = {
    "image.rotate_right": ROTATED_RIGHT,
    "image.rotate_left": ROTATED_LEFT,
    "image.mirror": MIRRORED,
    "image.flip": FLIPPED,
}
OF_IMAGE: Final = frozenset({
    "image.save", "image.print", "image.copy", "image.presentation",
    "image.provider", "image.fit", "image.one_to_one", "image.invert",
    "image.reset", "image.clamp", "image.cine", "file.save_marks", "file.save_masks",
    "file.open_masks", "file.save_keys", "file.objects", "mark.delete", "mark.clear",
    "mark.wider", "mark.narrower", "mark.key", "mark.keys", "mark.outline",
})  # fmt: skip
"""Commands that do nothing without an image."""
_TURNED: Final = frozenset({"CR", "DX"})
"""Modalities that may be rotated and flipped: a slice would mislead (IHE BIR, 5.2)."""


class TurnCommands:
    """Turns radiographs; what does nothing to the active image is disabled."""

    def __init__(self, lightbox: Lightbox, actions: Actions) -> None:
        self._lightbox, self._actions = lightbox, actions
        lightbox.each(lambda v: v.view.sense_changed.connect(self._follow))
        lightbox.active_changed.connect(self._follow)
        self._follow()

    def handlers(self) -> Handlers:
        """Return the handlers by the action's id."""
        return {name: partial(self._turn, turn) for name, turn in TURNS.items()}

    def _turn(self, further: int) -> None:
        if _may_turn(self._lightbox.active):
            self._lightbox.view.turn(further)

    def _follow(self, *_: object) -> None:
        viewport = self._lightbox.active
        useless = () if _may_turn(viewport) else tuple(TURNS)
        missing = () if viewport.header else OF_IMAGE
        self._actions.bar("image", (*useless, *missing))


def _may_turn(viewport: Viewport) -> bool:
    """Tell whether what a viewport shows is a radiograph, in a picture file too."""
    header = viewport.header
    if header is None:
        return False
    named = header.view in {View.FRONTAL, View.LATERAL}
    return header.modality in _TURNED or (not header.modality and named)
