"""People grade, answer, diagnose and check in the window, and it counts at once."""

import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import (
    ReviewStory,
    held_by,
    open_review,
    words_on_screen,
)
from tests.helpers.task_stores import imported, overread, phantom
from tests.helpers.window_story import found
from viewer.domain.answer import PointAnswer
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.reading import TaskState
from viewer.services.privacy.gate import open_gate
from viewer.services.readings import opening, recording
from viewer.services.readings.task_choice import TaskWanted, tasks_to_do
from viewer.services.readings.task_readings import open_task
from viewer.services.reporting.report_run import checked_report, report_files
from viewer.services.sessions.datasets import dataset_named, dataset_of_run
from viewer.services.trials.grades import grades_of
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit
from viewer.studies.evidence_diagnosis import readings as physicians
from viewer.ui.dialogs.pixel_review import PixelReviewDialog
from viewer.ui.panels.review.draft import DraftBox
from viewer.ui.panels.review.ranking import RankingBox

KEY = Qt.Key
ENTER = KEY.Key_Return
LEFT = Qt.MouseButton.LeftButton
_FORMATS = {
    "rubric_reading": "report-studies",
    "pathology_mcq": "pathmmu",
    "evidence_diagnosis": "medsyn",
}
_OF_PEOPLE = ("grades.csv", "experts.csv")
Opened = Callable[[str], ReviewStory]


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a store of a study, once, in which nobody has read."""
    root = tmp_path_factory.mktemp("tasks")

    @cache
    def made(study: str) -> Path:
        folder = phantom(root / study, study, 2 if study == "rubric_reading" else 3)
        for name in _OF_PEOPLE:
            (folder / name).unlink(missing_ok=True)
        runs = study != "evidence_diagnosis"
        return imported(folder, _FORMATS[study], run=runs)

    return made


@pytest.fixture(scope="module")
def curated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store in which a model proposed tasks for two studies."""
    folder = phantom(tmp_path_factory.mktemp("curated") / "cases", "rubric_reading", 2)
    shutil.copy(folder / "curation.toml", folder / "study.toml")
    return imported(folder, "report-studies")


@pytest.fixture
def opened(
    qtbot: QtBot, settings: Settings, store_of: Callable[[str], Path]
) -> Iterator[Opened]:
    """Return what opens the window on a store of a study."""
    stories = []

    def open_on(study: str) -> ReviewStory:
        shutil.copy(store_of(study), settings.store)
        stories.append(open_review(qtbot, settings))
        return stories[-1]

    yield open_on
    for story in stories:
        story.window.close()


def choose(story: ReviewStory, title: str) -> None:
    """Choose a task on the start page, and wait for its offer."""
    card = story.review.start.tasks
    story.wait(card.tasks.count)
    (number,) = (
        i for i in range(card.tasks.count()) if card.tasks.itemText(i).startswith(title)
    )
    card.tasks.setCurrentIndex(number)
    story.wait(card.begin.isEnabled)


def begin(story: ReviewStory, title: str, reader: str) -> None:
    choose(story, title)
    story.begin(story.review.start.tasks.begin, reader)


def type_words(words: str) -> None:
    target = QApplication.focusWidget()
    assert target is not None
    QTest.keyClicks(target, words)


def assert_blind(story: ReviewStory, *secrets: str) -> None:
    """Nothing on the screen, on the clipboard or in the case's memory tells a secret.

    Nor does the widgets' memory name what is only shown after the lock.
    """
    words = " ".join((*words_on_screen(story.window), *held_by(story.page)))
    assert [secret for secret in secrets if secret in words] == []
    assert story.page.texts.truth.isHidden()


