"""Multiple choice from the page Batch… to the words and image of one answer."""

import json
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.window_story import Story, click, click_row, open_window, tick
from viewer.domain.choice import letter_of
from viewer.domain.item import Item
from viewer.settings import Settings
from viewer.store.cases import add_dataset
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.measure.run_list import run_title
from viewer.ui.panels.measure.trial_page import TrialPage

MODELS = """
[[model]]
name = "knows"
adapter = "scripted"
answers_file = {knows}

[[model]]
name = "says-a"
adapter = "scripted"
answer = "(A)"
"""


@pytest.fixture
def items(settings: Settings, tmp_path: Path) -> tuple[Item, ...]:
    """Register tiles with questions, and two scripted models as a person has them."""
    dataset = tiles_dataset(tmp_path / "tiles", 3)
    with open_store(settings.store) as store:
        add_dataset(store, dataset)
    right = {
        item.key: letter_of(int(str(item.reference["option"])))
        for item in dataset.items
    }
    knows = tmp_path / "knows.json"
    knows.write_text(json.dumps(right), encoding="utf-8")
    models = MODELS.format(knows=json.dumps(str(knows)))
    settings.models_file.write_text(models, encoding="utf-8")
    return dataset.items


def _said(story: Story) -> TrialPage | None:
    return story.measure.findChild(TrialPage)


def test_that_questions_of_pathology_are_chosen_run_and_read(
    qtbot: QtBot, settings: Settings, items: tuple[Item, ...], tmp_path: Path
) -> None:
    story = open_window(qtbot, settings, tmp_path)
    story.window.enter(Place.MEASURE)
    story.window.context.actions["file.batch"].trigger()
    page = story.batch_page()
    place = page.study.findText("Pathology questions")
    page.study.setCurrentIndex(place)
    page.study.activated.emit(place)
    offered = {page.models.item(i).text() for i in range(page.models.count())}
    assert offered == {"knows · ready", "says-a · ready"}
    assert not page.how.editors
    tick(page.models, "knows", "says-a")
    story.wait(page.start.isEnabled)
    assert page.start.text() == f"Run {2 * len(items)} trials"
    story.picture("items_1_batch")
    click(page.start)
    story.wait_for_results()
    story.wait(lambda: story.film.title.endswith(f"knows · {len(items)} right"))
    assert story.measure.runs.selected is not None
    assert "Pathology questions · tiles" in run_title(story.measure.runs.selected)
    story.picture("items_2_results")
    click_row(story.film.view, story.film.model.index(0))
    story.wait(lambda: _said(story) is not None)
    saw = _said(story)
    assert saw is not None
    (step,) = saw.steps
    words = step.text.toPlainText()
    chosen = next(i for i in items if i.key == story.film.model.trials[0].item)
    assert str(chosen.facts["question"]) in words
    assert "[image 1]\nsent here" in words
    assert words.endswith(f"[knows]\n{letter_of(int(str(chosen.reference['option'])))}")
    assert len(step.pictures) == 1
    story.picture("items_3_trial")
    saw.close()
