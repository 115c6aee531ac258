"""Milliseconds a frame, from the gesture to the painted widget; printed only."""

import os
import statistics
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the image view needs PySide6")

from typing import TYPE_CHECKING

import numpy as np

from viewer.domain.answer import Answer, HeatMapAnswer, MaskAnswer, Status
from viewer.domain.case import ImageRef
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Grid
from viewer.domain.image import Window
from viewer.domain.reference import Mask
from viewer.domain.result import Score
from viewer.services.benchmarking.bench import GESTURES, SIDES
from viewer.services.inspecting.answers import StoredAnswer
from viewer.ui.window.benchmark import (
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


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.usefixtures("qapp")
def test_how_long_a_frame_takes_under_large_answers(side: int) -> None:
    view = shown_view(square_image(side))
    draw_over(view)
    answers = large_answers(side)
    began = time.perf_counter()
    view.set_answers(answers)
    made = time.perf_counter() - began
    middle = view.area.center()
    gestures: dict[str, Callable[[int], None]] = {
        "pan": lambda n: view.pan_by(3 if n % 2 else -3, 1),
        "zoom": lambda n: view.zoom_at(middle, 1.03 if n < FRAMES / 2 else 1 / 1.03),
    }
    times = [frame_times(view, act, range(FRAMES)) for act in gestures.values()]
    parts = (f"{statistics.median(t):.2f} (least {min(t):.2f})" for t in times)
    print(f"{side} × {side}, a mask and a map of that size: made in {made:.2f} s, ms:")
    print("  ".join(f"{n} {p}" for n, p in zip(gestures, parts, strict=True)))
    assert len(view.answer_items) == len(answers)
    view.close()


def large_answers(side: int) -> tuple[StoredAnswer, ...]:
    """Return a ragged mask and a smooth heat map, as large as the image."""
    v, u = np.mgrid[:side, :side] / side
    far, turn = np.hypot(u - 0.5, v - 0.5), np.arctan2(v - 0.5, u - 0.5)
    ragged = far < 0.25 + 0.02 * np.sin(9 * turn) + 0.003 * np.sin(300 * turn)
    field = BoxPx(0, 0, side, side)
    said: tuple[Answer, ...] = (
        MaskAnswer(Mask.of_array(np.asarray(ragged))),
        HeatMapAnswer(SentHeatMap.of(np.exp(-20 * far)), field),
    )
    known = StoredAnswer(
        trial=1,
        run=1,
        ref=ImageRef(Path("bench.dcm")),
        finding="Nodule",
        view="frontal",
        model="",
        adapter="scripted",
        grid=Grid(16, 16),
        field=field,
        score=Score(Status.SCORED_WRONG, "", "D4", 0.0, None),
        reference_cells=(),
        reply_text="",
        note="",
        latency_ms=1,
        cost_microusd=None,
        model_returned="",
        prompt_sha256="",
        request_sha256="",
        parameters={},
        asked_at="2026-01-01T00:00:00Z",
    )
    return tuple(
        replace(known, model=f"model {i}", answer=a) for i, a in enumerate(said)
    )


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
