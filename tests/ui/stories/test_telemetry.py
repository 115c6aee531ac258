"""What is on screen is recorded in the window of a reader who agreed, and no other."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import ReviewStory, open_review
from tests.helpers.sealed_sessions import store_of_questions
from viewer.domain.reading import SessionId
from viewer.domain.telemetry import Look
from viewer.services.readings import recording
from viewer.services.readings.telemetry import decision
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.store.looks import looks_of
from viewer.store.reading_audit import check_audit, events_of
from viewer.ui.dialogs.export_session import _KINDS, ExportSession

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


@pytest.fixture
def story(qtbot: QtBot, tmp_path: Path) -> ReviewStory:
    store = store_of_questions(tmp_path)
    return open_review(qtbot, Settings(tmp_path, store))


def kept(story: ReviewStory, session: int) -> tuple[Look, ...]:
    with open_store(story.review._store) as store:
        assert check_audit(store).intact
        return looks_of(store, session)


def ask(story: ReviewStory, reader: str) -> None:
    """Open a session that asks its reader to be recorded, up to its briefing."""
    start = story.review.start
    card = start.tasks
    story.wait(card.tasks.count)
    for number in range(card.tasks.count()):
        if card.tasks.itemData(number).wanted.task == "panel":
            card.tasks.setCurrentIndex(number)
    card.group.setCurrentText("I")
    story.wait(card.begin.isEnabled)
    start.record.setChecked(True)
    start.reader.setText(reader)
    card.begin.click()
    story.wait(story.review.briefing.record.isVisible)


def drag(story: ReviewStory, button: Qt.MouseButton, down: int) -> None:
    view = story.page.image.viewport()
    QTest.mousePress(view, button, pos=QPoint(80, 80))
    for step in range(1, 5):
        QTest.mouseMove(view, QPoint(80, 80 + step * down // 4))
    QTest.mouseRelease(view, button, pos=QPoint(80, 80 + down))
    QTest.qWait(250)


def test_that_zoom_and_window_are_recorded_until_the_reader_stops_it(
    story: ReviewStory, tmp_path: Path
) -> None:
    ask(story, "Ann")
    briefing, page = story.review.briefing, story.page
    assert briefing.begin.isEnabled()
    QTest.mouseClick(
        briefing.record, LEFT, pos=QPoint(8, briefing.record.height() // 2)
    )
    assert briefing.record.isChecked()
    QTest.mouseClick(briefing.begin, LEFT)
    story.wait(lambda: page.ready)
    whole, window = page.image.zoom, page.image.window_shown
    assert window is not None
    QTest.qWait(250)
    drag(story, RIGHT, -40)
    drag(story, LEFT, 40)
    story.press(Qt.Key.Key_2, Qt.Key.Key_Return)
    seen = page.image.seen
    page.bar.leave.click()
    looks = kept(story, 2)
    first = looks[0].sight
    assert (first.zoom, first.center, first.width) == (
        whole,
        window.center,
        window.width,
    )
    last = next(look.sight for look in looks[::-1] if look.position == 0)
    assert last.zoom != whole
    assert last.center != window.center
    assert {look.position for look in looks} <= {0, 1}
    assert all(look.duration_ms > 0 for look in looks)
    assert sum(look.duration_ms for look in looks) >= 700
    assert seen.x0 < seen.x1
    with open_store(story.review._store) as store:
        sealed = events_of(store, 2, "looks")
    assert sum(event["rows"] for event in sealed) == len(looks)

    export = ExportSession(story.review._store, story.window, SessionId(2))
    story.wait(export.foot.go.isEnabled)
    export.export(SessionId(2), _KINDS[-1], tmp_path / "seen.csv")
    story.wait(lambda: export.foot.sentence.text().endswith("in seen.csv."))
    assert len((tmp_path / "seen.csv").read_text("utf-8").splitlines()) > len(looks)
    export.close()

    story.review.open_session(SessionId(2))
    story.wait(lambda: page.ready)
    assert page.recorder.stop.isVisible()
    page.recorder.stop.click()
    (box,) = (b for b in story.window.findChildren(QMessageBox) if b.isVisible())
    (yes,) = (b for b in box.buttons() if b.text() == "Stop and delete")
    yes.click()
    story.wait(lambda: not kept(story, 2))
    assert not page.recorder.stop.isVisible()
    assert decision(story.review._store, SessionId(2)) is False
    page.bar.leave.click()
    assert kept(story, 2) == ()


def consent(story: ReviewStory) -> None:
    briefing = story.review.briefing
    QTest.mouseClick(
        briefing.record, LEFT, pos=QPoint(8, briefing.record.height() // 2)
    )
    briefing.begin.click()
    story.wait(lambda: story.page.ready)


def replays(story: ReviewStory) -> list[QPushButton]:
    buttons = story.review.start.findChildren(QPushButton)
    return [b for b in buttons if b.text() == "Replay" and b.isVisible()]


def test_that_a_finished_session_is_replayed_as_it_was_seen_until_it_is_withdrawn(
    story: ReviewStory,
) -> None:
    ask(story, "Ann")
    consent(story)
    story.page.image.zoom_at(QPointF(20, 20), 8.0)
    drag(story, LEFT, 40)
    story.page.bar.leave.click()
    story.wait(story.review.start.sessions.isVisible)
    assert not replays(story)  # still being read
    story.review.open_session(SessionId(2))
    story.wait(lambda: story.page.ready)
    while story.review.reviewing:
        story.press(Qt.Key.Key_2, Qt.Key.Key_Return, Qt.Key.Key_Return)
    looks = [look for look in kept(story, 2) if look.position == 0]
    story.review.done.back.click()
    story.wait(lambda: replays(story))
    replays(story)[0].click()
    page = story.review.replay
    story.wait(page.slider.maximum)
    assert page.heading.text().endswith("Ann")
    assert page.slider.maximum() == sum(look.duration_ms for look in looks)
    begin = 0
    for look in looks:
        page.slider.setValue(begin)
        (view,) = page.views
        sight, seen = look.sight, view.seen
        assert view.sight == sight
        window = view.window_shown
        assert window is not None
        assert (window.center, window.width) == (sight.center, sight.width)
        assert seen.x0 <= sight.column0 + 1
        assert seen.x1 >= sight.column1 - 1
        assert seen.y0 <= sight.row0 + 1
        assert seen.y1 >= sight.row1 - 1
        begin += look.duration_ms
    page.slider.setValue(0)
    page.speed.choose("16")
    page.play.click()
    story.wait(lambda: page.slider.value() == page.slider.maximum())
    assert page.play.text() == "Play"
    page.map.click()
    assert f"{page.slider.maximum() / 1000:.1f} s (yellow)" in page.about.text()
    assert page.views[0].fitted
    QTest.keyClick(page, Qt.Key.Key_Escape)
    story.wait(story.review.start.isVisible)
    assert page.views[0].shown_ref is None

    recording.withdraw(story.review._store, SessionId(2))
    story.review.refresh()
    story.wait(lambda: not replays(story))
    page.open(SessionId(2), "Ann", [0])
    story.wait(lambda: "Nothing was recorded" in page.problem.text())


def test_that_who_declines_reads_without_a_record(story: ReviewStory) -> None:
    ask(story, "Bo")
    story.review.briefing.begin.click()
    story.wait(lambda: story.page.ready)
    assert not story.page.recorder.stop.isVisible()
    drag(story, RIGHT, -40)
    story.press(Qt.Key.Key_2, Qt.Key.Key_Return)
    story.page.bar.leave.click()
    assert kept(story, 2) == ()
    assert decision(story.review._store, SessionId(2)) is False
