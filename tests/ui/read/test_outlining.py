"""Outline it: from a rectangle, or a model's box, to a mask that is an answer."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom
from viewer.domain.answer import BoxesAnswer, MaskAnswer
from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.services.asking.segment import segment
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.window.notice_bar import NoticeBar
from viewer.ui.workspaces.read import ReadWorkspace

_PATIENCE_MS = 60_000
BOX = '[{"bbox_2d": [250, 250, 750, 750], "label": "Lung Lesion"}]'
BOXED = f"""[[model]]
name = "boxes"
adapter = "scripted"
answer = '{BOX}'
convention = "qwen3_vl"
"""


@pytest.fixture
def told(context: AppContext) -> list[Notice]:
    """What the window was told."""
    found = list[Notice]()
    context.notices.posted.connect(found.append)
    return found


@pytest.fixture
def film(qtbot: QtBot, read: ReadWorkspace, tmp_path: Path) -> ImageRef:
    """A frontal film on the screen, and the finding that is asked for."""
    write_dicom(tmp_path / "f.dcm", view_position="PA", patient_id="one")
    read.open_paths((tmp_path / "f.dcm",))
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )
    read.ask.finding.setCurrentText("Lung Lesion")
    shown = read.lightbox.active.shown
    assert shown is not None
    return shown.ref


def draw(read: ReadWorkspace, box: BoxPx) -> Mark:
    corners = (PointPx(box.x0, box.y0), PointPx(box.x1, box.y1))
    mark = Mark(MarkKind.RECTANGLE, corners)
    read.lightbox.view.marks.add(mark)
    return mark


def write_models(settings: Settings, text: str) -> None:
    settings.home.mkdir(exist_ok=True)
    settings.models_file.write_text(text)


def test_that_without_a_box_it_says_what_to_draw(
    read: ReadWorkspace, film: ImageRef, told: list[Notice]
) -> None:
    del film
    read.handlers()["mark.outline"]()
    assert "Draw a rectangle" in told[0].what


def test_that_without_a_segmenter_one_sentence_leads_to_models(
    read: ReadWorkspace,
    film: ImageRef,
    told: list[Notice],
    context: AppContext,
    qtbot: QtBot,
) -> None:
    del film
    went = list[str]()
    context.actions.handle({"window.models": lambda: went.append("models")})
    bar = NoticeBar(context.notices, context.actions)
    qtbot.addWidget(bar)
    draw(read, BoxPx(4, 4, 20, 20))
    read.handlers()["mark.outline"]()
    qtbot.waitUntil(lambda: bool(told))
    assert "no segmenter" in told[0].what
    assert bar.offer_button.text() == "Open Models"
    QTest.mouseClick(bar.offer_button, Qt.MouseButton.LeftButton)
    assert went == ["models"]
    assert not bar.isVisible()


def test_that_a_segmenter_that_cannot_be_used_says_why(
    read: ReadWorkspace,
    film: ImageRef,
    told: list[Notice],
    context: AppContext,
    qtbot: QtBot,
) -> None:
    del film
    write_models(context.settings, '[[model]]\nname = "sam"\nadapter = "segmenter"\n')
    draw(read, BoxPx(4, 4, 20, 20))
    read.handlers()["mark.outline"]()
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].what.startswith("sam: ")
    assert told[0].offer is not None


def test_that_the_menu_of_a_rectangle_offers_the_outline(
    read: ReadWorkspace, film: ImageRef, qtbot: QtBot
) -> None:
    del film
    draw(read, BoxPx(4, 4, 20, 20))
    view = read.lightbox.view
    on_line = view.to_view(PointPx(4, 12)).toPoint()
    right, none = Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(view.viewport(), right, none, on_line)
    menus = view.findChildren(QMenu)
    texts = [action.text() for action in menus[0].actions()]
    assert texts == ["Outline it", "Label…", "Delete rectangle"]
    with qtbot.waitSignal(view.outline_wanted):
        menus[0].actions()[0].trigger()
    menus[0].close()


def test_that_a_rectangles_outline_is_a_mask_answer_that_undo_takes_away(
    read: ReadWorkspace,
    film: ImageRef,
    context: AppContext,
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("transformers", reason="needs transformers")
    from tests.helpers.tiny_transformers import write_tiny_sam

    folder = write_tiny_sam(tmp_path / "sam")
    write_models(
        context.settings,
        f'[[model]]\nname = "sam"\nadapter = "segmenter"\nmodel = "{folder}"\n'
        'device = "cpu"\n',
    )
    box = BoxPx(4, 4, 20, 20)
    draw(read, box)
    read.handlers()["mark.outline"]()
    answers = read.answers
    qtbot.waitUntil(lambda: answers.current is not None, timeout=_PATIENCE_MS)
    assert answers.current is not None
    found = answers.current.answer
    assert isinstance(found, MaskAnswer)
    alone = segment(film, [box], folder, "cpu").whole
    np.testing.assert_array_equal(found.mask.array(), alone)
    qtbot.waitUntil(context.undo.canUndo)
    assert context.undo.undoText() == "outline"
    context.undo.undo()
    qtbot.waitUntil(lambda: answers.tree.topLevelItemCount() == 0)
    context.undo.redo()
    qtbot.waitUntil(lambda: answers.tree.topLevelItemCount() == 1)


def test_that_a_models_box_is_offered_to_be_outlined(
    read: ReadWorkspace,
    film: ImageRef,
    told: list[Notice],
    context: AppContext,
    qtbot: QtBot,
) -> None:
    del film
    write_models(context.settings, BOXED)
    read.reload_models()
    qtbot.waitUntil(lambda: any(s.name == "boxes" for s, _ in read.ask._models))
    for state, tick in read.ask._models:
        tick.setChecked(state.name == "boxes")
    read.handlers()["ask.ask"]()
    answers = read.answers
    qtbot.waitUntil(lambda: answers.current is not None, timeout=_PATIENCE_MS)
    assert answers.current is not None
    assert isinstance(answers.current.answer, BoxesAnswer)
    assert answers.outline.isVisibleTo(answers)
    QTest.mouseClick(answers.outline, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(told))
    assert "no segmenter" in told[-1].what
