"""Models from files: dropped on the panel, or chosen in a field."""

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_gguf import write_tiny_model
from tests.ui.models.test_models_workspace import text
from viewer.domain.plain import plain
from viewer.models.fitting import Machine
from viewer.models.openai_api.loopback_servers import DeclaredModel, LoopbackServer
from viewer.services.configuring.known_cards import known_fits
from viewer.services.configuring.new_models import NewModel, Section
from viewer.services.probing.found import found_models
from viewer.services.worker.background import WorkerReply
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs.connect import ConnectPage
from viewer.ui.dialogs.get_model import GetModel
from viewer.ui.widgets.field_editors import FolderLine, PathLine
from viewer.ui.workspaces.models import ModelsWorkspace

if TYPE_CHECKING:
    from viewer.ui.panels.models.connecting import ModelConnected

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


def click(button: QPushButton) -> None:
    QTest.mouseClick(button, _LEFT)


def row(tree: QTreeWidget, at: int) -> QTreeWidgetItem:
    item = tree.topLevelItem(at)
    assert item is not None
    return item


def click_item(tree: QTreeWidget, item: QTreeWidgetItem) -> None:
    place = tree.visualItemRect(item).center()
    QTest.mouseClick(tree.viewport(), _LEFT, _NONE, place)


def connect_page(workspace: ModelsWorkspace) -> ConnectPage:
    click(workspace.list.connecting)
    page = workspace.window().findChild(ConnectPage)
    assert isinstance(page, ConnectPage)
    return page


def more(page: ConnectPage, words: str) -> None:
    """Choose an entry of More."""
    next(a for a in page.more_menu.actions() if words in a.text()).trigger()


def found_here(
    context: AppContext, workspace: ModelsWorkspace, *models: DeclaredModel
) -> None:
    """Let both looks at this computer find a server with these models."""
    server = LoopbackServer("ollama", "http://127.0.0.1:9/v1", models)
    found = plain(found_models((server,) if models else ()))
    for number in sorted(workspace.endpoints._finds):
        context.worker.message.emit(WorkerReply(number, {"found": found}, ""))


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
    more(connect_page(workspace), "GGUF")
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
    more(connect_page(workspace), "(transformers)")
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
    more(connect_page(workspace), "Grad-CAM")
    card = workspace.profile.form.editors["card"]
    assert isinstance(card, PathLine)
    drop(card, tmp_path / "densenet.toml")
    assert card.text() == str(tmp_path / "densenet.toml")


def test_that_a_broken_way_of_asking_is_greyed_and_says_why(qtbot: QtBot) -> None:
    why = "The adapter 'm' of package raises cannot be loaded."
    broken = NewModel("m – cannot be used", Section.MORE, "m", why, usable=False)
    page = ConnectPage((broken,))
    qtbot.addWidget(page)
    action = page.more_menu.actions()[-1]
    assert not action.isEnabled()
    assert why in action.toolTip()


