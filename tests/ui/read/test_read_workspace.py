"""Read as a person uses it: open, look, ask, see what was sent."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolBar, QToolButton
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import square, write_dicom, write_picture
from viewer.domain.case import View
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.domain.image import Window
from viewer.domain.plain import plain
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit
from viewer.readers.pixels import load_pixels
from viewer.services.inspecting.answers import StoredAnswer, sent_images
from viewer.studies.catalog import study_named
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.events import Tool
from viewer.ui.dialogs.tag_list import TagList
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.panels.asking.ask_side import AskSide
from viewer.ui.panels.read.grid_choice import GridChoice
from viewer.ui.panels.read.hanging import Chosen
from viewer.ui.workspaces.read import ReadWorkspace

if TYPE_CHECKING:
    from viewer.ui.application.notices import Notice

_PATIENCE_MS = 20_000


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A frontal with its reference, a lateral of the same study, and a picture."""
    folder = tmp_path / "case"
    write_dicom(folder / "f.dcm", view_position="PA", patient_id="one")
    write_dicom(folder / "l.dcm", view_position="LL", patient_id="one")
    mask = np.where(square(), np.uint8(255), np.uint8(0))
    write_picture(folder / "f.Lung Lesion.png", mask)
    return folder


def _open(qtbot: QtBot, read: ReadWorkspace, *paths: Path) -> None:
    read.open_paths(paths)
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )


def _ask(qtbot: QtBot, read: ReadWorkspace) -> None:
    with qtbot.waitSignal(read.answering.asking.questions.ended, timeout=_PATIENCE_MS):
        read.handlers()["ask.ask"]()
    qtbot.waitUntil(lambda: read.answers.current is not None, timeout=_PATIENCE_MS)


def _grid_drawn(read: ReadWorkspace) -> str:
    overlay = read.lightbox.view._layers.grid
    return overlay.grid.name if overlay else ""


