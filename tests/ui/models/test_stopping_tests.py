"""Tests and calibrations end when a person wants it, whatever they wait for."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.ui.models.conftest import with_worker
from viewer.services.configuring.model_profiles import apply_edit, saving
from viewer.services.worker.background import WorkerLoading
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.workspaces.models import ModelsWorkspace

WAIT_MS = 20_000


@pytest.fixture
def slow_server() -> Iterator[ScriptedServer]:
    """Yield a server that answers each question after a minute."""
    with ScriptedServer(EndpointScript(latency_s=60.0)) as made:
        yield made


@pytest.fixture
def told(context: AppContext) -> list[Notice]:
    notices = list[Notice]()
    context.notices.posted.connect(notices.append)
    return notices


def add(context: AppContext, **table: object) -> None:
    file = context.settings.models_file
    apply_edit(saving(table, None, file), file)


@with_worker
def test_that_a_test_ends_at_once_while_its_server_does_not_answer(
    workspace: ModelsWorkspace,
    context: AppContext,
    qtbot: QtBot,
    slow_server: ScriptedServer,
    told: list[Notice],
) -> None:
    url = slow_server.base_url
    add(context, name="far", adapter="openai_api", base_url=url, model="m")
    workspace.refresh("far")
    panel = workspace.profile.test
    qtbot.waitUntil(lambda: panel.test.text() == "Test far")
    assert not panel.stop.isVisible()
    workspace.handlers()["model.test"]()
    assert panel.stop.isVisible()
    assert not panel.test.isVisible()
    qtbot.waitUntil(lambda: bool(slow_server.script.received), timeout=WAIT_MS)
    panel.stop.click()
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert "test was stopped" in told[0].what
    assert panel.test.isEnabled()
    assert panel.test.isVisible()
    assert not panel.bar.isVisible()


@with_worker
def test_that_a_calibration_can_be_cancelled_while_its_model_loads(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot, told: list[Notice]
) -> None:
    steps = list[WorkerLoading]()

    def hear(message: object) -> None:
        if isinstance(message, WorkerLoading):
            steps.append(message)

    context.worker.message.connect(hear)
    workspace.calibrations.calibrate("endless")
    qtbot.waitUntil(lambda: bool(steps), timeout=WAIT_MS)
    assert steps[0].step.what == "reading weights"
    workspace.calibrations.stop("endless")
    qtbot.waitUntil(lambda: bool(told), timeout=WAIT_MS)
    assert "calibration was stopped" in told[0].what
    qtbot.waitUntil(lambda: "endless" not in workspace.book.steps, timeout=WAIT_MS)
