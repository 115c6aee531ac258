"""The table of actions, and what is made from it."""

import gc
import weakref
from collections import Counter
from functools import partial
from itertools import product

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from viewer.ui.application.action_set import Actions, as_displayed
from viewer.ui.application.action_spec import ActionSpec, Place
from viewer.ui.application.actions import ACTIONS, ADVANCED, MENUS
from viewer.ui.application.preferences import Keymap
from viewer.ui.window.palette_dialog import PaletteDialog, Rank, fuzzy_score, rank
from viewer.ui.window.shortcuts_sheet import KeyLines, ShortcutsSheet

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture(scope="module")
def actions(qapp: QApplication) -> Actions:  # noqa: ARG001 - icons need it
    """Every command, which takes a tenth of a second to make."""
    return Actions()


def test_that_no_two_commands_share_an_id() -> None:
    assert Counter(spec.id for spec in ACTIONS).most_common(1)[0][1] == 1
    assert {spec.id for spec in ACTIONS} >= ADVANCED


@pytest.mark.parametrize("spec", ACTIONS, ids=lambda spec: str(spec.id))
def test_that_every_command_has_a_menu_a_tip_an_icon_and_a_valid_key(
    spec: ActionSpec, actions: Actions
) -> None:
    action = actions[spec.id]
    assert spec.menu in MENUS
    assert spec.tip
    assert not action.icon().pixmap(16, 16).toImage().isNull()
    assert bool(QKeySequence(spec.shortcut).toString()) == bool(spec.shortcut)
    assert as_displayed(spec.shortcut) in action.toolTip()


def test_that_a_command_nobody_handles_is_shown_nowhere() -> None:
    actions = Actions()
    assert list(actions) == []
    assert not actions["image.fit"].isVisible()
    actions.handle({"image.fit": lambda: None}, Place.READ)
    assert [spec.id for spec, _ in actions] == ["image.fit"]
    assert actions["image.fit"].isVisible()


def test_that_commands_nobody_holds_are_deleted() -> None:
    actions = Actions()
    actions.handle({"tool.pan": partial(actions.remember, ["tool.zoom"])})
    actions["tool.pan"].trigger()
    assert actions.lately == ("tool.zoom",)
    kept = weakref.ref(actions)
    del actions
    gc.collect()
    assert kept() is None


def test_that_an_id_outside_the_table_is_refused() -> None:
    with pytest.raises(KeyError, match=r"image\.fold"):
        Actions().handle({"image.fold": lambda: None})


def test_that_each_workspace_answers_its_own_copy() -> None:
    actions, said = Actions(), list[Place]()
    for place in (Place.READ, Place.MEASURE):
        copy = {"edit.copy": partial(said.append, place)}
        actions.handle(copy, place)
    for place in (Place.MEASURE, Place.READ):
        actions.enter(place)
        actions["edit.copy"].trigger()
    assert said == [Place.MEASURE, Place.READ]


def test_that_what_one_workspace_does_for_all_is_done_from_the_other() -> None:
    actions, said = Actions(), list[str]()
    actions.handle({"file.batch": lambda: said.append("batch")}, Place.MEASURE)
    actions.enter(Place.READ)
    actions["file.batch"].trigger()
    assert said == ["batch"]


def test_that_copy_is_grey_where_the_workspace_copies_nothing() -> None:
    actions = Actions()
    actions.handle({"edit.copy": lambda: None}, Place.MEASURE)
    actions.enter(Place.READ)
    assert not actions["edit.copy"].isEnabled()


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("grid", "Grid", "Go right and hide"),
        ("wl", "Window/level", "Lowest row"),
        ("me", "Measure", "Image"),
    ],
)
def test_that_words_begun_and_letters_in_a_row_come_first(
    query: str, better: str, worse: str
) -> None:
    low = fuzzy_score(query, worse)
    high = fuzzy_score(query, better)
    assert high is not None
    assert low is None or low < high


def test_that_letters_out_of_order_do_not_fit() -> None:
    assert fuzzy_score("dirg", "Grid") is None
    assert fuzzy_score("", "Grid") == 0


@pytest.mark.parametrize(
    ("query", "name", "menu", "found"),
    [
        ("folder open", "Open folder…", "File", Rank.WORDS),
        ("op fol", "Open folder…", "File", Rank.PREFIXES),
        ("open", "Open folder…", "File", Rank.WORDS),
        ("mark del", "Delete mark", "Mark", Rank.PREFIXES),
        ("view grid", "Grid", "View", Rank.WITH_MENU),
        ("wl", "Window/level", "Image", Rank.LETTERS),
        ("lw", "Fit", "Image", None),
        ("…", "Open folder…", "File", Rank.LETTERS),
        ("…", "Fit", "Image", None),
    ],
)
def test_that_words_rank_before_prefixes_and_these_before_letters(
    query: str, name: str, menu: str, found: Rank | None
) -> None:
    assert rank(query, name, menu) is found


