from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import a_spec, write_images
from tests.helpers.window_parts import IdleWorker
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.services.importing.import_dataset import import_dataset
from viewer.settings import Settings
from viewer.store import consents
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.dialogs.consent import ConsentDialog
from viewer.ui.workspaces.measure import MeasureWorkspace

FAR = ModelProfile(
    "far", "openai_api", {"base_url": "https://api.example.org/v1", "model": "x"}
)
NEAR = ModelProfile("uniform", "uniform")
_N = 3


@pytest.fixture
def workers() -> list[IdleWorker]:
    return []


@pytest.fixture
def workspace(
    qtbot: QtBot, settings: Settings, tmp_path: Path, workers: list[IdleWorker]
) -> MeasureWorkspace:
    def make(store: Path, listener: Callable[[object], None]) -> IdleWorker:
        workers.append(IdleWorker(store, listener))
        return workers[-1]

    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "films", _N), "films")
    made = MeasureWorkspace(AppContext(settings, WorkerBridge(settings.store, make)))
    qtbot.addWidget(made)
    return made


def spec_of(*models: ModelProfile) -> RunSpec:
    return a_spec(models, dataset="films", params={})


def begun(workers: list[IdleWorker]) -> list[object]:
    told = (what for worker in workers for what in worker.told)
    return [what for what in told if isinstance(what, tuple) and what[0] == "batch"]


def dialog_of(workspace: MeasureWorkspace, qtbot: QtBot) -> ConsentDialog:
    qtbot.waitUntil(lambda: workspace.findChild(ConsentDialog) is not None)
    dialog = workspace.findChild(ConsentDialog)
    assert isinstance(dialog, ConsentDialog)
    return dialog


def test_that_a_batch_here_starts_at_once(
    workspace: MeasureWorkspace, workers: list[IdleWorker]
) -> None:
    workspace.batches.start(spec_of(NEAR))
    assert len(begun(workers)) == 1


def test_that_a_batch_elsewhere_shows_its_first_request_and_their_number(
    workspace: MeasureWorkspace,
    workers: list[IdleWorker],
    settings: Settings,
    qtbot: QtBot,
) -> None:
    spec = spec_of(NEAR, FAR)
    workspace.batches.start(spec)
    dialog = dialog_of(workspace, qtbot)
    assert dialog.windowTitle() == "Send to https://api.example.org:443?"
    assert f"{_N} requests" in dialog.planned.text()
    assert begun(workers) == []
    dialog.send.click()
    qtbot.waitUntil(lambda: bool(begun(workers)))
    with open_store(settings.store) as store:
        (consent,) = consents.standing_consents(store, "films")
    assert consent.endpoint == "https://api.example.org:443"
    assert consent.purpose.startswith(f"{_N} question(s), first ")


def test_that_a_batch_that_is_not_allowed_does_not_start(
    workspace: MeasureWorkspace, workers: list[IdleWorker], qtbot: QtBot
) -> None:
    told: list[str] = []
    workspace._context.notices.posted.connect(lambda notice: told.append(notice.what))
    workspace.batches.start(spec_of(FAR))
    dialog_of(workspace, qtbot).keep.click()
    qtbot.waitUntil(lambda: told == ["The batch was not started."])
    assert begun(workers) == []
