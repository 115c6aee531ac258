"""A radiologist reviews misses by keyboard, and sees nothing of who answered."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsItem
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import ReviewStory, open_review, words_on_screen
from tests.helpers.reviewed_run import FINDING, MODELS, missed_run
from tests.ui.canvas.conftest import pixels
from viewer.domain.answer import CellAnswer
from viewer.domain.reading import TaskState
from viewer.services.inspecting.runs import TrialRow, trial_rows
from viewer.services.readings import opening
from viewer.services.readings.reviewing import review_results
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.application.notices import Notice
from viewer.ui.canvas.overlays.answer_item import AnswerItem
from viewer.ui.canvas.overlays.reference import ReferenceItem
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.widgets import theme

KEY = Qt.Key
ENTER = KEY.Key_Return


@pytest.fixture
def story(qtbot: QtBot, settings: Settings) -> Iterator[ReviewStory]:
    missed_run(settings.store, 3)
    made = open_review(qtbot, settings)
    yield made
    made.window.close()


def drawn(image: ReviewImage, kind: type[QGraphicsItem]) -> bool:
    """Tell whether anything of a kind lies on the image."""
    return any(isinstance(item, kind) for item in image.stage.items())


def shows_reference(image: ReviewImage) -> bool:
    """Tell whether a pixel of the image has the colour of references."""
    image.clearFocus()  # the frame around what has the keyboard is of that colour
    color = theme.current().reference
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    off = np.abs(pixels(image).astype(int) - wanted).sum(axis=2)
    image.setFocus()
    return bool((off < 30).any())


def assert_blind(story: ReviewStory) -> None:
    """No word names a model or a file, and nothing of the reference is painted."""
    words = " ".join(words_on_screen(story.window)).casefold()
    for secret in (*MODELS, "scripted", story.task.image.path.name):
        assert secret.casefold() not in words
    image = story.page.image
    assert image.reference_shown is None
    assert not drawn(image, ReferenceItem)
    assert not drawn(image, AnswerItem)
    assert not shows_reference(image)
    assert story.page.side.revealed.text() == ""
    assert story.window.status.isHidden()


@pytest.mark.statement("E000-24", "E000-26")
def test_that_nothing_of_model_or_reference_is_seen_before_the_verdict(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    for number in range(6):
        assert story.task.finding == FINDING
        assert isinstance(story.page.image.subject, CellAnswer)
        assert_blind(story)
        story.press(KEY.Key_2)
        assert_blind(story)  # chosen, not locked
        story.press(ENTER)
        assert story.task.state is TaskState.LOCKED
        assert shows_reference(story.page.image)
        assert "reference" in story.page.side.revealed.text()
        if number < 5:
            story.press(ENTER)
    words = " ".join(words_on_screen(story.window))
    assert not any(model in words for model in MODELS)


@pytest.mark.statement("E000-26")
def test_that_misses_are_reviewed_with_the_keyboard_alone(
    story: ReviewStory, settings: Settings
) -> None:
    story.begin(story.review.start.review, "Reader A")
    verdicts = (KEY.Key_2, KEY.Key_3, KEY.Key_1, KEY.Key_3, KEY.Key_2, KEY.Key_2)
    for verdict in verdicts:
        story.press(verdict, ENTER, ENTER)
    assert not story.review.reviewing
    (session,) = opening.sessions(settings.store)
    assert session.finished
    assert session.reader == "Reader A"
    counts = review_results(settings.store, 1)
    found = [sum(c.found[kind] for c in counts) for kind in ("position", "anatomy")]
    assert found == [3, 2]
    assert sum(c.found["partial"] for c in counts) == 1


@pytest.mark.statement("E000-26")
def test_that_what_was_unsure_comes_back_and_is_resolved_before_the_end(
    story: ReviewStory, settings: Settings
) -> None:
    story.begin(story.review.start.review, "Reader A")
    unsure = story.task.position
    story.press(KEY.Key_4, ENTER)
    assert story.task.position != unsure
    for _ in range(5):
        story.press(KEY.Key_2, ENTER, ENTER)
    assert story.task.position == unsure
    assert_blind(story)  # unsure is no verdict yet
    story.press(ENTER)
    assert "stay unsure" in story.page.side.problem.text()
    story.press(KEY.Key_3, ENTER)
    assert story.task.state is TaskState.LOCKED
    story.press(ENTER)
    (session,) = opening.sessions(settings.store)
    assert session.finished


@pytest.mark.statement("E000-26")
def test_that_undo_takes_back_a_choice_and_not_what_was_revealed(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.press(KEY.Key_2, KEY.Key_Z)
    assert story.page.side.form.values == {}
    story.window.context.actions["edit.undo"].trigger()
    assert "Nothing to undo" in story.page.side.problem.text()
    story.press(KEY.Key_3, ENTER, KEY.Key_Z)
    assert story.task.state is TaskState.LOCKED
    assert "revealed" in story.page.side.problem.text()


def test_that_a_lock_that_revealed_nothing_can_be_undone_from_the_next_case(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    first = story.task.position
    story.press(KEY.Key_4, ENTER)
    assert story.task.position != first
    story.press(KEY.Key_Z)
    assert story.task.position == first
    assert story.task.state is not TaskState.UNRESOLVED


def test_that_enter_without_a_verdict_says_what_is_missing(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.press(ENTER)
    assert "Answer this question first" in story.page.side.problem.text()
    assert story.task.state is TaskState.WAITING


def test_that_a_comment_is_kept_and_its_letters_answer_nothing(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.page.side.comment.setFocus()
    QTest.keyClicks(story.page.side.comment, "2 cm lower")
    story.wait(lambda: story.task.comment == "2 cm lower")
    assert story.task.values == {}
    QTest.keyClick(story.page.side.comment, ENTER)
    story.press(KEY.Key_2, ENTER)
    assert story.task.comment == "2 cm lower"


@pytest.mark.statement("E000-25")
def test_that_a_second_reader_reviews_the_same_misses_in_another_order(
    story: ReviewStory, settings: Settings
) -> None:
    orders = []
    for reader in ("Reader A", "Reader B"):
        story.begin(story.review.start.review, reader)
        orders.append([(t.image, t.answer) for t in story.page._tasks])
        story.window.context.actions["review.pause"].trigger()
        assert not story.review.reviewing
    assert orders[0] != orders[1]
    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert len(opening.sessions(settings.store)) == 2


@pytest.mark.statement("E000-26")
def test_that_readers_who_differ_are_adjudicated_without_their_names(
    story: ReviewStory,
) -> None:
    for reader, key in (("Reader A", KEY.Key_2), ("Reader B", KEY.Key_3)):
        story.begin(story.review.start.review, reader)
        for _ in range(6):
            story.press(key, ENTER, ENTER)
        story.review._back()
    start = story.review.start
    story.wait(start.settle.isVisible)
    start.results.click()
    results = story.review.results
    story.wait(results.isVisible)
    assert results.table.rowCount() == 2
    assert "Reader A and Reader B: Cohen's κ 0.00" in results.agreement.text()
    assert "the same in 0 % of 6 misses" in results.agreement.text()
    results.left.emit()
    story.wait(start.settle.isVisible)
    assert start.settle.text() == "Settle 6 disagreements"
    story.begin(start.settle, "Reader C")
    others = story.page.side.others.text()
    assert "Position error" in others
    assert "Anatomy error" in others
    assert "Reader A" not in " ".join(words_on_screen(story.window))
    assert_blind(story)
    story.press(KEY.Key_2, ENTER)
    assert story.task.state is TaskState.LOCKED


def test_that_the_next_case_is_decoded_before_it_is_wanted(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    following = story.page._tasks[1].image
    story.wait(lambda: following in story.page.prefetch)
    story.press(KEY.Key_2, ENTER)
    shown: list[object] = []
    story.page.case_shown.connect(shown.append)
    story.press(ENTER)
    assert shown  # at once, without a turn of the loop


def test_that_the_bar_tells_progress_and_what_more_reviews_buy(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    bar = story.page.bar
    assert bar.place.text() == "Case 1 of 6"
    story.wait(lambda: bar.forecast.text().startswith("6 more reviews until"))
    story.press(KEY.Key_2, ENTER)
    story.wait(lambda: "1 done" in bar.words.text())
    story.wait(lambda: bar.forecast.text().startswith("5 more reviews until"))
    story.press(ENTER, KEY.Key_Z)
    story.wait(lambda: "±5 points" in bar.forecast.text())


def test_that_escape_leads_back_and_what_is_answered_is_kept(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.press(KEY.Key_2, KEY.Key_C)
    QTest.keyClicks(story.page.side.comment, "left")
    QTest.keyClick(story.page.side.comment, KEY.Key_Escape)  # leaves the comment only
    assert story.review.reviewing
    story.press(KEY.Key_Escape)
    story.wait(story.review.start.isVisible)
    story.begin(story.review.start.review, "Reader A")
    assert story.task.values == {"verdict": "2"}
    assert story.task.comment == "left"


def test_that_escape_leads_back_from_results_and_from_a_review_that_is_done(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    for _ in range(6):
        story.press(KEY.Key_2, ENTER, ENTER)
    start, done = story.review.start, story.review.done
    story.wait(done.isVisible)
    assert "The tables of run 1 have the answers" in done.words.text()
    QTest.keyClick(story.window.focusWidget(), KEY.Key_Escape)
    story.wait(start.results.isVisible)
    start.results.click()
    story.wait(story.review.results.isVisible)
    QTest.keyClick(story.review.results.table, KEY.Key_Escape)
    assert start.isVisible()


def test_that_a_review_is_begun_with_the_keyboard_alone(story: ReviewStory) -> None:
    start = story.review.start
    story.wait(start.review.isEnabled)
    assert story.window.focusWidget() is start.reader
    QTest.keyClicks(start.reader, "Reader A")
    QTest.keyClick(start.reader, ENTER)
    assert story.window.focusWidget() is start.review
    QTest.keyClick(start.review, ENTER)
    story.wait(lambda: story.page.ready)
    story.press(KEY.Key_Escape)
    assert story.window.focusWidget() is start.reader


def test_that_a_reader_without_a_name_is_asked_for_one(story: ReviewStory) -> None:
    start = story.review.start
    story.wait(start.review.isEnabled)
    assert "6 complete misses of 2 models" in start.run_words.text()
    start.reader.clear()
    start.review.click()
    assert "the reader's name" in start.problem.text()
    assert not story.review.reviewing


def test_that_h_held_anywhere_shows_the_image_alone(story: ReviewStory) -> None:
    story.begin(story.review.start.review, "Reader A")
    image = story.page.image
    for widget in (image, story.page.side.go):
        QTest.keyPress(widget, KEY.Key_H)
        assert image.drawn_hidden
        QTest.keyRelease(widget, KEY.Key_H)
        assert not image.drawn_hidden


def test_that_time_spent_without_an_answer_is_kept(story: ReviewStory) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.qtbot.wait(30)
    story.press(KEY.Key_Right)
    assert story.task.position == 1
    assert story.page._tasks[0].active_ms >= 20
    assert story.page._tasks[0].values == {}


def test_that_an_image_that_is_gone_is_said_and_left(
    story: ReviewStory, request: pytest.FixtureRequest
) -> None:
    for path in {t.ref.path for t in _rows(story) if t.ref}:
        away = path.rename(path.with_suffix(".away"))
        request.addfinalizer(partial(away.rename, path))  # other tests show it
    start = story.review.start
    story.wait(start.review.isEnabled)
    start.reader.setText("Reader A")
    start.review.click()
    story.wait(story.page.side.problem.text)
    assert story.page.image.waiting.text == story.page.side.problem.text()
    # Nor is anything else shown of a case that has not come up yet.
    for part in (story.page.side.advice, story.page.texts.truth):
        assert not part.isVisible()
    assert not story.page.ready
    story.page.go()
    assert story.task.state is TaskState.WAITING
    story.page.step(1)
    assert story.task.position == 1


def _rows(story: ReviewStory) -> tuple[TrialRow, ...]:
    store = story.window.context.settings.store
    return trial_rows(store, 1, finding="all", view="all", condition="all", model="all")


def test_that_what_happens_beside_a_review_is_told_after_it(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.review, "Reader A")
    story.window.context.notices.post(Notice(f"{MODELS[0]} was stopped."))
    assert_blind(story)
    story.window.enter(Place.READ)
    assert story.window.notice_bar.isVisible()
    assert MODELS[0] in story.window.notice_bar.text.text()


@pytest.mark.statement("E000-25")
def test_that_a_reader_chooses_how_many_misses_and_is_told_the_count_before(
    story: ReviewStory, settings: Settings
) -> None:
    start = story.review.start
    story.wait(start.review.isEnabled)
    start.misses.cap.setValue(2)
    story.wait(lambda: start.review.text() == "Review 4 misses")
    assert start.run_words.text().startswith("4 of 6 complete misses of 2 models")
    story.begin(start.review, "Reader A")
    (session,) = opening.sessions(settings.store)
    assert session.planned == 4
