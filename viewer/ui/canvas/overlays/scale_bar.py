"""A scale bar, drawn only where the file says how large a pixel is."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.ui.canvas.overlays.corner_text import COLOR, MARGIN
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text, text_size

_WANTED_PX: Final = 140.0
_THICK: Final = 2.0
SUFFIX: Final = {
    SpacingMeaning.PATIENT: "",
    SpacingMeaning.CALIBRATED: " calibrated",
    SpacingMeaning.FIDUCIAL: " calibrated by a fiducial",
    SpacingMeaning.MAGNIFIED: " corrected for magnification",
    SpacingMeaning.DETECTOR: " at detector",
    SpacingMeaning.SCANNED: " as scanned",
    SpacingMeaning.REGION: " in ultrasound region",
    SpacingMeaning.UNKNOWN: " in unknown plane",
}


@dataclass(frozen=True, slots=True)
class ScaleBar:
    """A bar's length in the view's pixels, and what it says."""

    length: float
    text: str


def scale_bar(spacing: Spacing | None, scale: float) -> ScaleBar | None:
    """Return a bar of a round length, None without a spacing.

    ``scale`` is the view's pixels per native pixel along a row.
    """
    if spacing is None:
        return None
    per_mm = scale / spacing.column_mm
    length_mm = _round_below(_WANTED_PX / per_mm)
    text = f"{length_text(length_mm)}{SUFFIX[spacing.meaning]}"
    return ScaleBar(length_mm * per_mm, text)


def length_text(length_mm: float) -> str:
    """Return a round length with its unit: micrometres below a millimetre."""
    if length_mm < 1:
        return f"{length_mm * 1000:.3g} µm"
    return f"{length_mm:g} mm"


def width(bar: ScaleBar, face: Face) -> float:
    """Return the width of a bar with its words, in the view's pixels."""
    return max(bar.length, text_size(bar.text, face).width()) + 2


def paint(
    painter: QPainter, bar: ScaleBar, area: QRectF, face: Face, above: float
) -> None:
    """Draw a bar at the bottom right, ``above`` what else stands there."""
    size = text_size(bar.text, face)
    right, y = area.right() - MARGIN - 2, area.bottom() - MARGIN - above - 6
    line = QRectF(right - bar.length, y, bar.length, _THICK)
    ends = [QRectF(x, y - 4, _THICK, 4 + _THICK) for x in (line.left(), right - _THICK)]
    for grown, color in ((1.5, HALO), (0.0, QColor(COLOR))):
        for part in (line, *ends):
            painter.fillRect(part.adjusted(-grown, -grown, grown, grown), color)
    at = QPointF(right - size.width(), y - size.height() - 4)
    draw_text(painter, at, bar.text, face, COLOR)


def _round_below(value: float) -> float:
    """Return the greatest of 1, 2, 5 × 10ⁿ that is not above ``value``.

    Digits tell n: by its logarithm, which is 2, 99.99999999999999 would have three.
    """
    digits, exponent = f"{value:.9e}".split("e")
    first = max(n for n in (1, 2, 5) if n <= float(digits))
    return float(f"{first}e{exponent}")
