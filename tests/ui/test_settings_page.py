"""The page of settings: every setting, search, files, defaults, damaged files."""

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.policies import deciding
from tests.helpers.window_parts import Furnished
from viewer.settings import Settings
from viewer.ui.application import preferences
from viewer.ui.application.action_spec import Place
from viewer.ui.application.actions import ADVANCED, SPECS
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.layout_memory import ASIDE, FILE, read_layout
from viewer.ui.application.preferences import (
    LATELY,
    WORDS,
    Detail,
    Keymap,
    Preferences,
)
from viewer.ui.dialogs.settings_page import KEYS, SECTIONS, SettingsPage, UserSettings
from viewer.ui.widgets import theme
from viewer.ui.workspaces.read import ReadWorkspace

CHANGED = Preferences(up_darkens=True, detail=Detail.NONE, minimap=False)


@pytest.fixture(autouse=True)
def _own_preferences() -> Iterator[None]:
    preferences.use(Preferences())
    yield
    preferences.use(Preferences())


@pytest.fixture
def context(settings: Settings) -> AppContext:
    made = AppContext(settings, WorkerBridge(settings.store))
    made.actions.handle({name: lambda: None for name in SPECS}, Place.READ)
    return made


@pytest.fixture
def page(qtbot: QtBot, context: AppContext) -> SettingsPage:
    def switch() -> None:
        other = theme.LIGHT if theme.current().dark else theme.DARK
        theme.apply(_application(), other)

    context.actions.handle({"view.theme": switch}, Place.READ)
    made = SettingsPage(context, lambda: None)
    qtbot.addWidget(made)
    made.show()
    return made


def _application() -> QApplication:
    found = QApplication.instance()
    assert isinstance(found, QApplication)
    return found


def test_that_every_preference_and_remembered_state_is_on_the_page() -> None:
    listed = [name for lines in SECTIONS.values() for name in lines]
    assert len(set(listed)) == len(listed)
    assert {one.name for one in fields(Preferences)} - {"brush_steps"} == set(WORDS)
    assert set(WORDS) <= set(listed)
    assert set(listed) - set(WORDS) <= SPECS.keys()
    states = {"overlays.answers", "overlays.reference", "overlays.grid", "hang.lines"}
    assert states | {"view.theme", "view.cases", "view.ask"} <= set(listed)


def test_that_the_search_shows_the_section_that_has_the_words(
    page: SettingsPage,
) -> None:
    assert page.pages.count() == 1  # each section is made when it is first shown
    page.search.setText("darkens")
    assert page.sections.currentItem().text() == "Mouse and tools"
    assert page.boxes["up_darkens"].isVisible()
    assert not page.boxes["scroll_first"].isVisible()
    page.search.setText("cobb")
    assert page.sections.currentItem().text() == KEYS
    page.search.setText("frobnicate")
    assert page.told.text() == "No setting has these words."
    page.search.clear()
    assert page.told.text() == ""
    assert not page.sections.item(0).isHidden()


def test_that_the_administrator_s_rules_are_listed_and_found(
    page: SettingsPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = deciding(tmp_path, monkeypatch)('local_only = true\ncontact = "IT"')
    page.show_section("Files")
    told = "\n".join(label.text() for label in page.findChildren(QLabel))
    assert "Set by the administrator of this computer:\nNothing leaves" in told
    assert f"Only IT can change that, in {file}." in told
    page.show_section("Window")
    page.search.setText("administrator")
    assert page.sections.currentItem().text() == "Files"


def test_that_a_change_is_in_use_at_once(page: SettingsPage) -> None:
    page.show_section("Mouse and tools")
    page.boxes["up_darkens"].click()
    assert preferences.current().up_darkens
    page.detail.setCurrentIndex(2)
    page.detail.activated.emit(2)
    assert preferences.current().detail is Detail.NONE


def test_that_defaults_are_restored_and_taken_back(
    page: SettingsPage, context: AppContext
) -> None:
    keymap = Keymap(keys={"image.fit": "Ctrl+J"})
    page.show_section("Mouse and tools")
    page.use(UserSettings("light", CHANGED, keymap), "")
    assert theme.current() is theme.LIGHT
    page.restore()
    assert preferences.current() == Preferences()
    assert context.actions.keymap == Keymap()
    assert theme.current() is theme.DARK
    assert not page.boxes["up_darkens"].isChecked()
    page.back.click()
    assert page.settings == UserSettings("light", CHANGED, keymap)
    assert page.boxes["up_darkens"].isChecked()
    assert not page.back.isVisible()
    page.restore()


def test_that_enter_in_the_list_of_keys_goes_to_the_field(
    page: SettingsPage, context: AppContext, qtbot: QtBot
) -> None:
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.use(UserSettings(preferences=CHANGED), "")
    page.show_section(KEYS)
    tree = page.keys.tree
    tree.setCurrentItem(page.keys._items["image.fit"])
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_Return)
    assert page.keys.field.hasFocus()
    assert preferences.current() == CHANGED  # and does not undo
    QTest.keyClick(page.keys.field, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert context.actions.keymap.keys == {"image.fit": "Ctrl+J"}


def test_that_exported_settings_are_imported_as_they_were(
    page: SettingsPage, tmp_path: Path
) -> None:
    path = tmp_path / "settings.toml"
    kept = UserSettings("light", CHANGED, Keymap(keys={"image.fit": "Ctrl+J"}))
    page.use(kept, "")
    page.export_to(path)
    page.restore()
    page.import_from(path)
    assert page.settings == kept
    assert page.told.text() == "The settings are those of settings.toml."
    page.restore()


def test_that_a_file_changes_only_what_it_names(
    page: SettingsPage, tmp_path: Path
) -> None:
    path = tmp_path / "some.toml"
    page.use(UserSettings(preferences=CHANGED), "")
    path.write_text("[preferences]\nminimap = true\n", "utf-8")
    page.import_from(path)
    assert preferences.current() == Preferences(up_darkens=True, detail=Detail.NONE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[preferences]\nminimap = 3\nup_darkens = true\n", "must be true or false"),
        ("[preferences]\nmini_map = true\n", "'preferences.mini_map'"),
        ('theme = "pink"\n', "There is no theme 'pink'; dark and light are known."),
        ('[keymap.keys]\n"image.fit" = "W"\n', "W is both Window/level and Fit"),
        ('[preferences]\ndetail = "some"\n', "detail"),
        ("nothing", "is not valid TOML"),
    ],
)
def test_that_a_wrong_file_of_settings_changes_nothing(
    page: SettingsPage, tmp_path: Path, text: str, said: str
) -> None:
    path, before = tmp_path / "wrong.toml", page.settings
    path.write_text(text, "utf-8")
    page.import_from(path)
    assert said in page.told.text()
    assert page.settings == before
    assert not page.back.isVisible()


