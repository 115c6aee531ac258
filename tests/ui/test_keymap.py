"""Keymaps: no conflicts in any preset, files, and the editor of keys."""

import tomllib
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from viewer.domain.errors import WrongUseError
from viewer.services.configuring.toml_files import read_toml, write_toml
from viewer.ui.application.action_set import Actions
from viewer.ui.application.action_spec import Place
from viewer.ui.application.actions import ACTIONS, HIDE, SPECS
from viewer.ui.application.keymap import (
    RESERVED,
    check_keymap,
    conflicts,
    keymap_table,
    objection,
    presets,
    read_keymap,
    spelled,
    with_key,
)
from viewer.ui.application.preferences import Keymap
from viewer.ui.dialogs.keymap_editor import KeymapEditor
from viewer.ui.panels.charts.figure_view import FigureView

pytestmark = pytest.mark.usefixtures("qapp")
ROOT = Path(__file__).parents[2]
_WORKSPACES = (Place.READ, Place.MEASURE, Place.REVIEW, Place.MODELS)
_CHINESE = "胸部正位片的按键 of the readers of a ward with a name of sixty letters"
by_preset = pytest.mark.parametrize("keymap", presets(), ids=lambda one: str(one.name))


def _keys_in(keymap: Keymap, place: Place) -> Counter[str]:
    """Count the keys of all commands that can be available in a workspace."""
    available = {Place.EVERYWHERE, place}
    if place is not Place.REVIEW:
        available.add(Place.HERE)
    keys = (keymap.keys.get(s.id, s.shortcut) for s in ACTIONS if s.place in available)
    return Counter(key for key in keys if key)


@by_preset
@pytest.mark.parametrize("place", _WORKSPACES)
def test_that_no_key_has_two_commands_in_a_workspace(
    keymap: Keymap, place: Place
) -> None:
    keys = _keys_in(keymap, place)
    assert {key: count for key, count in keys.items() if count > 1} == {}
    assert keys


@by_preset
def test_that_no_preset_takes_the_key_of_a_command_away(keymap: Keymap) -> None:
    for spec in ACTIONS:
        assert bool(keymap.key_of(spec)) >= bool(spec.shortcut), spec.id


def test_that_conflicts_are_those_that_trying_every_pair_of_keys_has() -> None:
    """Give commands the key of each other one, and count in every workspace."""
    keyed = [spec for spec in ACTIONS if spec.shortcut]
    for one in keyed[::9]:
        for other in keyed:
            keymap = Keymap(keys={one.id: other.shortcut})
            counted = (_keys_in(keymap, place).values() for place in _WORKSPACES)
            conflicting = any(max(counts) > 1 for counts in counted)
            assert bool(list(conflicts(keymap))) is conflicting
            assert not list(conflicts(with_key(Keymap(), one, other.shortcut)))


def test_that_each_preset_names_where_its_keys_are_documented() -> None:
    own, *others = presets()
    assert own == Keymap()
    assert len(others) == 5
    for keymap in others:
        assert keymap.source.startswith("https://github.com/")
        assert keymap.keys


@pytest.mark.parametrize(
    "path", sorted((ROOT / "resources/keymaps").iterdir()), ids=str
)
def test_that_each_line_of_a_preset_is_a_command_and_a_key(path: Path) -> None:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    assert table["keys"].keys() <= SPECS.keys()
    for key in table["keys"].values():
        assert spelled(key) == key
    assert read_keymap(table, path.name) in presets()


@by_preset
def test_that_a_keymap_is_the_same_after_export_and_import(
    keymap: Keymap, tmp_path: Path
) -> None:
    path = tmp_path / "keys.toml"
    write_toml(path, keymap_table(keymap))
    assert read_keymap(read_toml(path), path.name) == keymap
    assert tomllib.loads(path.read_text("utf-8"))["keys"].keys() == SPECS.keys()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tool.fold": "W"}, "there is no command 'tool.fold'"),
        ({"image.fit": "W"}, "W is both Window/level and Fit"),
        ({"file.export": "Ctrl+O"}, "Ctrl+O is both Open files… and Export table…"),
        ({"image.fit": "Ctrl+K, A"}, "'Ctrl+K, A' of Fit is no key"),
        ({"image.fit": "Knob"}, "'Knob' of Fit is no key"),
        ({"image.fit": "Tab"}, "Tab is always 'Next control'"),
        ({"file.batch": "J"}, "J belongs to the questions of Review"),
        ({"file.batch": "Shift+Del"}, "Shift+Del belongs to the questions"),
        ({"review.grid": "J"}, "Grid of the question keeps its key"),
        (
            {"tool.fold": "W", "image.fit": "W"},
            "both Window/level and Fit; there is no",
        ),
    ],
)
def test_that_one_sentence_names_all_that_is_wrong_with_keys(
    keys: dict[str, str], said: str
) -> None:
    with pytest.raises(WrongUseError, match="These keys cannot be used") as caught:
        check_keymap(Keymap(keys=keys))
    assert said in caught.value.what
    assert caught.value.what.count(".") - said.count(".") <= 2
    assert "no key was changed" in caught.value.how


