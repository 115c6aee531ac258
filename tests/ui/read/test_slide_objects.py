"""Objects of another program over a whole slide."""

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.make_slide import pyramid, tissue, write_svs
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.slide_objects import SlideObjects
from viewer.imaging import outlines
from viewer.imaging.outlines import draw_outlines
from viewer.readers.slide_objects import read_objects
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.overlays.objects import COLOURS
from viewer.ui.panels.read.grid_choice import GridChoice
from viewer.ui.workspaces.read import ReadWorkspace

pytest.importorskip("openslide")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    levels = pyramid(tissue(1500, 2500), 2)
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("slide") / "a.svs", levels, facts)


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """A square of 100 µm on the slide, and one off it."""

    def square(x: int, y: int, name: str) -> dict[str, object]:
        ring = [[x, y], [x + 200, y], [x + 200, y + 200], [x, y + 200], [x, y]]
        geometry = {"type": "Polygon", "coordinates": [ring]}
        properties = {"classification": {"name": name}}
        return {"type": "Feature", "geometry": geometry, "properties": properties}

    features = [square(1000, 600, "Tumor"), square(9000, 600, "Stroma")]
    found = tmp_path / "cells.geojson"
    found.write_text(json.dumps(features), encoding="utf-8")
    return found


def test_that_objects_lie_where_the_other_program_saw_them(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, path: Path, objects: Path
) -> None:
    read.open_paths([path])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    read.lightbox.set_grid(GridChoice(shown=False))
    view, action = read.lightbox.view, context.actions["file.objects"]
    slide = read.lightbox.active.shown.slide  # type: ignore[union-attr]
    assert slide is not None
    action.trigger()
    dialog = read.lightbox.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    with qtbot.waitSignal(context.notices.posted) as told:
        dialog.fileSelected.emit(str(objects))
        dialog.close()
    assert told.args[0].what == (
        "2 objects of 2 classes from cells.geojson. 1 outline lies off the slide: "
        "check that they are in pixels of its scan."
    )
    assert action.isChecked()
    for factor in (1.0, 0.5, 2.0):
        view.look_at(PointPx(900, 560), (view.scan_zoom or 0.0) / factor)
        seen = view.viewport().grab().toImage()
        corner = slide.to_scan(0).inverse().apply(PointPx(1000, 600))
        at = view.to_view(corner).toPoint()
        around = {
            seen.pixelColor(at.x() + x, at.y() + y).name().upper()
            for x in range(-1, 3)
            for y in range(-1, 3)
        }
        assert COLOURS[0] in around
        assert view.tip_at(view.to_view(corner) + QPointF(9, 9)) == "Tumor"
    action.trigger()
    assert not action.isChecked()
    assert view._layers.objects is None


def test_that_a_pan_draws_only_the_objects_that_come_into_sight(
    qtbot: QtBot,
    read: ReadWorkspace,
    path: Path,
    objects: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read.open_paths([path])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    view = read.lightbox.view
    view.set_objects(read_objects(objects))
    view.look_at(PointPx(900, 560), view.scan_zoom or 0.0)
    view.grab()
    drawn: list[int] = []

    def count(found: SlideObjects, size: SizePx, *others: Any) -> Any:  # noqa: ANN401
        drawn.append(size.rows * size.columns)
        return draw_outlines(found, size, *others)

    monkeypatch.setattr(outlines, "draw_outlines", count)
    view.pan_by(-30, 14)
    view.pan_by(7, 0)
    panned = view.grab().toImage()
    assert 0 < sum(drawn) < view.width() * view.height() / 4
    view.set_objects(read_objects(objects))
    assert view.grab().toImage() == panned


def test_that_objects_need_a_slide(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext
) -> None:
    with qtbot.waitSignal(context.notices.posted) as told:
        read.handlers()["file.objects"]()
    assert told.args[0].what == "Open a whole slide first, for objects on it."
    assert not context.actions["file.objects"].isChecked()