def _notices(window: QWidget) -> str:
    return "\n".join(label.text() for label in window.findChildren(QLabel))


@pytest.mark.parametrize("text", ["{", "[1, 2", "\udc00".encode("utf-8", "replace")])
def test_that_a_damaged_file_is_kept_beside_and_told(
    qtbot: QtBot, settings: Settings, text: str | bytes
) -> None:
    settings.home.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    (settings.home / FILE).write_bytes(data)
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    told = _notices(made.window.notice_bar)
    assert f"{FILE} with the settings is damaged" in told
    assert f"the file is kept as {ASIDE}" in told
    assert (settings.home / ASIDE).read_bytes() == data
    made.window.keep()
    assert read_layout(settings.home).theme == "dark"


def test_that_damaged_settings_leave_the_others_and_are_told(
    qtbot: QtBot, context: AppContext, settings: Settings
) -> None:
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / FILE).write_text("{}", "utf-8")
    told = list[str]()
    context.notices.posted.connect(lambda notice: told.append(notice.what))
    read = ReadWorkspace(context)
    qtbot.addWidget(read)
    kept = {"minimap": 3, "up_darkens": True}
    keys = {"keys": {"image.fit": "W"}}
    read.recall({preferences.CHOICE: kept, preferences.KEYS: keys})
    assert preferences.current() == Preferences(up_darkens=True)
    assert context.actions.keymap == Keymap()
    (sentence,) = told
    assert "Settings are damaged: minimap." in sentence
    assert "W is both Window/level and Fit" in sentence
    assert (settings.home / ASIDE).exists()


def test_that_keys_and_latest_commands_are_kept_for_the_next_start(
    qtbot: QtBot, context: AppContext
) -> None:
    read = ReadWorkspace(context)
    qtbot.addWidget(read)
    keymap = Keymap("OHIF", "https://example.org", {"image.fit": "="})
    context.actions.use_keys(keymap)
    for name in ("image.fit", "image.invert", "image.fit"):
        context.actions.run(name)
    kept = json.loads(json.dumps(read.choices))
    context.actions.use_keys(Keymap())
    context.actions.remember(())
    read.recall(kept)
    assert context.actions.keymap == keymap
    assert [*context.actions.lately] == ["image.fit", "image.invert"]
    read.recall({**kept, LATELY: ["no.command", 3, "image.fit"]})
    assert [*context.actions.lately] == ["image.fit"]


def test_that_basic_mode_leaves_out_of_the_menus_what_is_advanced(
    qtbot: QtBot, settings: Settings
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    actions, said = made.context.actions, list[str]()
    actions.handle({name: lambda: said.append("ran") for name in SPECS}, Place.READ)
    made.window._fill_menus()

    def in_menus() -> set[str]:
        menus = made.window._menus.values()
        return {one.objectName() for menu in menus for one in menu.actions()}

    everything = in_menus()
    assert everything >= ADVANCED
    actions.show_basic(basic=True)
    assert everything - in_menus() == ADVANCED
    assert actions["view.basic"].isChecked()
    actions["tour.next"].trigger()
    assert said == ["ran"]
    assert actions["mark.outline"] in made.window.actions()  # so that its key works
    actions.show_basic(basic=False)
    assert in_menus() == everything
