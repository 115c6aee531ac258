"""Review pixels…: a look at the image that has the focus, whoever it is asked of."""

from typing import Final

from PySide6.QtWidgets import QWidget

from viewer.domain.privacy import ReviewDecision
from viewer.ui.desk import Desk
from viewer.ui.dialogs.pixel_review import PixelsDecided
from viewer.ui.panels.pixel_looks import PixelLooks
from viewer.ui.panels.viewport_pair import ViewportPair

_SAID: Final = {
    ReviewDecision.CLEAN: "Its pixels may leave this machine.",
    ReviewDecision.BLACKED_OUT: "Its boxes are black from now on, for every model.",
    ReviewDecision.BLOCKED: "This image is kept on this machine.",
}


class PixelReviews:
    """The command, and what it says afterwards."""

    def __init__(self, desk: Desk, pair: ViewportPair, parent: QWidget) -> None:
        self._notices, self._pair = desk.notices, pair
        self.looks = PixelLooks(desk, parent)
        self.looks.decided.connect(self._tell)
        self.looks.refused.connect(lambda why: self._notices.say(why) if why else None)

    def show(self) -> None:
        """Look for text in the image that has the focus, and let a person decide."""
        shown = self._pair.active.shown
        if shown is None:
            self._notices.say("Open an image first; then its pixels can be reviewed.")
        else:
            self.looks.look(shown.ref, shown.image, always=True)

    def _tell(self, event: PixelsDecided) -> None:
        self._notices.say(_SAID[event.review.decision])
