"""The pixel frames that a reply's numbers can refer to, and their units."""

from dataclasses import dataclass, field

from viewer.domain.geometry import Affine, BoxPx, PointPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.resample import crop_window


@dataclass(frozen=True, slots=True)
class Frame:
    """The image in native pixels, as it was sent, and as the model saw it.

    ``to_sent`` maps native pixel coordinates to those of the sent image; the model sees
    the sent image resized to ``seen``. ``grid`` is the one drawn on it.
    """

    native: SizePx
    to_sent: Affine
    sent: SizePx
    seen: SizePx
    grid: Grid = field(default_factory=lambda: Grid(8, 8))

    @classmethod
    def of_sent(cls, sent: SizePx, seen: SizePx | None = None) -> "Frame":
        """Return the frame whose native image is the sent one."""
        return cls(sent, Affine.identity(), sent, seen or sent)


@dataclass(frozen=True, slots=True)
class Space:
    """The units of a convention's numbers.

    ``divisions`` is the number at the far edge, None for pixels of the image as seen.
    ``step`` is the smallest difference that is written. With ``centred`` a number n
    means the middle of bin n. Numbers above ``largest`` (or below zero) are invalid in
    the convention; if it is None they are clipped. With ``cropped`` they refer to the
    centred square of the sent image.
    """

    divisions: float | None
    step: float = 1.0
    centred: bool = False
    largest: float | None = None
    cropped: bool = False

    def to_sent(self, frame: Frame) -> Affine:
        """Return the map from the convention's numbers to sent pixel coordinates."""
        area = self._area(frame)
        width, height = area.x1 - area.x0, area.y1 - area.y0
        scale_x = width / (self.divisions or frame.seen.columns)
        scale_y = height / (self.divisions or frame.seen.rows)
        half = 0.5 if self.centred else 0.0
        shift_x, shift_y = half * scale_x + area.x0, half * scale_y + area.y0
        return Affine(scale_x, 0.0, shift_x, 0.0, scale_y, shift_y)

    def bin_native(self, frame: Frame) -> PointPx:
        """Return width and height of one step in native pixels."""
        to_sent, scale = self.to_sent(frame), frame.to_sent
        return PointPx(
            self.step * to_sent.a / abs(scale.a), self.step * to_sent.e / abs(scale.e)
        )

    def _area(self, frame: Frame) -> BoxPx:
        if self.cropped:
            return crop_window(ImageGeometry(frame.sent))
        return BoxPx(0.0, 0.0, frame.sent.columns, frame.sent.rows)
