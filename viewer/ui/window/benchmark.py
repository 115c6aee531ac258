"""Milliseconds per frame, from a gesture to the repainted widget."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from PySide6.QtCore import QEventLoop, QPointF, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from viewer.domain.annotation import CornerLine
from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.services.benchmarking.bench import GESTURES, SIDES, WindowSpeeds, frame_key
from viewer.services.benchmarking.samples import Samples
from viewer.services.viewing.view_image import CornerText, ShownImage, field_of
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.window.main_window import MainWindow

FRAMES: Final = 100
_VIEW: Final = (1200, 900)
_LONGEST_S: Final = 30.0
_TICK_MS: Final = 20
_AGAIN: Final = 100
"""Slices to go back over; so many stay in memory."""


def measure_window(window: MainWindow, samples: Samples) -> WindowSpeeds:
    """Measure gestures on large images, and scrolling through a series in the window.

    Parameters
    ----------
    window : MainWindow
        With the workspace Read; it is shown and closed.
    samples : Samples
        Of them the series is opened.

    Raises
    ------
    WrongUseError
        If an image is not shown within half a minute.
    """
    times: dict[str, Sequence[float]] = {}
    for side in SIDES:
        for drawn in (False, True):
            measured = gesture_times(side, drawn=drawn)
            times |= {frame_key(g, side, drawn=drawn): measured[g] for g in GESTURES}
    return WindowSpeeds(
        {**times, **_scroll_times(window, samples.series)},
        QGuiApplication.platformName(),
    )


def gesture_times(side: int, *, drawn: bool) -> dict[str, list[float]]:
    """Return the milliseconds of each frame by gesture, on a square 16-bit image.

    ``drawn`` lays a 16 × 16 grid and a reference over it. The view is 1200 × 900.
    """
    view = shown_view(square_image(side))
    if drawn:
        draw_over(view)
    middle = QPointF(_VIEW[0] / 2, _VIEW[1] / 2)
    gestures: dict[str, Callable[[int], None]] = {
        "window/level": lambda n: view.set_window(Window(20_000 + 100 * n, 30_000)),
        "pan": lambda n: view.pan_by(3 if n % 2 else -3, 1),
        "zoom": lambda n: view.zoom_at(middle, 1.03 if n < FRAMES / 2 else 1 / 1.03),
    }
    times = {
        name: frame_times(view, act, range(FRAMES)) for name, act in gestures.items()
    }
    view.close()
    view.deleteLater()
    return times


def shown_view(shown: ShownImage) -> ImageView:
    """Return a view on the screen that has painted an image."""
    view = ImageView()
    view.resize(*_VIEW)
    view.show()
    # A window that is not on the screen yet paints nothing, in no time.
    _wait_until(lambda: view.window().windowHandle().isExposed())
    view.show_image(shown)
    QApplication.processEvents()
    view.viewport().repaint()
    return view


def square_image(side: int) -> ShownImage:
    """Return a noisy 16-bit ramp with corner text."""
    noise = np.random.default_rng(0).normal(0, 300, (side, side)).astype(np.float32)
    ramp = np.linspace(2000, 60_000, side, dtype=np.float32)[None, :] + noise
    geometry = ImageGeometry(SizePx(side, side), patient_orientation=("L", "F"))
    values = ramp.clip(0, 65_535).astype(np.uint16)
    image = PixelImage(values, Photometric.MONOCHROME2, geometry=geometry)
    ref = ImageRef(Path("bench.dcm"))
    header = ImageHeader(ref, image.geometry, 1, "DX", View.FRONTAL, "p", "s", "e")
    text = (CornerLine("A line of text"), CornerLine("and another"))
    return ShownImage(ref, header, image, CornerText(text, text, text, text))


def draw_over(view: ImageView) -> None:
    """Lay a 16 × 16 grid and a round reference over the square image of a view."""
    side = round(view.sceneRect().height() / view.zoom)
    y, x = np.mgrid[:side, :side] / side
    mask = Mask.of_array((x - 0.4) ** 2 + (y - 0.5) ** 2 < 0.01)
    view.set_grid(GridOverlay(Grid(16, 16), field_of(ImageGeometry(mask.size))))
    view.set_reference(mask)


def frame_times(
    view: ImageView, act: Callable[[int], None], numbers: Iterable[int]
) -> list[float]:
    """Return the milliseconds of each action including a full repaint."""
    times = []
    for number in numbers:
        began = time.perf_counter()
        act(number)
        view.viewport().repaint()
        times.append(1000 * (time.perf_counter() - began))
    return times


def _scroll_times(window: MainWindow, series: Path) -> dict[str, list[float]]:
    """Open a series, go through it slice by slice, then part of the way back."""
    viewport = window.findChildren(Lightbox)[0].active
    window.show()
    window.open_paths([series])
    files = len(list(series.iterdir()))
    _wait_until(lambda: len(viewport.stack_images) == files)
    _wait_until(lambda: viewport.shown is not None)

    def go_to(position: int) -> None:
        viewport.go_to(position)
        ref = viewport.stack_images[position].ref
        _wait_until(lambda: viewport.shown is not None and viewport.shown.ref == ref)

    last = len(viewport.stack_images) - 1
    there = frame_times(viewport.view, go_to, range(1, last + 1))
    back = frame_times(viewport.view, go_to, range(last - 1, last - _AGAIN, -1))
    window.close()
    return {"scroll": there, "scroll again": back}


def _wait_until(done: Callable[[], bool]) -> None:
    """Serve events until a condition holds; a timer makes sure it is checked."""
    until = time.monotonic() + _LONGEST_S
    tick = QTimer()
    tick.start(_TICK_MS)
    while not done():
        if time.monotonic() > until:
            raise WrongUseError(
                "The window showed no image in time.",
                "Close whatever keeps this machine busy, and try again.",
            )
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
