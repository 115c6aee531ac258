"""Annotations over the image, fixed in the view."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from viewer.domain.annotation import STATE_LINE, CornerLine, CornerText
from viewer.domain.counting import counted
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.preferences import Detail, current
from viewer.ui.canvas.display import Display, window_text
from viewer.ui.canvas.overlays import corner_text, letters, scale_bar
from viewer.ui.canvas.overlays.halo import LETTER, TEXT, Face

if TYPE_CHECKING:
    from viewer.ui.canvas.slide_tiles import SlideTiles

_OWN_WINDOW: Final = "Not from the file: set here, or fitted to the image's values"
_FIDELITY: Final = "Whether the screen shows every stored pixel, unmixed"
_KEY: Final = "Marked by a reader"
_BROKEN: Final = "Their pixels are damaged in the file; they are hatched"
_MAGNIFICATION: Final = "The scan at 1:1 has the magnification of its objective"
_READING: Final = "Reading finer pixels…"
_ZOOM: Final = "Screen pixels per image pixel"


class Annotations:
    """Corner text, orientation letters and scale bar of one image."""

    def __init__(self, shown: ShownImage) -> None:
        self._shown = shown
        self._area = QRectF()
        self._orientation = 1
        self.key = False
        """Whether the image is a key image, as it says then."""
        self.tiles: SlideTiles | None = None
        """Those of a slide, of which it says whether all are there."""
        self.coarse = False
        """Whether an answer is drawn whose parts are larger than pixels."""
        self._lines: tuple[corner_text.Line, ...] = ()
        self._letters: tuple[corner_text.Line, ...] = ()
        self._bar: scale_bar.ScaleBar | None = None
        self._detail = Detail.FULL
        self._laid_out: object = None

    @property
    def grounds(self) -> tuple[QRectF, ...]:
        """The rectangles that text covers."""
        return tuple(line.ground for line in (*self._lines, *self._letters))

    @property
    def texts(self) -> tuple[tuple[str, Face], ...]:
        """What is written, each with its face."""
        lines = ((line.text, TEXT) for line in self._lines)
        return (*lines, *((letter.text, LETTER) for letter in self._letters))

    def source_at(self, at: QPointF) -> str:
        """Return the source of the line at a position of the view, "" without one."""
        return next((one.source for one in self._lines if one.ground.contains(at)), "")

    def turn(self, orientation: int) -> None:
        """Write the letters for an image that is turned in the view."""
        self._orientation = orientation

    def place(
        self,
        area: QRectF,
        scale: float,
        ratio: float,
        display: Display,
        names: tuple[QRectF, ...] = (),
    ) -> None:
        """Lay out for a view, off the ``names`` of a grid's cells.

        ``scale`` is device pixels per native pixel, ``ratio`` device pixels per pixel
        of the view.
        """
        self._detail = current().detail
        corners, live = self._shown.corners, self._live(scale, display)
        if self._detail is Detail.MINIMAL:
            corners, live = minimal(corners), live[: int(self.key)]
        elif self._detail is Detail.NONE:
            corners, live = CornerText(), ()
        # Most redraws, as those for answers and marks, change nothing here.
        asked = area, scale / ratio, self._detail, self._orientation, live, names
        if asked == self._laid_out:
            return
        self._laid_out, self._area = asked, area
        geometry, shown = self._shown.image.geometry, self._detail is not Detail.NONE
        turned = geometry.turned(self._orientation)
        self._letters = letters.layout(turned, area, LETTER, names) if shown else ()
        kept_off = (*names, *(letter.ground for letter in self._letters))
        self._lines = corner_text.layout(corners, live, area, TEXT, kept_off)
        bar = scale_bar.scale_bar(geometry.spacing, scale / ratio)
        self._bar = bar if shown else None

    def _live(self, scale: float, display: Display) -> tuple[CornerLine, ...]:
        """Return what changes while one looks: window, zoom, and how true it is."""
        from_file = (
            display.window is None or display.window in self._shown.image.windows
        )
        read = self._shown.corners.window_source if from_file else ""
        window = CornerLine(window_text(display.shown_window), read or _OWN_WINDOW)
        grey = (window,) if self._shown.image.values.ndim == 2 else ()
        zoom = CornerLine(f"Zoom {scale:.0%}", _ZOOM)
        key = (CornerLine("Key image", _KEY),) if self.key else ()
        slide = self._shown.slide
        # Of a slide the scan counts, also in a field that is itself reduced.
        stored = slide.to_scan(self._shown.ref.frame).a / scale if slide else 1 / scale
        if slide is not None and not self._shown.ref.frame:
            known = slide.magnification is not None
            words = "" if known else " of the scan, magnification unknown"
            zoom = CornerLine(f"{slide.name_at(stored)}{words}", _MAGNIFICATION)
        broken = self.tiles.broken if self.tiles else 0
        said = f"{counted(broken, 'tile')} cannot be read"
        damage = (CornerLine(said, _BROKEN),) if broken else ()
        truth = fidelity(self._shown.corners, 1 / stored, coarse=self.coarse)
        if self.tiles is not None and self.tiles.incomplete:
            truth = CornerLine(_READING, _FIDELITY)
        return (*key, *damage, *grey, zoom, truth)

    def paint(self, painter: QPainter) -> None:
        """Draw everything."""
        corner_text.paint(painter, self._lines, TEXT)
        corner_text.paint(painter, self._letters, LETTER)
        if self._bar is not None:
            width = scale_bar.width(self._bar, TEXT)
            above = corner_text.lowest_free(self._lines, self._area, width)
            scale_bar.paint(painter, self._bar, self._area, TEXT, above)


def minimal(corners: CornerText) -> CornerText:
    """Return who it is, whose presentation, and whether it was compressed with loss."""
    lossy = tuple(line for line in corners.bottom_right if _is_lossy(line))
    lines = corners.bottom_left
    state = tuple(line for line in lines if line.text.startswith(STATE_LINE))
    return CornerText(corners.top_left[:2], (), state, lossy)


def fidelity(corners: CornerText, scale: float, *, coarse: bool) -> CornerLine:
    """Return the badge that says whether the screen shows every measured pixel.

    ``scale`` is device pixels per stored pixel; a map that is ``coarse`` has larger
    parts than they are.
    """
    lossy = any(_is_lossy(line) for line in corners.bottom_right)
    losses = ["compressed with loss"] if lossy else []
    if scale < 1:
        losses.append("reduced")
    elif scale > 1 and not current().nearest_pixel:
        losses.append("interpolated")
    if coarse:
        losses = [*(losses or ["as stored"]), "heat map coarser"]
    return CornerLine(f"Pixels {', '.join(losses) or 'as stored'}", _FIDELITY)


def _is_lossy(line: CornerLine) -> bool:
    return line.text.startswith("Lossy")
