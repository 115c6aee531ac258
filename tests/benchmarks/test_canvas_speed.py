"""Milliseconds a frame, from the gesture to the painted widget; printed only."""

import os
import statistics
from itertools import pairwise

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the image view needs PySide6")

from typing import TYPE_CHECKING

from viewer.domain.image import Window
from viewer.services.bench import GESTURES, SIDES
from viewer.ui.window_bench import (
    FRAMES,
    draw_over,
    frame_times,
    gesture_times,
    shown_view,
    square_image,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.usefixtures("qapp")
def test_how_long_a_frame_takes(side: int, drawn: bool) -> None:
    times = gesture_times(side, drawn=drawn)
    line = "  ".join(f"{name} {statistics.median(t):.2f}" for name, t in times.items())
    print(f"{side} × {side}, {'grid and reference' if drawn else 'plain'}: {line} ms")
    assert {name: len(t) for name, t in times.items()} == dict.fromkeys(
        GESTURES, FRAMES
    )


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.usefixtures("qapp")
def test_how_long_a_pan_at_one_to_one_takes(drawn: bool) -> None:
    view = shown_view(square_image(SIDES[0]))
    if drawn:
        draw_over(view)
    view.one_to_one()
    pan = frame_times(view, lambda n: view.pan_by(3 if n % 2 else -3, 1), range(FRAMES))
    name = "drawn over" if drawn else "plain"
    print(f"pan at 1:1, {name}: {statistics.median(pan):.2f} ms")
    assert view.zoom == 1.0
    view.close()


@pytest.mark.usefixtures("qapp")
def test_that_the_timed_gestures_change_what_is_painted() -> None:
    view = shown_view(square_image(500))
    pictures = [view.grab().toImage()]
    acts: tuple[Callable[[], None], ...] = (
        lambda: view.set_window(Window(20_000, 30_000)),
        lambda: view.pan_by(3, 1),
        lambda: view.zoom_by(1.5),
        lambda: draw_over(view),
    )
    for act in acts:
        act()
        pictures.append(view.grab().toImage())
    assert all(a != b for a, b in pairwise(pictures))
    view.close()