@pytest.mark.parametrize("table", [{"keys": 3}, {"kees": {}}, {"keys": {"a": 1}}, []])
def test_that_what_is_no_keymap_is_refused(table: object) -> None:
    with pytest.raises(WrongUseError) as caught:
        read_keymap(table, "keys.toml")
    assert "no key was changed" in caught.value.how


def test_that_a_reserved_key_is_never_a_commands_own() -> None:
    for key in RESERVED:
        assert spelled(key) == key
        assert objection(SPECS["image.fit"], key)
    assert not objection(SPECS["measure.back"], "Esc")  # its own


def test_that_keys_of_single_widgets_are_reserved(qtbot: QtBot) -> None:
    """Qt runs neither of two shortcuts that fit, so a command must not have them."""
    figure = FigureView()
    qtbot.addWidget(figure)
    figure.offer(())
    own = {key.toString() for one in figure.actions() for key in one.shortcuts()}
    assert own == {"Ctrl++", "Ctrl+=", "Ctrl+-", "Ctrl+0"}
    assert own <= RESERVED.keys()


def test_that_two_commands_of_different_workspaces_may_share_a_key() -> None:
    keymap = Keymap(keys={"file.export": "Ctrl+R"})
    assert check_keymap(keymap) == keymap


def test_that_a_key_taken_from_another_command_leaves_it_without() -> None:
    keymap = with_key(Keymap(), SPECS["image.fit"], "W")
    assert keymap.keys == {"image.fit": "W", "tool.window": ""}
    back = with_key(
        with_key(keymap, SPECS["tool.window"], "W"), SPECS["image.fit"], "F"
    )
    assert back == Keymap()


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    """An empty window on the screen."""
    made = QMainWindow()
    qtbot.addWidget(made)
    made.setCentralWidget(QLineEdit(readOnly=True))
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


@pytest.fixture
def actions(window: QMainWindow) -> Actions:
    """Every command, whose key works in the window."""
    made = Actions()
    made.handle({spec.id: lambda: None for spec in ACTIONS}, Place.READ)
    for spec, action in made:
        if spec.place is not Place.REVIEW:
            window.addAction(action)
    return made


def test_that_a_keymap_is_in_use_at_once(window: QMainWindow, actions: Actions) -> None:
    said = list[str]()
    for name in ("tool.pan", "tool.magnifier", "hang.lines"):
        actions.handle({name: partial(said.append, name)}, Place.READ)
    QTest.keyClick(window, Qt.Key.Key_M)
    actions.use_keys(next(one for one in presets() if "QuPath" in one.name))
    QTest.keyClick(window, Qt.Key.Key_M)
    QTest.keyClick(window, Qt.Key.Key_O)
    assert said == ["tool.magnifier", "tool.pan"]
    assert "(M)" in actions["tool.pan"].toolTip()
    actions.use_keys(Keymap())
    QTest.keyClick(window, Qt.Key.Key_O)
    assert said == ["tool.magnifier", "tool.pan", "hang.lines"]


def test_that_the_key_that_hides_overlays_is_known_when_released() -> None:
    actions = Actions()
    assert actions.holds(HIDE, Qt.Key.Key_H)
    actions.use_keys(Keymap(keys={HIDE: "Alt+J"}))
    assert actions.holds(HIDE, Qt.Key.Key_J)
    actions.use_keys(Keymap(keys={HIDE: ""}))
    assert not actions.holds(HIDE, Qt.Key.Key_H)


@pytest.fixture
def editor(qtbot: QtBot, actions: Actions) -> KeymapEditor:
    """The editor of keys on the screen."""
    made = KeymapEditor(actions)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def _choose(editor: KeymapEditor, name: str) -> None:
    editor.tree.setCurrentItem(editor._items[name])


