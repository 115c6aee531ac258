"""Answers that another process gives about the image on the screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom
from viewer.domain.case import ImageRef
from viewer.domain.exchange import ModelProfile
from viewer.domain.image import Window
from viewer.services.asking.ask import Question, ask
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext
from viewer.ui.workspaces.read import ReadWorkspace

_PATIENCE_MS = 20_000


@pytest.fixture
def radiograph(tmp_path: Path) -> ImageRef:
    path = write_dicom(tmp_path / "f.dcm", view_position="PA", patient_id="one")
    return ImageRef(path)


@pytest.fixture
def opened(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> Iterator[ReadWorkspace]:
    """The image, about which another process has asked two models."""
    for answer in ("B2", "C3"):
        _ask_elsewhere(context, radiograph, answer)
    read.open_paths([radiograph.path])
    read.answers.blinding.answers.setChecked(True)
    read.ask.finding.setCurrentText("Edema")
    qtbot.waitUntil(lambda: len(_models(read)) == 2, timeout=_PATIENCE_MS)
    yield read
    context.changes.stop()


def _ask_elsewhere(context: AppContext, ref: ImageRef, answer: str) -> None:
    """Ask over a connection of its own, as another process does."""
    profile = ModelProfile(f"says-{answer}", "scripted", {"answer": answer})
    with open_store(context.settings.store) as store:
        ask(store, Question(ref, "Edema", profile))


def _models(read: ReadWorkspace) -> list[str]:
    return [row.data(0, Qt.ItemDataRole.UserRole).model for row in read.answers._rows()]


def _drawn(read: ReadWorkspace) -> set[str]:
    return {item.answer.model for item in read.lightbox.view.answer_items}


def test_that_an_answer_of_another_process_is_listed_and_what_is_chosen_stays(
    qtbot: QtBot, opened: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> None:
    rows = {
        row.text(0).split("\n")[1].split(" ")[0]: row for row in opened.answers._rows()
    }
    opened.answers.tree.setCurrentItem(rows["says-B2"])
    rows["says-C3"].setCheckState(0, Qt.CheckState.Unchecked)
    assert _drawn(opened) == {"says-B2"}
    opened.lightbox.view.zoom_by(2.0)
    zoom = opened.lightbox.view.zoom
    _ask_elsewhere(context, radiograph, "D4")
    qtbot.waitUntil(lambda: len(_models(opened)) == 3, timeout=_PATIENCE_MS)
    chosen = opened.answers.current
    assert chosen is not None
    assert chosen.model == "says-B2"
    assert _drawn(opened) == {"says-B2", "says-D4"}
    assert opened.lightbox.view.zoom == zoom


def test_that_a_first_answer_of_another_process_is_listed_and_drawn(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> None:
    read.open_paths([radiograph.path])
    read.answers.blinding.answers.setChecked(True)
    qtbot.waitUntil(
        lambda: read.lightbox.active.shown is not None, timeout=_PATIENCE_MS
    )
    read.ask.finding.setCurrentText("Edema")
    qtbot.wait(200)
    _ask_elsewhere(context, radiograph, "D4")
    qtbot.waitUntil(lambda: _drawn(read) == {"says-D4"}, timeout=_PATIENCE_MS)
    assert read.answers.current is not None
    context.changes.stop()


def test_that_answers_that_came_while_read_was_hidden_are_listed_when_it_is_shown(
    qtbot: QtBot, opened: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> None:
    opened.hide()
    _ask_elsewhere(context, radiograph, "D4")
    qtbot.wait(100)
    assert len(_models(opened)) == 2
    opened.show()
    qtbot.waitUntil(lambda: len(_models(opened)) == 3, timeout=_PATIENCE_MS)


def test_that_answers_stay_hidden_from_who_reads_first(
    qtbot: QtBot, opened: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> None:
    opened.answers.blinding.answers.setChecked(False)
    assert _models(opened) == []
    _ask_elsewhere(context, radiograph, "D4")
    hidden = opened.answers.hidden
    qtbot.waitUntil(lambda: opened.answers._given[0][0].model == "says-D4")
    assert _models(opened) == []
    assert _drawn(opened) == set()
    hidden.show_them.click()
    assert len(_models(opened)) == 3


def test_that_models_are_compared_on_one_image_in_a_viewport_each(
    qtbot: QtBot, opened: ReadWorkspace, context: AppContext, radiograph: ImageRef
) -> None:
    for _, box in opened.ask._models:
        box.setChecked(False)
    context.actions["ask.compare"].trigger()
    first, second = opened.lightbox.viewports
    qtbot.waitUntil(lambda: second.shown is not None, timeout=_PATIENCE_MS)

    def drawn() -> list[set[str]]:
        views = [viewport.view for viewport in opened.lightbox.viewports]
        return [{item.answer.model for item in view.answer_items} for view in views]

    assert [first.role.text(), second.role.text()] == ["says-B2", "says-C3"]
    qtbot.waitUntil(lambda: drawn() == [{"says-B2"}, {"says-C3"}])
    first.view.zoom_by(2.0)
    assert second.view.zoom == pytest.approx(first.view.zoom)
    pixel = 1 / first.view.zoom
    assert second.view.centre.x == pytest.approx(first.view.centre.x, abs=pixel)
    first.view.set_window(Window(10, 20))
    assert second.view.window_set == Window(10, 20)
    second.view.setFocus()  # the list follows, and what is drawn stays
    assert opened.lightbox.active is second
    assert drawn() == [{"says-B2"}, {"says-C3"}]
    _ask_elsewhere(context, radiograph, "D4")
    qtbot.waitUntil(lambda: len(_models(opened)) == 3, timeout=_PATIENCE_MS)
    assert drawn() == [{"says-B2"}, {"says-C3"}]
    context.actions["ask.compare"].trigger()
    assert len(opened.lightbox.viewports) == 1
    assert opened.lightbox.active.role.isHidden()
    qtbot.waitUntil(lambda: drawn() == [{"says-B2", "says-C3", "says-D4"}])
    context.actions["ask.compare"].trigger()
    assert [v.model for v in opened.lightbox.viewports] == [
        "says-B2", "says-C3", "says-D4", "",
    ]  # fmt: skip


def test_that_two_models_are_needed_to_compare(
    read: ReadWorkspace, context: AppContext
) -> None:
    context.actions["ask.compare"].trigger()
    assert len(read.lightbox.viewports) == 1
