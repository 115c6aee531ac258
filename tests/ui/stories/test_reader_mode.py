"""A person reads the cases that models were asked about; nothing locked is lost."""

import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.full_disk import full_disk
from tests.helpers.review_story import ReviewStory, open_review, words_on_screen
from tests.helpers.reviewed_run import DATASET, FINDING, MODELS, missed_run
from tests.helpers.window_process import READER, cell_for, start_window
from tests.helpers.window_story import found
from viewer.domain.answer import CellAnswer
from viewer.domain.geometry import PointPx
from viewer.domain.grid import Cell
from viewer.domain.reading import Interval, SessionId, TaskState
from viewer.domain.reading_time import IDLE_AFTER_MS, active_ms
from viewer.services.readings import cases, opening
from viewer.settings import Settings
from viewer.ui.canvas.overlays.answer_item import AnswerItem
from viewer.ui.canvas.overlays.reference import ReferenceItem
from viewer.ui.panels.review.clock import ReviewClock

KEY = Qt.Key
ENTER = KEY.Key_Return


@pytest.fixture
def story(qtbot: QtBot, settings: Settings) -> Iterator[ReviewStory]:
    missed_run(settings.store, 4)
    made = open_review(qtbot, settings)
    yield made
    made.window.close()


def click_cell(story: ReviewStory, cell: Cell) -> None:
    """Click the middle of a cell."""
    canvas, image = story.task.canvas, story.page.image
    side = (canvas.field.x1 - canvas.field.x0) / canvas.grid.columns
    x = canvas.field.x0 + (cell.column + 0.5) * side
    y = canvas.field.y0 + (cell.row + 0.5) * side
    at = image.to_view(PointPx(x, y)).toPoint()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(image.viewport(), left, none, at)


def assert_blind(story: ReviewStory) -> None:
    """Nothing of a model or of the reference is there."""
    words = " ".join(words_on_screen(story.window)).casefold()
    for secret in (*MODELS, "scripted", "h1 ", story.task.image.path.name):
        assert secret.casefold() not in words
    image = story.page.image
    assert image.reference_shown is None
    assert image.subject is None
    items = image.stage.items()
    assert not any(isinstance(item, ReferenceItem | AnswerItem) for item in items)


def test_that_a_reader_names_a_cell_and_how_sure_he_is(
    story: ReviewStory, settings: Settings
) -> None:
    story.begin(story.review.start.read, "Reader A")
    assert story.page.side.finding.text() == FINDING
    assert_blind(story)
    click_cell(story, Cell(2, 3))
    assert_blind(story)
    story.press(KEY.Key_4)
    first = story.task
    assert first.values == {"place": CellAnswer(Cell(2, 3), "reader"), "confidence": 4}
    story.press(ENTER)
    assert story.task.position != first.position
    assert_blind(story)
    session = opening.sessions(settings.store)[0]
    assert cases.task(settings.store, session.id, first.position).state is (
        TaskState.LOCKED
    )


def test_that_every_answer_is_kept_at_once(
    story: ReviewStory, settings: Settings
) -> None:
    story.begin(story.review.start.read, "Reader A")
    session = opening.sessions(settings.store)[0].id
    position = story.task.position
    click_cell(story, Cell(5, 1))
    kept = cases.task(settings.store, session, position).values
    assert kept == {"place": CellAnswer(Cell(5, 1), "reader")}
    story.press(KEY.Key_2)
    kept = cases.task(settings.store, session, position).values
    assert kept["confidence"] == 2
    click_cell(story, Cell(6, 1))  # placing goes on while confidence is asked
    kept = cases.task(settings.store, session, position).values
    assert kept["place"] == CellAnswer(Cell(6, 1), "reader")


def go_on_as(story: ReviewStory, reader: str, verb: str) -> str:
    """Press Read under a name that has read; answer what is asked, and return it."""
    start = story.review.start
    story.wait(start.read.isEnabled)
    start.reader.setText(reader)
    start.read.click()
    story.wait(lambda: story.window.findChild(QMessageBox))
    return _answered(story, verb)


def _answered(story: ReviewStory, verb: str) -> str:
    """Press a button of the box that asks; return what it said."""
    box = found(story.window, QMessageBox)
    words = box.informativeText()
    next(b for b in box.buttons() if b.text().replace("&", "") == verb).click()
    story.wait(lambda: not story.window.findChild(QMessageBox))
    return words