def test_that_frontal_and_lateral_hang_side_by_side(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    _open(qtbot, read, case / "l.dcm", case / "f.dcm")
    qtbot.waitUntil(lambda: len(read.lightbox.viewports) == 2)
    left, right = read.lightbox.viewports
    qtbot.waitUntil(lambda: right.shown is not None and left.shown is not None)
    assert left.header is not None
    assert right.header is not None
    assert (left.header.view, right.header.view) == (View.FRONTAL, View.LATERAL)


def test_that_asking_draws_the_answer_and_shows_the_bytes_sent(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    qtbot.waitUntil(lambda: read.ask.asked_finding == "Lung Lesion")
    _ask(qtbot, read)
    answer = read.answers.current
    assert answer is not None
    assert answer.reference_cells
    assert "Lung Lesion" in read.answers.details.toPlainText()
    assert f"Run: {answer.run}" in read.answers.details.toPlainText()
    read.answers.saw.click()
    qtbot.waitUntil(lambda: read.findChild(WhatModelSaw) is not None)
    saw = read.findChild(WhatModelSaw)
    assert isinstance(saw, WhatModelSaw)
    assert saw.images == sent_images(context.settings.store, answer.request_sha256)
    digest = hashlib.sha256(saw.images[0]).hexdigest()
    said = " ".join(label.text() for label in saw.findChildren(QLabel))
    assert digest in said
    assert f"{len(saw.images[0]):,} bytes" in said
    assert "[user]" in saw.text.toPlainText()
    saw.close()


def test_that_a_picture_without_view_is_asked_about_only_when_it_is_said(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    _open(qtbot, read, write_picture(tmp_path / "own.png"))
    assert not read.ask.ask.isEnabled()
    read.ask.view.setCurrentIndex(read.ask.view.findText("frontal"))
    _ask(qtbot, read)
    answer = read.answers.current
    assert answer is not None
    assert answer.score.reason == "no_gt"
    assert answer.view == "frontal"


def test_that_the_window_on_the_screen_is_sent_and_kept(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    read.lightbox.view.set_window(Window(20.0, 10.0))
    _ask(qtbot, read)
    answer = read.answers.current
    assert answer is not None
    assert answer.parameters["window"] == "20 / 10"


def test_that_an_answer_of_a_closed_case_is_brought_up_with_its_image(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    _ask(qtbot, read)
    answer = read.answers.current
    assert answer is not None
    later = ReadWorkspace(context)
    qtbot.addWidget(later)
    later.resize(1200, 800)
    later.show()
    later.show_answer(answer.trial)
    qtbot.waitUntil(lambda: later.answers.current is not None, timeout=_PATIENCE_MS)
    assert later.answers.current == answer


def test_that_frames_scroll_by_key_and_wheel_and_stop_at_the_ends(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    _open(qtbot, read, write_dicom(tmp_path / "cine.dcm", frames=3))
    viewport = read.lightbox.active
    assert viewport.caption.text() == "image 1 of 3"
    for key, place in (
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_End, 2),
        (Qt.Key.Key_Down, 2),
        (Qt.Key.Key_Home, 0),
    ):
        QTest.keyClick(viewport.view, key)
        assert viewport.position == place
    viewport.slider.setValue(2)
    assert viewport.caption.text() == "image 3 of 3"


def test_that_what_cannot_be_read_is_told_in_two_sentences(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> None:
    told: list[Notice] = []
    context.notices.posted.connect(told.append)
    (tmp_path / "notes.txt").write_text("no image")
    read.open_paths([tmp_path / "notes.txt"])
    qtbot.waitUntil(lambda: bool(told), timeout=_PATIENCE_MS)
    assert "notes.txt" in told[0].what
    assert told[0].how


def test_that_the_filter_leaves_what_has_every_word(
    qtbot: QtBot, read: ReadWorkspace, case: Path, tmp_path: Path
) -> None:
    _open(
        qtbot, read, case / "f.dcm", case / "l.dcm", write_picture(tmp_path / "x.png")
    )
    read.browser.filter.setText("one lateral")
    visible = [i for i in read.browser.tree.rows() if not i.isHidden()]
    assert [item.text(0).splitlines()[0] for item in visible] == ["DX · lateral"]


def test_that_opening_the_same_files_again_lists_them_once(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    with qtbot.waitSignal(read.opened, timeout=_PATIENCE_MS):
        read.open_paths([case / "f.dcm"])
    assert len(list(read.browser.tree.rows())) == 1


def test_that_the_tags_can_be_searched(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    read.handlers()["image.tags"]()
    qtbot.waitUntil(lambda: read.findChild(TagList) is not None, timeout=_PATIENCE_MS)
    tags = read.findChild(TagList)
    assert isinstance(tags, TagList)
    tags.search.setText("ViewPosition")
    assert tags.found.rowCount() == 1
    assert tags.found.index(0, 3).data() == "PA"
    tags.close()


def test_that_the_grid_follows_its_controls_and_its_action(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    read.grid.rows.setValue(16)
    assert _grid_drawn(read) == "16x8"
    context.actions["overlays.grid"].trigger()
    assert _grid_drawn(read) == ""
    assert not context.actions["overlays.grid"].isChecked()


def test_that_letters_along_columns_are_asked_drawn_and_scored_as_shown(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    qtbot.waitUntil(lambda: read.ask.asked_finding == "Lung Lesion")
    read.grid.set_choice(GridChoice(grid=Grid(6, 9)))
    _ask(qtbot, read)
    rows = read.answers.current
    read.grid.set_choice(GridChoice(grid=Grid(6, 9, LetterAxis.COLUMN)))
    _ask(qtbot, read)
    qtbot.waitUntil(lambda: read.answers.current != rows, timeout=_PATIENCE_MS)
    columns = read.answers.current
    assert rows is not None
    assert columns is not None
    assert columns.grid == Grid(6, 9, LetterAxis.COLUMN)
    assert _cells(columns) == _cells(rows)
    assert columns.reference_cells != rows.reference_cells
    assert columns.score.coverage == rows.score.coverage
    assert columns.score.answer in columns.reply_text
    (sent,) = sent_images(context.settings.store, columns.request_sha256)
    plain = fit(to_raster(load_pixels(columns.ref)), 256, FitMode.CROP_RESIZE)
    style = study_named("grid_localization").read_params("gosai2025", {}).style
    assert sent == encode_png(draw_grid(plain, columns.grid, style))


def _cells(answer: StoredAnswer) -> set[Cell | None]:
    names = (answer.score.answer, *answer.reference_cells)
    return {answer.grid.cell(name) for name in names}


def test_that_the_answer_explained_is_about_the_finding_asked_for(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm")
    for finding in ("Lung Lesion", "Edema"):
        read.ask.finding.setCurrentText(finding)
        with qtbot.waitSignal(
            read.answering.asking.questions.ended, timeout=_PATIENCE_MS
        ):
            read.handlers()["ask.ask"]()
        qtbot.waitUntil(
            lambda wanted=finding: _finding_explained(read) == wanted,  # type: ignore[misc]
            timeout=_PATIENCE_MS,
        )
    later = ReadWorkspace(context)
    qtbot.addWidget(later)
    later.resize(1200, 800)
    later.show()
    _open(qtbot, later, case / "f.dcm")
    later.handlers()["overlays.answers"]()
    qtbot.waitUntil(lambda: _finding_explained(later) != "", timeout=_PATIENCE_MS)
    assert _finding_explained(later) == later.ask.asked_finding == "Lung Lesion"


def test_that_the_window_keeps_the_word_typed_and_draws_the_synonym_s_reference(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    (case / "f.Lung Lesion.png").rename(case / "f.Airspace Opacity.png")
    _open(qtbot, read, case / "f.dcm")
    qtbot.waitUntil(lambda: read.ask.asked_finding == "Airspace Opacity")
    read.handlers()["overlays.reference"]()
    read.ask.finding.setCurrentText("Lung Opacity")
    assert read.lightbox.view._layers._reference is not None
    assert read.answers.reference_line.text() == "Reference of Lung Opacity"
    _ask(qtbot, read)
    assert _finding_explained(read) == read.ask.asked_finding == "Lung Opacity"
    assert read.answers.current is not None
    assert read.answers.current.reference_cells


def _finding_explained(read: ReadWorkspace) -> str:
    return read.answers.current.finding if read.answers.current else ""


def test_that_an_image_is_shown_before_its_side_is_made(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    read.recall({"grid": plain(GridChoice(grid=Grid(6, 9)))})
    _open(qtbot, read, case)
    assert _grid_drawn(read) == "6x9"
    assert read.findChildren(AskSide) == []
    before = read.lightbox.geometry()
    read.furnish()
    read.furnish()  # once is enough
    qtbot.waitUntil(lambda: read.ask.asked_finding == "Lung Lesion")
    assert len(read.findChildren(AskSide)) == 1
    assert read.grid.choice.grid == Grid(6, 9)
    assert read.lightbox.geometry() == before


def test_that_a_command_of_the_side_makes_it(
    read: ReadWorkspace, context: AppContext
) -> None:
    assert context.actions["overlays.grid"].isChecked()
    context.actions["overlays.grid"].trigger()
    assert not read.grid.choice.shown


def test_that_every_tool_has_a_button(read: ReadWorkspace) -> None:
    bar = read.findChild(QToolBar)
    assert bar is not None
    buttons = bar.findChildren(QToolButton)
    shared = [
        each for button in buttons if button.menu() for each in button.menu().actions()
    ]
    shown = {action.objectName() for action in (*bar.actions(), *shared)}
    assert shown >= {f"tool.{tool.value}" for tool in Tool}


def test_that_the_active_image_is_marked_and_its_row_highlighted(
    qtbot: QtBot, read: ReadWorkspace, case: Path
) -> None:
    _open(qtbot, read, case / "f.dcm", case / "l.dcm")
    qtbot.waitUntil(lambda: len(read.lightbox.viewports) == 2)
    first, second = read.lightbox.viewports
    qtbot.waitUntil(lambda: second.shown is not None, timeout=_PATIENCE_MS)
    assert (first.mark.active, second.mark.active) == (True, False)
    second.view.setFocus()
    read.browser.filter.setFocus()  # the mark stays while the focus is elsewhere
    assert (first.mark.active, second.mark.active) == (False, True)
    assert second.mark.isVisible()
    row = read.browser.tree.current_row
    assert row is not None
    assert row.stack == second.stack
    assert read.lightbox.active is second
    read.lightbox.hang(Chosen(second.stack, ()))
    assert not any(port.mark.isVisible() for port in (first, second))


def test_that_a_shared_button_shows_the_tool_chosen_last(
    read: ReadWorkspace, context: AppContext
) -> None:
    context.actions["tool.ellipse"].trigger()
    bar = read.findChild(QToolBar)
    assert bar is not None
    defaults = [button.defaultAction() for button in bar.findChildren(QToolButton)]
    assert context.actions["tool.ellipse"] in defaults
    assert context.actions["tool.rectangle"] not in defaults
