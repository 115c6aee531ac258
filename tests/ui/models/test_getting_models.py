"""Known models are downloaded in the window, paused, resumed and connected."""

import random
import tomllib
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.hub_server import GATED, ask_hub, hub_server
from tests.helpers.ollama_server import SIZES, OllamaServer
from tests.ui.models.test_choosing_models import click_item, connect_page, row
from tests.ui.models.test_models_workspace import text
from viewer.models.openai_api.loopback_servers import LoopbackServer
from viewer.services.commands import HeldModel
from viewer.services.configuring.model_list import ModelLine, Readiness
from viewer.services.probing.found import found_models
from viewer.ui.application.app_context import AppContext
from viewer.ui.dialogs.connect import ConnectPage
from viewer.ui.dialogs.get_model import GetModel, hub, ollama
from viewer.ui.panels.models.connecting import ModelConnected
from viewer.ui.panels.models.memory import GetWanted, ModelMemory
from viewer.ui.tables.models_model import ModelRow
from viewer.ui.workspaces.models import ModelsWorkspace

pytest.importorskip("huggingface_hub")
QWEN = "Qwen/Qwen3-VL-8B-Instruct"
SIZE = 3_000_000


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a folder as a hub might hold it, with one file of weights."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "model.safetensors").write_bytes(random.Random(0).randbytes(SIZE))
    return folder


def _press(button: QPushButton) -> None:
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def _get_page(window: QWidget) -> GetModel:
    page = window.findChild(GetModel)
    assert isinstance(page, GetModel)
    return page


