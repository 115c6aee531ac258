"""From an empty store to a model's answer on a radiograph in three clicks.

The servers: llama.cpp's own with a tiny vision model, and stand-ins for Ollama and LM
Studio that answer as their public documents show: docs/openapi.yaml of
github.com/ollama/ollama, and 1_developer/2_rest/endpoints.md of
github.com/lmstudio-ai/docs. A proof asks ``transformers serve`` with a tiny model in
the cache of the hub, as it lists no others. Only the ports differ from the usual ones.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.helpers import window_story
from tests.helpers.llama_server import llama_server
from tests.helpers.phantom_folders import write_phantom
from tests.helpers.scripted_server import Received, Script, ScriptedServer
from tests.helpers.window_story import Story, open_window
from tests.stories.test_real_server import transformers_server
from viewer.domain.geometry import SizePx
from viewer.models.openai_api.loopback_servers import Place, loopback_servers
from viewer.services.probing import found
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.settings import Settings
from viewer.ui.dialogs.connect import ConnectPage

_MOST_CLICKS: Final = 3


@dataclass
class OllamaScript(Script):
    """Ollama's list of models and what each can do, and its OpenAI interface."""

    def listing(self, path: str) -> tuple[int, object]:
        """Return the models of ``/api/tags``."""
        rows = [{"name": "medgemma:4b", "size": 3338801718}]
        return (200, {"models": rows}) if path == "/api/tags" else (404, {})

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return a model's capabilities, or an answer."""
        if request.path == "/api/show":
            return 200, {"capabilities": ["completion", "vision"]}
        return super().reply_to(request)


@dataclass
class LmStudioScript(Script):
    """LM Studio's list of models with their types, and its OpenAI interface."""

    def listing(self, path: str) -> tuple[int, object]:
        """Return the models of ``/api/v0/models``."""
        rows = [{"id": "qwen2.5-vl-7b-instruct", "object": "model", "type": "vlm"}]
        listed = {"object": "list", "data": rows}
        return (200, listed) if path == "/api/v0/models" else (404, {})

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Answer with a box in pixels, as the family of Qwen2.5-VL does."""
        self.answer = json.dumps([{"bbox_2d": [20, 30, 60, 80], "label": "x"}])
        return super().reply_to(request)


@contextmanager
def ollama(_: Path) -> Iterator[Place]:
    with ScriptedServer(OllamaScript()) as server:
        yield Place(_port(server.base_url), "ollama")


@contextmanager
def lm_studio(_: Path) -> Iterator[Place]:
    with ScriptedServer(LmStudioScript()) as server:
        yield Place(_port(server.base_url), "lm_studio")


@contextmanager
def llama_cpp(folder: Path) -> Iterator[Place]:
    with llama_server(folder) as base_url:
        yield Place(_port(base_url))


@contextmanager
def transformers_serve(folder: Path) -> Iterator[Place]:
    with transformers_server(folder) as base_url:
        yield Place(_port(base_url))


def _port(base_url: str) -> int:
    return int(base_url.split(":")[2].partition("/")[0])


class Hand:
    """Clicks with the mouse, and counts the clicks."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Click in the middle of a widget, or at a point of it."""
        self.clicks += 1
        window_story.click(widget, at)


Serving = Callable[[Path], AbstractContextManager[Place]]


@pytest.mark.parametrize(
    ("serve", "name"),
    [
        (ollama, "medgemma-4b"),
        (lm_studio, "qwen2.5-vl-7b-instruct"),
        (llama_cpp, "tiny-vlm"),
        pytest.param(transformers_serve, "tiny-llava", marks=pytest.mark.proof),
    ],
)
def test_that_three_clicks_lead_from_nothing_to_an_answer_on_a_radiograph(
    serve: Serving,
    name: str,
    qtbot: QtBot,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve(tmp_path) as place:
        look = partial(loopback_servers, (place,), 10.0)
        monkeypatch.setattr(found, "loopback_servers", look)
        folder = tmp_path / "radiographs"
        write_phantom(make_phantom, folder, 1, 0, SizePx(250, 200), compress=False)
        story = open_window(qtbot, settings, folder)
        story.window.open_paths([folder])
        story.wait(lambda: story.read.lightbox.active.shown is not None)
        assert not settings.models_file.exists()
        begun, hand = time.monotonic(), Hand()
        connect_and_ask(story, hand, name)
        seconds = time.monotonic() - begun
        sys.stdout.write(f"{name}: {hand.clicks} clicks, {seconds:.1f} s\n")
        assert hand.clicks <= _MOST_CLICKS
        story.picture(f"connected_{name}")


def connect_and_ask(story: Story, hand: Hand, name: str) -> None:
    """Connect the model that was found, and ask it about the image."""
    ask = story.read.ask
    hand.click(ask.connecting)
    page = story.window.findChild(ConnectPage)
    assert isinstance(page, ConnectPage)
    story.wait(lambda: page.found.topLevelItemCount() and page.found.isVisible())
    item = page.found.topLevelItem(0)
    assert item is not None
    hand.click(page.found.viewport(), page.found.visualItemRect(item).center())
    story.wait(lambda: name in ask.ticked and ask.ask.isEnabled())
    hand.click(ask.ask)
    view = story.read.lightbox.view
    story.wait(lambda: name in {item.answer.model for item in view.answer_items})