def test_that_of_one_rank_the_command_run_last_comes_first() -> None:
    actions = Actions()
    actions.handle({spec.id: lambda: None for spec in ACTIONS}, Place.READ)

    def ids(query: str) -> list[str]:
        return [spec.id for spec, _ in PaletteDialog(actions).matches(query)]

    assert ids("next")[0] != "cases.next_study"
    actions["cases.next_study"].trigger()
    actions["mark.clear"].trigger()
    assert ids("next")[0] == "cases.next_study"
    assert ids("fit")[0] == "image.fit"  # used or not, a whole word beats the rest
    assert ids("")[0] == "cases.next_study"
    assert ids("dele")[0] != "mark.clear"


def test_that_the_palette_runs_the_command_typed() -> None:
    actions, said = Actions(), list[str]()
    ids = ("image.fit", "image.invert", "tool.pan")
    actions.handle({name: partial(said.append, name) for name in ids})
    palette = PaletteDialog(actions)
    QTest.keyClicks(palette.query, "inv")
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    assert said == ["image.invert"]


def test_that_no_three_letters_offer_to_delete_anything() -> None:
    actions = Actions()
    actions.handle({spec.id: lambda: None for spec in ACTIONS}, Place.READ)
    palette = PaletteDialog(actions)
    destructive = {spec.id for spec in ACTIONS if spec.destructive}
    assert "mark.clear" in destructive
    for letters in product("delatmrkso", repeat=3):
        offered = {spec.id for spec, _ in palette.matches("".join(letters))}
        assert not offered & destructive


def test_that_commands_that_delete_come_last_in_the_palette() -> None:
    actions = Actions()
    actions.handle({spec.id: lambda: None for spec in ACTIONS}, Place.READ)
    palette = PaletteDialog(actions)
    assert [s.id for s, _ in palette.matches("delete all marks")] == ["mark.clear"]
    for letters in ("dele", "mark", "elet", "all marks", ""):
        found = [spec.destructive for spec, _ in palette.matches(letters)]
        assert any(found)
        assert found == sorted(found)


def test_that_the_arrow_keys_choose_in_the_palette() -> None:
    actions, said = Actions(), list[str]()
    ids = ("tool.pan", "image.fit")
    actions.handle({name: partial(said.append, name) for name in ids})
    palette = PaletteDialog(actions)
    QTest.keyClick(palette.query, Qt.Key.Key_Down)
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    assert said == ["image.fit"]


def test_that_the_palette_offers_nothing_where_no_name_fits() -> None:
    actions, said = Actions(), list[str]()
    actions.handle({"image.fit": lambda: said.append("fit")})
    palette = PaletteDialog(actions)
    QTest.keyClicks(palette.query, "xyz")
    said_so = palette.list.topLevelItem(0)
    assert said_so is not None
    assert said_so.text(0) == "No such command is available here."
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    assert said == []


def test_that_the_sheet_names_every_key_in_use() -> None:
    actions = Actions()
    actions.handle({spec.id: lambda: None for spec in ACTIONS})
    sheet = ShortcutsSheet(actions)
    lines = {line for part in sheet.findChildren(KeyLines) for line in part.lines}
    keyed = {(s.text, as_displayed(s.shortcut)) for s in ACTIONS if s.shortcut}
    assert keyed <= lines
    spoken = "; ".join(p.accessibleName() for p in sheet.findChildren(KeyLines))
    assert all(f"{words}: {key}" in spoken for words, key in keyed)


def test_that_sheet_and_palette_show_the_keys_in_use() -> None:
    actions = Actions()
    actions.handle({spec.id: lambda: None for spec in ACTIONS}, Place.READ)
    actions.use_keys(Keymap("Mine", "", {"image.fit": "Ctrl+J", "file.quit": ""}))
    sheet = ShortcutsSheet(actions)
    lines = [line for part in sheet.findChildren(KeyLines) for line in part.lines]
    assert ("Fit", "Ctrl+J") in lines
    assert "Quit" not in dict(lines)
    assert "Keys of Mine" in [label.text() for label in sheet.findChildren(QLabel)]
    palette = PaletteDialog(actions)
    palette.query.setText("fit")
    first = palette.list.topLevelItem(0)
    assert first is not None
    assert (first.text(0), first.text(2)) == ("Fit", "Ctrl+J")


def test_that_a_short_tool_bar_offers_every_tool_in_its_menu(qtbot: QtBot) -> None:
    actions, parent = Actions(), QWidget()
    qtbot.addWidget(parent)
    names = ("tool.pan", "", ("tool.length", "tool.angle"), "image.invert")
    for name in ("tool.pan", "tool.length", "tool.angle", "image.invert"):
        actions[name].setVisible(True)
    bar = actions.tool_bar(names, parent)
    bar.resize(60, 40)
    parent.show()
    more = bar.findChild(QToolButton, "qt_toolbar_ext_button")
    assert more is not None
    qtbot.waitUntil(more.isVisible)
    offered = {action.text(): action for action in more.menu().actions()}
    assert actions["image.invert"] in offered.values()
    shared = offered["Length, Angle"].menu()
    assert isinstance(shared, QMenu)
    assert shared.actions() == [actions["tool.length"], actions["tool.angle"]]


def test_that_a_tool_bar_holds_the_same_actions() -> None:
    actions, parent = Actions(), QWidget()
    bar = actions.tool_bar(["tool.pan", "", "image.fit"], parent)
    assert bar.actions()[0] is actions["tool.pan"]
    assert bar.actions()[1].isSeparator()
