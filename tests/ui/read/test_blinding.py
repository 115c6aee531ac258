"""Answers and reference: hidden the first time, then as chosen, or read first."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import square, write_dicom, write_picture
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.layout_memory import Choices
from viewer.ui.workspaces.read import ReadWorkspace

LENGTH = Mark(MarkKind.LENGTH, (PointPx(1, 1), PointPx(4, 5)))


@pytest.fixture
def films(context: AppContext, tmp_path: Path) -> list[Path]:
    """Two films of two patients in a data set, each with its reference."""
    folder = tmp_path / "films"
    mask = np.where(square(), np.uint8(255), np.uint8(0))
    made = []
    for name in ("a", "b"):
        path = folder / f"{name}.dcm"
        made.append(write_dicom(path, view_position="PA", patient_id=name))
        write_picture(folder / f"{name}.Lung Lesion.png", mask)
    with open_store(context.settings.store) as store:
        import_dataset(store, "folder", folder, "films")
    return made


def _show(qtbot: QtBot, read: ReadWorkspace, path: Path) -> None:
    ref = ImageRef(path)
    qtbot.waitUntil(lambda: read.browser.choose(ref))
    qtbot.waitUntil(lambda: read.lightbox.showing(ref) is not None)
    qtbot.waitUntil(lambda: ref in read.answering.knowledge._about)


def _open(qtbot: QtBot, read: ReadWorkspace, films: list[Path]) -> None:
    read.open_paths(films)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    _show(qtbot, read, films[0])


def _ask(qtbot: QtBot, read: ReadWorkspace) -> None:
    read.ask.finding.setCurrentText("Lung Lesion")
    about = read.answering.knowledge._about
    ref = read.lightbox.active.shown.ref if read.lightbox.active.shown else None
    assert ref is not None
    before = len(about[ref].answers)
    with qtbot.waitSignal(read.answering.asking.questions.ended):
        read.handlers()["ask.ask"]()
    qtbot.waitUntil(lambda: len(about[ref].answers) > before)


def _texts(widget: QWidget) -> Iterator[str]:
    for child in widget.findChildren(QWidget):
        if child.isVisible():
            for name in ("text", "toPlainText"):
                if callable(read := getattr(child, name, None)):
                    yield str(read())


def _later(qtbot: QtBot, context: AppContext, choices: Choices) -> ReadWorkspace:
    """Return the workspace as the next start makes it."""
    made = ReadWorkspace(context)
    qtbot.addWidget(made)
    made.recall(choices)
    made.resize(1200, 800)
    made.show()
    return made


def _draws_reference(read: ReadWorkspace) -> bool:
    return not read.lightbox.view._layers.reference_extent.isNull()


def test_that_answers_and_reference_are_hidden_the_first_time(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    assert not _draws_reference(read)
    assert not context.actions["overlays.reference"].isChecked()
    _ask(qtbot, read)
    first = _later(qtbot, context, {})
    _open(qtbot, first, films)
    assert not first.lightbox.view.answer_items
    assert first.answers.current is None
    assert "1 answer about this image is hidden." in list(_texts(first.answers))
    first.answers.hidden.show_them.click()
    assert len(first.lightbox.view.answer_items) == 1
    assert f"run {first.lightbox.view.answer_items[0].answer.run}" in _listed(first)
    assert context.actions["overlays.answers"].isChecked()


def test_that_a_choice_holds_for_every_case_and_the_next_start(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    context.actions["overlays.reference"].trigger()
    assert _draws_reference(read)
    _show(qtbot, read, films[1])
    assert _draws_reference(read)
    later = _later(qtbot, context, read.choices)
    _open(qtbot, later, films)
    assert _draws_reference(later)
    later.handlers()["overlays.reference"]()
    _show(qtbot, later, films[1])
    assert not _draws_reference(later)
    last = _later(qtbot, context, later.choices)
    _open(qtbot, last, films)
    assert not _draws_reference(last)


def test_that_who_asks_sees_the_answer(
    qtbot: QtBot, read: ReadWorkspace, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    _ask(qtbot, read)
    assert len(read.lightbox.view.answer_items) == 1
    assert read.answers.current is not None


def test_that_showing_the_reference_changes_nothing_about_ticked_answers(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    _ask(qtbot, read)
    item = read.answers.tree.topLevelItem(0)
    assert item is not None
    item.setCheckState(0, Qt.CheckState.Unchecked)
    assert not read.lightbox.view.answer_items
    context.actions["overlays.reference"].trigger()
    assert _draws_reference(read)
    assert not read.lightbox.view.answer_items


def test_that_read_first_locks_a_case_until_its_reading_is_committed(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    _ask(qtbot, read)
    context.actions["overlays.reference"].trigger()
    context.actions["overlays.read_first"].trigger()
    assert _is_locked(read)
    for name in ("overlays.reference", "overlays.answers"):
        checked = context.actions[name].isChecked()
        context.actions[name].trigger()
        assert context.actions[name].isChecked() is checked
        assert _is_locked(read)
    _ask(qtbot, read)
    assert _is_locked(read)
    assert any("question is kept" in text for text in _texts(read.answers))
    read.lightbox.view.marks.add(LENGTH)
    read.answers.locked.words.setText("  nodule, left upper zone ")
    read.answers.locked.commit.click()
    qtbot.waitUntil(lambda: bool(read.lightbox.view.answer_items))
    assert _draws_reference(read)
    with open_store(context.settings.store) as store:
        (row,) = store.rows("SELECT * FROM committed_reading")
    assert row["path"] == str(films[0])
    assert row["words"] == "nodule, left upper zone"
    assert "length" in row["marks"]
    _show(qtbot, read, films[1])
    assert _is_locked(read)
    assert read.answers.locked.words.text() == ""
    _show(qtbot, read, films[0])
    assert not read.answers.blinding.locked


def test_that_masks_are_not_opened_while_an_image_waits_for_its_reader(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    told: list[object] = []
    context.notices.posted.connect(told.append)
    _open(qtbot, read, films)
    context.actions["overlays.read_first"].trigger()
    context.actions["file.open_masks"].trigger()
    assert not read.findChildren(QFileDialog)
    assert "Commit your reading" in str(told)
    read.answers.locked.commit.click()
    qtbot.waitUntil(lambda: not read.answers.blinding.locked)
    context.actions["file.open_masks"].trigger()
    (dialog,) = read.findChildren(QFileDialog)
    dialog.close()


def test_that_a_locked_case_tells_no_finding_of_its_reference(
    qtbot: QtBot, read: ReadWorkspace, films: list[Path]
) -> None:
    read.recall({"blinding": {"reference": True, "answers": True, "read_first": True}})
    read.ask.finding.setCurrentText("Edema")
    _open(qtbot, read, films)
    assert read.ask.asked_finding == "Edema"
    assert not any("Lung Lesion" in text for text in _texts(read.answers))
    read.answers.locked.commit.click()
    qtbot.waitUntil(lambda: _draws_reference(read))
    assert read.ask.asked_finding == "Lung Lesion"


def test_that_words_stay_with_the_case_they_were_written_about(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    context.actions["overlays.read_first"].trigger()
    read.answers.locked.words.setText("half a senten")
    _show(qtbot, read, films[1])
    assert read.answers.locked.words.text() == ""
    _show(qtbot, read, films[0])
    assert read.answers.locked.words.text() == "half a senten"


def _listed(read: ReadWorkspace) -> str:
    item = read.answers.tree.topLevelItem(0)
    return item.text(0) if item else ""


def _is_locked(read: ReadWorkspace) -> bool:
    """Tell whether nothing of answers and reference is seen."""
    assert read.answers.locked.commit.isVisible()
    drawn = read.lightbox.view.answer_items or _draws_reference(read)
    return not drawn and read.answers.current is None


def test_that_an_answer_chosen_in_the_list_moves_a_zoomed_image_to_it(
    qtbot: QtBot, read: ReadWorkspace, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    _ask(qtbot, read)
    view, answer = read.lightbox.view, read.answers.current
    assert answer is not None
    (item,) = [i for i in view.answer_items if i.answer.trial == answer.trial]
    view.look_at(PointPx(0, 0), 60.0)
    view.pan_by(3000, 3000)
    read.answers.tree.setCurrentIndex(QModelIndex())
    read.answers.choose(answer)
    for frame in item.frames(view.native_transform):
        assert view.area.adjusted(-1, -1, 1, 1).contains(frame)
