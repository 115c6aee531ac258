"""Linked viewports, reference lines and the cross-hair, on two series and a localizer.

B21 (localizer lines), B22 (cross-hair), B31 (link and unlink).
"""

from pathlib import Path

import numpy as np
import pydicom
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom
from viewer.domain.geometry import PointPx
from viewer.domain.image import Window
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.overlays.locator import Locator
from viewer.ui.panels.read.hanging_line import LayoutChosen
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.workspaces.read import ReadWorkspace

_SIDE = 60
AXIAL, SAGITTAL = (1, 0, 0, 0, 1, 0), (0, 1, 0, 0, 0, -1)


def _series(
    folder: Path,
    number: int,
    *,
    axes: tuple[int, ...] = AXIAL,
    at: tuple[float, float, float] = (0, 0, 0),
    step: float = 5.0,
    count: int = 8,
    frame: str = "1.2.9",
    modality: str = "CT",
) -> None:
    normal = np.cross(axes[:3], axes[3:])
    for n in range(count):
        path = write_dicom(folder / f"{number}_{n}.dcm", modality=modality)
        header = pydicom.dcmread(path)
        header.PatientID, header.StudyInstanceUID = "p", "1.2.1"
        header.SeriesInstanceUID = f"1.2.1.{number}"
        header.SeriesDescription = f"series {number}"
        header.InstanceNumber = n + 1
        header.FrameOfReferenceUID = frame
        header.ImageOrientationPatient = [*axes]
        header.ImagePositionPatient = [*(np.array(at) + n * step * normal)]
        header.PixelSpacing = [1.0, 1.0]
        header.Rows = header.Columns = _SIDE
        header.PixelData = bytes(_SIDE * _SIDE)
        header.save_as(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thin and thick axial slices, a sagittal series, and one of another frame."""
    folder = tmp_path_factory.mktemp("ct")
    _series(folder, 1, step=5.0, count=8)
    _series(folder, 2, step=2.0, count=20)
    _series(folder, 3, axes=SAGITTAL, at=(20, 0, 40), step=4.0, count=4)
    _series(folder, 4, at=(500, 0, 0), step=5.0, frame="1.2.8")
    return folder


@pytest.fixture
def ports(
    qtbot: QtBot, read: ReadWorkspace, folder: Path
) -> tuple[Viewport, Viewport, Viewport, Viewport]:
    """The four series side by side."""
    read.open_paths([folder])
    qtbot.waitUntil(lambda: len(list(read.browser.tree.rows())) == 4)
    qtbot.waitUntil(lambda: len(read.lightbox.active.stack_images) == 8)
    rows = {row.stack.name: row for row in read.browser.tree.rows()}
    read.browser.tree.setCurrentItem(rows["series 1"])
    read.hanging.line.layout_chosen.emit(LayoutChosen(2, 2))
    shown = read.lightbox.viewports
    qtbot.waitUntil(lambda: all(viewport.shown for viewport in shown))
    names = [v.stack.name for v in shown if v.stack]
    assert names == [f"series {n}" for n in (1, 2, 3, 4)]
    return shown[0], shown[1], shown[2], shown[3]


def _locator(viewport: Viewport) -> Locator | None:
    return viewport.view._layers.locator


def _settled(qtbot: QtBot, *ports: Viewport) -> None:
    qtbot.waitUntil(lambda: all(v.shown and v.shown.header == v.header for v in ports))


def test_b31_scrolling_goes_to_the_same_place_in_the_patient_until_unlinked(
    ports: tuple[Viewport, ...], context: AppContext
) -> None:
    thick, thin, sagittal, other = ports
    thick.scroll_by(4)
    assert thin.position == 10  # 20 mm in both
    assert other.position == 4  # of another study: as far
    context.actions["hang.unlink"].trigger()
    thick.scroll_by(-2)
    assert (thin.position, other.position) == (10, 4)
    context.actions["hang.link"].trigger()
    thick.scroll_by(1)
    assert thin.position in {7, 8}
    assert sagittal.position == sagittal.position


def test_b31_zoom_pan_and_window_follow_in_one_frame_of_reference(
    ports: tuple[Viewport, ...], context: AppContext
) -> None:
    thick, thin, sagittal, other = ports
    thick.view.zoom_by(3.0)
    thick.view.pan_by(20, -12)
    assert thin.view.zoom == pytest.approx(thick.view.zoom)
    for axis in ("x", "y"):
        here, there = (getattr(v.view.centre, axis) for v in (thick, thin))
        assert there == pytest.approx(here, abs=0.1)
    assert sagittal.view.fitted
    thick.view.set_window(Window(40, 90))
    assert thin.view.window_shown == Window(40, 90)
    assert other.view.window_shown != Window(40, 90)
    thick.view.fit()
    assert thin.view.fitted
    context.actions["hang.unlink"].trigger()
    thick.view.zoom_by(2.0)
    assert thin.view.fitted


def test_that_a_series_that_comes_up_later_is_framed_and_windowed_like_the_active_one(
    qtbot: QtBot, ports: tuple[Viewport, ...]
) -> None:
    thick, thin, sagittal, _ = ports
    stack = thin.stack
    assert stack is not None
    sagittal.show_stack(None)
    thick.view.setFocus()
    thick.view.zoom_by(3.0)
    thick.view.set_window(Window(40, 90))
    sagittal.show_stack(stack)
    qtbot.waitUntil(lambda: sagittal.shown is not None)
    assert sagittal.view.zoom == pytest.approx(thick.view.zoom)
    assert sagittal.view.window_shown == Window(40, 90)


def test_b21_reference_lines_are_off_until_wanted_and_follow_the_active_image(
    qtbot: QtBot, ports: tuple[Viewport, ...], context: AppContext
) -> None:
    thick, thin, sagittal, other = ports
    thick.view.setFocus()
    assert not any(map(_locator, ports))
    context.actions["hang.lines"].trigger()
    assert context.actions["hang.lines"].isChecked()
    drawn = _locator(sagittal)
    assert drawn is not None
    assert {round(p.y, 6) for p in drawn.lines[0]} == {40.5}
    assert not any(map(_locator, (thick, thin, other)))
    thick.scroll_by(2)
    _settled(qtbot, *ports)
    drawn = _locator(sagittal)
    assert drawn is not None
    assert {round(p.y, 6) for p in drawn.lines[0]} == {30.5}
    context.actions["hang.lines"].trigger()
    assert not any(map(_locator, ports))


def test_b22_the_cross_hair_shows_a_position_in_all_of_one_frame_of_reference(
    qtbot: QtBot, ports: tuple[Viewport, ...], context: AppContext
) -> None:
    thick, thin, sagittal, other = ports
    context.actions["tool.crosshair"].trigger()
    context.actions["hang.unlink"].trigger()
    sagittal.go_to(2)
    _settled(qtbot, sagittal)
    at = sagittal.view.to_view(PointPx(10.5, 21.5)).toPoint()
    QTest.mouseClick(sagittal.view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    _settled(qtbot, *ports)
    assert (thick.position, other.position) == (4, 0)  # 19 mm
    assert thin.position in {9, 10}
    crosses = [drawn.cross if (drawn := _locator(v)) else None for v in ports]
    assert crosses[3] is None
    for cross in crosses[:2]:
        assert cross is not None
        assert (cross.x, cross.y) == pytest.approx((12.5, 10.5), abs=0.5)
    context.actions["tool.pan"].trigger()
    assert not any(map(_locator, ports))


def test_that_tiles_scroll_together_and_keep_their_distance(
    qtbot: QtBot, ports: tuple[Viewport, ...], read: ReadWorkspace
) -> None:
    first = ports[0]
    first.view.setFocus()
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 3, tiled=True))
    tiles = read.lightbox.viewports
    tiles[0].scroll_by(5)
    assert [v.position for v in tiles] == [5, 6, 7]
    tiles[0].scroll_by(2)
    tiles[0].scroll_by(-4)
    assert [v.position for v in tiles] == [3, 4, 5]
    _settled(qtbot, *tiles)


def test_that_viewports_without_lines_are_not_laid_out_again_while_one_scrolls(
    qtbot: QtBot, ports: tuple[Viewport, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    thick, _, sagittal, _ = ports
    drawn: list[None] = []
    monkeypatch.setattr(sagittal.view, "redraw", lambda: drawn.append(None))
    thick.scroll_by(2)
    _settled(qtbot, *ports)
    assert not drawn
