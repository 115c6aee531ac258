"""The reference mask: its exact outline, and a light hatch inside."""

from collections import defaultdict
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QTransform,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.domain.reference import Mask
from viewer.ui.canvas.overlays.kept_picture import KeptPicture

LINE_PX: Final = 1.5
_HATCH_ALPHA: Final = 70
_Corner = tuple[int, int]


class ReferenceItem(QGraphicsItem):
    """A mask's outline in native coordinates, kept as a picture while it only moves."""

    def __init__(self, mask: Mask, color: str, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self._path = outline_path(mask.array())
        self._color = QColor(color)
        self._picture = KeptPicture()

    @property
    def extent(self) -> QRectF:
        """The smallest native rectangle around the mask; empty for an empty mask."""
        return self._path.boundingRect()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the extent, wide enough for the line at any zoom."""
        return self.extent.adjusted(-64, -64, 64, 64)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the picture of the mask, or the mask where it is far larger."""
        native = painter.worldTransform()
        edge = 2 * LINE_PX
        box = native.mapRect(self.extent).adjusted(-edge, -edge, edge, edge)
        painter.save()
        painter.setWorldTransform(QTransform())
        self._picture.paint(painter, native, box, self._draw)
        painter.restore()

    def _draw(self, painter: QPainter, native: QTransform) -> None:
        """Hatch the inside at the screen's pitch and draw the outline."""
        outline = native.map(self._path)
        shade = QColor(self._color)
        shade.setAlpha(_HATCH_ALPHA)
        painter.fillPath(outline, QBrush(shade, Qt.BrushStyle.BDiagPattern))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(outline, QPen(self._color, LINE_PX))


def outline_path(mask: npt.NDArray[np.bool_]) -> QPainterPath:
    """Return the outline of a (rows, columns) mask along its pixels' edges.

    Corners are native positions, holes are holes (odd-even filling).
    """
    path = QPainterPath()
    for loop in outline_loops(mask):
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in loop]))
        path.closeSubpath()
    return path


def outline_loops(mask: npt.NDArray[np.bool_]) -> list[list[_Corner]]:
    """Return the closed outlines as (x, y) corners, the mask to the right of each."""
    ys, xs = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not ys.size:
        return []
    # Most masks are small beside their image.
    top, left = int(ys[0]), int(xs[0])
    edges = _directed_runs(mask[top : ys[-1] + 1, left : xs[-1] + 1])
    loops = []
    while edges:
        start = next(iter(edges))
        loop, corner = [start], _take(edges, start)
        while corner != start:
            loop.append(corner)
            corner = _take(edges, corner)
        loops.append([(left + x, top + y) for x, y in loop])
    return loops


def _take(edges: dict[_Corner, list[_Corner]], start: _Corner) -> _Corner:
    ends = edges[start]
    end = ends.pop()
    if not ends:
        del edges[start]
    return end


def _directed_runs(mask: npt.NDArray[np.bool_]) -> dict[_Corner, list[_Corner]]:
    """Return the straight runs of the outline by the corner that they start from."""
    wide = np.pad(mask, 1).astype(np.int8)
    runs: dict[_Corner, list[_Corner]] = defaultdict(list)
    # Steps between neighbouring rows: +1 enters the mask from above, -1 leaves it.
    for sense, y, x0, x1 in _runs(np.diff(wide, axis=0)[:, 1:-1]):
        first, last = (x0, y), (x1, y)
        runs[first if sense > 0 else last].append(last if sense > 0 else first)
    for sense, x, y0, y1 in _runs(np.diff(wide, axis=1)[1:-1].T):
        first, last = (x, y0), (x, y1)
        runs[last if sense > 0 else first].append(first if sense > 0 else last)
    return runs


def _runs(steps: npt.NDArray[np.int8]) -> list[tuple[int, int, int, int]]:
    """Return (sign, line, first, end) of every run of equal non-zero steps."""
    found = []
    for sign in (1, -1):
        on = np.pad(steps == sign, ((0, 0), (1, 1))).astype(np.int8)
        change = np.diff(on, axis=1)
        lines, first = np.nonzero(change == 1)
        _, end = np.nonzero(change == -1)
        found += [
            (sign, *run)
            for run in zip(lines.tolist(), first.tolist(), end.tolist(), strict=True)
        ]
    return found
