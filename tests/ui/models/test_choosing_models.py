"""Models from files: dropped on the panel, or chosen in a field."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_gguf import write_tiny_model
from tests.ui.models.test_models_workspace import text
from viewer.domain.plain import plain
from viewer.models.openai_api.loopback_servers import DeclaredModel, LoopbackServer
from viewer.services.configuring.model_profiles import NewModel
from viewer.services.probing.found import found_models
from viewer.services.worker.background import WorkerReply
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.widgets.params_form import FolderLine, PathLine
from viewer.ui.workspaces.models import ModelsWorkspace

if TYPE_CHECKING:
    from viewer.ui.panels.models.list import NewWanted

_LEFT, _NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def drop(widget: QWidget, *paths: Path) -> None:
    """Let files go over a widget, as a file manager does."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, _LEFT, _NONE)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), copy, data, _LEFT, _NONE))


def new_draft(workspace: ModelsWorkspace, adapter: str) -> None:
    menu = workspace.list.new_menu
    assert menu.actions()
    offers: list[NewWanted] = []
    workspace.list.new_wanted.connect(offers.append)
    for action in menu.actions():
        if action.menu() is None:
            action.trigger()
            if offers and offers[-1].new.adapter == adapter:
                return
    pytest.fail(f"New does not offer {adapter}")


def test_that_a_dropped_folder_becomes_a_draft_that_is_not_saved_yet(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    before = text(context)
    folder = tmp_path / "llava-7b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "llava"}))
    drop(workspace, folder)
    name = workspace.profile.name
    qtbot.waitUntil(lambda: name.text() == "llava-7b")
    model = workspace.profile.form.editors["model"]
    assert isinstance(model, FolderLine)
    assert model.text() == str(folder)
    assert text(context) == before
    assert workspace.list.current is not None
    assert workspace.list.current.edited


def test_that_two_gguf_files_become_one_model(
    workspace: ModelsWorkspace, qtbot: QtBot, tmp_path: Path
) -> None:
    llm, eye = write_tiny_model(tmp_path)
    drop(workspace, eye, llm)
    form = workspace.profile.form
    qtbot.waitUntil(lambda: "projector" in form.editors)
    assert form.values()["model"] == str(llm)
    assert form.values()["projector"] == str(eye)


def test_that_what_is_no_model_is_told(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    picture = tmp_path / "film.png"
    picture.write_bytes(b"")
    drop(workspace, picture)
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].what == "'film.png' is not a model."


def test_that_a_chosen_gguf_file_brings_the_projector_beside_it(
    workspace: ModelsWorkspace, qtbot: QtBot, tmp_path: Path
) -> None:
    llm, eye = write_tiny_model(tmp_path)
    beside = eye.rename(tmp_path / "mmproj-tiny.gguf")
    new_draft(workspace, "gguf_local")
    form = workspace.profile.form
    model = form.editors["model"]
    assert isinstance(model, PathLine)
    model.choose()
    dialog = workspace.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert dialog.nameFilters()[0] == "*.gguf"
    dialog.fileSelected.emit(str(llm))
    dialog.close()
    assert form.values()["model"] == str(llm)
    qtbot.waitUntil(lambda: form.values()["projector"] == str(beside))


def test_that_a_local_models_field_takes_a_folder_or_a_name_of_the_hub(
    workspace: ModelsWorkspace, tmp_path: Path
) -> None:
    new_draft(workspace, "transformers_local")
    model = workspace.profile.form.editors["model"]
    assert isinstance(model, FolderLine)
    model.setText("google/medgemma-4b-it")
    assert workspace.profile.check()
    model.choose()
    dialog = workspace.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.Directory
    dialog.fileSelected.emit(str(tmp_path))
    dialog.close()
    assert model.text() == str(tmp_path)


def test_that_a_file_dropped_on_a_field_is_its_path(
    workspace: ModelsWorkspace, tmp_path: Path
) -> None:
    new_draft(workspace, "cnn_cam")
    card = workspace.profile.form.editors["card"]
    assert isinstance(card, PathLine)
    drop(card, tmp_path / "densenet.toml")
    assert card.text() == str(tmp_path / "densenet.toml")


def test_that_a_broken_way_of_asking_is_greyed_and_says_why(
    workspace: ModelsWorkspace,
) -> None:
    why = "The adapter 'm' of package raises cannot be loaded."
    broken = NewModel("m – cannot be used", "", "m", why, usable=False)
    workspace.list.set_new_models((broken,))
    (action,) = workspace.list.new_menu.actions()
    assert not action.isEnabled()
    assert why in action.toolTip()


def test_that_models_found_on_this_computer_are_offered_with_what_is_known(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    medgemma, llama = DeclaredModel("medgemma:4b", True), DeclaredModel("llama", False)
    server = LoopbackServer("ollama", "http://127.0.0.1:9/v1", (llama, medgemma))
    (number,) = workspace.endpoints._finds
    found = plain(found_models((server,)))
    context.worker.message.emit(WorkerReply(number, {"found": found}, ""))
    (menu,) = (
        menu
        for action in workspace.list.new_menu.actions()
        if isinstance(menu := action.menu(), QMenu)
        and menu.title() == "Found on this computer"
    )
    (offer,) = menu.actions()
    assert offer.text() == "medgemma:4b (Ollama)"
    assert "Sees images: yes." in offer.toolTip()
    offer.trigger()
    assert workspace.profile.draft.table["base_url"] == "http://127.0.0.1:9/v1"
    assert workspace.profile.draft.table["provider_view"] == "gemma3"
    assert workspace.profile.draft.table["max_tokens"] == 8192


def test_that_a_failed_search_is_told(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    (number,) = workspace.endpoints._finds
    context.worker.message.emit(WorkerReply(number, None, "The worker is full."))
    assert told[0].what == "The worker is full."
