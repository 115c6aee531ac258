"""A run in the window whose answers a provider sends within a day."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.batch_server import BatchScript, BatchServer
from tests.helpers.tiny_study import write_images
from tests.helpers.window_story import Story, click, found, open_window, tick
from viewer.domain.run import RunStatus
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running import batch_job
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.application.batch_line import BatchLine
from viewer.ui.widgets.field_editors import OneOf
from viewer.ui.workspaces.models import ModelsWorkspace

MODEL = """[[model]]
name = "my-server"
adapter = "openai_api"
base_url = "{base_url}"
model = "tiny-vlm"
max_tokens = 50
price_in = 2
price_out = 8
"""
N = 4


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_job, "FIRST_LOOK_S", 0.01)
    monkeypatch.setattr(batch_job, "LONGEST_LOOK_S", 0.05)


@pytest.fixture
def script() -> BatchScript:
    return BatchScript(takes_s=3_600, price_in=1, price_out=4)


@pytest.fixture
def story(
    qtbot: QtBot, settings: Settings, script: BatchScript, tmp_path: Path
) -> Iterator[Story]:
    """The window over four images, with one model on a server that knows batches."""
    with open_store(settings.store) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", N), "tiny")
    with BatchServer(script) as server:
        settings.models_file.write_text(
            MODEL.format(base_url=server.base_url), encoding="utf-8"
        )
        yield open_window(qtbot, settings, tmp_path / "images")


def ask_for_batches(story: Story) -> None:
    """Choose that the model's answers come as a batch, and save it."""
    story.window.enter(Place.MODELS)
    models = found(story.window, ModelsWorkspace)
    story.wait(lambda: models.list.models.row_of("my-server") is not None)
    row = models.list.models.row_of("my-server")
    assert row is not None
    models.list.choose(row)
    profile = models.profile
    click(profile.form.more)
    answers = profile.form.editors["answers"]
    assert isinstance(answers, OneOf)
    profile.scroll_area.ensureWidgetVisible(answers)
    assert answers.currentText() == "at once"
    answers.setCurrentIndex(1)
    assert answers.currentText() == "as a batch: half the price, within a day"
    story.picture("provider_1_form")
    story.wait(profile.save.isEnabled)
    click(profile.save)
    story.wait(
        lambda: (
            'answers = "batch"'
            in story.window.context.settings.models_file.read_text("utf-8")
        )
    )


def start_batch(story: Story) -> None:
    """Start a run of the model over all images, and wait until it is submitted."""
    story.window.enter(Place.MEASURE)
    story.window.context.actions["file.batch"].trigger()
    page = story.batch_page()
    tick(page.models, "my-server")
    story.wait(page.start.isEnabled)
    assert page.start.text() == f"Send {N} requests"
    story.picture("provider_2_batch")
    click(page.start)
    story.wait(lambda: is_said(story))


def is_said(story: Story) -> bool:
    """Return whether every place says what is at the provider."""
    measure, bar = story.measure, story.window.batch
    if measure.runs.selected is None:
        return False
    said = f"Batch of {N} submitted; answers due by "
    tip = str(measure.runs.model.index(0).data(Qt.ItemDataRole.ToolTipRole))
    return all(said in text for text in (bar.text.text(), measure.state.text(), tip))


def test_that_a_batch_goes_on_at_its_provider_while_the_window_is_closed(
    story: Story, qtbot: QtBot, settings: Settings, script: BatchScript
) -> None:
    ask_for_batches(story)
    start_batch(story)
    story.picture("provider_3_submitted")
    story.window.close()
    assert [batch.status for batch in script.batches.values()] == ["in_progress"]

    again = open_window(qtbot, settings, story.folder)
    again.window.enter(Place.MEASURE)
    again.wait(lambda: is_said(again))
    again.picture("provider_4_again")
    script.takes_s = 0.0
    again.wait_for_results()
    again.picture("provider_5_results")
    assert len(script.batches) == 1
    assert len(script.billed) == N
    assert script.files == {}
    assert again.window.batch.isHidden()


def test_that_a_paused_batch_is_told_and_resumed_in_the_status_bar(
    story: Story, qtbot: QtBot, settings: Settings, script: BatchScript
) -> None:
    ask_for_batches(story)
    start_batch(story)
    click(story.measure.runs.pause)
    story.wait(lambda: story.window.batch.text.text().startswith("Run 1 · paused"))
    story.window.close()

    again = open_window(qtbot, settings, story.folder)
    again.wait(lambda: again.window.status.findChild(BatchLine) is not None)
    bar = found(again.window.status, BatchLine)
    again.wait(bar.isVisible)
    assert bar.text.text().startswith(f"Run 1 · paused · Batch of {N} submitted; ")
    again.picture("provider_6_paused")
    again.window.enter(Place.MEASURE)
    again.wait(lambda: is_said(again))
    again.picture("provider_7_paused_run")
    script.takes_s = 0.0
    click(bar.resume)
    again.wait_for_results()
    assert len(script.batches) == 1


def test_that_cancel_ends_the_batch_at_its_provider_and_keeps_its_answers(
    story: Story, script: BatchScript
) -> None:
    ask_for_batches(story)
    start_batch(story)
    (batch,) = script.batches.values()
    batch.created -= script.takes_s / 2  # half of it is answered by now
    click(story.measure.runs.cancel)

    def is_cancelled() -> bool:
        run = story.measure.runs.selected
        return run is not None and run.status is RunStatus.CANCELLED

    story.wait(is_cancelled)
    story.wait(lambda: not story.window.context.run_states.active)
    assert batch.status == "cancelled"
    assert len(script.billed) == N // 2
    assert story.measure.state.text() == f"Run 1 · cancelled · {N // 2} of {N}"
    assert "Batch of" not in story.measure.state.text()
    assert story.window.batch.isHidden()
    assert story.measure.runs.resume.isVisible()
    assert script.files == {}
    story.picture("provider_8_cancelled")
