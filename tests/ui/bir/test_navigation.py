"""What is shown on opening, and the ways from image to image."""

from collections.abc import Callable
from pathlib import Path

import pydicom
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolBar, QToolButton
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom
from tests.ui.bir.conftest import SLICES
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.workspaces.read import ReadWorkspace

Open = Callable[[Path], ImageView]


def _series(folder: Path, study: int, number: int, count: int = 3) -> None:
    """Write a series; every series of a study has the same description."""
    for n in range(count):
        path = write_dicom(folder / f"{study}_{number}_{n}.dcm", modality="MR")
        header = pydicom.dcmread(path)
        header.PatientID, header.StudyInstanceUID = "p", f"1.2.{study}"
        header.StudyDate, header.StudyDescription = f"2026030{study}", "Knee"
        header.SeriesInstanceUID = f"1.2.{study}.{number}"
        header.SeriesDescription, header.InstanceNumber = "T1", n + 1
        header.save_as(path)


def _studies(qtbot: QtBot, read: ReadWorkspace, folder: Path) -> None:
    """Open two studies of two series each."""
    for study in (1, 2):
        for number in (1, 2):
            _series(folder, study, number)
    read.open_paths([folder])
    qtbot.waitUntil(lambda: len(list(read.browser.tree.rows())) == 4)
    qtbot.waitUntil(lambda: not read._opening.running)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)


def _now(read: ReadWorkspace) -> tuple[str, str, int]:
    """Return study and series that hang, and the position in the series."""
    header = read.lightbox.active.header
    assert header is not None
    return header.study_key, header.series_key, read.lightbox.active.position


def test_b01_each_series_has_a_thumbnail_with_date_modality_description_and_count(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    _studies(qtbot, read, tmp_path / "in")
    rows = list(read.browser.tree.rows())
    qtbot.waitUntil(lambda: not any(row.icon(0).isNull() for row in rows))
    assert {row.text(0) for row in rows} == {"T1\nMR · 3 images"}
    heads = [above.text(0) for row in rows if (above := row.parent()) is not None]
    assert heads == ["2026-03-02 · Knee"] * 2 + ["2026-03-01 · Knee · prior"] * 2


def test_b02_the_first_image_is_whole_windowed_and_annotated(
    opened: Open, read: ReadWorkspace, series: Path
) -> None:
    view = opened(series)
    shown = read.lightbox.active.shown
    assert view.fitted
    assert shown is not None
    assert read.lightbox.active.position in {0, SLICES // 2}
    window = view.window_shown
    assert window is not None
    assert (window.center, window.width) == (40, 400)
    assert view._annotations is not None
    assert "Doe, Jane" in [line.text for line in view._annotations._lines]


def test_b04_the_functions_have_a_tool_bar(read: ReadWorkspace) -> None:
    (bar,) = read.findChildren(QToolBar)
    offered = {
        action.text()
        for button in bar.findChildren(QToolButton)
        for action in (
            button.defaultAction(),
            *(button.menu().actions() if button.menu() else ()),
        )
        if action is not None
    }
    wanted = {"Select", "Window/level", "Pan", "Zoom", "Scroll", "Cross-hair", "Cine"}
    assert wanted | {"Length", "Angle", "Invert", "Reset"} <= offered


def test_b05_study_series_and_frame_have_a_next_and_a_previous(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> None:
    _studies(qtbot, read, tmp_path / "in")
    assert _now(read) == ("1.2.2", "1.2.2.1", 0)
    view = read.lightbox.view
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert _now(read) == ("1.2.2", "1.2.2.1", 2)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert _now(read) == ("1.2.2", "1.2.2.1", 1)
    context.actions["image.next"].trigger()
    assert _now(read) == ("1.2.2", "1.2.2.2", 0)
    context.actions["image.previous"].trigger()
    assert _now(read)[1] == "1.2.2.1"
    context.actions["cases.next_study"].trigger()
    assert _now(read) == ("1.2.1", "1.2.1.1", 0)
    context.actions["image.next"].trigger()
    context.actions["cases.next_study"].trigger()
    assert _now(read)[1] == "1.2.1.2"  # there is no further one
    context.actions["cases.previous_study"].trigger()
    assert _now(read) == ("1.2.2", "1.2.2.1", 0)
    context.actions["cases.previous_study"].trigger()
    assert _now(read) == ("1.2.2", "1.2.2.1", 0)


def test_b20_letters_say_where_each_edge_lies_and_nothing_is_guessed(
    opened: Open, series: Path, radiograph: Path
) -> None:
    view = opened(series)
    assert view._annotations is not None
    letters = {line.text for line in view._annotations._letters}
    assert letters == {"R", "L", "A", "P"}
    plain = opened(radiograph)
    assert plain._annotations is not None
    assert not plain._annotations._letters  # its file does not say
