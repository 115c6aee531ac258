"""A study of another distribution in the window: chosen, run, read, and drawn."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.outside_packages import SIDED, bring, write_sides
from tests.helpers.window_story import click, click_row, found, open_window, tick
from viewer.services.importing.import_dataset import import_dataset
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.studies import catalog
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.measure.trial_page import TrialPage

MODEL = """
[[model]]
name = "says-a"
adapter = "scripted"
answer = "A"
"""


@pytest.fixture
def _laterality(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    site = tmp_path / "site"
    bring(site, "laterality", SIDED)
    monkeypatch.syspath_prepend(site)
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(site), path])))
    catalog._others.cache_clear()
    yield
    monkeypatch.undo()
    catalog._others.cache_clear()


@pytest.mark.usefixtures("_laterality")
def test_that_a_study_of_another_package_is_run_and_read_in_the_window(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    write_sides(tmp_path / "sides")
    with open_store(settings.store) as store:
        import_dataset(store, "pathmmu", tmp_path / "sides", "sides")
    settings.models_file.write_text(MODEL, encoding="utf-8")
    story = open_window(qtbot, settings, tmp_path)
    story.window.enter(Place.MEASURE)
    story.window.context.actions["file.batch"].trigger()
    page = story.batch_page()
    place = page.study.findText("Side of the finding")
    page.study.setCurrentIndex(place)
    page.study.activated.emit(place)
    tick(page.models, "says-a")
    story.wait(page.start.isEnabled)
    assert page.start.text() == "Run 4 trials"
    story.picture("outside_1_batch")
    click(page.start)
    story.wait_for_results()
    story.wait(lambda: story.film.title.endswith("1 wrong first · 3 right"))
    story.picture("outside_2_results")
    click_row(story.film.view, story.film.model.index(0))
    story.wait(lambda: story.measure.findChild(TrialPage) is not None)
    story.picture("outside_3_trial")
    (step,) = found(story.measure, TrialPage).steps
    assert step.text.toPlainText().endswith("left B) right\n\n[says-a]\nA")
