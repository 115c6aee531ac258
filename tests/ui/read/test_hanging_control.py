"""Hanging in the window: protocols, stages, layouts and tiles."""

from pathlib import Path

import pydicom
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QTableWidgetItem, QToolButton
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom
from viewer.domain.counting import size_words
from viewer.services.viewing.hanging_protocols import (
    FILE,
    default_protocols,
    own_protocols,
)
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.protocol_editor import ProtocolEditor
from viewer.ui.panels.read.hanging_line import LayoutChosen
from viewer.ui.workspaces.read import ReadWorkspace

LEFT = Qt.MouseButton.LeftButton
NOW, THEN = "20260302", "20250114"


def _study(folder: Path, date: str) -> None:
    for view in ("PA", "LL"):
        path = write_dicom(folder / f"{date} {view}.dcm", view_position=view)
        header = pydicom.dcmread(path)
        header.PatientID, header.StudyInstanceUID = "p", f"1.2.{date}"
        header.StudyDate = date
        header.save_as(path)


@pytest.fixture
def chest(tmp_path: Path) -> Path:
    """A patient with a current and a prior chest in two projections."""
    _study(tmp_path / "chest", NOW)
    _study(tmp_path / "chest", THEN)
    return tmp_path / "chest"


def _names(read: ReadWorkspace) -> list[str]:
    stacks = [viewport.stack for viewport in read.lightbox.viewports]
    return [stack.name.removesuffix(".dcm") if stack else "" for stack in stacks]


def _open(qtbot: QtBot, read: ReadWorkspace, path: Path, count: int) -> None:
    read.open_paths([path])
    qtbot.waitUntil(lambda: len(list(read.browser.tree.rows())) == count)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    qtbot.waitUntil(lambda: read.hanging.line.findChild(QToolButton) is not None)


def test_that_stages_step_through_current_and_prior(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, chest: Path
) -> None:
    _open(qtbot, read, chest, 4)
    rows = list(read.browser.tree.rows())
    current = next(r for r in rows if f"{NOW} PA" in r.stack.name)
    read.browser.tree.setCurrentItem(current)
    assert _names(read) == [f"{NOW} PA", f"{THEN} PA"]
    assert "stage 1 of 2" in read.hanging.line.stage.text()
    roles = [viewport.role.text() for viewport in read.lightbox.viewports]
    assert roles == ["Current", "Prior"]
    context.actions["hang.next"].trigger()
    assert _names(read) == [f"{NOW} LL", f"{THEN} LL"]
    context.actions["hang.next"].trigger()
    assert "stage 2 of 2" in read.hanging.line.stage.text()
    context.actions["hang.previous"].trigger()
    assert _names(read) == [f"{NOW} PA", f"{THEN} PA"]
    read.hanging.line.protocol_chosen.emit("Frontal and lateral")
    assert _names(read) == [f"{NOW} PA", f"{NOW} LL"]
    assert not any(viewport.role.isVisible() for viewport in read.lightbox.viewports)


def test_b07_a_layout_keeps_what_hangs_and_fills_the_rest(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    for n in range(5):
        write_dicom(tmp_path / "in" / f"{n}.dcm", patient_id="p")
    _open(qtbot, read, tmp_path / "in", 5)
    read.hanging.line.layout_chosen.emit(LayoutChosen(2, 3))
    assert _names(read) == ["0", "1", "2", "3", "4", ""]
    assert read.hanging.line.protocols.currentText() == "2 × 3"
    second = read.lightbox.viewports[1]
    qtbot.waitUntil(lambda: second.shown is not None)
    where = QPoint(20, 20)
    for expected in (1, 6):
        second.view.setFocus()
        QTest.mouseDClick(second.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
        shown = [v for v in read.lightbox.viewports if v.isVisible()]
        assert len(shown) == expected
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 1))
    assert _names(read) == ["0"]