def test_that_a_known_model_is_downloaded_with_a_pause_and_connected(
    workspace: ModelsWorkspace,
    context: AppContext,
    qtbot: QtBot,
    tmp_path: Path,
    published: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, connected = tmp_path / "hub", list[object]()
    workspace.connected.connect(connected.append)
    with hub_server(QWEN, published, bytes_per_s=1_000_000) as address:
        ask_hub(monkeypatch, address, home)
        offers = connect_page(workspace)
        offers.filter.setText("Qwen3-VL 8B Instruct")
        items = [row(offers.known, n) for n in range(offers.known.topLevelItemCount())]
        (item,) = [one for one in items if not one.isHidden()]
        click_item(offers.known, item)
        page = _get_page(workspace.window())
        assert not page.foot.go.isEnabled()
        qtbot.waitUntil(page.foot.go.isEnabled)
        assert "Size: 3.0 MB, of which 3.0 MB are not here yet" in page.about.text()
        assert not home.exists()  # nothing is fetched without a click
        _press(page.foot.go)
        qtbot.waitUntil(lambda: page.foot.progress.value() > 0)
        assert "of 3.0 MB" in page.foot.sentence.text()
        _press(page.foot.stop)
        qtbot.waitUntil(lambda: page.foot.go.text() == "Resume")
        assert page.foot.sentence.text() == "Paused. What has been downloaded is kept."
        (part,) = home.rglob("*.part")
        assert 0 < part.stat().st_size < SIZE
        assert QWEN not in text(context)
        with qtbot.waitSignal(page.fetched, timeout=20_000):
            _press(page.foot.go)
    saved = tomllib.loads(text(context))["model"][-1]
    assert (saved["name"], saved["model"]) == ("qwen3-vl-8b", QWEN)
    assert connected == [ModelConnected("qwen3-vl-8b")]
    (weights,) = home.rglob("model.safetensors")
    assert weights.read_bytes() == (published / "model.safetensors").read_bytes()


def test_that_a_model_that_is_here_is_connected_without_a_network(
    qtbot: QtBot, tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub_server("acme/tiny", published) as address:
        ask_hub(monkeypatch, address, tmp_path / "hub")
        first = GetModel(hub(), "acme/tiny")
        qtbot.waitUntil(first.foot.go.isEnabled)
        with qtbot.waitSignal(first.fetched):
            first.foot.go.click()
    again = GetModel(hub(), "acme/tiny")
    with qtbot.waitSignal(again.fetched) as fetched:
        again.show()
    assert fetched.signal_triggered


def test_that_a_refused_model_says_where_its_terms_are_and_takes_a_token(
    qtbot: QtBot, tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub_server("acme/tiny", published) as address:
        ask_hub(monkeypatch, address, tmp_path / "hub")
        page = GetModel(hub(), GATED)
        qtbot.addWidget(page)
        page.show()
        qtbot.waitUntil(page.foot.go.isEnabled)
    assert f"https://huggingface.co/{GATED}" in page.about.text()
    assert page.key.isVisible()
    _press(page.foot.go)  # Try again, now without a network
    qtbot.waitUntil(lambda: "could not be downloaded" in page.about.text())
    assert not page.key.isVisible()


def test_that_closing_the_page_stops_the_download(
    qtbot: QtBot, tmp_path: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "hub"
    with hub_server("acme/tiny", published, bytes_per_s=500_000) as address:
        ask_hub(monkeypatch, address, home)
        page = GetModel(hub(), "acme/tiny")
        page.show()
        qtbot.waitUntil(page.foot.go.isEnabled)
        _press(page.foot.go)
        qtbot.waitUntil(lambda: page.foot.progress.value() > 0)
        stop = page._stop
        page.close()
        assert stop.is_set()


def test_that_a_model_that_is_not_here_offers_to_get_it(qtbot: QtBot) -> None:
    memory, wanted = ModelMemory(), list[object]()
    qtbot.addWidget(memory)
    memory.get_wanted.connect(wanted.append)
    table = {"adapter": "transformers_local", "model": QWEN, "revision": "v1"}
    line = ModelLine(
        "qwen", "transformers_local", "", Readiness.READY, "", own=True, table=table
    )
    away = HeldModel("qwen", "unloaded", 0, "The model is not on this machine.")
    memory.show_row(ModelRow("qwen", line, edited=False, held=away, step=None))
    memory.get.click()
    assert wanted == [GetWanted(QWEN, "v1")]
    here = HeldModel("qwen", "unloaded", 0)
    memory.show_row(ModelRow("qwen", line, edited=False, held=here, step=None))
    assert memory.get.isHidden()


def test_that_ollama_gets_a_model_by_its_name_and_is_looked_at_again(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    with OllamaServer(pause_s=0.05) as server:
        offers = connect_page(workspace)
        here = LoopbackServer("ollama", server.base_url)
        offers.show_found(found_models((here,)), looking=False)
        assert offers.words.text().endswith("has no model yet.")
        line = row(offers.found, 0)
        assert line.text(0) == "Get a model from Ollama…"
        click_item(offers.found, line)
        page = _get_page(workspace.window())
        assert not page.without.isVisible()
        assert not page.foot.go.isEnabled()
        QTest.keyClicks(page.name, "medgamma")
        _press(page.foot.go)
        qtbot.waitUntil(lambda: page.foot.go.text() == "Try again")
        assert "Ollama knows no model called 'medgamma'" in page.about.text()
        page.name.clear()
        assert page.about.text() == ""
        QTest.keyClicks(page.name, "medgemma:4b")
        _press(page.foot.go)
        qtbot.waitUntil(lambda: page.foot.progress.value() > 0)
        assert "Downloading, " in page.foot.sentence.text()
        assert not page.name.isEnabled()
        _press(page.foot.stop)
        qtbot.waitUntil(lambda: page.foot.go.text() == "Resume")
        assert "Ollama keeps what has been downloaded" in page.foot.sentence.text()
        server.pause_s = 0.0
        workspace.endpoints._finds.clear()
        with qtbot.waitSignal(page.fetched, timeout=20_000):
            _press(page.foot.go)
    assert server.here == SIZES
    assert workspace.endpoints._finds
    shown = workspace.window().findChildren(ConnectPage)
    assert any(one.isVisible() for one in shown)


def test_that_an_open_page_of_connect_is_looked_at_again(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    with OllamaServer() as server:
        page = GetModel(ollama(server.base_url), parent=workspace.window())
        page.fetched.connect(workspace.connecting._show_again)
        page.show()
        offers = connect_page(workspace)
        offers.show_found((), looking=False)
        page.name.setText("medgemma:4b")
        with qtbot.waitSignal(page.fetched):
            _press(page.foot.go)
    assert offers.bar.isVisible()