def test_that_outputs_are_graded_by_keys_and_counted_at_once(
    opened: Opened, settings: Settings
) -> None:
    story = opened("rubric_reading")
    with open_store(settings.store) as store:
        before = report_files(checked_report(store, 1))
    card = story.review.start.tasks
    choose(story, "Grade the outputs · run 1 · people")
    assert "blinded to the model" in card.words.text()
    card.amount.choose("drawn")
    card.sample.setValue(1)
    story.wait(lambda: " of " in card.words.text() and card.begin.isEnabled())
    story.begin(card.begin, "Reader A")
    page, models = story.page, ("knows", "half", "wordy")
    keys = 0
    while story.review.reviewing:
        assert_blind(story, *models, "Content 2")
        assert story.task.answer_text
        assert story.task.question == page.texts.question.text()
        scales = 4 if "process" in story.task.asked else 2
        for digit in (KEY.Key_4, KEY.Key_2, KEY.Key_4, KEY.Key_5)[:scales]:
            story.press(digit)
        assert_blind(story, *models, "Content 2")
        if scales == 4:
            story.press(ENTER)
            assert not page.texts.truth.isHidden()
            assert "Content 2" in " ".join(words_on_screen(page.texts))
            story.press(ENTER)
        else:
            story.press(ENTER, ENTER)
        keys += scales + 2
    (session,) = opening.sessions(settings.store)
    assert session.finished
    assert session.title == "Grading of outputs of people"
    assert keys <= 6 * session.planned
    with open_store(settings.store) as store:
        grades = grades_of(dataset_of_run(store, 1)).grades
        after = report_files(checked_report(store, 1))
    assert len(grades) == session.planned
    assert {grade.content for grade in grades if grade.image is None} == {2}
    assert {name for name in after if after.get(name) != before.get(name)} & {
        name for name in after if name.startswith("table")
    }


def test_that_a_stray_number_changes_no_other_answer(opened: Opened) -> None:
    story = opened("rubric_reading")
    begin(story, "Grade the outputs", "Reader A")
    while "process" not in story.task.asked:
        story.press(KEY.Key_Right)
    story.press(*[KEY.Key_4] * 4)
    asked = dict(story.page.side.form.values)
    story.press(KEY.Key_1)
    changed = dict(story.page.side.form.values)
    assert changed.pop("language") == 1
    assert asked.pop("language") == 4
    assert changed == asked
    story.press(KEY.Key_C)
    type_words("clumsy")
    story.press(ENTER)
    assert story.page.side.form.values["comment_language"] == "clumsy"
    story.press(KEY.Key_Down, KEY.Key_1, KEY.Key_0)
    assert story.page.side.form.values["codes"] == (
        "asked_what_to_draw",
        "left_right_swap",
    )


