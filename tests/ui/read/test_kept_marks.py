"""Marks belong to their case: undone there, kept at once, shown again."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.services.viewing.marks import keep_marks, kept_marks
from viewer.store.database import open_store
from viewer.store.marks import all_edits
from viewer.ui.application.app_context import AppContext
from viewer.ui.panels.read.mark_keeping import MarkKeeping
from viewer.ui.workspaces.read import ReadWorkspace

LENGTH = Mark(MarkKind.LENGTH, (PointPx(10, 10), PointPx(40, 50)))
ANGLE = Mark(MarkKind.ANGLE, (PointPx(10, 10), PointPx(30, 10), PointPx(30, 40)))


@pytest.fixture
def films(tmp_path: Path) -> list[Path]:
    """Two films of two patients, and a CT of three slices."""
    values = np.arange(64 * 64, dtype=np.int16).reshape(64, 64)
    return [
        make_dicom(
            tmp_path / f"{name}.dcm",
            values,
            Modality=modality,
            PatientID=patient,
            StudyInstanceUID=f"1.2.{patient}",
            SeriesInstanceUID=f"1.2.{patient}.1",
            SOPInstanceUID=f"1.2.{patient}.1.{number}",
            InstanceNumber=number,
        )
        for name, modality, patient, number in (
            ("a", "DX", "1", 1),
            ("b", "DX", "2", 1),
            *((f"c{n}", "CT", "3", n) for n in (1, 2, 3)),
        )
    ]


def _show(qtbot: QtBot, read: ReadWorkspace, path: Path) -> None:
    ref = ImageRef(path)
    assert read.browser.choose(ref)
    qtbot.waitUntil(lambda: read.lightbox.showing(ref) is not None)


def _open(qtbot: QtBot, read: ReadWorkspace, films: list[Path]) -> None:
    read.open_paths(films)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    qtbot.waitUntil(lambda: read.browser.choose(ImageRef(films[-1])))
    keeping = read.findChild(MarkKeeping)
    assert keeping is not None
    qtbot.waitUntil(lambda: keeping.is_read)


def test_that_undo_is_about_the_case_that_is_seen(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    for path, mark in ((films[0], LENGTH), (films[1], ANGLE)):
        _show(qtbot, read, path)
        read.lightbox.view.marks.add(mark)
    _show(qtbot, read, films[0])
    assert context.undo.undoText() == "length"
    context.undo.undo()
    assert not read.lightbox.view.marks.marks
    assert not context.undo.canUndo()
    _show(qtbot, read, films[1])
    assert read.lightbox.view.marks.marks == (ANGLE,)
    assert context.undo.undoText() == "angle"


def test_that_undo_goes_to_the_slice_that_it_changes(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    _open(qtbot, read, films)
    _show(qtbot, read, films[2])
    read.lightbox.view.marks.add(LENGTH)
    _show(qtbot, read, films[4])
    context.undo.undo()
    qtbot.waitUntil(lambda: read.lightbox.showing(ImageRef(films[2])) is not None)
    assert not read.lightbox.view.marks.marks


def test_that_every_edit_is_stored_and_shown_by_the_next_window(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    store, ref = context.settings.store, ImageRef(films[0])
    keep_marks(store, ref, (ANGLE,))
    _open(qtbot, read, films)
    _show(qtbot, read, films[0])
    assert read.lightbox.view.marks.marks == (ANGLE,)
    read.lightbox.view.marks.add(LENGTH)
    qtbot.waitUntil(lambda: kept_marks(store) == {ref: (ANGLE, LENGTH)})
    context.undo.undo()
    qtbot.waitUntil(lambda: kept_marks(store) == {ref: (ANGLE,)})
    read.lightbox.view.reset()
    qtbot.waitUntil(lambda: kept_marks(store) == {})


def test_that_what_is_drawn_before_the_store_is_read_is_kept_too(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    store, ref = context.settings.store, ImageRef(films[0])
    keep_marks(store, ref, (ANGLE,))
    with qtbot.waitSignal(read.lightbox.active.image_shown):
        read.open_paths(films[:1])
    read.lightbox.view.marks.add(LENGTH)
    qtbot.waitUntil(lambda: kept_marks(store) == {ref: (ANGLE, LENGTH)})
    assert read.lightbox.view.marks.marks == (ANGLE, LENGTH)


def test_that_a_mark_is_in_the_store_before_it_is_on_the_screen(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    store, ref = context.settings.store, ImageRef(films[0])
    _open(qtbot, read, films)
    _show(qtbot, read, films[0])
    seen = []
    read.lightbox.view.marks.book.changed.connect(
        lambda _: seen.append(kept_marks(store).get(ref, ()))
    )
    read.lightbox.view.marks.add(LENGTH)
    context.undo.undo()
    context.undo.redo()
    assert seen == [(LENGTH,), (), (LENGTH,)]


def test_that_a_mark_waits_for_another_writer_and_is_stored_then(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    store, ref = context.settings.store, ImageRef(films[0])
    _open(qtbot, read, films)
    _show(qtbot, read, films[0])
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    read.lightbox.view.marks.add(LENGTH)
    read.lightbox.view.marks.add(ANGLE)
    assert read.lightbox.view.marks.marks == (LENGTH, ANGLE)
    assert not kept_marks(store)
    other.execute("ROLLBACK")
    other.close()
    qtbot.waitUntil(lambda: kept_marks(store) == {ref: (LENGTH, ANGLE)})


def test_that_a_store_that_cannot_be_written_is_told_and_tried_again(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: list[Path]
) -> None:
    store, ref = context.settings.store, ImageRef(films[0])
    _open(qtbot, read, films)
    _show(qtbot, read, films[0])
    read.lightbox.view.marks.add(LENGTH)
    qtbot.waitUntil(lambda: kept_marks(store) == {ref: (LENGTH,)})
    store.unlink()
    with qtbot.waitSignal(context.notices.posted):
        read.lightbox.view.marks.add(ANGLE)
    read.lightbox.view.marks.delete_chosen()
    assert read.lightbox.view.marks.marks == (LENGTH,)
    with open_store(store) as opened:
        assert [edit.words for edit in all_edits(opened)] == ["angle", "delete angle"]
    assert ref not in kept_marks(store)  # the first mark went with the file