def test_b07_tiles_show_consecutive_images_of_a_series(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    write_dicom(tmp_path / "cine.dcm", frames=9, modality="US")
    _open(qtbot, read, tmp_path / "cine.dcm", 1)
    read.hanging.line.layout_chosen.emit(LayoutChosen(2, 2, tiled=True))
    assert [v.position for v in read.lightbox.viewports] == [0, 1, 2, 3]


def test_that_a_table_that_cannot_be_read_is_told_and_ours_used(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    settings: Settings,
    tmp_path: Path,
) -> None:
    (settings.home / FILE).write_text("[[protocol", encoding="utf-8")
    told: list[object] = []
    context.notices.posted.connect(told.append)
    write_dicom(tmp_path / "one.dcm")
    _open(qtbot, read, tmp_path / "one.dcm", 1)
    assert len(told) == 1
    assert read.hanging.line.protocols.currentText() == "One image"


def test_b07_a_series_is_dragged_from_the_cases_into_a_viewport(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    """A press chooses nothing yet, a click without a drag does."""
    for n in range(4):
        write_dicom(tmp_path / "in" / f"{n}.dcm", patient_id="p")
    _open(qtbot, read, tmp_path / "in", 4)
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 2))
    tree, left = read.browser.tree, Qt.MouseButton.LeftButton
    last = list(tree.rows())[-1]
    row, second = tree.visualItemRect(last).center(), read.lightbox.viewports[1]
    there = tree.viewport().mapFromGlobal(second.mapToGlobal(second.rect().center()))
    outside = QPoint(there.x(), tree.height() + 4000)
    for let_go, expected in ((outside, "1"), (there, "3")):
        QTest.mousePress(tree.viewport(), left, pos=row)
        QTest.mouseMove(tree.viewport(), let_go)
        QTest.mouseRelease(tree.viewport(), left, pos=let_go)
        assert _names(read) == ["0", expected]
    assert read.hanging.line.protocols.currentText() == "1 × 2"
    assert read.browser.tree.current_row is last
    qtbot.waitUntil(lambda: read.lightbox.active is second)
    first_row = next(tree.rows())
    at = tree.visualItemRect(first_row).center()
    QTest.mouseClick(tree.viewport(), left, pos=at)
    assert read.browser.tree.current_row is first_row


def test_b30_a_click_selects_a_viewport_and_the_select_tool_changes_nothing_else(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> None:
    for n in range(2):
        write_dicom(tmp_path / "in" / f"{n}.dcm", patient_id="p")
    _open(qtbot, read, tmp_path / "in", 2)
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 2))
    first, second = read.lightbox.viewports
    qtbot.waitUntil(lambda: second.shown is not None)
    context.actions["tool.select"].trigger()
    before = second.view.window_shown, second.view.zoom, second.view.centre
    area, left = second.view.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(area, left, pos=QPoint(50, 60))
    QTest.mouseMove(area, QPoint(120, 160))
    QTest.mouseRelease(area, left, pos=QPoint(120, 160))
    assert read.lightbox.active is second
    assert (first.mark.active, second.mark.active) == (False, True)
    assert before == (second.view.window_shown, second.view.zoom, second.view.centre)


def _editor(read: ReadWorkspace) -> ProtocolEditor:
    (editor,) = read.findChildren(ProtocolEditor)
    return editor


def _cell(editor: ProtocolEditor, row: int, column: int) -> QTableWidgetItem:
    item = editor.table.item(row, column)
    assert item is not None
    return item


def test_that_protocols_are_edited_in_the_window_and_hang_at_once(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    chest: Path,
    settings: Settings,
) -> None:
    _open(qtbot, read, chest, 4)
    rows = list(read.browser.tree.rows())
    current = next(r for r in rows if f"{NOW} PA" in r.stack.name)
    read.browser.tree.setCurrentItem(current)
    context.actions["hang.protocols"].trigger()
    editor = _editor(read)
    editor.table.setCurrentCell(0, 0)
    editor.add()
    _cell(editor, 0, 0).setText("All four")
    stage = "frontal | lateral / prior frontal | prior"
    _cell(editor, 0, 2).setText(stage)
    editor.save.click()
    assert "'prior' in" in editor.problem.text()
    _cell(editor, 0, 2).setText(f"{stage} lateral")
    editor.save.click()
    assert _names(read) == [f"{NOW} PA", f"{NOW} LL", f"{THEN} PA", f"{THEN} LL"]
    assert read.hanging.line.protocols.currentText() == "All four"
    assert own_protocols(settings.home)[1:] == default_protocols()


def test_that_protocols_are_reordered_and_the_default_ones_restored(
    qtbot: QtBot, settings: Settings
) -> None:
    kept: list[None] = []
    editor = ProtocolEditor(
        default_protocols(), settings.home, lambda: kept.append(None)
    )
    qtbot.addWidget(editor)
    first, second = (_cell(editor, row, 0).text() for row in (0, 1))
    editor.table.setCurrentCell(0, 0)
    editor.move_by(1)
    assert _cell(editor, 0, 0).text() == second
    assert _cell(editor, 1, 0).text() == first
    editor.move_by(99)
    editor.keep()
    names = [protocol.name for protocol in own_protocols(settings.home)]
    assert names[:2] == [second, first]
    editor._show(default_protocols())
    editor.keep()
    assert not (settings.home / FILE).exists()
    assert len(kept) == 2
    editor.table.setRowCount(0)
    editor.keep()
    assert "every image" in editor.problem.text()


