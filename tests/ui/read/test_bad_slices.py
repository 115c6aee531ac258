"""A slice that cannot be read takes nothing from the rest of its series."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.ui.canvas.conftest import drag
from viewer.domain.image import Window
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.events import Tool
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.workspaces.read import ReadWorkspace

if TYPE_CHECKING:
    from viewer.ui.application.notices import Notice

_BAD = 2


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """Five slices of CT, the third cut off in its pixels."""
    folder = tmp_path / "ct"
    folder.mkdir()
    values = np.arange(64 * 64, dtype=np.int16).reshape(64, 64)
    for number in range(5):
        path = make_dicom(
            folder / f"{number}.dcm",
            values,
            Modality="CT",
            InstanceNumber=number + 1,
            SOPInstanceUID=f"1.2.3.4.{number + 1}",
        )
        if number == _BAD:
            path.write_bytes(path.read_bytes()[:-2000])
    return folder


@pytest.fixture
def viewport(qtbot: QtBot, read: ReadWorkspace, series: Path) -> Viewport:
    read.open_paths([series])
    qtbot.waitUntil(lambda: len(read.lightbox.active.stack_images) == 5)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    return read.lightbox.active


def _turn(viewport: Viewport, steps: int) -> None:
    """Turn the wheel towards the reader."""
    at, none = QPointF(50, 50), Qt.MouseButton.NoButton
    event = QWheelEvent(
        at,
        QPointF(viewport.view.viewport().mapToGlobal(QPoint(50, 50))),
        QPoint(),
        QPoint(0, -120 * steps),
        none,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(viewport.view.viewport(), event)


def _go_to_bad_slice(qtbot: QtBot, viewport: Viewport) -> None:
    with qtbot.waitSignal(viewport.image_failed):
        viewport.go_to(_BAD)


def _is_shown(viewport: Viewport, position: int) -> bool:
    shown = viewport.shown
    return shown is not None and shown.ref == viewport.stack_images[position].ref


def test_that_the_wheel_goes_on_after_a_bad_slice(
    qtbot: QtBot, viewport: Viewport
) -> None:
    _go_to_bad_slice(qtbot, viewport)
    _turn(viewport, 1)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD + 1))
    _go_to_bad_slice(qtbot, viewport)
    _turn(viewport, -1)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD - 1))
    assert viewport.shown is not None


def test_that_keys_and_the_scroll_tool_go_on_after_a_bad_slice(
    qtbot: QtBot, viewport: Viewport
) -> None:
    _go_to_bad_slice(qtbot, viewport)
    QTest.keyClick(viewport.view, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD + 1))
    _go_to_bad_slice(qtbot, viewport)
    viewport.view.set_tool(Tool.SCROLL)
    drag(viewport.view, QPoint(50, 50), QPoint(50, 57), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD + 1))
    assert viewport.shown is not None


def test_that_window_and_zoom_outlast_a_bad_slice(
    qtbot: QtBot, viewport: Viewport
) -> None:
    view = viewport.view
    view.set_window(Window(321, 123))
    view.zoom_by(3)
    zoom = view.zoom
    _go_to_bad_slice(qtbot, viewport)
    viewport.scroll_by(1)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD + 1))
    assert view.window_shown == Window(321, 123)
    assert view.zoom == zoom


def test_that_the_view_says_which_slice_it_cannot_show(
    qtbot: QtBot, viewport: Viewport
) -> None:
    _go_to_bad_slice(qtbot, viewport)
    assert "2.dcm" in viewport.view.waiting.text
    viewport.scroll_by(1)
    qtbot.waitUntil(lambda: _is_shown(viewport, _BAD + 1))
    assert not viewport.view.waiting.words


def test_that_no_value_of_the_slice_before_is_told_of_a_bad_one(
    qtbot: QtBot, viewport: Viewport
) -> None:
    told: list[str] = []
    viewport.view.cursor_moved.connect(lambda event: told.append(event.value_text))
    drag(viewport.view, QPoint(50, 50), QPoint(52, 50), Qt.MouseButton.LeftButton)
    QTest.mouseMove(viewport.view.viewport(), QPoint(200, 200))
    qtbot.waitUntil(lambda: bool(told and told[-1]))
    _go_to_bad_slice(qtbot, viewport)
    assert told[-1] == ""


def test_that_a_broken_file_is_reported_once(
    qtbot: QtBot, viewport: Viewport, context: AppContext
) -> None:
    told: list[Notice] = []
    context.notices.posted.connect(told.append)
    for _ in range(3):
        _go_to_bad_slice(qtbot, viewport)
        viewport.go_to(0)
        qtbot.waitUntil(lambda: _is_shown(viewport, 0))
    assert ["2.dcm" in notice.what for notice in told] == [True]
