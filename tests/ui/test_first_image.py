"""The window notes when its first image was painted, if it is asked to."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from viewer import app
from viewer.domain.geometry import SizePx
from viewer.services.benchmarking import samples as bench_samples
from viewer.settings import FIRST_IMAGE_VARIABLE, Settings
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.window import benchmark as window_bench
from viewer.ui.window import first_image


@pytest.fixture
def film(tmp_path: Path) -> Path:
    pixels = np.arange(48 * 64, dtype=np.uint16).reshape(48, 64)
    return make_dicom(tmp_path / "film.dcm", pixels, Modality="DX")


def test_that_the_first_paint_is_noted_and_the_window_closes(
    qtbot: QtBot,
    settings: Settings,
    film: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = tmp_path / "report.json"
    monkeypatch.setenv(FIRST_IMAGE_VARIABLE, str(report))
    monkeypatch.setattr(first_image, "_SETTLED_MS", 1)
    before = time.monotonic_ns()
    window = app.build_window(settings)
    qtbot.addWidget(window)
    window.show()
    app._open_first(window, [film])
    assert not report.exists()
    qtbot.waitUntil(lambda: not window.isVisible())
    told = json.loads(report.read_text())
    assert before < told["painted_ns"] < time.monotonic_ns()
    assert told["resident_bytes"] > 20e6
    assert window.findChildren(Lightbox)[0].active.shown is not None


def test_that_nothing_is_noted_unasked(
    qtbot: QtBot, settings: Settings, film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FIRST_IMAGE_VARIABLE, raising=False)
    window = app.build_window(settings)
    qtbot.addWidget(window)
    app._open_first(window, [film])
    assert window.findChildren(first_image.FirstImage) == []


def test_that_memory_unknown_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_image, "_MEMORY", Path("nowhere"))
    assert first_image.resident_bytes() is None


def test_that_the_window_is_measured_by_gesture_and_slice(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_samples, "_PATIENTS", 1)
    monkeypatch.setattr(bench_samples, "_SIZE", SizePx(250, 200))
    monkeypatch.setattr(bench_samples, "_SLICES", 4)
    monkeypatch.setattr(bench_samples, "_SLICE_SIDE", 16)
    monkeypatch.setattr(window_bench, "SIDES", (64,))
    monkeypatch.setattr(window_bench, "FRAMES", 3)
    monkeypatch.setattr(window_bench, "_AGAIN", 2)
    speeds = app.measure_window(bench_samples.make_samples(tmp_path))
    assert speeds.screen == qapp.platformName()
    assert {name: len(values) for name, values in speeds.times.items()} == {
        "window/level 64": 3,
        "pan 64": 3,
        "zoom 64": 3,
        "window/level 64 drawn": 3,
        "pan 64 drawn": 3,
        "zoom 64 drawn": 3,
        "scroll": 3,
        "scroll again": 1,
    }
    assert all(value > 0 for values in speeds.times.values() for value in values)
