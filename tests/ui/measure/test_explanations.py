"""Why an answer is right: beside a trial, and beside its image in Read."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QScrollArea
from pytestqt.qtbot import QtBot

from tests.helpers.item_datasets import tiles_dataset
from tests.helpers.tiny_study import a_spec, plan_and_finish
from tests.helpers.window_story import Story, open_window
from viewer.domain.case import ImageRef
from viewer.domain.exchange import ModelProfile
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.readings.committed import commit_reading
from viewer.settings import Settings
from viewer.store import cases, trials
from viewer.store.database import open_store
from viewer.ui.panels.measure.filmstrip import WordsWanted
from viewer.ui.panels.measure.trial_page import TrialPage

WHY = "The nuclei are enlarged and lie in several layers. " * 60


@pytest.fixture
def run(settings: Settings, tmp_path: Path) -> int:
    """Ask a model about tiles whose answers are explained at length."""
    dataset = tiles_dataset(tmp_path / "tiles", 2)
    items = tuple(
        replace(one, reference={**one.reference, "explanation": WHY})
        for one in dataset.items
    )
    model = ModelProfile("says-a", "scripted", {"answer": "(A)"})
    arms = {"arms": ["image", "text_only"]}
    spec = a_spec([model], study="pathology_mcq", dataset="tiles", params=arms)
    with open_store(settings.store) as store:
        cases.add_dataset(store, replace(dataset, items=items))
        return plan_and_finish(store, spec)


@pytest.fixture
def asked(run: int, settings: Settings) -> int:
    """Return a trial."""
    with open_store(settings.store) as store:
        return trials.scored_trials(store, run)[0].id


def page_of(story: Story, trial: int) -> TrialPage:
    """Open the page of a trial in Measure."""
    story.measure.told.show(WordsWanted(trial))
    story.wait(lambda: _pages(story))
    (page,) = _pages(story)
    return page


def _pages(story: Story) -> list[TrialPage]:
    return [one for one in story.measure.findChildren(TrialPage) if one.isVisible()]


def shown_on(page: TrialPage) -> Iterator[str]:
    """Yield the texts of a page that can scroll."""
    for text in page.findChildren(QPlainTextEdit):
        if text.isVisible():
            yield text.toPlainText()


def image_of(asked: int, settings: Settings, run: int) -> ImageRef:
    """Return the image that a trial is about."""
    with open_store(settings.store) as store:
        refs = cases.image_refs_of_run(store, run)
        key = trial_detail(settings.store, asked).trial.item
        dataset = cases.dataset_named(store, "tiles")
    return refs[next(one.images[0] for one in dataset.items if one.key == key)]


@pytest.mark.statement("E003-12")
def test_that_a_trial_page_explains_the_right_answer(
    qtbot: QtBot, settings: Settings, asked: int, tmp_path: Path
) -> None:
    story = open_window(qtbot, settings, tmp_path)
    page = page_of(story, asked)
    (explanation,) = (text for text in shown_on(page) if WHY.strip() in text)
    assert ": right\n" in explanation.splitlines(keepends=True)[0]
    view = next(
        one
        for one in page.findChildren(QPlainTextEdit)
        if one.accessibleName() == "Explanation in the data set"
    )
    assert view.lineWrapMode() is QPlainTextEdit.LineWrapMode.WidgetWidth
    assert view.verticalScrollBar().maximum() > 0
    assert view.horizontalScrollBar().maximum() == 0
    (step,) = page.steps
    area = next(one for one in page.findChildren(QScrollArea) if one.isAncestorOf(step))
    assert area.verticalScrollBar().maximum() == 0  # the question keeps its room
    page.close()


@pytest.mark.statement("E003-12")
def test_that_read_first_locks_an_explanation_until_the_reading_is_committed(
    qtbot: QtBot, settings: Settings, run: int, asked: int, tmp_path: Path
) -> None:
    story = open_window(qtbot, settings, tmp_path)
    story.window.context.actions["overlays.read_first"].trigger()
    page = page_of(story, asked)
    assert not [text for text in shown_on(page) if WHY.strip() in text]
    labels = [one.text() for one in page.findChildren(QLabel) if one.isVisible()]
    assert any("locked until you commit your reading" in text for text in labels)
    page.close()
    ref = image_of(asked, settings, run)
    commit_reading(settings.store, {ref: ()}, "")
    page = page_of(story, asked)
    assert [text for text in shown_on(page) if WHY.strip() in text]
    page.close()


@pytest.mark.statement("E003-12")
def test_that_read_lists_a_question_about_an_image_with_its_explanation(
    qtbot: QtBot, settings: Settings, run: int, asked: int, tmp_path: Path
) -> None:
    ref = image_of(asked, settings, run)
    story = open_window(qtbot, settings, tmp_path)
    story.window.open_paths([ref.path])
    story.wait(lambda: story.read.lightbox.active.shown is not None)
    panel = story.read.answers
    panel.blinding.read_first.setChecked(True)
    panel.blinding.answers.setChecked(True)
    story.wait(lambda: panel._given[0])
    assert panel.tree.topLevelItemCount() == 0
    assert WHY.strip() not in panel.details.toPlainText()
    panel.locked.commit.click()
    story.wait(panel.tree.topLevelItemCount)
    rows = [panel.tree.topLevelItem(i) for i in range(panel.tree.topLevelItemCount())]
    texts = [row.text(0) for row in rows if row is not None]
    assert ", with its image" in texts[0]
    assert ", text only" in texts[-1]
    story.wait(lambda: WHY.strip() in panel.details.toPlainText())
    assert "Explanation in the data set" in panel.details.toPlainText()
    (drawn,) = story.read.lightbox.view.answer_items
    assert drawn.answer.finding.endswith(", with its image")
