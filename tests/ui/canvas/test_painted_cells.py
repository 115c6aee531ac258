"""Where cells are painted, measured in the pixels of the screen.

A line of the grid is one whole device pixel, so its middle can lie half a device pixel
beside the edge that it stands for and no nearer: that is the bound for it, however many
native pixels a device pixel covers. The outline of an answer is smooth: its middle is
found to a twentieth of a device pixel, so it is held to half a native pixel wherever a
native pixel is at least a tenth of a device pixel.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from tests.ui.canvas.conftest import MakeAnswer, MakeShown, pixels
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.imaging.grid_overlay import LabelStyle
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.answer_item import FILL_ALPHA
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.widgets.theme import current

FEW = 6
SEEDS = [
    *range(FEW),
    *(pytest.param(n, marks=pytest.mark.proof) for n in range(FEW, 20)),
]
RATIO = float(os.environ.get("QT_SCALE_FACTOR", "1"))
LABEL = 40.0
"""Pixels of the view that the names along the grid's edge take."""
SMOOTH = 0.05
"""Device pixels to which the middle of a smooth line is found."""


@dataclass(frozen=True)
class Look:
    """An image under a random grid, and the cell that the view was moved to."""

    grid: Grid
    field: BoxPx
    cell: Cell

    def edge(self, number: int, *, down: bool) -> float:
        """Return the exact native position of an edge between cells."""
        box, grid = self.field, self.grid
        if down:
            return box.y0 + number * (box.y1 - box.y0) / grid.rows
        return box.x0 + number * (box.x1 - box.x0) / grid.columns


def look_at_random(view: ImageView, make_shown: MakeShown, seed: int) -> Look:
    """Show a black image at a random zoom, pan and window size."""
    random = np.random.default_rng(seed)
    rows, columns = (int(n) for n in random.integers(200, 3000, 2))
    spacing = Spacing(
        1.0, float(random.choice([1.0, 1.0, 0.7])), SpacingMeaning.PATIENT
    )
    black = PixelImage(
        np.zeros((rows, columns), np.uint16),
        Photometric.MONOCHROME2,
        windows=(Window(1000, 100),),
        geometry=ImageGeometry(SizePx(rows, columns), spacing),
    )
    view.resize(*(int(n) for n in random.integers((300, 260), (1100, 800))))
    view.show_image(make_shown(black))
    side = min(rows, columns)
    left, top = (columns - side) / 2, (rows - side) / 2
    grid = Grid(int(random.integers(2, 27)), int(random.integers(2, 27)))
    cell = Cell(int(random.integers(grid.rows)), int(random.integers(grid.columns)))
    look = Look(grid, BoxPx(left, top, left + side, top + side), cell)
    view.one_to_one()
    # Cells of 12 device pixels at least; at most so that a native pixel has 60.
    least = 12 * max(grid.rows, grid.columns) / side / 0.7
    view.zoom_by(float(np.exp(random.uniform(np.log(least), np.log(60)))))
    corner = PointPx(look.edge(cell.column, down=False), look.edge(cell.row, down=True))
    wanted = QPointF(*(random.uniform(0.35, 0.65, 2) * (view.width(), view.height())))
    moved = wanted - view.to_view(corner)
    view.pan_by(moved.x(), moved.y())
    assert view.ratio == RATIO
    return look


def device(view: ImageView, look: Look, number: int, *, down: bool) -> float:
    """Return the exact device position of an edge between cells."""
    at = look.edge(number, down=down)
    shown = view.to_view(PointPx(0.0, at) if down else PointPx(at, 0.0))
    return (shown.y() if down else shown.x()) * view.ratio


