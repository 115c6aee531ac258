"""Models: their states, their settings, and the memory that they hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from tests.helpers.policies import deciding
from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.ui.models.conftest import MODELS, with_worker
from viewer.domain.errors import WrongUseError
from viewer.models import catalog
from viewer.models.catalog import builtin_profiles
from viewer.services.configuring import model_list
from viewer.services.configuring.model_profiles import apply_edit, saving
from viewer.services.configuring.new_models import new_models
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs import key_entry
from viewer.ui.dialogs.connect import ConnectPage
from viewer.ui.dialogs.key_entry import KeyEntry
from viewer.ui.tables.models_model import ModelRow, bytes_text
from viewer.ui.widgets.field_editors import Line
from viewer.ui.workspaces.models import ModelsWorkspace

WAIT_MS = 20_000


def row(workspace: ModelsWorkspace, name: str) -> ModelRow:
    number = workspace.list.models.row_of(name)
    assert number is not None, name
    return workspace.list.models.rows[number]


def choose(workspace: ModelsWorkspace, name: str) -> None:
    number = workspace.list.models.row_of(name)
    assert number is not None, name
    workspace.list.choose(number)


def field(workspace: ModelsWorkspace, name: str) -> Line:
    widget = workspace.profile.form.editors[name]
    assert isinstance(widget, Line)
    return widget


def text(context: AppContext) -> str:
    return context.settings.models_file.read_text()


@with_worker
def test_that_every_model_stands_with_its_state_the_persons_own_first(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    names = [each.key for each in workspace.list.models.rows]
    built_in = sorted(profile.name for profile in builtin_profiles())
    assert names == ["endless", "here", "large", *built_in]
    qtbot.waitUntil(
        lambda: row(workspace, "large").state == "ready, takes 4.1 GB", timeout=WAIT_MS
    )
    assert row(workspace, "here").state == "ready"


def test_that_nothing_installed_is_said_with_the_way_to_get_it(
    workspace: ModelsWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        model_list,
        "missing_import",
        lambda spec: ("torch", "overread[local]") if spec.name == "slow" else None,
    )
    workspace.refresh()
    said = "needs torch: pip install overread[local]"
    qtbot.waitUntil(lambda: row(workspace, "large").line.state == said)
    assert row(workspace, "large").state == said
    assert row(workspace, "uniform").line.state == "ready"


@with_worker
def test_that_a_model_loads_with_progress_and_memory_and_unloads(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    choose(workspace, "large")
    memory = workspace.profile.memory
    qtbot.waitUntil(memory.load.isVisible, timeout=WAIT_MS)
    assert memory.words.text() == "Not loaded; it needs 4.1 GB."
    seen: list[str] = []
    workspace.book.changed.connect(lambda: seen.append(row(workspace, "large").state))
    QTest.mouseClick(memory.load, Qt.MouseButton.LeftButton)
    assert memory.cancel.isVisible()
    qtbot.waitUntil(memory.unload.isVisible, timeout=WAIT_MS)
    assert row(workspace, "large").state == "loaded, 4.1 GB"
    assert any(s.startswith("loading ") and s != "loading 0 %" for s in seen), seen
    QTest.mouseClick(memory.unload, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(memory.load.isVisible, timeout=WAIT_MS)


@with_worker
def test_that_loading_is_cancelled_and_a_notice_says_so(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    choose(workspace, "endless")
    memory = workspace.profile.memory
    qtbot.waitUntil(memory.load.isVisible, timeout=WAIT_MS)
    workspace.handlers()["model.load"]()
    qtbot.waitUntil(lambda: "reading weights" in memory.words.text(), timeout=WAIT_MS)
    memory.cancel.click()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert "cancelled" in told[0].what
    assert memory.load.isVisible()


def test_that_a_changed_setting_is_kept_in_its_line_and_taken_back(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(workspace, "here")
    field(workspace, "temperature").setText("0.5")
    assert row(workspace, "here").state == "ready · edited, not saved"
    choose(workspace, "large")
    choose(workspace, "here")
    assert field(workspace, "temperature").text() == "0.5"
    with qtbot.waitSignal(workspace.models_changed):
        QTest.mouseClick(workspace.profile.save, Qt.MouseButton.LeftButton)
    coloured = 'model = "m"\ntemperature = 0.5\ncolour = "orange"\n'
    changed = MODELS.replace('model = "m"\n', coloured)
    assert text(context) == changed
    with qtbot.waitSignal(workspace.models_changed):
        context.undo.undo()
    assert text(context) == MODELS
    assert field(workspace, "temperature").text() == ""


def test_that_an_edit_outlasts_a_look_at_another_workspace(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    choose(workspace, "here")
    field(workspace, "temperature").setText("0.5")
    workspace.hide()
    workspace.show()
    qtbot.waitUntil(lambda: "temperature" in workspace.profile.form.editors)
    assert field(workspace, "temperature").text() == "0.5"
    assert row(workspace, "here").edited


def test_that_what_is_wrong_is_said_at_once_and_cannot_be_saved(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    choose(workspace, "here")
    field(workspace, "temperature").setText("warm")
    hint = workspace.profile.hint
    qtbot.waitUntil(lambda: "is not a number" in hint.text())
    assert not workspace.profile.save.isEnabled()
    field(workspace, "temperature").setText("0.1")
    QTest.keyClicks(workspace.profile.name, "large")
    workspace.profile.name.setText("large")
    workspace.profile.name.textEdited.emit("large")
    qtbot.waitUntil(lambda: "already" in hint.text())
    revert = workspace.profile.revert
    QTest.mouseClick(revert, Qt.MouseButton.LeftButton)
    assert (workspace.profile.name.text(), hint.text()) == ("here", "")
    assert not revert.isEnabled()


def test_that_a_new_model_is_named_set_and_saved(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    workspace.handlers()["model.new"]()
    page = workspace.window().findChild(ConnectPage)
    assert isinstance(page, ConnectPage)
    ollama = next(a for a in page.more_menu.actions() if a.text() == "Ollama")
    ollama.trigger()
    assert workspace.list.current is not None
    assert workspace.list.current.line.name == "ollama"
    assert workspace.profile.hint.text() != ""
    field(workspace, "model").setText("tiny")
    workspace.profile.name.setText("mine")
    workspace.profile.name.textEdited.emit("mine")
    qtbot.waitUntil(workspace.profile.save.isEnabled)
    workspace.handlers()["model.save"]()
    qtbot.waitUntil(lambda: workspace.list.models.row_of("mine") is not None)
    assert workspace.list.current.key == "mine"
    assert text(context) == MODELS + (
        '\n[[model]]\nname = "mine"\nadapter = "openai_api"\n'
        'server = "ollama"\nmodel = "tiny"\ncolour = "violet"\n'
    )


def test_that_a_duplicate_is_a_draft_until_it_is_saved_and_can_be_discarded(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    choose(workspace, "here")
    workspace.handlers()["model.duplicate"]()
    assert workspace.list.current is not None
    assert workspace.list.current.line.name == "here-2"
    assert field(workspace, "model").text() == "m"
    workspace.handlers()["model.delete"]()
    assert all(each.line.name != "here-2" for each in workspace.list.models.rows)
    context.undo.undo()
    assert workspace.list.current.line.name == "here-2"
    assert text(context) == MODELS


def test_that_deleting_names_its_model_and_is_taken_back(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(workspace, "here")
    assert workspace.list.delete.text() == "Delete here"
    QTest.keyClick(workspace.list.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: workspace.list.models.row_of("here") is None)
    assert "# mine, in the order I like" in text(context)
    assert "# loads in a moment" in text(context)
    assert context.undo.undoText() == "deletion of here"
    context.undo.undo()
    qtbot.waitUntil(lambda: workspace.list.models.row_of("here") is not None)
    assert text(context) == MODELS


def test_that_what_comes_with_the_program_cannot_be_changed(
    workspace: ModelsWorkspace,
) -> None:
    choose(workspace, "uniform")
    assert not workspace.list.delete.isEnabled()
    assert not workspace.list.duplicate.isEnabled()
    assert not workspace.profile.save.isVisible()
    shown = [w.text() for w in workspace.profile.findChildren(QLabel) if w.isVisible()]
    assert any("is built in" in text for text in shown)


def test_that_models_that_an_administrator_chose_cannot_be_changed(
    workspace: ModelsWorkspace,
    context: AppContext,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = context.settings.models_file
    deciding(tmp_path, monkeypatch)(f'models = "{file}"\ncontact = "IT"')
    workspace.refresh()
    qtbot.waitUntil(lambda: not row(workspace, "here").line.own)
    choose(workspace, "here")
    assert not workspace.profile.save.isVisible()
    shown = [w.text() for w in workspace.profile.findChildren(QLabel) if w.isVisible()]
    assert any("administrator of this computer chose it" in text for text in shown)
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    for wanted in ("model.new", "model.delete"):
        workspace.handlers()[wanted]()
    assert "chose its models" in told[0].what
    assert "Only IT can change that" in told[0].how
    assert not workspace.window().findChildren(ConnectPage)
    assert file.read_text() == MODELS


def test_that_a_file_changed_by_another_program_is_not_overwritten(
    workspace: ModelsWorkspace, context: AppContext
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    choose(workspace, "here")
    workspace.handlers()["model.delete"]()
    context.settings.models_file.write_text("# another hand\n")
    context.undo.undo()
    assert any("another program" in notice.what for notice in told)
    assert text(context) == "# another hand\n"


def test_that_the_model_looked_at_is_chosen_again_at_the_next_start(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    choose(workspace, "large")
    later = ModelsWorkspace(context)
    qtbot.addWidget(later)
    later.recall(workspace.choices)
    later.show()
    qtbot.waitUntil(lambda: later.list.current is not None)
    assert later.list.current is not None
    assert later.list.current.key == "large"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    script = EndpointScript(answer_by_hash=True, models=("tiny-vlm", "other"))
    with ScriptedServer(script) as made:
        yield made


@with_worker
def test_that_a_test_says_what_the_endpoint_does(
    workspace: ModelsWorkspace, qtbot: QtBot, server: ScriptedServer
) -> None:
    choose(workspace, "here")
    field(workspace, "base_url").setText(server.base_url)
    assert not workspace.profile.test.test.isEnabled()
    workspace.handlers()["model.save"]()
    panel = workspace.profile.test
    qtbot.waitUntil(panel.test.isEnabled, timeout=WAIT_MS)
    workspace.handlers()["model.test"]()
    assert panel.bar.isVisible()
    qtbot.waitUntil(lambda: panel.table.rowCount() > 5, timeout=WAIT_MS)
    told = {
        panel.table.item(at, 0).text(): panel.table.item(at, 1).text()  # type: ignore[union-attr]
        for at in range(panel.table.rowCount())
    }
    assert (told["reachable"], told["image input"]) == ("yes", "yes")
    assert panel.words.text().endswith(" work.")
    choose(workspace, "uniform")
    assert not workspace.profile.tabs.isVisible()
    choose(workspace, "here")
    assert panel.table.rowCount() > 5


@with_worker
def test_that_the_servers_models_are_offered(
    workspace: ModelsWorkspace, qtbot: QtBot, server: ScriptedServer
) -> None:
    choose(workspace, "here")
    field(workspace, "base_url").setText(server.base_url)
    workspace.profile.ask_to_list()

    def menu() -> QMenu | None:
        found = workspace.profile.findChildren(QMenu)
        return next((each for each in found if each.isVisible()), None)

    qtbot.waitUntil(lambda: menu() is not None, timeout=WAIT_MS)
    offered = menu()
    assert offered is not None
    assert [action.text() for action in offered.actions()] == ["tiny-vlm", "other"]
    offered.actions()[1].trigger()
    offered.close()
    assert field(workspace, "model").text() == "other"


@with_worker
def test_that_a_server_that_does_not_answer_is_told(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    told = list[Notice]()
    context.notices.posted.connect(told.append)
    choose(workspace, "here")
    workspace.profile.ask_to_list()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert "127.0.0.1:9" in told[0].what


def scripted(context: AppContext, delay_s: float) -> None:
    """Add a model that always names the middle, in Qwen's words."""
    table = {
        "name": "middle",
        "adapter": "scripted",
        "answer": '[{"bbox_2d": [400, 400, 600, 600], "label": "marker"}]',
        "delay_s": delay_s,
        "convention": "qwen2_5_vl",
    }
    file = context.settings.models_file
    apply_edit(saving(table, None, file), file)


