"""The columns of the case list: the view, how far it is read, and the order."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QStyle, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import write_dicom, write_picture
from viewer.domain.case import ReadingState, View
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext
from viewer.ui.panels.read.case_listing import COLUMNS, ColumnChoice
from viewer.ui.panels.read.case_rows import CaseRow, NameDelegate, fitted
from viewer.ui.workspaces.read import ReadWorkspace

TITLES = [column.title for column in COLUMNS]


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Three films: of unknown view, lateral by its name, PA by its header."""
    folder = tmp_path / "films"
    write_picture(folder / "a.png")
    write_picture(folder / "b_lateral.png")
    write_dicom(folder / "c.dcm", view_position="PA", patient_id="p")
    return folder


def _open(qtbot: QtBot, read: ReadWorkspace, folder: Path, count: int) -> None:
    read.open_paths([folder])
    qtbot.waitUntil(lambda: len(_rows(read)) == count)
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    read.furnish()


def _rows(read: ReadWorkspace) -> list[CaseRow]:
    return list(read.browser.tree.rows())


def _column(read: ReadWorkspace, title: str) -> list[str]:
    return [row.text(TITLES.index(title)) for row in _rows(read)]


def _choose(read: ReadWorkspace, words: str) -> None:
    """Trigger a command of the menu that has just come up."""
    *_, menu = read.browser.tree.findChildren(QMenu)
    next(a for a in menu.actions() if a.text() == words).trigger()
    menu.close()


def test_that_an_unknown_view_is_corrected_where_it_is_listed(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: Path
) -> None:
    _open(qtbot, read, films, 3)
    line = read.browser.folder
    qtbot.waitUntil(line.isVisible)
    qtbot.waitUntil(lambda: _column(read, "View") == ["?", "lateral", "PA"])
    row = next(row for row in _rows(read) if row.stack.name == "a.png")
    tree = read.browser.tree
    at = tree.cell(row, TITLES.index("View")) + QPoint(8, -20)
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=at)
    _choose(read, "Lateral")
    qtbot.waitUntil(lambda: _column(read, "View") == ["lateral", "lateral", "PA"])
    stack = read.lightbox.active.stack
    assert stack is not None
    assert stack.view is View.LATERAL
    assert "view: frontal 1, lateral 2" in line.words.text()
    third = next(row for row in _rows(read) if row.stack.name == "c.dcm")
    tree.setCurrentItem(third)
    context.actions["cases.view"].trigger()
    _choose(read, "Lateral")
    qtbot.waitUntil(lambda: _column(read, "View") == ["lateral"] * 3)
    read.close_all()
    read.open_paths([films])
    qtbot.waitUntil(lambda: _column(read, "View") == ["lateral"] * 3)


