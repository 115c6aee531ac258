"""Milliseconds a frame on a whole slide, with and without 100,000 objects; printed."""

import json
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the image view needs PySide6")
pytest.importorskip("openslide")

from pytestqt.qtbot import QtBot

from tests.helpers.make_slide import pyramid, tissue, write_svs
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.slide_objects import SlideObjects
from viewer.readers.catalog import scan
from viewer.readers.slide_objects import read_objects
from viewer.services.viewing.decoding import LocalDecoder
from viewer.ui.panels.read.hanging import Chosen, stacks_of
from viewer.ui.panels.read.lightbox import Lightbox

_SIDE, _OBJECTS, _CORNERS, _FRAMES = 8192, 100_000, 16, 40


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = pyramid(tissue(_SIDE, _SIDE), 4)
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("slide") / "a.svs", levels, facts)


def _nuclei() -> SlideObjects:
    """Return outlines of 7 µm all over the slide."""
    rng = np.random.default_rng(5)
    turns = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    ways = np.stack((np.cos(turns), np.sin(turns)), axis=1)
    reach = rng.uniform(5, 9, (_OBJECTS, _CORNERS, 1))
    middles = rng.uniform(0, _SIDE, (_OBJECTS, 1, 2))
    points = (middles + ways * reach).reshape(-1, 2).astype(np.float32)
    starts = np.arange(_OBJECTS + 1) * _CORNERS
    kinds, names = np.arange(_OBJECTS) % 3, ("tumour", "stroma", "lymphocyte")
    return SlideObjects(points, starts, kinds, names, _OBJECTS)


@pytest.mark.parametrize("objects", [None, _nuclei()], ids=["plain", "objects"])
def test_how_long_a_frame_of_a_slide_takes(
    qtbot: QtBot, path: Path, objects: SlideObjects | None
) -> None:
    (case,) = scan([path])
    stacks = stacks_of(case.studies[0])
    lightbox = Lightbox(LocalDecoder())
    qtbot.addWidget(lightbox)
    lightbox.resize(1600, 1000)
    lightbox.show()
    lightbox.hang(Chosen(stacks[0], stacks))
    qtbot.waitUntil(lambda: lightbox.showing(ImageRef(path)) is not None)
    view = lightbox.view
    view.set_objects(objects)
    for factor in (_SIDE / 1000, 4.0, 1.0, 0.25):
        view.look_at(PointPx(1000, 1000), (view.scan_zoom or 0.0) / factor)
        view.viewport().repaint()
        qtbot.waitUntil(lambda: view.tiles is not None and not view.tiles.missing)
        times = []
        for n in range(_FRAMES):
            start = time.perf_counter()
            view.pan_by((-1) ** n * 16, (-1) ** n * 9)
            view.viewport().repaint()
            times.append((time.perf_counter() - start) * 1000)
        median, worst = statistics.median(times), max(times)
        kind = f"{_OBJECTS:,} objects" if objects else "plain"
        print(f"1:{factor:.3g}, {kind}: pan {median:.1f} ms, at most {worst:.1f} ms")
        assert len(times) == _FRAMES


def test_how_long_an_object_takes_to_find() -> None:
    objects = _nuclei()
    assert objects.boxes.shape == (_OBJECTS, 4)
    start = time.perf_counter()
    named = [objects.name_at(PointPx(80 * n, 80 * n)) for n in range(100)]
    print(f"object under the cursor: {(time.perf_counter() - start) * 10:.2f} ms")
    assert len(named) == 100


def test_how_long_reading_objects_takes(tmp_path: Path) -> None:
    points = _nuclei().points.reshape(_OBJECTS, _CORNERS, 2).round(1).tolist()
    features = [
        {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [ring]}}
        for ring in points
    ]
    path = tmp_path / "nuclei.geojson"
    path.write_text(json.dumps(features), encoding="utf-8")
    start = time.perf_counter()
    assert read_objects(path).count == _OBJECTS
    size = path.stat().st_size / (1 << 20)
    took = time.perf_counter() - start
    print(f"{_OBJECTS:,} objects of {size:.0f} MB of GeoJSON: {took:.2f} s")