def test_that_a_free_key_is_assigned_by_pressing_it(
    editor: KeymapEditor, actions: Actions
) -> None:
    _choose(editor, "image.fit")
    assert editor.field.text() == "F"
    QTest.keyClick(editor.field, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert actions.keymap.keys == {"image.fit": "Ctrl+J"}
    assert actions["image.fit"].shortcut() == QKeySequence("Ctrl+J")
    assert editor.field.text() == "Ctrl+J"
    assert editor.about.text() == "1 key changed. "


def test_that_a_taken_key_is_taken_only_when_wanted(
    editor: KeymapEditor, actions: Actions
) -> None:
    _choose(editor, "image.fit")
    QTest.keyClick(editor.field, Qt.Key.Key_W)
    assert editor.problem.text() == "W is already Window/level; take it from there?"
    assert actions.keymap == Keymap()
    editor.take.click()
    assert actions.keymap.keys == {"image.fit": "W", "tool.window": ""}
    assert not editor.problem.isVisible()


def test_that_a_key_used_in_another_workspace_is_free(
    editor: KeymapEditor, actions: Actions
) -> None:
    _choose(editor, "file.export")
    QTest.keyClick(editor.field, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert actions.keymap.keys == {"file.export": "Ctrl+R"}


@pytest.mark.parametrize(
    ("name", "key", "said"),
    [
        ("image.fit", Qt.Key.Key_Escape, "always 'End or leave what is under way'"),
        ("file.batch", Qt.Key.Key_Y, "Y belongs to the questions of Review"),
        ("review.grid", Qt.Key.Key_Y, "Grid of the question keeps its key"),
    ],
)
def test_that_a_key_that_cannot_be_says_why(
    editor: KeymapEditor, actions: Actions, name: str, key: Qt.Key, said: str
) -> None:
    _choose(editor, name)
    QTest.keyClick(editor.field, key)
    assert said in editor.problem.text()
    assert actions.keymap == Keymap()


def test_that_tab_leaves_the_field_of_keys(editor: KeymapEditor) -> None:
    _choose(editor, "image.fit")
    editor.field.setFocus()
    QTest.keyClick(editor.field, Qt.Key.Key_Tab)
    assert not editor.field.hasFocus()


def test_that_a_key_without_a_name_changes_nothing(
    editor: KeymapEditor, actions: Actions
) -> None:
    _choose(editor, "image.fit")
    none = Qt.KeyboardModifier.NoModifier
    for key in (Qt.Key.Key_Dead_Acute, Qt.Key.Key_Shift, Qt.Key.Key_unknown):
        event = QKeyEvent(QEvent.Type.KeyPress, key, none)
        QApplication.sendEvent(editor.field, event)
    assert actions.keymap == Keymap()


def test_that_one_key_and_all_are_reset_to_the_keymap(
    editor: KeymapEditor, actions: Actions
) -> None:
    ohif = next(one for one in presets() if one.name == "OHIF")
    editor.preset.activated.emit(presets().index(ohif))
    assert actions.keymap == ohif
    assert "OHIF/Viewers" in editor.about.text()
    _choose(editor, "image.fit")
    editor.press("")
    assert actions.keymap.key_of(SPECS["image.fit"]) == ""
    editor.reset_one()
    assert actions.keymap == ohif
    editor.press("Ctrl+J")
    editor.reset_all()
    assert actions.keymap == ohif


def test_that_the_search_finds_names_and_keys(editor: KeymapEditor) -> None:
    def shown() -> set[str]:
        return {n for n, item in editor._items.items() if not item.isHidden()}

    editor.filter("window/level")
    assert shown() == {"tool.window"}
    editor.filter("Ctrl+Shift+S")
    assert shown() == {"image.save"}
    editor.filter("frobnicate")
    assert editor._groups[Place.READ].isHidden()
    editor.filter("")
    assert shown() == SPECS.keys()


def test_that_a_file_of_keys_is_used_whole_or_not_at_all(
    editor: KeymapEditor, actions: Actions, tmp_path: Path
) -> None:
    path = tmp_path / "keys.toml"
    actions.use_keys(Keymap(_CHINESE, "", {"image.fit": "Ctrl+J"}))
    editor.export_to(path)
    editor.reset_all()
    assert actions.keymap == Keymap()
    editor.import_from(path)
    assert actions.keymap == Keymap(_CHINESE, "", {"image.fit": "Ctrl+J"})
    assert editor.preset.currentText() == _CHINESE
    path.write_text('[keys]\n"image.fit" = "Ctrl+L"\n"tool.pan" = "W"\n', "utf-8")
    editor.import_from(path)
    assert "W is both" in editor.problem.text()
    assert actions.keymap.keys == {"image.fit": "Ctrl+J"}
    editor.import_from(tmp_path / "none.toml")
    assert "cannot be read" in editor.problem.text()
    path.write_text("no = toml = at all", "utf-8")
    editor.import_from(path)
    assert "is not valid TOML" in editor.problem.text()
