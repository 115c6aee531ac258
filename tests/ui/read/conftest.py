"""A context with an empty store, and the workspace Read on it."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.workspaces.read import ReadWorkspace


@pytest.fixture
def decoder() -> Decoder:
    """Whatever reads the images; a test file may put its own here."""
    return LocalDecoder()


@pytest.fixture
def context(settings: Settings, decoder: Decoder) -> Iterator[AppContext]:
    """A context with a worker that nobody has started."""
    with open_store(settings.store):
        pass
    made = AppContext(settings, WorkerBridge(settings.store), decoder)
    yield made
    made.worker.close()


@pytest.fixture
def read(qtbot: QtBot, context: AppContext) -> ReadWorkspace:
    """The workspace Read at 1200 × 800, on the screen."""
    workspace = ReadWorkspace(context)
    qtbot.addWidget(workspace)
    context.actions.handle(workspace.handlers())
    workspace.resize(1200, 800)
    workspace.show()
    return workspace
