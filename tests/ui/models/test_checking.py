"""The card of the one check, and the badge of a model that is not what it was."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.seeing_server import Seeing
from tests.ui.models.conftest import with_worker
from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.services.configuring.model_profiles import (
    apply_edit,
    model_named,
    saving,
)
from viewer.store.consents import add_notes
from viewer.store.database import open_store
from viewer.store.model_checks import add_check
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice
from viewer.ui.panels.models.connecting import ModelWanted
from viewer.ui.workspaces.models import ModelsWorkspace

WAIT_MS = 20_000


@pytest.fixture
def seeing() -> Iterator[ScriptedServer]:
    with ScriptedServer(Seeing()) as made:
        yield made


@pytest.fixture
def told(context: AppContext) -> list[Notice]:
    notices = list[Notice]()
    context.notices.posted.connect(notices.append)
    return notices


def add(workspace: ModelsWorkspace, url: str, *, name: str = "new") -> None:
    """Add a model as a click on Connect does."""
    table = {"name": name, "adapter": "openai_api", "base_url": url, "model": "m"}
    workspace.connecting.wanted.emit(ModelWanted(name, table, complete=True))


@with_worker
def test_that_a_connected_model_is_checked_at_once_and_told_in_plain_words(
    workspace: ModelsWorkspace,
    qtbot: QtBot,
    seeing: ScriptedServer,
    told: list[Notice],
) -> None:
    add(workspace, seeing.base_url)
    card = workspace.profile.check_card
    qtbot.waitUntil(lambda: "Checked on" in card.when.text(), timeout=WAIT_MS)
    assert card.words.text().startswith("Sees the image. Answers cells. ")
    assert card.words.text().endswith(" s per answer. Same answer twice.")
    assert not card.wrong.isVisible()
    assert card.check.text() == "Check again"
    assert any("new: Sees the image." in notice.what for notice in told)


@with_worker
def test_that_what_is_wrong_is_told_on_the_card_and_in_the_list(
    workspace: ModelsWorkspace, qtbot: QtBot, told: list[Notice]
) -> None:
    with ScriptedServer(EndpointScript(images="ignored")) as server:
        add(workspace, server.base_url)
        card = workspace.profile.check_card
        qtbot.waitUntil(lambda: "Checked on" in card.when.text(), timeout=WAIT_MS)
    assert "same whatever the image shows" in card.wrong.text()
    row = workspace.list.current
    assert row is not None
    assert row.state == "ready · the check found a problem"
    assert row.sign == "alert-outline"
    assert any("same whatever" in notice.what for notice in told)


@with_worker
def test_that_a_server_that_closes_is_told_on_the_card_and_can_be_checked_again(
    workspace: ModelsWorkspace, qtbot: QtBot, told: list[Notice]
) -> None:
    add(workspace, "http://127.0.0.1:9/v1")
    card = workspace.profile.check_card
    qtbot.waitUntil(lambda: bool(card.wrong.text()[2:]), timeout=WAIT_MS)
    assert "127.0.0.1:9" in card.wrong.text()
    assert card.check.isVisible()
    assert card.check.text() == "Check"
    assert "127.0.0.1:9" in told[-1].what


@with_worker
def test_that_a_check_is_cancelled_while_its_server_thinks(
    workspace: ModelsWorkspace, qtbot: QtBot, told: list[Notice]
) -> None:
    with ScriptedServer(EndpointScript(latency_s=60.0)) as server:
        add(workspace, server.base_url)
        card = workspace.profile.check_card
        qtbot.waitUntil(card.stop.isVisible, timeout=WAIT_MS)
        qtbot.waitUntil(lambda: bool(server.script.received), timeout=WAIT_MS)
        assert card.bar.isVisible()
        card.stop.click()
        qtbot.waitUntil(lambda: "stopped" in card.wrong.text(), timeout=WAIT_MS)
    assert "The check was stopped." in told[-1].what


def test_that_a_check_that_leaves_this_machine_or_costs_is_asked_about_first(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    file = context.settings.models_file
    table = {
        "name": "far",
        "adapter": "openai_api",
        "model": "m",
        "base_url": "https://api.example.com/v1",
    }
    apply_edit(saving(table, None, file), file)
    workspace.refresh("far")
    card = workspace.profile.check_card
    qtbot.waitUntil(lambda: workspace.profile.head.text() == "far")
    assert "Not checked yet" in card.words.text()
    card.check.click()
    (box,) = workspace.window().findChildren(QMessageBox)
    assert "go to api.example.com" in box.informativeText()
    assert not workspace.calibrations.check_step("far")
    next(b for b in box.buttons() if b.text() == "Check").click()
    assert workspace.calibrations.check_step("far")


def test_that_a_model_that_answers_under_another_name_is_badged(
    workspace: ModelsWorkspace, context: AppContext, qtbot: QtBot
) -> None:
    profile = model_named("here", context.settings.models_file)
    found = ModelCheck(
        "here", "2026-01-01", Verdict.YES, "grid", "grid", 1.9, None, True, "m-7b"
    )
    with open_store(context.settings.store) as store:
        add_check(store, profile, found)
        store.execute("PRAGMA foreign_keys = OFF")
        add_notes(store, 1, [("here", "model_changed", "the endpoint answered as x")])
    workspace.refresh("here")
    card = workspace.profile.check_card
    qtbot.waitUntil(card.wrong.isVisible)
    assert card.wrong.text() == (
        "⚠ Since the check, the endpoint answered as x. Check it again."
    )
    row = workspace.list.current
    assert row is not None
    assert row.state == "ready · changed since the check"
    assert row.sign == "alert-outline"
