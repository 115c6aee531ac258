"""Where an image lies on the screen, and its frame as a QImage."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Self

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage, QTransform

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import PixelImage, Window
from viewer.imaging.pyramid import Patch, Pyramid, Viewport
from viewer.imaging.window_presets import COUNTED, at_zero, file_windows
from viewer.ui.application.preferences import current
from viewer.ui.canvas.turning import TurnedScreen

if TYPE_CHECKING:
    from viewer.services.viewing.view_image import ShownImage

MIN_SCALE: Final = 1 / 64
MAX_SCALE: Final = 64.0


@dataclass(frozen=True, slots=True)
class Camera:
    """Maps native pixels to device pixels of the viewport.

    ``scale`` is device pixels per native pixel along a row; ``aspect`` is the height of
    a pixel over its width; ``left`` and ``top`` are the device pixel of the image's
    corner. They are integers, so that at integer zoom every native pixel covers whole
    device pixels. ``most`` is the greatest scale of a zoom.
    """

    scale: float
    aspect: float
    left: int
    top: int
    most: float = MAX_SCALE

    @classmethod
    def fitted(cls, image: SizePx, screen: SizePx, aspect: float) -> Self:
        """Return the camera that shows the whole image, centred."""
        scale = min(screen.columns / image.columns, screen.rows / (image.rows * aspect))
        return cls.centred(image, screen, aspect, min(max(scale, MIN_SCALE), MAX_SCALE))

    @classmethod
    def centred(
        cls, image: SizePx, screen: SizePx, aspect: float, scale: float
    ) -> Self:
        """Return the camera with the image's centre in the centre of the screen."""
        left = round((screen.columns - image.columns * scale) / 2)
        top = round((screen.rows - image.rows * scale * aspect) / 2)
        return cls(scale, aspect, left, top)

    @property
    def scale_y(self) -> float:
        """Device pixels per native pixel down a column."""
        return self.scale * self.aspect

    def to_native(self, x: float, y: float) -> PointPx:
        """Return the native position under a device position."""
        return PointPx((x - self.left) / self.scale, (y - self.top) / self.scale_y)

    def panned(self, x: float, y: float) -> "Camera":
        """Return the camera after the image moved by device pixels."""
        return replace(self, left=self.left + round(x), top=self.top + round(y))

    def zoomed(self, factor: float, x: float, y: float) -> "Camera":
        """Return the camera after a zoom about a device position."""
        scale = min(max(self.scale * factor, MIN_SCALE), self.most)
        ratio = scale / self.scale
        left = round(x - (x - self.left) * ratio)
        return replace(
            self, scale=scale, left=left, top=round(y - (y - self.top) * ratio)
        )

    def finer(self, factor: float) -> "Camera":
        """Return the camera for a screen with ``factor`` times as many pixels."""
        left, top = round(self.left * factor), round(self.top * factor)
        return replace(self, scale=self.scale * factor, left=left, top=top)

    def viewport(self, screen: SizePx) -> Viewport:
        """Return the native pixels that a screen of device pixels shows."""
        step_x, step_y = 1 / self.scale, 1 / self.scale_y
        origin = PointPx(-self.left * step_x, -self.top * step_y)
        return Viewport(screen, origin, step_x, step_y)

    def transform(self, ratio: float) -> QTransform:
        """Return the transform to view pixels, each of ``ratio`` device pixels."""
        return QTransform(
            self.scale / ratio,
            0.0,
            0.0,
            self.scale_y / ratio,
            self.left / ratio,
            self.top / ratio,
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """The visible part of an image, and its first device pixel.

    ``image`` refers to ``pixels`` without a copy, so both must live together.
    """

    image: QImage
    pixels: npt.NDArray[np.uint8]
    left: int
    top: int


class Display:
    """One image with its window: resampled once per viewport, windowed once per window.

    ``window`` None means the file's VOI; with ``clamped`` every window starts at 0.
    ``first`` is what it is shown with before a window is set, by default the file's.
    """

    def __init__(
        self, pyramid: Pyramid, *, clamped: bool = False, first: Window | None = None
    ) -> None:
        self.pyramid = pyramid
        self._first = first or pyramid.window
        self.window: Window | None = None
        self.inverted, self.clamped = False, clamped
        self.reset()
        self._sampled: tuple[tuple[Viewport, bool], Patch] | None = None
        self._framed: tuple[object, Frame] | None = None

    @property
    def shown_window(self) -> Window:
        """The window in use, in modality units."""
        return self.window or self.pyramid.window

    def set_window(self, window: Window) -> None:
        """Use a window; the initial one counts as the file's own."""
        window = at_zero(window) if self.clamped else window
        self.window = None if window == self.pyramid.window else window

    def reset(self) -> None:
        """Show as the file says."""
        self.inverted = False
        self.set_window(self._first)

    def follow(self, other: "Display") -> None:
        """Show like the previous image of the series."""
        self.window, self.inverted = other.window, other.inverted
        self.clamped = other.clamped

    def frame(self, viewport: Viewport, turned: TurnedScreen) -> Frame:
        """Return the picture of a viewport, turned."""
        wanted = viewport, not current().nearest_pixel
        # A drag of the window changes the shading alone, which is the cheap part.
        if self._sampled is None or self._sampled[0] != wanted:
            self._sampled = wanted, self.pyramid.sample(viewport, smooth=wanted[1])
        # Most pictures differ in what lies over the image, and in nothing of it.
        look = wanted, self.window, self.inverted, turned
        if self._framed is None or self._framed[0] != look:
            self._framed = look, self._shaded(self._sampled[1], turned)
        return self._framed[1]

    def detail(self, viewport: Viewport, turned: TurnedScreen) -> Frame:
        """Return the picture of another viewport, such as that of a lens."""
        smooth = not current().nearest_pixel
        return self._shaded(self.pyramid.sample(viewport, smooth=smooth), turned)

    def _shaded(self, patch: Patch, turned: TurnedScreen) -> Frame:
        pixels = self.pyramid.shade(patch, self.window, inverted=self.inverted)
        pixels, left, top = turned.picture(pixels, patch.left, patch.top)
        # QImage takes an address and a pitch: a row's pixels must be side by side.
        pixels = np.ascontiguousarray(pixels)
        rows, columns = pixels.shape[:2]
        kind = (
            QImage.Format.Format_Grayscale8
            if pixels.ndim == 2
            else QImage.Format.Format_RGB888
        )
        image = QImage(pixels.data, columns, rows, pixels.strides[0], kind)
        return Frame(image, pixels, left, top)


def value_text(image: PixelImage, point: PointPx) -> str | None:
    """Return the value under a native position with its unit, None off the image."""
    # floor, not int(): between -1 and 0 lies nothing of the image.
    row, column = int(np.floor(point.y)), int(np.floor(point.x))
    if not (0 <= row < image.size.rows and 0 <= column < image.size.columns):
        return None
    if image.padding is not None and image.padding[row, column]:
        return "padding, not measured"
    value = image.values[row, column]
    if value.ndim:
        return " ".join(f"{n} {v}" for n, v in zip("RGB", value.tolist(), strict=True))
    number = f"{value:.5g}" if image.values.dtype.kind == "f" else str(value)
    return f"{number} {image.units}".strip()


def window_text(window: Window) -> str:
    """Return a window as corner text writes it."""
    return f"W {_plain(window.width)}  L {_plain(window.center)}"


def _plain(value: float) -> str:
    return (
        f"{value:.0f}" if abs(value) >= 100 or value == round(value) else f"{value:.3g}"
    )


def first_display(shown: "ShownImage", pyramid: Pyramid) -> Display:
    """Return how an image is shown at first, as its modality and the reader want it."""
    image, modality = shown.image, shown.header.modality
    if image.values.ndim == 3 or image.voi_luts:
        return Display(pyramid)
    named = file_windows(image, modality, of_stored=current().window_of_stored)
    first = named[0] if named else None
    return Display(pyramid, clamped=modality in COUNTED, first=first)