def test_that_a_found_model_is_connected_by_one_click(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    connected: list[ModelConnected] = []
    workspace.connected.connect(connected.append)
    page = connect_page(workspace)
    assert page.bar.isVisible()
    found_here(
        context, workspace,
        DeclaredModel("llama", sees=False), DeclaredModel("medgemma:4b", sees=True),
    )  # fmt: skip
    assert not page.bar.isVisible()
    first, second = (row(page.found, at) for at in range(2))
    assert (first.text(0), first.text(1)) == ("medgemma:4b", "Ollama · sees images")
    assert second.text(1) == "Ollama · text only"
    click_item(page.found, first)
    assert [event.name for event in connected] == ["medgemma-4b"]
    qtbot.waitUntil(lambda: workspace.list.models.row_of("medgemma-4b") is not None)
    saved = tomllib.loads(text(context))["model"][-1]
    assert saved["base_url"] == "http://127.0.0.1:9/v1"
    assert saved["provider_view"] == "gemma3"
    assert saved["max_tokens"] == 8192
    qtbot.waitUntil(lambda: workspace.window().findChild(ConnectPage) is None)
    context.undo.undo()
    assert "medgemma" not in text(context)


def test_that_known_models_tell_whether_they_fit_and_take_the_best_precision(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    page = connect_page(workspace)
    fits = plain(known_fits(Machine(400 << 30, 200 << 30)))
    for number in sorted(workspace.endpoints._finds):
        reply = WorkerReply(number, {"found": [], "fits": fits}, "")
        context.worker.message.emit(reply)
    page.filter.setText("Qwen3-VL 8B Instruct")
    items = [row(page.known, at) for at in range(page.known.topLevelItemCount())]
    (item,) = [one for one in items if not one.isHidden()]
    assert item.text(1) == "fits this graphics card as published, 18.4 GiB"
    click_item(page.known, item)
    offer = workspace.window().findChild(GetModel)
    assert isinstance(offer, GetModel)
    click(offer.without)
    assert workspace.profile.draft.table["dtype"] == "bfloat16"


def test_that_a_server_with_a_key_opens_its_form(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    page = connect_page(workspace)
    locked = LoopbackServer("custom", "http://127.0.0.1:8000/v1", locked=True)
    page.show_found(found_models((locked,)), looking=False)
    click_item(page.found, row(page.found, 0))
    table = workspace.profile.draft.table
    assert table["base_url"] == "http://127.0.0.1:8000/v1"
    assert table["api_key_env"] == "SERVER_8000_KEY"
    assert "server-8000" not in text(context)


def test_that_nothing_found_says_what_to_start_and_looks_again(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    page = connect_page(workspace)
    found_here(context, workspace)
    assert "press Look again" in page.words.text()
    assert not page.found.isVisible()
    click(page.again)
    assert page.bar.isVisible()
    found_here(context, workspace, DeclaredModel("medgemma:4b", sees=True))
    assert page.found.isVisible()


def test_that_a_page_that_was_closed_hears_of_no_models(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    connect_page(workspace).close()
    qtbot.waitUntil(lambda: workspace.window().findChild(ConnectPage) is None)
    found_here(context, workspace, DeclaredModel("medgemma:4b", sees=True))
    page = connect_page(workspace)
    found_here(context, workspace)
    assert not page.found.isVisible()


def test_that_three_hundred_models_are_listed_and_filtered(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    page = connect_page(workspace)
    found_here(
        context,
        workspace,
        *(DeclaredModel(f"model-{n}", sees=True) for n in range(300)),
    )
    assert page.found.topLevelItemCount() == 301
    page.filter.setText("model-299 ollama")
    items = (row(page.found, at) for at in range(300))
    assert [item.text(0) for item in items if not item.isHidden()] == ["model-299"]


def test_that_services_have_the_names_that_people_know(
    workspace: ModelsWorkspace,
) -> None:
    page = connect_page(workspace)
    names = [button.text() for button in page.findChildren(QPushButton)]
    services = ["OpenAI", "Azure OpenAI", "Anthropic", "Google", "OpenRouter"]
    assert [name for name in names if name in services] == services
    click(next(b for b in page.findChildren(QPushButton) if b.text() == "Anthropic"))
    table = workspace.profile.draft.table
    assert table["server"] == "anthropic"
    assert table["api_key_env"] == "ANTHROPIC_API_KEY"


def test_that_a_file_of_a_model_is_chosen_on_the_page(
    workspace: ModelsWorkspace, qtbot: QtBot, tmp_path: Path
) -> None:
    llm, _ = write_tiny_model(tmp_path)
    page = connect_page(workspace)
    click(next(b for b in page.findChildren(QPushButton) if "file" in b.text()))
    dialog = page.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit(str(llm))
    form = workspace.profile.form
    qtbot.waitUntil(lambda: form.values().get("model") == str(llm))


def test_that_a_failed_search_is_told(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    page = connect_page(workspace)
    for number in sorted(workspace.endpoints._finds):
        context.worker.message.emit(WorkerReply(number, None, "The worker is full."))
    assert told[0].what == "The worker is full."
    assert not page.bar.isVisible()


def test_that_a_long_name_leaves_room_for_what_is_said_of_it(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    page = connect_page(workspace)
    names = [f"model-{n:03}:8b" for n in range(300)]
    longest = "hf.co/laboratory/" + 9 * "radiology-assistant-" + "27b:Q4_K_M"
    found_here(context, workspace, *map(DeclaredModel, (*names, longest)))
    tree = page.found
    assert tree.topLevelItemCount() == 302  # and the offer to download one
    assert not tree.horizontalScrollBar().isVisible()
    assert tree.columnWidth(1) >= 0.35 * tree.viewport().width()
    last = next(i for i in items(tree) if i.text(0) == longest)
    assert last.toolTip(0).startswith(f"{longest}\nOllama · ")
    found_here(context, workspace, DeclaredModel("short"))


def items(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    found = map(tree.topLevelItem, range(tree.topLevelItemCount()))
    return [item for item in found if item is not None]
