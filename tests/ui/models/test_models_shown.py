"""Models: what the panel says where little is there, and of what is missing."""

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.models.conftest import with_worker
from tests.ui.models.test_models_workspace import choose, row
from viewer.services.configuring import model_list
from viewer.ui.application.app_context import AppContext
from viewer.ui.workspaces.models import ModelsWorkspace

WAIT_MS = 20_000


def test_that_without_a_model_of_ones_own_the_table_says_how_to_add_one(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    hint = workspace.list.hint
    assert not hint.isVisible()
    context.settings.models_file.write_text("")
    workspace.refresh()
    qtbot.waitUntil(hint.isVisible)
    assert hint.text().startswith("No model of your own yet.")
    rows = workspace.list.view.verticalHeader().length()
    assert hint.geometry().top() >= rows


def test_that_what_a_model_lacks_stands_whole_above_its_settings(
    workspace: ModelsWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        model_list,
        "missing_import",
        lambda spec: ("torch", "overread[local]") if spec.name == "slow" else None,
    )
    choose(workspace, "large")
    workspace.refresh()
    said = "needs torch: pip install overread[local]"
    standing = workspace.profile.standing
    qtbot.waitUntil(lambda: standing.text() == said, timeout=WAIT_MS)
    assert standing.isVisible()


@with_worker
def test_that_a_ready_models_state_is_not_said_twice(
    workspace: ModelsWorkspace, qtbot: QtBot
) -> None:
    choose(workspace, "large")
    qtbot.waitUntil(workspace.profile.memory.load.isVisible, timeout=WAIT_MS)
    assert row(workspace, "large").state == "ready, takes 4.1 GB"
    assert not workspace.profile.standing.isVisible()
