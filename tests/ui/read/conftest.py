"""A desk with an empty store, and the workspace Read on it."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from viewer.services.viewing.decoding import Decoder, LocalDecoder
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.desk import Desk, WorkerBridge
from viewer.ui.read_workspace import ReadWorkspace


@pytest.fixture
def decoder() -> Decoder:
    """Whatever reads the images; a test file may put its own here."""
    return LocalDecoder()


@pytest.fixture
def desk(settings: Settings, decoder: Decoder) -> Iterator[Desk]:
    """A desk with a worker that nobody has started."""
    with open_store(settings.store):
        pass
    made = Desk(settings, WorkerBridge(settings.store), decoder)
    yield made
    made.worker.close()


@pytest.fixture
def read(qtbot: QtBot, desk: Desk) -> ReadWorkspace:
    """The workspace Read at 1200 × 800, on the screen."""
    workspace = ReadWorkspace(desk)
    qtbot.addWidget(workspace)
    desk.actions.handle(workspace.handlers())
    workspace.resize(1200, 800)
    workspace.show()
    return workspace