def test_that_a_layout_is_kept_for_images_of_its_modality_and_the_next_start(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    for n in range(3):
        write_dicom(tmp_path / "in" / f"{n}.dcm", modality="US", patient_id="p")
    write_dicom(tmp_path / "in" / "4.dcm", modality="US", patient_id="q")
    write_dicom(tmp_path / "in" / "5.dcm", modality="XA", patient_id="r")
    _open(qtbot, read, tmp_path / "in", 5)
    read.hanging.line.layout_chosen.emit(LayoutChosen(1, 2))
    kept = read.choices
    rows = list(read.browser.tree.rows())
    for place, names in ((4, ["5"]), (1, ["1", "0"]), (3, ["4", ""])):
        read.browser.tree.setCurrentItem(rows[place])
        assert _names(read) == names
        assert read.lightbox.patients.isHidden()
    read.recall({})
    read.browser.tree.setCurrentItem(rows[0])
    assert _names(read) == ["0"]
    read.recall(kept)
    read.browser.tree.setCurrentItem(rows[1])
    assert _names(read) == ["1", "0"]


def test_that_the_next_stage_and_the_next_row_are_decoded_meanwhile(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, chest: Path
) -> None:
    told: list[str] = []
    context.status.held_changed.connect(told.append)
    _open(qtbot, read, chest, 4)
    current = next(r for r in read.browser.tree.rows() if f"{NOW} PA" in r.stack.name)
    read.browser.tree.setCurrentItem(current)
    laterals = [
        row.stack.images[0].ref
        for row in read.browser.tree.rows()
        if "LL" in row.stack.name
    ]
    qtbot.waitUntil(lambda: all(ref in read.lightbox.ahead for ref in laterals))
    assert 0 < read.lightbox.ahead.held_bytes < read.lightbox.held_bytes
    assert told[-1] == f"images {size_words(read.lightbox.held_bytes)}"
    context.actions["hang.next"].trigger()
    qtbot.waitUntil(lambda: all(v.shown is not None for v in read.lightbox.viewports))
    assert not any(ref in read.lightbox.ahead for ref in laterals)
    context.actions["file.close_all"].trigger()
    qtbot.waitUntil(lambda: told[-1] == "images 0 B")


def _chest(qtbot: QtBot, read: ReadWorkspace, chest: Path) -> None:
    _open(qtbot, read, chest, 4)
    rows = list(read.browser.tree.rows())
    current = next(r for r in rows if f"{NOW} PA" in r.stack.name)
    read.browser.tree.setCurrentItem(current)
    QTest.mouseClick(read.lightbox.viewports[1].view.viewport(), LEFT)


def test_that_a_key_hangs_a_chosen_series_in_the_active_viewport(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, chest: Path
) -> None:
    _chest(qtbot, read, chest)
    assert read.lightbox.active is read.lightbox.viewports[1]
    context.actions["hang.series"].trigger()
    (menu,) = read.lightbox.view.findChildren(QMenu)
    names = [a.text() for a in menu.actions() if not a.isSeparator()]
    assert [name.split(".dcm")[0] for name in names] == [
        f"{NOW} PA", f"{NOW} LL", f"{THEN} PA", f"{THEN} LL",
    ]  # fmt: skip
    chosen = [a for a in menu.actions() if a.isChecked()]
    assert [a.text().split(".dcm")[0] for a in chosen] == [f"{THEN} PA"]
    for _ in range(4):  # the keyboard alone: down to the prior lateral, and Enter
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert _names(read) == [f"{NOW} PA", f"{THEN} LL"]
    assert read.lightbox.active is read.lightbox.viewports[1]


def test_that_a_right_click_hangs_a_row_in_the_active_viewport(
    qtbot: QtBot, read: ReadWorkspace, chest: Path
) -> None:
    _chest(qtbot, read, chest)
    tree = read.browser.tree
    row = next(r for r in tree.rows() if f"{NOW} LL" in r.stack.name)
    spot = tree.visualItemRect(row).center()
    QTest.mouseClick(
        tree.viewport(),
        Qt.MouseButton.RightButton,
        Qt.KeyboardModifier.NoModifier,
        spot,
    )
    assert _names(read) == [f"{NOW} PA", f"{THEN} PA"]  # nothing is hung by that alone
    tree.customContextMenuRequested.emit(spot)
    menu = next(m for m in tree.findChildren(QMenu) if m.isVisible())
    texts = [a.text() for a in menu.actions() if not a.isSeparator()]
    assert texts == ["Hang in the active viewport", "View", "Delete case…"]
    menu.actions()[0].trigger()
    menu.close()
    assert _names(read) == [f"{NOW} PA", f"{NOW} LL"]


def test_that_without_an_image_there_is_no_series_to_hang(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext
) -> None:
    del read
    with qtbot.waitSignal(context.notices.posted) as posted:
        context.actions["hang.series"].trigger()
    assert posted.args[0].what == "Open a series first to hang it."