def test_that_answers_stay_on_the_screen_while_the_disk_is_full(
    story: ReviewStory, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.begin(story.review.start.read, "Reader A")
    page, position = story.page, story.task.position
    click_cell(story, Cell(2, 3))
    with full_disk(monkeypatch):
        page.side.comment.setText("x" * 30_000)
        story.press(KEY.Key_4, ENTER)
        assert "The disk that holds the store is full" in page.side.problem.text()
        assert story.task.state is TaskState.STARTED
        # Nothing leads away from what is nowhere but on the screen.
        story.press(KEY.Key_Right)
        page.skip()
        assert page.position == position
        story.window.context.actions["review.pause"].trigger()
        assert "is full" in _answered(story, "Cancel")
        assert not story.window.close()
        assert "is full" in _answered(story, "Cancel")
        assert story.window.isVisible()
        assert story.review.reviewing
    story.press(ENTER)
    assert page.position != position
    kept = page._tasks[position]
    assert kept.state is TaskState.LOCKED
    assert kept.values["place"] == CellAnswer(Cell(2, 3), "reader")
    assert len(kept.comment) == 30_000
    with full_disk(monkeypatch):
        page.side.comment.setText("y" * 30_000)
        assert not story.window.close()
        _answered(story, "Leave")
        story.wait(lambda: not story.window.isVisible())


def test_that_time_that_could_not_be_stored_is_taken_again(qtbot: QtBot) -> None:
    owner, now = QWidget(), [1000]
    qtbot.addWidget(owner)
    clock = ReviewClock(owner, lambda: now[0], QPoint)
    clock.start()
    now[0] = 3000
    taken = clock.take()
    assert taken == (Interval(1000, 3000),)
    clock.give_back(taken)
    now[0] = 4000
    assert clock.take() == (Interval(1000, 3000), Interval(3000, 4000))
    now[0] = 5000
    again = clock.take()
    assert again == (Interval(4000, 5000),)
    clock.give_back(again)
    clock.start()  # another case
    assert active_ms(clock.take()) == 0


def test_that_a_reader_who_stops_half_way_goes_on_where_he_was(
    story: ReviewStory,
) -> None:
    story.begin(story.review.start.read, "Reader A")
    click_cell(story, Cell(2, 3))
    story.press(KEY.Key_4, ENTER)
    click_cell(story, Cell(1, 1))
    position = story.task.position
    story.window.context.actions["review.pause"].trigger()
    assert not story.review.reviewing
    go_on_as(story, "Reader A", "Cancel")
    assert not story.review.reviewing
    words = go_on_as(story, " Reader  A", "Continue")
    assert words.startswith("Reader A has locked 1 of 4 cases of this session.")
    assert "another reader of the same name" in words
    story.wait(lambda: story.page.ready)
    assert story.task.position == position
    assert story.page.image.answer == CellAnswer(Cell(1, 1), "reader")


@pytest.mark.parametrize(
    ("who", "name"), [("Reader A", "Reader A"), ("Another reader", "Reader A (2)")]
)
def test_that_a_name_that_has_read_elsewhere_is_asked_who_reads(
    who: str, name: str, story: ReviewStory, settings: Settings
) -> None:
    opening.open_error_review(settings.store, 1, "Reader A")
    go_on_as(story, "reader a", "Cancel")
    assert len(opening.sessions(settings.store)) == 1
    words = go_on_as(story, "reader a", who)
    assert words.startswith("Reader A: session 1, opened on 20")
    assert "Another reader is called Reader A (2)" in words
    story.wait(lambda: story.page.ready)
    assert story.review.start.reader.text() == name
    assert opening.sessions(settings.store)[0].reader == name


def test_that_several_readers_have_sessions_of_their_own(
    story: ReviewStory, settings: Settings
) -> None:
    for reader in ("Reader A", "Reader B"):
        story.begin(story.review.start.read, reader)
        assert story.task.values == {}
        click_cell(story, Cell(2, 3))
        story.window.context.actions["review.pause"].trigger()
    sessions = opening.sessions(settings.store)
    assert {one.reader for one in sessions} == {"Reader A", "Reader B"}


def test_that_a_second_window_is_told_who_holds_the_session(
    story: ReviewStory, settings: Settings, qtbot: QtBot
) -> None:
    story.begin(story.review.start.read, "Reader A")
    other = open_review(qtbot, settings)
    start = other.review.start
    other.wait(start.read.isEnabled)
    start.reader.setText("Reader A")
    start.read.click()
    other.wait(start.problem.text)
    assert "window" in start.problem.text() or "process" in start.problem.text()
    assert not other.review.reviewing
    other.begin(start.read, "Reader B")  # another reader is free to work
    click_cell(other, Cell(1, 1))
    click_cell(story, Cell(2, 2))
    assert story.task.values["place"] == CellAnswer(Cell(2, 2), "reader")
    assert other.task.values["place"] == CellAnswer(Cell(1, 1), "reader")
    story.window.context.actions["review.pause"].trigger()
    other.window.context.actions["review.pause"].trigger()
    other.begin(start.read, "Reader A")
    assert other.task.values["place"] == CellAnswer(Cell(2, 2), "reader")
    other.window.close()


class Hands:
    """A clock and a mouse that a test moves."""

    def __init__(self) -> None:
        self.now_ms, self.at, self.active = 0, QPoint(), True

    def pass_to(self, now_ms: int, clock: ReviewClock, *, moved: bool = False) -> None:
        """Let time pass, and the clock look at the mouse."""
        self.now_ms = now_ms
        self.at += QPoint(1, 0) if moved else QPoint()
        clock.look()


def test_that_time_away_and_idle_time_do_not_count(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, hands = QWidget(), Hands()
    qtbot.addWidget(owner)
    clock = ReviewClock(owner, lambda: hands.now_ms, lambda: hands.at)
    monkeypatch.setattr(clock, "_is_active", lambda: hands.active)
    clock.start()
    for moment in (1_000, 2_000, 3_000):
        hands.pass_to(moment, clock, moved=True)
    hands.active = False
    hands.pass_to(3_500, clock)
    hands.pass_to(600_000, clock, moved=True)  # over another window
    hands.active = True
    hands.pass_to(900_000, clock)
    hands.pass_to(901_000, clock, moved=True)
    assert _length(clock.take()) == 3_500 + 1_000
    hands.now_ms = 1_500_000  # nothing happens for ten minutes
    assert _length(clock.take()) == IDLE_AFTER_MS
    clock.stop()
    assert clock.take() == ()


def test_that_what_was_taken_is_not_counted_again(qtbot: QtBot) -> None:
    owner, hands = QWidget(), Hands()
    qtbot.addWidget(owner)
    clock = ReviewClock(owner, lambda: hands.now_ms, lambda: hands.at)
    clock.start()
    hands.now_ms = 700
    clock.note()
    assert _length(clock.take()) == 700
    assert _length(clock.take()) == 0


def _length(stretches: tuple[Interval, ...]) -> int:
    return sum(each.end_ms - each.start_ms for each in stretches)


def _killed_reading(store: Path, moment_s: float, begins_with: str) -> list[list[str]]:
    """Read until something is kept and a while, then kill; return what was told.

    ``begins_with`` is what has to be kept first: an answer marked, or one locked.
    """
    process = start_window(store, "read", DATASET, stdout=subprocess.PIPE)
    said: list[list[str]] = []
    begun = threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if not line.endswith("\n"):
                    break  # The kill came in the middle of it.
                said.append(line.split())
                if said[-1][0] == begins_with:
                    begun.set()

    listener = threading.Thread(target=listen)
    listener.start()
    begun.wait(600)
    time.sleep(moment_s)
    process.send_signal(signal.SIGKILL)
    process.wait()
    listener.join()
    return said


def _assert_nothing_lost(store: Path, said: list[list[str]]) -> int:
    """Compare what was told with what is in the store; return how many are locked."""
    (session,) = opening.sessions(store)
    tasks = cases.queue(store, SessionId(session.id))
    for what, *numbers in said:
        position, row, column = map(int, numbers)
        task = tasks[position]
        assert task.values["place"] == CellAnswer(Cell(row, column), "reader")
        if what == "locked":
            assert task.state is TaskState.LOCKED
            assert task.values["confidence"] == 4
    told = {int(line[1]) for line in said}
    begun = [t for t in tasks if t.state is not TaskState.WAITING]
    assert all(t.values["place"] == CellAnswer(cell_for(t.position), "reader")
               for t in begun if "place" in t.values)  # fmt: skip
    beyond = [t.position for t in begun if t.position not in told]
    assert len(beyond) <= 1 or not said
    assert session.reader == READER
    return sum(task.state is TaskState.LOCKED for task in tasks)


def _locked_after(store: Path, times: int) -> int:
    """Kill a reader's program often, lose nothing, and return how much is locked."""
    missed_run(store, 40 * times if times < 10 else 400)
    rng, told, locked = random.Random(4), dict[str, list[str]](), 0
    for number in range(times):
        first = "marked" if number else "locked"  # a slow machine would lock nothing
        for line in _killed_reading(store, rng.uniform(0, 0.6), first):
            told[line[1]] = line
        now = _assert_nothing_lost(store, list(told.values()))
        assert now >= locked
        locked = now
    return locked


@pytest.mark.usefixtures("qapp")
def test_that_a_kill_loses_no_locked_answer(settings: Settings) -> None:
    assert _locked_after(settings.store, 2) > 0


@pytest.mark.proof
@pytest.mark.usefixtures("qapp")
def test_that_fifty_kills_lose_no_locked_answer(settings: Settings) -> None:
    assert _locked_after(settings.store, 50) > 0


def test_that_a_reader_chooses_grid_and_findings_before_the_study_is_opened(
    story: ReviewStory,
) -> None:
    start = story.review.start
    story.wait(start.read.isEnabled)
    assert start.cases.views.isHidden()  # there is one
    start.cases.grids.choose("16")
    story.wait(lambda: start.read.text() == "Read 4 cases")
    story.begin(start.read, "Reader A")
    assert story.task.canvas.grid.rows == 16
