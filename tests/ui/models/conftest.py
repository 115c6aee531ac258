"""A home with models of every kind, and the package of somebody else's that loads."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.outside_packages import installed
from tests.helpers.window_parts import IdleWorker
from viewer.models.catalog import builtin_profiles
from viewer.services.worker.background import BackgroundWorker
from viewer.settings import Settings
from viewer.ui.application.app_context import AppContext, Listener, Worker, WorkerBridge
from viewer.ui.workspaces.models import ModelsWorkspace

MakeWorker = Callable[[Path, Listener], Worker]

MODELS = """# mine, in the order I like
[[model]]
name = "here"
adapter = "openai_api"
base_url = "http://127.0.0.1:9/v1"
model = "m"

# loads in a moment
[[model]]
name = "large"
adapter = "slow"
seconds = 0.6

[[model]]
name = "endless"
adapter = "slow"
seconds = 600
"""
LISTED = MODELS.count("[[model]]") + len(builtin_profiles())
"""How many models are listed with these."""


@pytest.fixture
def _loadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install, for this test and its workers, an adapter that has to load."""
    with installed(tmp_path / "site", monkeypatch):
        yield


with_worker = pytest.mark.parametrize(
    "make_worker", [BackgroundWorker], ids=["with a worker"]
)
"""Let a real worker, which takes a second to start, answer what the window asks."""


@pytest.fixture
def make_worker() -> MakeWorker:
    """What makes the worker; one without a process, unless a test wants another."""
    return IdleWorker


@pytest.fixture
def context(
    settings: Settings, qtbot: QtBot, make_worker: MakeWorker, _loadable: None
) -> Iterator[AppContext]:
    """A context with the models above."""
    del qtbot  # the application
    settings.models_file.write_text(MODELS)
    made = AppContext(settings, WorkerBridge(settings.store, make_worker))
    yield made
    made.worker.close()


@pytest.fixture
def workspace(context: AppContext, qtbot: QtBot) -> ModelsWorkspace:
    """The workspace, with every model listed."""
    made = ModelsWorkspace(context)
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    qtbot.waitUntil(lambda: len(made.list.models.rows) == LISTED)
    return made