def scale(view: ImageView, *, down: bool) -> float:
    """Return device pixels per native pixel."""
    one = view.to_view(PointPx(1.0, 1.0)) - view.to_view(PointPx(0.0, 0.0))
    return (one.y() if down else one.x()) * view.ratio


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_that_painted_grid_lines_lie_on_the_edges_of_the_cells(
    view: ImageView, make_shown: MakeShown, seed: int, down: bool
) -> None:
    look = look_at_random(view, make_shown, seed)
    view.set_grid(
        GridOverlay(look.grid, look.field, LabelStyle.MARGIN, (255, 0, 0), 1.0)
    )
    seen = pixels(view).astype(int)
    red = (seen[..., 0] > 250) & (seen[..., 1:].max(axis=-1) < 5)
    red = red.T if down else red
    # A line is red along most of what is seen of the grid.
    across = look.grid.columns if down else look.grid.rows
    ends = [device(view, look, n, down=not down) for n in (0, across)]
    first, last = np.clip(ends, 0, red.shape[0]).astype(int)
    painted = np.flatnonzero(red[first:last].mean(axis=0) > 0.6) + 0.5
    count = look.grid.rows if down else look.grid.columns
    edges = [device(view, look, n, down=down) for n in range(count + 1)]
    # The names of rows or columns stand over the first lines that are seen.
    start, end = max(edges[0], 0) + LABEL * RATIO, red.shape[1] - 2
    expected = [at for at in edges if start < at < end]
    painted = painted[(painted > start) & (painted < end)]
    assert len(painted) == len(expected)
    # Half a device pixel, in native pixels, and what a float leaves over.
    native = np.abs(painted - expected) / scale(view, down=down)
    assert native.max(initial=0.0) <= 0.5 / scale(view, down=down) + 1e-4


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_that_a_painted_answers_corner_maps_to_the_exact_native_pixel(
    view: ImageView,
    make_shown: MakeShown,
    make_answer: MakeAnswer,
    seed: int,
    down: bool,
) -> None:
    look = look_at_random(view, make_shown, seed)
    answer = make_answer(look.grid.label(look.cell), grid=look.grid, field=look.field)
    view.set_answers((answer,))
    seen = pixels(view)[..., 0].astype(float)
    seen = seen.T if down else seen
    # The near edge: across it runs a line of pixels a little beyond the corner.
    here = look.cell.row if down else look.cell.column
    aside = look.cell.column if down else look.cell.row
    edge = device(view, look, here, down=down)
    along = round(device(view, look, aside, down=not down) + 5)
    middle = painted_middle(seen[along], edge)
    native = abs(middle - edge) / scale(view, down=down)
    assert native <= max(0.5, SMOOTH / scale(view, down=down))


def painted_middle(line: npt.NDArray[np.float64], near: float) -> float:
    """Return the middle of the outline that a line of pixels crosses near a place.

    Beyond it the cell is filled: a pixel's share in the outline is what it has over
    black before the brightest pixel, and over the fill behind it.
    """
    first = int(near) - 4
    part = line[first : first + 9]
    full = float(QColor(current().models[0]).red())
    fill = full * FILL_ALPHA / 255
    peak = int(part.argmax())
    ground = np.where(np.arange(part.size) < peak, 0.0, fill)
    share = np.clip((part - ground) / (full - ground), 0.0, 1.0)
    share[np.abs(part - fill) < 2] = 0.0
    return float((share * (np.arange(part.size) + 0.5)).sum() / share.sum()) + first


@pytest.mark.skipif(RATIO != 1, reason="is run by the test itself")
@pytest.mark.parametrize(
    ("marked", "seeds"),
    [
        ("not proof", FEW),
        pytest.param("proof", len(SEEDS) - FEW, marks=pytest.mark.proof),
    ],
)
def test_that_cells_are_painted_as_exactly_on_a_screen_of_two_device_pixels(
    marked: str, seeds: int
) -> None:
    """Qt takes the ratio once, at the start of a process."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-m", marked, __file__],
        env={**os.environ, "QT_SCALE_FACTOR": "2"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert f"{4 * seeds + (marked != 'proof')} passed" in done.stdout


def test_that_the_device_pixels_of_the_view_are_the_screens(view: ImageView) -> None:
    width, height = view.viewport().width(), view.viewport().height()
    assert view.screen_size == SizePx(round(height * RATIO), round(width * RATIO))
    assert pixels(view).shape[:2] == (round(height * RATIO), round(width * RATIO))