@with_worker
def test_that_a_calibration_tells_its_progress_and_what_fits(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    scripted(context, 0.01)
    workspace.refresh("middle")
    panel = workspace.profile.calibration
    qtbot.waitUntil(lambda: panel.calibrate.text() == "Calibrate middle")
    told = set[str]()
    workspace.calibrations.changed.connect(lambda: told.add(panel.words.text()))
    workspace.handlers()["model.calibrate"]()
    assert panel.stop.isVisible()
    qtbot.waitUntil(panel.found.isVisible, timeout=WAIT_MS)
    assert any("questions answered" in words for words in told)
    assert panel.found.text() != ""
    assert panel.calibrate.isVisible()
    if panel.use.isVisible():
        panel.use.click()
        assert f"convention to {_convention(workspace)}" in panel.use.text()


def _convention(workspace: ModelsWorkspace) -> object:
    return workspace.profile.form.values()["convention"]


@with_worker
def test_that_a_calibration_can_be_cancelled(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    notices = list[Notice]()
    context.notices.posted.connect(notices.append)
    scripted(context, 2.0)
    workspace.refresh("middle")
    panel = workspace.profile.calibration
    qtbot.waitUntil(lambda: panel.calibrate.text() == "Calibrate middle")
    workspace.handlers()["model.calibrate"]()
    panel.stop.click()
    qtbot.waitUntil(lambda: bool(notices), timeout=WAIT_MS)
    assert "stopped" in notices[0].what
    assert panel.calibrate.isVisible()


def test_that_a_key_is_typed_unseen_and_kept_in_no_file(
    workspace: ModelsWorkspace,
    context: AppContext,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(key_entry, "set_key", kept.__setitem__)
    choose(workspace, "here")
    workspace.profile.ask_for_key()
    assert "Name the key first" in workspace.profile.hint.text()
    field(workspace, "api_key_env").setText("HERE_KEY")
    workspace.profile.ask_for_key()
    (entry,) = workspace.profile.findChildren(KeyEntry)
    assert entry.field.echoMode() is QLineEdit.EchoMode.Password
    QTest.keyClicks(entry.field, "sk-canary")
    with qtbot.waitSignal(workspace.profile.key_kept):
        QTest.mouseClick(entry.keep, Qt.MouseButton.LeftButton)
    assert kept == {"HERE_KEY": "sk-canary"}
    workspace.handlers()["model.save"]()
    assert 'api_key_env = "HERE_KEY"' in text(context)
    assert "canary" not in text(context)


def test_that_a_keyring_that_refuses_says_why(
    workspace: ModelsWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, key: str) -> None:
        del name, key
        raise WrongUseError("This computer has no keyring.", "Set the variable.")

    monkeypatch.setattr(key_entry, "set_key", refuse)
    entry = KeyEntry("HERE_KEY", workspace)
    entry.show()
    QTest.keyClicks(entry.field, "sk-canary")
    entry.store()
    qtbot.waitUntil(entry.problem.isVisible)
    assert entry.problem.text() == "This computer has no keyring. Set the variable."


def test_that_every_way_of_asking_has_a_form(workspace: ModelsWorkspace) -> None:
    for new in new_models():
        workspace._draft_new(new.adapter, new.table)
        settings = [s.key for s in catalog.adapters()[new.adapter].settings]
        assert list(workspace.profile.form.editors) == [*settings, catalog.COLOUR]
        assert workspace.profile.draft.table.keys() == new.table.keys()


@pytest.mark.parametrize(
    ("count", "words"),
    [(4_100_000_000, "4.1 GB"), (412_000_000, "412 MB"), (10, "1 MB")],
)
def test_that_memory_is_said_in_gigabytes(count: int, words: str) -> None:
    assert bytes_text(count) == words


def test_that_five_fields_are_shown_and_the_rest_is_folded_with_a_sentence_each(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    choose(workspace, "here")
    form = workspace.profile.form
    few = ["base_url", "model", "api_key_env", "convention"]

    def shown() -> list[str]:
        return [name for name, e in form.editors.items() if e.isVisible()]

    qtbot.waitUntil(lambda: shown() == few)
    assert workspace.profile.name.isVisible()
    form.more.click()
    qtbot.waitUntil(lambda: shown() == list(form.editors))
    words = [label.text() for label in form.findChildren(QLabel)]
    assert (
        "Longest reply in tokens, about four per three words. Default: 1024." in words
    )
    assert "Answer as JSON" in words
    choose(workspace, "large")
    choose(workspace, "here")
    assert form.more.text() == "Fewer settings"
    form.more.click()
    qtbot.waitUntil(lambda: shown() == few)
