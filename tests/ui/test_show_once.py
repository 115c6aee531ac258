"""Pages beside the window, and the dialogs that choose files."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from viewer.ui.application.show_once import show_once
from viewer.ui.widgets.file_choice import (
    Purpose,
    choose_to_read,
    choose_to_write,
    set_last_folders,
    start_folder,
)
from viewer.ui.widgets.scrolled import resize_on_screen


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def _page(parent: QWidget) -> QDialog:
    page = QDialog(parent)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return page


def test_that_a_page_is_shown_once_however_often_it_is_asked_for(
    parent: QWidget,
) -> None:
    for _ in range(3):
        show_once(parent, "tags", partial(_page, parent))
    (page,) = parent.findChildren(QDialog)
    assert page.isVisible()


def test_that_a_page_that_was_closed_is_shown_anew(parent: QWidget) -> None:
    show_once(parent, "tags", partial(_page, parent))
    first = parent.findChild(QDialog)
    assert isinstance(first, QDialog)
    first.close()
    show_once(parent, "tags", partial(_page, parent))
    assert [p.isVisible() for p in parent.findChildren(QDialog)].count(True) == 1


def _dialog(parent: QWidget) -> QFileDialog:
    dialog = parent.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    return dialog


def test_that_a_file_to_write_is_chosen_while_the_window_goes_on(
    parent: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    chosen: list[Path] = []
    choose_to_write(parent, "Export", "results.csv", "Tables (*.csv)", chosen.append)
    dialog = _dialog(parent)
    qtbot.waitUntil(dialog.isVisible)
    assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile("other")
    dialog.accept()
    assert chosen == [tmp_path / "other.csv"]


def test_that_a_file_to_read_is_chosen_while_the_window_goes_on(
    parent: QWidget, qtbot: QtBot, tmp_path: Path
) -> None:
    study = tmp_path / "study.toml"
    study.write_text("", encoding="utf-8")
    chosen: list[Path] = []
    choose_to_read(parent, "Open", "Studies (*.toml)", chosen.append)
    dialog = _dialog(parent)
    qtbot.waitUntil(dialog.isVisible)
    dialog.selectFile(str(study))
    dialog.accept()
    assert chosen == [study]


def test_that_nobody_is_called_where_a_person_cancels(parent: QWidget) -> None:
    chosen: list[Path] = []
    choose_to_read(parent, "Open", "Studies (*.toml)", chosen.append)
    _dialog(parent).reject()
    assert chosen == []


def test_that_each_dialog_opens_where_its_purpose_last_was(
    parent: QWidget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    set_last_folders({})
    (tmp_path / "studies").mkdir()
    study = tmp_path / "studies" / "study.toml"
    study.write_text("", encoding="utf-8")
    assert start_folder(Purpose.DATA) in {Path.home(), Path.home() / "Documents"}
    choose_to_read(parent, "Open", "Studies (*.toml)", lambda _: None)
    dialog = _dialog(parent)
    assert Path(dialog.directory().absolutePath()) != tmp_path
    dialog.fileSelected.emit(str(study))
    dialog.close()
    assert start_folder(Purpose.DATA) == study.parent
    assert start_folder(Purpose.RESULTS) != study.parent
    study.unlink()
    study.parent.rmdir()
    assert start_folder(Purpose.DATA) != study.parent


def test_that_a_page_is_never_larger_than_its_screen(parent: QWidget) -> None:
    room = parent.screen().availableSize()
    resize_on_screen(parent, 200, 100)
    assert (parent.width(), parent.height()) == (200, 100)
    resize_on_screen(parent, room.width() + 400, room.height() + 10)
    assert parent.size() == room