def test_that_views_and_prior_stand_side_by_side_each_with_its_own_zoom(
    opened: Opened,
) -> None:
    story = opened("rubric_reading")
    begin(story, "Grade the outputs", "Reader A")
    page = story.page
    tiles = page.case.tiles
    story.window.resize(1600, 1000)
    while len(page.strip.cards) < 3:
        story.press(KEY.Key_Right)
    images = {one.image for one in story.task.exhibits} - {None}
    shown = [view for view in page.views if view.isVisible()]
    story.wait(lambda: {view.shown_ref for view in shown} == images)
    titles = [label.text() for label in tiles.titles if label.isVisible()]
    assert sorted(titles) == sorted(card.words for card in page.strip.cards)
    zooms = [view.zoom for view in shown]
    shown[1].zoom_at(shown[1].area.center(), 3.0)
    assert [view.zoom == zoom for view, zoom in zip(shown, zooms, strict=True)] == [
        True,
        False,
        *[True] * (len(shown) - 2),
    ]
    story.press(KEY.Key_PageDown)
    story.wait(lambda: {view.shown_ref for view in shown} == images)
    before = story.task.position
    QTest.keyClick(shown[1], KEY.Key_4)
    assert 4 in page.side.form.values.values()
    click(story, tiles.toggle, QPoint(8, tiles.toggle.height() // 2))
    assert [view.isVisible() for view in page.views] == [True, False, False, False]
    assert all(view.shown_ref is None for view in tiles.beside)
    assert story.task.position == before


def test_that_a_place_is_drawn_on_the_cases_own_image_alone(opened: Opened) -> None:
    story = opened("rubric_reading")
    begin(story, "Grade the outputs", "Reader A")
    page, image = story.page, story.page.image
    story.wait(lambda: len(page.strip.cards) > 1)
    own = story.task.image
    story.press(KEY.Key_M)
    middle = PointPx(50, 60)
    story.press(KEY.Key_PageDown)
    story.wait(lambda: image._shown is not None and image._shown.ref != own)
    assert not image.on_own
    click(story, image.viewport(), image.to_view(middle).toPoint())
    assert "place" not in page.side.form.values
    image.zoom_at(image.area.center(), 3.0)
    zoomed = image.zoom
    story.press(KEY.Key_PageUp)
    story.wait(lambda: image.on_own)
    click(story, image.viewport(), image.to_view(middle).toPoint())
    assert isinstance(page.side.form.values["place"], PointAnswer)
    page.strip.cards[1].click()
    story.wait(lambda: not image.on_own)
    assert image.zoom == pytest.approx(zoomed)  # as it was left
    assert page.strip.cards[1].isChecked()


def click(story: ReviewStory, widget: QWidget, at: QPoint | None = None) -> None:
    none = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(widget, LEFT, none, at or widget.rect().center())
    story.wait(lambda: story.page.ready or not story.review.reviewing)


def test_that_a_panel_answers_by_mouse_and_sees_the_answer_after_the_lock(
    opened: Opened, settings: Settings
) -> None:
    story = opened("pathology_mcq")
    with open_store(settings.store) as store:
        items = dataset_named(store, "people").items
    why = [str(item.reference["explanation"]) for item in items]
    choose(story, "Answer the questions · people")
    start = story.review.start
    start.reader.setText("Ann")
    click(story, start.tasks.begin)
    assert "group of readers" in start.problem.text()
    start.tasks.group.setEditText("I")
    story.begin(start.tasks.begin, "Ann")
    page = story.page
    count = len(page._tasks)
    for number in range(count):
        assert_blind(story, *why, "Right answer")
        click(story, page.side.form.boxes["answer"].options.buttons["B"])  # type: ignore[attr-defined]
        assert_blind(story, *why, "Right answer")
        click(story, page.side.go)
        assert "Right answer" in " ".join(words_on_screen(page.texts))
        click(story, page.side.go)
        assert story.review.reviewing == (number < count - 1)
    with open_store(settings.store) as store:
        files = report_files(checked_report(store, 1))
        held = dataset_of_run(store, 1)
    assert {str(item.reference["experts"]) for item in held.items} == {
        "[['I', 'Ann', 1]]"
    }
    assert b"I" in files["experts.csv"]


def test_that_a_question_is_answered_before_it_is_judged(
    opened: Opened, settings: Settings
) -> None:
    story = opened("pathology_mcq")
    begin(story, "Judge the questions", "Zoe")
    assert_blind(story, "Right answer")
    story.press(KEY.Key_A, ENTER)
    assert story.task.state is TaskState.STAGE_LOCKED
    assert "Right answer" in " ".join(words_on_screen(story.page.texts))
    story.press(KEY.Key_2, KEY.Key_Down, KEY.Key_3, ENTER)
    with open_store(settings.store) as store:
        items = dataset_named(store, "people").items
    reviews = [
        item.reference["reviews"] for item in items if "reviews" in item.reference
    ]
    assert reviews == [[["Zoe", ["wrong_answer"]]]]


def test_that_no_case_is_shown_without_consent(
    opened: Opened, settings: Settings
) -> None:
    story = opened("evidence_diagnosis")
    choose(story, "Diagnose the cases · people")
    start, briefing = story.review.start, story.review.briefing
    start.reader.setText("Dr A")
    click(story, start.tasks.begin)
    story.wait(briefing.isVisible)
    assert "history, examination" in briefing.text.text()
    assert not briefing.begin.isEnabled()
    assert story.page.task is None
    QTest.keyClick(briefing.consent, KEY.Key_Escape)
    assert not story.review.reviewing
    (session,) = opening.sessions(settings.store)
    assert not recording.has_consented(settings.store, session.id)
    story.wait(start.tasks.begin.isEnabled)
    click(story, start.tasks.begin)
    story.wait(briefing.isVisible)
    QTest.keyClick(briefing.consent, KEY.Key_Space)
    briefing.begin.click()
    story.wait(lambda: story.page.ready)
    assert recording.has_consented(settings.store, session.id)
    assert story.page.side.about.text() == "Training: does not count"


def agreed(story: ReviewStory, settings: Settings, reader: str) -> None:
    """Begin to diagnose the cases as somebody who has agreed."""
    wanted = TaskWanted("evidence_diagnosis", "differential", "people")
    session = open_task(settings.store, wanted, reader)
    recording.consent(settings.store, session)
    story.review.open_session(session)
    story.wait(story.review.briefing.isVisible)
    story.review.briefing.begin.click()
    story.wait(lambda: story.page.ready)


def test_that_a_differential_is_locked_before_the_options_are_seen(
    opened: Opened, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few cases as these have no completions otherwise.
    monkeypatch.setattr(physicians, "_FEWEST_OTHERS", 0)
    story = opened("evidence_diagnosis")
    agreed(story, settings, "Dr B")
    box = story.page.side.form.boxes["differential"]
    box.set_value(("zebra of Dr B",))
    story.press(ENTER)
    story.window.context.actions["review.pause"].trigger()
    agreed(story, settings, "Dr A")
    page = story.page
    with open_store(settings.store) as store:
        cases = {i.key: i for i in dataset_named(store, "people").items}
    diagnoses = {str(case.reference["diagnosis"]) for case in cases.values()}
    while story.review.reviewing:
        assert not any(name in words_on_screen(story.window) for name in diagnoses)
        assert_blind(story, "zebra")
        assert not story.task.options
        box = page.side.form.boxes["differential"]
        assert isinstance(box, RankingBox)
        QTest.keyClicks(box.lines[0], "pulm")
        popup = box.lines[0].completer().popup()
        assert popup is not None
        story.wait(popup.isVisible)
        QTest.keyClick(popup, KEY.Key_Down)
        QTest.keyClick(popup, ENTER)
        story.wait(popup.isHidden)
        assert box.lines[0].text().casefold().startswith("pulm")
        box.lines[1].setFocus()
        QTest.keyClicks(box.lines[1], "words of my own")
        story.press(KEY.Key_PageDown)
        assert page.strip.cards[1].isChecked()
        box.lines[2].setFocus()
        story.press(ENTER)
        assert story.task.state is TaskState.STAGE_LOCKED
        assert_blind(story, "zebra")
        story.press(KEY.Key_C, ENTER)
        assert any(name in " ".join(words_on_screen(page.texts)) for name in diagnoses)
        story.press(ENTER)
    with open_store(settings.store) as store:
        items = dataset_named(store, "people").items
        assert check_audit(store).intact
    found = [i.reference["physicians"] for i in items if "physicians" in i.reference]
    assert len(found) == 1  # two of three were training
    assert "['Dr A', [" in str(found)
    assert "'words of my own'], 2, False, ''" in str(found)


def test_that_a_case_is_checked_and_a_skipped_one_comes_back(
    opened: Opened, settings: Settings
) -> None:
    story = opened("evidence_diagnosis")
    begin(story, "Validate the cases", "Dr A")
    first = story.task.position
    click(story, story.page.bar.skip)
    done = 0
    while story.review.reviewing:
        story.press(KEY.Key_1)  # the diagnosis is confirmed
        for _ in story.task.texts:
            story.press(KEY.Key_1)
        story.press(KEY.Key_Down, KEY.Key_1, KEY.Key_2)
        last = story.task.position
        story.press(ENTER)
        done += 1
    assert last == first
    with open_store(settings.store) as store:
        items = dataset_named(store, "people").items
    found = [i.reference["validations"] for i in items if "validations" in i.reference]
    assert len(found) == done
    assert str(found[0]).count("Dr A") == 1


def test_that_the_tasks_of_studies_are_chosen_by_keys(
    qtbot: QtBot, settings: Settings, curated: Path, tmp_path: Path
) -> None:
    shutil.copy(curated, settings.store)
    story = open_review(qtbot, settings)
    begin(story, "Choose the tasks", "Dr S")
    page, draft = story.page, story.page.side.form.boxes["text"]
    assert isinstance(draft, DraftBox)
    assert page.texts.overview.isHidden()
    first = story.task.options["candidate"][0].text
    story.press(KEY.Key_1)
    assert draft.line.toPlainText() == first
    story.press(KEY.Key_C)
    QTest.keyClicks(draft.line, " Where?")
    assert draft.changes.text() == "+ Where?"
    QTest.keyClick(draft.line, ENTER)
    story.press(ENTER)
    story.wait(page.texts.overview.isVisible)
    assert "(37 %)  lung parenchyma" in " ".join(words_on_screen(page.texts.overview))
    story.press(KEY.Key_M)
    assert story.window.focusWidget() is draft.line
    QTest.keyClick(draft.line, ENTER)
    story.press(ENTER)
    assert "Write the task" in page.side.problem.text()
    QTest.keyClicks(draft.line, "How wide is the heart?")
    QTest.keyClick(draft.line, ENTER)
    story.press(ENTER)
    assert not story.review.reviewing
    story.window.close()
    out = tmp_path / "tasks.json"
    overread("export", "tasks", 1, "--out", out, "--store", settings.store)
    tasks = json.loads(out.read_text("utf-8"))["tasks"]
    diffs = {task["origin"]: task["diff"] for task in tasks}
    assert diffs == {"edited": ["+ Where?"], "written": []}


def test_that_bars_drawn_while_a_case_is_validated_are_what_models_see(
    opened: Opened, settings: Settings
) -> None:
    story = opened("evidence_diagnosis")
    begin(story, "Validate the cases", "Dr A")
    page = story.page
    _, image = page.image.pixels
    page.side.bars.click()
    story.wait(lambda: story.window.findChild(PixelReviewDialog))
    dialog = found(story.window, PixelReviewDialog)
    dialog.canvas.add(BoxPx(1, 2, 31, 42))
    dialog.allow.click()
    story.wait(page.side.problem.isVisible)
    assert "models and exports get this image" in page.side.problem.text()
    with open_store(settings.store) as store:
        dataset = dataset_named(store, "people")
        sent = open_gate(store, dataset).as_sent(image)
    assert not np.array_equal(sent.values, image.values)
    assert np.ptp(sent.values[2:42, 1:31]) == 0


def test_that_only_who_validates_cases_is_offered_bars(opened: Opened) -> None:
    story = opened("pathology_mcq")
    begin(story, "Judge the questions", "Zoe")
    assert story.page.side.bars.isHidden()


def test_that_the_only_case_left_cannot_be_skipped(opened: Opened) -> None:
    story = opened("pathology_mcq")
    begin(story, "Judge the questions", "Zoe")
    while story.page._next():
        story.press(KEY.Key_A, ENTER, KEY.Key_1, ENTER)
    click(story, story.page.bar.skip)
    assert "No other case" in story.page.side.problem.text()


def test_that_a_reader_withdraws_in_the_window(
    opened: Opened, settings: Settings
) -> None:
    story = opened("pathology_mcq")
    begin(story, "Judge the questions", "Zoe")
    story.press(KEY.Key_A, ENTER, KEY.Key_1, ENTER)
    story.page.bar.withdraw.click()
    box = story.window.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "all your answers" in box.informativeText()
    next(b for b in box.buttons() if b.text() == "Withdraw").click()
    story.wait(lambda: not story.review.reviewing)
    (session,) = opening.sessions(settings.store)
    assert session.withdrawn
    with open_store(settings.store) as store:
        items = dataset_named(store, "people").items
        assert check_audit(store).intact
    assert not any("reviews" in item.reference for item in items)


def test_that_an_empty_store_says_what_to_do(qtbot: QtBot, settings: Settings) -> None:
    story = open_review(qtbot, settings)
    card = story.review.start.tasks
    story.wait(lambda: story.review._offered is not None)
    assert tasks_to_do(settings.store) == ()
    assert card.words.text().startswith("No study has anything for readers yet.")
    assert not card.begin.isEnabled()
    story.window.close()
