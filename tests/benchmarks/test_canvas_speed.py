"""Milliseconds a frame, from the gesture to the painted widget; printed only."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the image view needs PySide6")

from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.grid import Grid
from viewer.domain.image import Photometric, PixelImage, Window
from viewer.domain.reference import Mask
from viewer.services.view_image import CornerText, ShownImage, field_of
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.overlays.grid import GridOverlay

FRAMES = 40


def shown_image(side: int) -> ShownImage:
    noise = np.random.default_rng(0).normal(0, 300, (side, side))
    ramp = np.linspace(2000, 60_000, side)[None, :] + noise
    image = PixelImage(ramp.clip(0, 65_535).astype(np.uint16), Photometric.MONOCHROME2)
    ref = ImageRef(Path("somewhere.dcm"))
    header = ImageHeader(
        ref, image.size, 1, "DX", View.FRONTAL, "", ("L", "F"), "p", "s", "e"
    )
    text = ("A line of text", "and another")
    return ShownImage(ref, header, image, CornerText(text, text, text, text))


def median_ms(view: ImageView, gesture: Callable[[int], None]) -> float:
    """Return the median over frames of a gesture and a whole repaint."""
    times = []
    for number in range(FRAMES):
        start = time.perf_counter()
        gesture(number)
        view.viewport().repaint()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


@pytest.mark.parametrize("overlays", [False, True])
@pytest.mark.parametrize("side", [3000, 4096])
def test_how_long_a_frame_takes(qtbot: QtBot, side: int, overlays: bool) -> None:
    view = ImageView()
    qtbot.addWidget(view)
    view.resize(1200, 900)
    with qtbot.waitExposed(view):
        view.show()
    shown = shown_image(side)
    start = time.perf_counter()
    view.show_image(shown)
    view.viewport().repaint()
    first = (time.perf_counter() - start) * 1e3
    if overlays:
        y, x = np.mgrid[:side, :side] / side
        mask = (x - 0.4) ** 2 + (y - 0.5) ** 2 < 0.01
        view.set_grid(GridOverlay(Grid(16, 16), field_of(shown.image.size)))
        view.set_reference(Mask.of_array(mask))
    middle = QPointF(600, 450)
    gestures: dict[str, Callable[[int], None]] = {
        "window": lambda n: view.set_window(Window(20_000 + 100 * n, 30_000)),
        "pan": lambda n: view.pan_by(3 if n % 2 else -3, 1),
        "zoom": lambda n: view.zoom_at(middle, 1.07 if n < FRAMES / 2 else 1 / 1.07),
    }
    timed = {name: median_ms(view, act) for name, act in gestures.items()}
    view.one_to_one()
    timed["pan at 1:1"] = median_ms(view, gestures["pan"])
    with_them = "grid and reference" if overlays else "no overlays"
    line = "  ".join(f"{name} {ms:.2f}" for name, ms in timed.items())
    print(f"{side} × {side}, {with_them}: first {first:.1f}  {line} ms")
    assert view.zoom == 1.0
