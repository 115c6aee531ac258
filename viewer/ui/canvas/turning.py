"""How a view turns its image: in quarters, and mirrored, about its middle.

The image is sampled, zoomed and moved on a screen before the turn; the turn exchanges
that screen's rows and columns, mirrors it, and flips it, in this order.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QTransform

from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import TURNS, Turn

_Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class TurnedScreen:
    """A screen in device pixels, and the orientation of TIFF 6.0 by which it turns."""

    size: SizePx
    orientation: int = 1

    @property
    def turn(self) -> Turn:
        """What is exchanged, mirrored and flipped."""
        return TURNS[self.orientation]

    @property
    def size_before(self) -> SizePx:
        """The size of the screen before the turn."""
        if self.turn.transpose:
            return SizePx(self.size.columns, self.size.rows)
        return self.size

    def before(self, x: float, y: float) -> tuple[float, float]:
        """Return a position on the screen as it was before the turn."""
        x = self.size.columns - x if self.turn.mirror else x
        y = self.size.rows - y if self.turn.flip else y
        return (y, x) if self.turn.transpose else (x, y)

    def moved_before(self, x: float, y: float) -> tuple[float, float]:
        """Return a movement on the screen as it was before the turn."""
        return TurnedScreen(SizePx(0, 0), self.orientation).before(x, y)

    def transform(self, ratio: float) -> QTransform:
        """Return the turn of the view's pixels, each of ``ratio`` device pixels."""
        turn = self.turn
        x, y = (-1.0 if turned else 1.0 for turned in (turn.mirror, turn.flip))
        right = self.size.columns / ratio if turn.mirror else 0.0
        down = self.size.rows / ratio if turn.flip else 0.0
        if turn.transpose:
            return QTransform(0.0, y, x, 0.0, right, down)
        return QTransform(x, 0.0, 0.0, y, right, down)

    def picture(self, pixels: _Pixels, left: int, top: int) -> tuple[_Pixels, int, int]:
        """Return part of the screen as it looks turned, with its left and top."""
        if self.turn.transpose:
            pixels, left, top = pixels.swapaxes(0, 1), top, left
        rows, columns = pixels.shape[:2]
        if self.turn.mirror:
            pixels, left = pixels[:, ::-1], self.size.columns - left - columns
        if self.turn.flip:
            pixels, top = pixels[::-1], self.size.rows - top - rows
        return pixels, left, top
