"""A data set that is restricted is marked on the batch page, and stays here."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import everything_is_remote, write_images
from viewer.domain.case import ImageRef
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.privacy.decisions import (
    restrict,
    restricted_by,
    restricted_datasets,
)
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.dialogs.batch import BatchDialog

MODELS = """[[model]]
name = "far"
adapter = "openai_api"
base_url = "http://127.0.0.1:8131/v1"
model = "tiny-vlm"
"""


@pytest.fixture
def films(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Images of a data set, and a model that is asked elsewhere."""
    everything_is_remote(monkeypatch)
    folder = write_images(tmp_path / "images", 2)
    settings.models_file.write_text(MODELS)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", folder, "films")
    return folder


@pytest.fixture
def dialog(settings: Settings, films: Path, qtbot: QtBot) -> BatchDialog:
    del films
    made = BatchDialog(settings)
    qtbot.addWidget(made)
    made.reload()
    made.show()
    qtbot.waitUntil(lambda: made.models.count() > 0 and made.restricted.isEnabled())
    return made


def _tick(dialog: BatchDialog, *names: str) -> None:
    for row in range(dialog.models.count()):
        item = dialog.models.item(row)
        on = item.text().partition(" ")[0] in names
        item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)


def test_that_a_tick_is_kept_and_a_remote_model_is_told_why_not(
    dialog: BatchDialog, settings: Settings, qtbot: QtBot
) -> None:
    assert not dialog.restricted.isChecked()
    _tick(dialog, "far", "uniform")
    QTest.mouseClick(dialog.restricted, Qt.MouseButton.LeftButton)
    said = "'films' is restricted: its images stay on this machine, so far cannot"
    qtbot.waitUntil(lambda: dialog.sentence.text().startswith(said))
    qtbot.waitUntil(lambda: restricted_datasets(settings.store) == {"films"})
    assert not dialog.start.isEnabled()
    _tick(dialog, "uniform")
    qtbot.waitUntil(dialog.start.isEnabled, timeout=10_000)
    qtbot.waitUntil(dialog.restricted.isEnabled)
    QTest.mouseClick(dialog.restricted, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: restricted_datasets(settings.store) == frozenset())


def test_that_a_restricted_data_set_shows_its_tick(
    dialog: BatchDialog, settings: Settings, qtbot: QtBot
) -> None:
    with open_store(settings.store) as store:
        restrict(store, "films", restricted=True)
    dialog.reload()
    qtbot.waitUntil(dialog.restricted.isChecked)
    assert restricted_datasets(settings.store) == frozenset({"films"})


def test_that_an_image_is_known_under_another_name(
    films: Path, settings: Settings, tmp_path: Path
) -> None:
    image = films / "patient00000_frontal.png"
    copy = tmp_path / "copy.png"
    copy.write_bytes(image.read_bytes())
    assert restricted_by(settings.store, ImageRef(copy)) == ""
    with open_store(settings.store) as store:
        restrict(store, "films", restricted=True)
    assert restricted_by(settings.store, ImageRef(copy)) == "films"
