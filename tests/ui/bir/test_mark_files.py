"""Key images, and marks saved as DICOM files that the window opens again."""

from pathlib import Path

import pydicom
import pytest
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from tests.ui.bir.conftest import Open, click
from viewer.domain.case import ImageRef
from viewer.domain.image import Window
from viewer.readers.presentation_states import presentation_state
from viewer.services.viewing.marks import kept_marks
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.canvas.mark_editing import KEY_IMAGE
from viewer.ui.workspaces.read import ReadWorkspace


def _corner(read: ReadWorkspace) -> list[str]:
    annotations = read.lightbox.view._annotations
    assert annotations is not None
    return [line.text for line in annotations._lines]


def _save(qtbot: QtBot, read: ReadWorkspace, context: AppContext, path: Path) -> None:
    """Choose a file in the dialog that an action has opened, and wait for it."""
    (dialog,) = read.lightbox.findChildren(QFileDialog)
    with qtbot.waitSignal(context.notices.posted) as told:
        dialog.fileSelected.emit(str(path))
        dialog.close()
    assert told.args is not None
    assert "It names the patient" in str(told.args[0])


def test_that_a_key_image_says_so_is_listed_kept_and_undone(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["mark.key"].trigger()
    assert "Key image" in _corner(read)
    ref = view._shown.ref if view._shown else None
    qtbot.waitUntil(lambda: kept_marks(context.settings.store) == {ref: (KEY_IMAGE,)})
    view.reset()  # removes what was drawn, and no more
    assert view.marks.is_key
    with qtbot.waitSignal(read.lightbox.active.image_shown):
        view.scroll_by(2)
    assert "Key image" not in _corner(read)
    context.actions["mark.keys"].trigger()
    (menu,) = view.findChildren(QMenu)
    (entry,) = menu.actions()
    entry.trigger()
    menu.close()
    qtbot.waitUntil(lambda: view._shown is not None and view._shown.ref == ref)
    assert context.undo.undoText() == "mark key image"
    context.undo.undo()
    assert "Key image" not in _corner(read)


def test_that_marks_become_a_presentation_state_of_the_series(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    context.actions["tool.length"].trigger()
    for _ in range(2):
        click(view, 60, 40)
        click(view, 140, 80)
        with qtbot.waitSignal(read.lightbox.active.image_shown):
            view.scroll_by(1)
    view.set_window(Window(-100, 900))
    context.actions["file.save_marks"].trigger()
    path = series.parent / "marks.dcm"
    _save(qtbot, read, context, path)
    states = (presentation_state(path, ImageRef(file)) for file in series.iterdir())
    found = [state for state in states if state is not None and state.outlines]
    assert len(found) == 2
    for state in found:
        assert state.voi == Window(-100, 900)
        ((start, end),) = (outline.points for outline in state.outlines)
        assert start.x == pytest.approx(60, abs=1)
        assert end.y == pytest.approx(80, abs=1)
        (note,) = state.notes
        assert note.text.endswith("mm")


def test_that_key_images_become_a_key_object_document(
    qtbot: QtBot, opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    opened(series)
    context.actions["mark.key"].trigger()
    context.actions["file.save_keys"].trigger()
    path = series.parent / "keys.dcm"
    _save(qtbot, read, context, path)
    document = pydicom.dcmread(path)
    assert document.Modality == "KO"
    (item,) = [i for i in document.ContentSequence if i.ValueType == "IMAGE"]
    shown = read.lightbox.active.shown
    assert shown is not None
    uid = pydicom.dcmread(shown.ref.path).SOPInstanceUID
    assert item.ReferencedSOPSequence[0].ReferencedSOPInstanceUID == uid


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("file.save_marks", "Draw a mark first; there is none on the screen."),
        ("file.save_keys", "Mark a key image first; none is on the screen."),
        (
            "mark.keys",
            "No image on the screen is a key image; Mark ▸ Key image makes it one.",
        ),
    ],
)
def test_that_without_marks_it_says_what_to_do(
    qtbot: QtBot,
    opened: Open,
    context: AppContext,
    radiograph: Path,
    action: str,
    words: str,
) -> None:
    opened(radiograph)
    with qtbot.waitSignal(context.notices.posted) as posted:
        context.actions[action].trigger()
    assert posted.args == [Notice(words, warning=False)]
