"""Read: an image of a restricted data set is asked about on this machine only."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import everything_is_remote, write_images
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import ModelState, model_states
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.status_bar import Destinations
from viewer.ui.panels.asking import answering
from viewer.ui.workspaces.read import ReadWorkspace

_PATIENCE_MS = 20_000
MODELS = """[[model]]
name = "far"
adapter = "openai_api"
base_url = "http://127.0.0.1:8131/v1"
model = "tiny-vlm"
"""


@pytest.fixture
def films(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two films, of which the first is restricted, and a model asked elsewhere."""
    everything_is_remote(monkeypatch)
    settings.home.mkdir(exist_ok=True)
    settings.models_file.write_text(MODELS)
    folder = write_images(tmp_path / "films", 1)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", folder, "films", restricted=True)
    return folder


def box_of(read: ReadWorkspace, name: str) -> QCheckBox:
    return next(box for state, box in read.ask._models if state.name == name)


def test_that_a_remote_model_is_not_asked_and_panel_and_status_bar_say_why(
    films: Path, read: ReadWorkspace, context: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    where = Destinations()
    qtbot.addWidget(where)
    context.status.hosts_changed.connect(where.show_hosts)
    read.reload_models()
    qtbot.waitUntil(lambda: any(s.name == "far" for s, _ in read.ask._models))
    for state, box in read.ask._models:
        box.setChecked(state.name == "far")
    assert where.words.text() == "Sends to 127.0.0.1"
    read.open_paths((films / "patient00000_frontal.png",))
    qtbot.waitUntil(lambda: not box_of(read, "far").isEnabled(), timeout=_PATIENCE_MS)
    assert where.words.text() == "Local only: 'films' is restricted"
    assert list(read.ask.ticked) == []
    assert read.ask.choice.models == ("far",)
    assert "'films' is restricted" in read.ask.hint.text()
    assert not read.ask.ask.isEnabled()
    box_of(read, "uniform").setChecked(True)
    assert list(read.ask.ticked) == ["uniform"]
    other = write_images(tmp_path / "others", 1) / "patient00000_frontal.png"
    other.write_bytes(other.read_bytes() + b"\\0")
    read.open_paths((other,))
    qtbot.waitUntil(lambda: box_of(read, "far").isEnabled(), timeout=_PATIENCE_MS)
    assert where.words.text() == "Sends to 127.0.0.1"
    assert list(read.ask.ticked) == ["far", "uniform"]


@pytest.mark.usefixtures("films")
def test_that_models_are_read_again_beside_the_window_and_new_ones_ticked(
    read: ReadWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a further change comes before they are read."""
    threads = set[threading.Thread]()

    def noted(settings: Settings) -> tuple[ModelState, ...]:
        threads.add(threading.current_thread())
        return model_states(settings)

    ready = [state.name for state, box in read.ask._models if state.ready]
    last = next(name for name in ready[::-1] if name not in read.ask.ticked)
    monkeypatch.setattr(answering, "model_states", noted)
    read.reload_models(last)
    read.reload_models()
    qtbot.waitUntil(lambda: last in read.ask.ticked)
    assert threads
    assert threading.main_thread() not in threads
