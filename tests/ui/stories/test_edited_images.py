"""Edited images of a run are reviewed beside the original, and its table follows."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import (
    ReviewStory,
    held_by,
    open_review,
    words_on_screen,
)
from tests.helpers.task_stores import imported, phantom
from viewer.services.readings.opening import sessions
from viewer.services.reporting.report_run import report_data
from viewer.settings import Settings
from viewer.store import readings
from viewer.store.cases import dataset_named
from viewer.store.database import open_store

KEY = Qt.Key
TITLE = "Review edited images · run 1 · people"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = phantom(tmp_path_factory.mktemp("edits") / "chests", "grounded_vqa", 8)
    return imported(folder, "vindr")


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, asked: Path) -> Iterator[ReviewStory]:
    shutil.copy(asked, settings.store)
    opened = open_review(qtbot, settings)
    yield opened
    opened.window.close()


def choose(story: ReviewStory) -> None:
    """Choose the task, and who reads."""
    card = story.review.start.tasks
    story.wait(card.tasks.count)
    card.tasks.setCurrentIndex(card.tasks.findText(TITLE))
    story.wait(card.begin.isEnabled)
    assert "left out of the test at once" in card.words.text()
    card.amount.choose("drawn")
    assert card.sample.suffix() == " cases"
    card.amount.choose("all")
    story.wait(card.begin.isEnabled)
    story.review.start.reader.setText("Reader A")


def begin(story: ReviewStory) -> None:
    """Choose the task, be told what it is about, and begin."""
    choose(story)
    card, start = story.review.start.tasks, story.review.start
    said: list[str] = []
    story.review.opener.progressed.connect(lambda _: said.append(start.problem.text()))
    card.begin.click()
    story.wait(story.review.briefing.isVisible)
    assert re.fullmatch(r"Drawing image (\d+) of \1 …", said[-1])
    assert start.problem.text() == ""
    assert "of another patient" in story.review.briefing.text.text()
    story.review.briefing.begin.click()
    story.wait(lambda: story.page.ready)


def secrets_of(settings: Settings) -> set[str]:
    """Return what would tell a reader which edit replaces a finding by none."""
    with open_store(settings.store) as store:
        dataset = dataset_named(store, "people")
        (session,) = readings.session_rows(store)
        planned = readings.tasks_of(store, session.id)
    findings = {str(item.facts["finding"]) for item in dataset.items} - {""}
    donors = {task.item.rpartition("|")[2] for task in planned}
    shown = {str(item.images[0]) for item in dataset.items}
    models = {"knows", "errs", "denies"}
    return findings | (donors - shown) | models | {"vpt", "sham", "|"}


def test_that_edits_are_reviewed_by_keys_and_the_table_follows(
    story: ReviewStory, settings: Settings
) -> None:
    begin(story)
    page, secrets = story.page, secrets_of(settings)
    story.window.resize(1400, 900)
    rejected: set[int] = set()
    while story.review.reviewing:
        position = story.task.position
        shown = [view for view in page.views if view.isVisible()]
        story.wait(lambda: all(view.shown_ref for view in shown))  # noqa: B023
        assert [view.shown_ref for view in shown] == [
            one.image for one in story.task.exhibits
        ]
        titles = [one.text() for one in page.case.tiles.titles if one.isVisible()]
        assert titles == ["Edited", "Original"]
        assert abs(shown[0].width() - shown[1].width()) <= 1
        assert page.side.finding.text() == story.task.finding != ""
        assert page.texts.isHidden()
        told = " ".join((*words_on_screen(page), *held_by(page)))
        assert [secret for secret in secrets if secret in told] == []
        no = len(rejected) < 3
        story.press(KEY.Key_1, KEY.Key_2 if no else KEY.Key_1, KEY.Key_Return)
        rejected |= {position} if no else set()
    with open_store(settings.store) as store:
        (session,) = readings.session_rows(store)
        names = [task.item for task in readings.tasks_of(store, session.id)]
        report = report_data(store, 1)
    left_out = {names[i] for i in rejected}
    (table,) = (one for one in report.data.tables if one.name == "table_4_visual")
    for cells in table.rows:
        row = dict(zip(table.header, cells, strict=True))
        own = [
            one
            for one in report.results
            if (one.model, one.condition) == (row["model"], "vpt")
            and one.score.status != "excluded"
        ]
        left = [one for one in own if one.item not in left_out]
        assert (row["n_edits"], row["n_rejected"]) == (len(left), len(own) - len(left))
        assert row["n_flipped"] == sum(one.score.answer == "No" for one in left)


def test_that_one_image_is_seen_alone_and_the_other_by_a_key(
    story: ReviewStory,
) -> None:
    begin(story)
    story.window.resize(1400, 900)
    page = story.page
    edited, original = (one.image for one in story.task.exhibits)
    story.wait(lambda: page.views[1].shown_ref == original)
    page.case.tiles.toggle.click()
    assert [view.isVisible() for view in page.views[:2]] == [True, False]
    assert page.image.shown_ref == edited
    story.press(KEY.Key_PageDown)
    story.wait(lambda: page.image.shown_ref == original)
    story.wait(lambda: page.image.width() == page.case.tiles.width())


def test_that_drawing_is_cancelled_and_images_deleted_by_hand_come_back(
    story: ReviewStory, settings: Settings
) -> None:
    opener, start = story.review.opener, story.review.start
    choose(story)
    opener.progressed.connect(opener.cancel.click)
    start.tasks.begin.click()
    story.wait(lambda: "Drawing was stopped" in start.problem.text())
    assert not opener.isVisible()
    assert sessions(settings.store) == ()
    opener.progressed.disconnect(opener.cancel.click)
    begin(story)
    story.wait(lambda: story.page.ready)
    story.window.context.actions["review.pause"].trigger()
    files = list((settings.home / "sessions").rglob("*.png"))
    for path in files:
        path.unlink()
    begin(story)
    story.wait(lambda: story.page.ready)
    assert all(path.is_file() for path in files)
