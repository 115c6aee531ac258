"""An opened folder is a data set: named, counted, asked about without questions."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.small_datasets import square, write_picture
from viewer.domain.case import View
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.importing.open_folder import folder_words
from viewer.services.running.batch_form import dataset_names
from viewer.store.database import open_store
from viewer.store.folders import FolderSummary, summary_of
from viewer.ui.application.app_context import AppContext
from viewer.ui.panels.read import folder_watch
from viewer.ui.workspaces.read import ReadWorkspace

_MASK = np.where(square(), np.uint8(255), np.uint8(0))


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """Two films with their view in their names, one of them with a mask."""
    folder = tmp_path / "films"
    write_picture(folder / "one_pa.png")
    write_picture(folder / "one_pa.Lung Lesion.png", _MASK)
    write_picture(folder / "two_lat.png")
    return folder


def _open(qtbot: QtBot, read: ReadWorkspace, folder: Path) -> None:
    read.furnish()
    with qtbot.waitSignal(read._folders.registered):
        read.open_paths([folder])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)


def test_that_an_opened_folder_is_a_data_set_that_a_batch_can_ask_about(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: Path
) -> None:
    _open(qtbot, read, films)
    line = read.browser.folder
    assert line.words.text() == (
        "films: 2 images, 1 reference (Lung Lesion) · view: frontal 1, lateral 1"
    )
    assert line.batch.text() == "Batch on these 2 images…"
    with qtbot.waitSignal(line.batch_wanted) as wanted:
        QTest.mouseClick(line.batch, Qt.MouseButton.LeftButton)
    assert wanted.args == list(dataset_names(context.settings.store)) == ["films"]
    with qtbot.waitSignal(line.read_wanted) as wanted:
        QTest.mouseClick(line.read, Qt.MouseButton.LeftButton)
    assert wanted.args == ["films"]


def test_that_ask_knows_the_view_that_a_data_set_gives_a_film(
    qtbot: QtBot, read: ReadWorkspace, films: Path
) -> None:
    read.furnish()
    read.open_paths([films])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    qtbot.waitUntil(lambda: not read.ask.view.isVisible())
    assert read.ask._asked() is View.FRONTAL


def test_that_a_folder_opened_again_is_read_again_only_if_it_changed(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    films: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _open(qtbot, read, films)
    read.close_all()
    with monkeypatch.context() as patched:
        patched.setattr("viewer.services.importing.import_preview.preview", None)
        _open(qtbot, read, films)
    read.close_all()
    write_picture(films / "three_pa.png")
    _open(qtbot, read, films)
    with open_store(context.settings.store) as store:
        assert summary_of(store, "films").images == 3
    assert dataset_names(context.settings.store) == ("films",)


def test_that_a_folder_of_an_imported_data_set_stays_part_of_it(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, films: Path
) -> None:
    shutil.copytree(films, films / "more")
    with open_store(context.settings.store) as store:
        import_dataset(store, "folder", films, "imported")
    _open(qtbot, read, films / "more")
    assert dataset_names(context.settings.store) == ("imported",)
    assert read.browser.folder.words.text().startswith("imported: 4 images")


def test_that_a_single_picture_without_a_reference_makes_no_data_set(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, tmp_path: Path
) -> None:
    write_picture(tmp_path / "alone" / "one.png")
    _open(qtbot, read, tmp_path / "alone")
    assert not dataset_names(context.settings.store)
    assert not read.browser.folder.isVisible()


def test_that_a_zip_opens_like_the_folder_that_was_packed(
    qtbot: QtBot, read: ReadWorkspace, films: Path, tmp_path: Path
) -> None:
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", films)
    _open(qtbot, read, Path(packed))
    assert _listed(read) == ["one_pa.png", "two_lat.png"]
    assert read.browser.folder.words.text() == (
        "packed: 2 images, 1 reference (Lung Lesion) · view: frontal 1, lateral 1"
    )


def test_that_the_list_and_the_data_set_follow_the_disk(
    qtbot: QtBot,
    read: ReadWorkspace,
    films: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folder_watch, "INTERVAL_MS", 50)
    _open(qtbot, read, films)
    hung = read.lightbox.active.shown
    listing = read._opening._watch._known
    qtbot.waitUntil(lambda: listing[films] != folder_watch._UNSEEN)
    write_picture(films / "three_pa.png")
    qtbot.waitUntil(lambda: "three_pa.png" in _listed(read))
    line = read.browser.folder.words
    qtbot.waitUntil(lambda: line.text().startswith("films: 3 images"))
    assert read.lightbox.active.shown is hung
    (films / "two_lat.png").unlink()
    qtbot.waitUntil(lambda: _listed(read) == ["one_pa.png", "three_pa.png"])
    qtbot.waitUntil(lambda: line.text().startswith("films: 2 images"))


def test_that_a_share_that_disappears_is_told_in_a_sentence_and_nothing_is_lost(
    qtbot: QtBot,
    read: ReadWorkspace,
    context: AppContext,
    films: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folder_watch, "INTERVAL_MS", 50)
    told: list[object] = []
    context.notices.posted.connect(told.append)
    _open(qtbot, read, films)
    listing = read._opening._watch._known
    qtbot.waitUntil(lambda: listing[films] != folder_watch._UNSEEN)
    views = read.lightbox.viewports
    qtbot.waitUntil(lambda: sum(view.shown is not None for view in views) == 2)
    away = films.rename(films.with_name("away"))
    qtbot.waitUntil(lambda: bool(told))
    qtbot.wait(200)
    assert "The folder films cannot be reached any more." in str(told)
    assert _listed(read) == ["one_pa.png", "two_lat.png"]
    assert read.lightbox.active.shown is not None
    away.rename(films)
    write_picture(films / "three_pa.png")
    qtbot.waitUntil(lambda: "three_pa.png" in _listed(read))
    assert len(told) == 1


def _listed(read: ReadWorkspace) -> list[str]:
    return [row.stack.name for row in read.browser.tree.rows()]


def test_that_unknown_views_are_set_once_for_a_whole_folder(
    qtbot: QtBot, read: ReadWorkspace, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        write_picture(tmp_path / "plain" / f"{name}.png")
    _open(qtbot, read, tmp_path / "plain")
    line = read.browser.folder
    qtbot.waitUntil(line.views.isVisible)
    with qtbot.waitSignal(read._folders.registered):
        line.menu.actions()[0].trigger()
    assert line.words.text().endswith("view: frontal 2")
    assert not line.views.isVisible()
    qtbot.waitUntil(lambda: not read.ask.view.isVisible())
    read.close_all()
    _open(qtbot, read, tmp_path / "plain")
    assert line.words.text().endswith("view: frontal 2")


def test_that_a_view_is_told_only_where_there_are_radiographs() -> None:
    ct = FolderSummary("ct", 12, 0, (), {View.OTHER: 12})
    assert folder_words(ct) == "ct: 12 images, no reference"
    both = replace(ct, images=13, views={View.FRONTAL: 1, View.OTHER: 12})
    assert folder_words(both).endswith("view: frontal 1, not a radiograph 12")