def test_that_a_view_outside_a_data_set_is_not_silently_lost(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> None:
    told: list[object] = []
    context.notices.posted.connect(told.append)
    _open(qtbot, read, write_picture(tmp_path / "a.png"), 1)
    context.actions["cases.view"].trigger()
    _choose(read, "Frontal")
    assert "Open the folder of this image." in str(told)


def test_that_what_was_read_is_marked_and_kept(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    settings: Settings,
    films: Path,
) -> None:
    _open(qtbot, read, films, 3)
    assert sorted(_column(read, "Read")) == sorted(["◐", "○", "○"])
    context.actions["cases.done"].trigger()
    qtbot.waitUntil(lambda: sorted(_column(read, "Read")) == sorted(["✓", "◐", "○"]))
    first = _rows(read)[0]
    role = Qt.ItemDataRole.AccessibleTextRole
    assert first.data(TITLES.index("Read"), role) == "done"
    states = read._cases._tree.listing.states
    qtbot.waitUntil(lambda: read._cases._is_read)
    from viewer.services.viewing.reading_states import kept_states

    qtbot.waitUntil(lambda: kept_states(settings.store) == states)
    read.browser.step(-1)
    context.actions["cases.done"].trigger()
    assert _column(read, "Read")[0] == "◐"
    qtbot.waitUntil(lambda: "done" not in kept_states(settings.store).values())


def test_that_states_of_an_earlier_session_come_back(
    qtbot: QtBot, read: ReadWorkspace, settings: Settings, films: Path
) -> None:
    from viewer.services.viewing.reading_states import keep_states

    key = f"films/{films / 'b_lateral.png'}"
    keep_states(settings.store, {key: ReadingState.DONE})
    _open(qtbot, read, films, 3)
    qtbot.waitUntil(lambda: "✓" in _column(read, "Read"))
    done = next(row for row in _rows(read) if row.stack.key == key)
    assert done.text(TITLES.index("Read")) == "✓"


def test_that_a_click_on_a_title_sorts_and_columns_are_chosen_and_remembered(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: Path
) -> None:
    _open(qtbot, read, films, 3)
    names = [row.stack.name for row in _rows(read)]
    clicked = read.browser.tree.header().sectionClicked
    clicked.emit(TITLES.index("View"))
    first = _column(read, "View")
    assert first == sorted(first)
    clicked.emit(TITLES.index("View"))
    assert _column(read, "View") == sorted(first, reverse=True)
    clicked.emit(TITLES.index("View"))
    assert [row.stack.name for row in _rows(read)] == names
    context.actions["cases.columns"].trigger()
    _choose(read, "Date")
    context.actions["cases.columns"].trigger()
    _choose(read, "By view")
    kept = read.choices
    tree = read.browser.tree
    hidden = [t for n, t in enumerate(TITLES) if tree.isColumnHidden(n)]
    assert hidden == ["Images"]
    read.recall({})
    assert tree.isColumnHidden(TITLES.index("Date"))
    read.recall(kept)
    wanted = ColumnChoice(("View", "Date", "Read"), "View")
    assert read._cases.columns == wanted


def test_that_the_widths_of_columns_are_remembered(
    qtbot: QtBot, read: ReadWorkspace, films: Path
) -> None:
    _open(qtbot, read, films, 3)
    tree, view = read.browser.tree, TITLES.index("View")
    assert read._cases.columns.widths == {}
    tree.header().resizeSection(view, 90)
    kept = read.choices
    assert read._cases.columns.widths == {"View": 90}
    read.recall({})
    assert tree.columnWidth(view) == COLUMNS[view].width
    read.recall(kept)
    assert tree.columnWidth(view) == 90


def test_that_long_names_have_two_lines_and_lose_their_middle(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    metrics = widget.fontMetrics()
    width = metrics.horizontalAdvance("pneumonia_0001_")
    lines = fitted("pneumonia_0001_frontal_a_b_c_2026.png\n9 x 9", metrics, width)
    first, second, size = lines.split("\n")
    assert (first, size) == ("pneumonia_0001", "9 x 9")
    assert second.startswith("_front")
    assert second.endswith("6.png")
    assert "…" in second
    assert fitted("a.png\n9 x 9", metrics, width) == "a.png\n9 x 9"
    assert fitted("CR\nThorax p.a. oblique", metrics, width).count("\n") == 2
    assert len(fitted(f"{'x' * 99}\n9 x 9\nno", metrics, width).split("\n")) == 3


def test_that_the_list_shows_twenty_letters_of_a_name_at_its_first_width(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    name = "pneumonia_0001_pa_26.png"
    _open(qtbot, read, write_picture(tmp_path / name), 1)
    tree = read.browser.tree
    (row,) = _rows(read)
    option = QStyleOptionViewItem()
    tree.initViewItemOption(option)
    option.rect = tree.visualItemRect(row)
    option.rect.setWidth(tree.columnWidth(0) - option.rect.left())
    NameDelegate(tree).initStyleOption(option, tree.indexFromItem(row))
    assert option.text.replace("\u2028", "").startswith(name)
    assert row.toolTip(0).startswith(name)


@pytest.mark.parametrize(("width", "side"), [(300, 56), (150, 28), (110, 0)])
def test_that_a_thumbnail_gives_way_to_the_name_in_a_narrow_list(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path, width: int, side: int
) -> None:
    _open(qtbot, read, write_picture(tmp_path / "pneumonia_01.png"), 1)
    tree = read.browser.tree
    (row,) = _rows(read)
    row.setIcon(0, QIcon(QPixmap(56, 56)))
    option = QStyleOptionViewItem()
    tree.initViewItemOption(option)
    option.rect = QRect(0, 0, width, 64)
    NameDelegate(tree).initStyleOption(option, tree.indexFromItem(row))
    has = bool(option.features & option.ViewItemFeature.HasDecoration)
    assert (option.decorationSize.width() if has else 0) == side
    assert "pneumonia_01" in option.text.replace("\u2028", "")


def test_that_the_focus_changes_no_thumbnail(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    _open(qtbot, read, write_picture(tmp_path / "pneumonia_01.png"), 1)
    tree = read.browser.tree
    tree.setStyleSheet("QTreeView::item:focus { border: 1px solid; padding: 2px; }")
    (row,) = _rows(read)
    row.setIcon(0, QIcon(QPixmap(56, 56)))
    for width in range(90, 260):
        sides = []
        for state in (QStyle.StateFlag.State_None, QStyle.StateFlag.State_HasFocus):
            option = QStyleOptionViewItem()
            tree.initViewItemOption(option)
            option.rect = QRect(0, 0, width, 64)
            option.state = QStyle.StateFlag.State_Enabled | state
            NameDelegate(tree).initStyleOption(option, tree.indexFromItem(row))
            assert option.state & QStyle.StateFlag.State_HasFocus == state
            sides.append(option.decorationSize.width())
        assert sides[0] == sides[1]


def test_that_a_sorted_list_is_filtered_in_its_order_and_walked_by_study(
    qtbot: QtBot, read: ReadWorkspace, films: Path
) -> None:
    _open(qtbot, read, films, 3)
    read._cases.show_columns(ColumnChoice(sorted_by="View", descending=True))
    tree = read.browser.tree
    backwards = [row.stack.name for row in _rows(read)]
    assert tree.set_filter(".")
    kept = [name for name in backwards if name != "c.dcm"]
    assert tree.set_filter(".png")
    assert [row.stack.name for row in _rows(read)] == kept
    assert tree.set_filter("")
    assert [entry.stack.name for entry in tree.listing.in_order()] == backwards
    assert read.browser.choose_first()
    assert read.browser.chosen_stack is not None
    assert read.browser.chosen_stack.name == backwards[0]


def test_that_rows_sorted_by_reading_state_stay_until_they_are_sorted_anew(
    qtbot: QtBot, read: ReadWorkspace, films: Path
) -> None:
    _open(qtbot, read, films, 3)
    tree = read.browser.tree
    choice = ColumnChoice(sorted_by="Read")
    read._cases.show_columns(choice)
    before = [row.stack.key for row in _rows(read)]
    tree.show_states({before[0]: ReadingState.DONE})
    tree.set_filter("x")
    tree.set_filter("")
    assert [row.stack.key for row in _rows(read)] == before
    read._cases.show_columns(ColumnChoice())
    read._cases.show_columns(choice)
    assert _rows(read)[-1].stack.key == before[0]
