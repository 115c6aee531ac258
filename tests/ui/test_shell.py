"""The window around the workspaces."""

import json
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import Furnished
from viewer.domain.answer import Status
from viewer.domain.grid import Grid
from viewer.domain.plain import plain
from viewer.domain.result import Score
from viewer.domain.run import (
    ModelLoading,
    RunEnded,
    RunSpent,
    RunStarted,
    RunWaiting,
    TrialDone,
)
from viewer.imaging.grid_overlay import LabelStyle
from viewer.services.worker.background import (
    WorkerDied,
    WorkerEvent,
    WorkerMessage,
    WorkerReply,
)
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.application.actions import HIDE, SHOW
from viewer.ui.application.batch_line import BatchLine
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import (
    FILE,
    KeptImage,
    Layout,
    keep_layout,
    read_layout,
)
from viewer.ui.application.status_bar import StatusBar, StatusFields
from viewer.ui.panels.measure.filmstrip import TrialChosen
from viewer.ui.panels.read.grid_choice import GridChoice
from viewer.ui.panels.read.lightbox import ImageSplitter
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import Purpose, set_last_folders, start_folder
from viewer.ui.window.recent_menu import RecentMenu


@pytest.fixture
def made(qtbot: QtBot, settings: Settings) -> Furnished:
    furnished = Furnished(settings)
    qtbot.addWidget(furnished.window)
    furnished.window.show()
    furnished.window.activateWindow()
    qtbot.waitUntil(furnished.window.isActiveWindow)
    return furnished


def _trial_done(run: int) -> TrialDone:
    score = Score(Status.SCORED_CORRECT)
    return TrialDone(run, 1, "i", "8x8", 0, "m", score, "", reused=False, latency_ms=1)


def test_that_ctrl_1_and_2_change_the_workspace(made: Furnished) -> None:
    places = [made.window.place]
    QTest.keyClick(made.window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    places.append(made.window.place)
    assert not made.context.actions["image.fit"].isEnabled()
    QTest.keyClick(made.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    places.append(made.window.place)
    assert places == [Place.READ, Place.MEASURE, Place.READ]
    assert made.window.switch.buttons["window.read"].isChecked()


def test_that_menus_hold_what_is_handled_and_nothing_else(made: Furnished) -> None:
    shown = {
        action.objectName()
        for menu in made.window._menus.values()
        for action in menu.actions()
        if not action.isSeparator() and not isinstance(action.parent(), RecentMenu)
    }
    assert shown == {spec.id for spec, _ in made.context.actions} - {HIDE}
    assert "ask.saw" not in shown


def test_that_a_letter_is_a_command_but_not_in_a_text_field(
    made: Furnished,
) -> None:
    QTest.keyClick(made.read.cases, Qt.Key.Key_F)
    assert made.read.did == ["image.fit"]
    made.read.filter.setFocus()
    QTest.keyClick(made.read.filter, Qt.Key.Key_F)
    assert made.read.did == ["image.fit"]
    assert made.read.filter.text() == "f"


def test_that_return_asks_where_nothing_else_takes_it(
    made: Furnished,
) -> None:
    made.read.setFocus()
    QTest.keyClick(made.read, Qt.Key.Key_Return)
    made.read.filter.setFocus()
    QTest.keyClick(made.read.filter, Qt.Key.Key_Return)
    assert made.read.did == ["ask.ask"]


def test_that_return_presses_the_button_that_has_the_keyboard(
    made: Furnished,
) -> None:
    button, pressed = QPushButton(made.read), list[str]()
    button.clicked.connect(lambda: pressed.append("pressed"))
    button.show()
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Return)
    QTest.keyClick(button, Qt.Key.Key_Enter)
    assert len(pressed) == 2
    assert made.read.did == []


def test_that_overlays_are_hidden_while_the_key_is_held(
    made: Furnished,
) -> None:
    made.read.cases.setFocus()
    QTest.keyPress(made.read.cases, Qt.Key.Key_H)
    assert made.read.did == [HIDE]
    QTest.keyRelease(made.read.cases, Qt.Key.Key_H)
    assert made.read.did == [HIDE, SHOW]


def test_that_a_dicomdir_opens_the_folder_that_it_lists(
    made: Furnished, tmp_path: Path
) -> None:
    made.window.open_paths([tmp_path / "DICOMDIR", tmp_path / "film.dcm"])
    assert made.read.opened == [tmp_path, tmp_path / "film.dcm"]


def test_that_a_drop_anywhere_opens_files(made: Furnished, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path)), QUrl("https://example.org/a")])
    made.window.enter(Place.MEASURE)
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    made.window.dropEvent(event)
    assert made.read.opened == [tmp_path]
    assert made.window.place is Place.READ


def test_that_esc_leads_back_to_the_row_a_case_was_chosen_from(
    made: Furnished,
) -> None:
    back = made.context.actions["measure.back"]
    assert not back.isEnabled()
    made.window.enter(Place.MEASURE)
    made.window.open_trial(TrialChosen(7))
    assert (made.read.answers, made.window.place) == ([7], Place.READ)
    QTest.keyClick(made.window, Qt.Key.Key_Escape)
    assert (made.measure.did, made.window.place) == (["row"], Place.MEASURE)
    assert not back.isEnabled()


def test_that_esc_stops_what_runs_before_it_leads_back(made: Furnished) -> None:
    made.window.enter(Place.MEASURE)
    made.window.open_trial(TrialChosen(7))
    made.read.running = True
    QTest.keyClick(made.window, Qt.Key.Key_Escape)
    assert (made.measure.did, made.window.place) == ([], Place.READ)
    assert not made.read.running
    QTest.keyClick(made.window, Qt.Key.Key_Escape)
    assert (made.measure.did, made.window.place) == (["row"], Place.MEASURE)


def _tell(made: Furnished, *messages: WorkerMessage) -> None:
    """Let the worker say that run 4 begins, and more."""
    for message in (WorkerReply(9, {"run": 4}, ""), *messages):
        made.context.worker.message.emit(message)


def test_that_a_batch_is_a_line_with_progress_and_cancel(
    made: Furnished, qtbot: QtBot
) -> None:
    line, worker = made.window.batch, made.context.worker
    _tell(made)
    assert line.text.text() == "Run 4 · queued"
    _tell(made, WorkerEvent(RunStarted(4, 10, 3)), WorkerEvent(_trial_done(4)))
    qtbot.waitUntil(lambda: line.text.text() == "Run 4 · running · 4 of 10")
    assert line.bar.value() == round(0.4 * line.bar.maximum())
    line.pause.click()
    assert made.workers[0].told[-1] == ("pause", 4)
    assert line.text.text().startswith("Run 4 · pausing for 0:00, ")
    line.cancel.click()
    assert made.workers[0].told[-1] == ("cancel", 4)
    assert line.text.text().startswith("Run 4 · cancelling for 0:00, ")
    assert not line.cancel.isVisible()
    worker.message.emit(WorkerEvent(RunEnded(4, {}, cancelled=True)))
    assert line.isHidden()


def _says(line: BatchLine, words: str) -> bool:
    return line.text.text() == words


def test_that_the_line_of_a_batch_tells_what_it_has_spent_and_waits_for(
    made: Furnished, qtbot: QtBot
) -> None:
    line = made.window.batch
    for event, words in (
        (RunSpent(4, 420_000, 30_000, 5_000_000), "running · 4 of 10 · $0.42 of $5.00"),
        (RunWaiting(4, "process 77"), "4 of 10 · Waiting for process 77"),
        (
            RunWaiting(4, "", store_is_busy=True),
            "4 of 10 · The store is busy; waiting…",
        ),
    ):
        _tell(made, WorkerEvent(RunStarted(4, 10, 4)), WorkerEvent(event))
        qtbot.waitUntil(partial(_says, line, f"Run 4 · {words}"))


def test_that_the_line_of_a_batch_takes_the_room_of_what_matters_less(
    made: Furnished, qtbot: QtBot
) -> None:
    status, line = made.window.status, made.window.batch
    made.context.status.show_use("1,003 requests $12.40 · cache 212 MB")
    made.window.resize(900, 600)
    made.window.show()
    qtbot.waitUntil(status.use_text.isVisible)
    long = RunWaiting(4, "process 77 on workstation ward3.radiology since 08:00 today")
    _tell(made, WorkerEvent(RunStarted(4, 10, 4)), WorkerEvent(long))
    made.context.run_states.changed.emit()
    qtbot.waitUntil(status.use_text.isHidden)
    assert line.text.text().endswith(long.words)


def test_that_a_single_question_is_no_line_and_a_dead_worker_stays_one(
    made: Furnished,
) -> None:
    line, message = made.window.batch, made.context.worker.message
    message.emit(WorkerReply(9, {"runs": [3]}, ""))
    message.emit(WorkerEvent(RunStarted(3, 1, 0)))
    assert line.isHidden()
    _tell(made, WorkerEvent(RunStarted(4, 10, 4)), WorkerDied("It died."))
    assert line.text.text() == "Run 4 · worker ended at 4 of 10"
    assert (line.resume.isVisible(), line.cancel.isVisible()) == (True, False)
    line.resume.click()
    assert made.workers[0].told[-1] == ("resume", 4, 0)


def test_that_a_question_shows_what_it_loads_until_it_ends(made: Furnished) -> None:
    line, message = made.window.batch, made.context.worker.message
    message.emit(WorkerEvent(ModelLoading(3, "tiny", 0.5, "loading weights")))
    assert line.text.text() == "Loading tiny · 50 % · loading weights"
    line.cancel.click()
    assert made.workers[0].told[-1] == ("cancel", 3)
    message.emit(WorkerEvent(RunEnded(3, {}, cancelled=True)))
    assert line.isHidden()


def test_that_the_lock_opens_where_a_ticked_model_is_asked_elsewhere(
    made: Furnished,
) -> None:
    shown = made.window.status.destinations
    assert shown.words.text() == "Local only"
    made.context.status.show_hosts(("api.example.org",))
    assert shown.words.text() == "Sends to api.example.org"
    assert "api.example.org" in shown.toolTip()
    made.context.status.show_hosts(())
    assert shown.words.text() == "Local only"


def test_that_undo_names_the_edit_and_is_grey_without_one(made: Furnished) -> None:
    undo = made.context.actions["edit.undo"]
    assert not undo.isEnabled()
    values = list[int]()
    made.context.undo.do("length", lambda: values.append(1), values.clear)
    assert (undo.isEnabled(), undo.text()) == (True, "Undo length")
    undo.trigger()
    assert values == []
    assert made.context.actions["edit.redo"].text() == "Redo length"


def test_that_the_window_opens_as_it_was_left(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    first = Furnished(settings)
    qtbot.addWidget(first.window)
    first.window.resize(640, 480)
    first.window.open_paths([tmp_path, tmp_path / "gone.dcm"])
    first.context.actions["view.theme"].trigger()
    splitter = first.read.findChild(QSplitter)
    assert isinstance(splitter, QSplitter)
    splitter.setSizes([100, 300])
    sizes = splitter.sizes()
    first.window.enter(Place.MEASURE)
    set_last_folders({"results": str(tmp_path)})
    first.window.close()
    set_last_folders({})

    again = Furnished(settings)
    qtbot.addWidget(again.window)
    assert theme.current() is theme.LIGHT
    assert again.context.actions["view.theme"].isChecked()
    assert (again.window.width(), again.window.height()) == (640, 480)
    restored = again.read.findChild(QSplitter)
    assert isinstance(restored, QSplitter)
    assert restored.sizes()[0] / sum(restored.sizes()) == pytest.approx(
        sizes[0] / sum(sizes), abs=0.05
    )
    again.window.return_to_workspace()
    assert start_folder(Purpose.RESULTS) == tmp_path
    assert again.window.place is Place.MEASURE
    again.window.reopen()
    assert again.read.opened == [tmp_path]
    again.context.actions["file.open"].trigger()
    dialog = again.window.findChild(QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert Path(dialog.directory().absolutePath()) == tmp_path.parent
    dialog.close()


def test_that_a_notice_enables_no_command_but_its_own(made: Furnished) -> None:
    actions = made.context.actions
    useless = [actions[n] for n in ("edit.undo", "edit.redo", "measure.back")]
    made.window.show()
    made.context.notices.say("Written.")
    assert actions["notice.dismiss"].isEnabled()
    assert not any(action.isEnabled() for action in useless)


def test_that_more_images_join_the_list_without_a_change_of_what_is_shown(
    made: Furnished, tmp_path: Path
) -> None:
    made.window.enter(Place.MEASURE)
    made.window.open_paths([tmp_path], show=False)
    assert (made.read.opened, made.read.shown) == ([tmp_path], [])
    assert made.window.place is Place.MEASURE


def test_that_closing_lets_the_worker_finish(made: Furnished) -> None:
    made.context.worker.resume(1, 1)
    made.window.close()
    assert made.workers[0].told[-1] == ("close",)


def test_that_no_worker_is_started_before_it_is_needed(made: Furnished) -> None:
    assert made.workers == []
    made.window.close()
    assert made.workers == []


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"paths": 3, "theme": 4}'])
def test_that_a_damaged_memory_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_layout(tmp_path) == Layout()


def test_that_the_memory_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    layout = Layout(
        geometry="00ff",
        theme="light",
        workspace="measure",
        tool="tool.pan",
        paths=("a/b.dcm",),
        image=KeptImage("a/b.dcm", 3),
        recent=("a", "b"),
        folders={"results": "/tables"},
        splitters={"read.0": "01"},
        choices={"grid": plain(GridChoice(grid=Grid(16, 12), opacity=1.0))},
    )
    assert keep_layout(layout, tmp_path / "home")
    assert read_layout(tmp_path / "home") == layout
    kept = json.loads((tmp_path / "home" / FILE).read_text())
    assert kept["choices"]["grid"]["grid"]["rows"] == 16


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (plain(GridChoice(grid=Grid(4, 5))), GridChoice(grid=Grid(4, 5))),
        ({"opacity": 1}, GridChoice(opacity=1.0)),
        ({"labels": "margin"}, GridChoice(labels=LabelStyle.MARGIN)),
        ({"labels": "none of them", "shown": 1, "colour": [1, 2]}, GridChoice()),
        ({"grid": {"rows": 1, "columns": 8}}, GridChoice()),
        ({"unknown": 3, "colour": [0, 158, 115]}, GridChoice(colour=(0, 158, 115))),
        ("damaged", GridChoice()),
        (None, GridChoice()),
    ],
)
def test_that_a_choice_comes_back_as_far_as_it_makes_sense(
    kept: object, expected: GridChoice
) -> None:
    assert restored(GridChoice(), json.loads(json.dumps(kept))) == expected


def test_that_the_image_and_the_tool_of_last_time_come_back(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    first = Furnished(settings)
    qtbot.addWidget(first.window)
    first.window.open_paths([tmp_path])
    first.read.image = KeptImage(str(tmp_path / "7.dcm"), 3)
    first.context.actions["tool.pan"].trigger()
    first.window.close()

    again = Furnished(settings)
    qtbot.addWidget(again.window)
    again.window.reopen()
    assert again.read.image == KeptImage(str(tmp_path / "7.dcm"), 3)
    assert again.read.did == ["tool.pan"]
    assert again.context.actions["tool.pan"].isChecked()


def test_that_what_was_opened_lately_is_offered_and_what_is_gone_is_not(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{n}.dcm" for n in range(10)]
    paths += [tmp_path / "R&D.dcm", tmp_path / "11.dcm"]
    for path in paths:
        path.touch()
    first = Furnished(settings)
    qtbot.addWidget(first.window)
    first.window.open_paths(paths)
    first.window.close()
    paths[11].unlink()

    again = Furnished(settings)
    qtbot.addWidget(again.window)
    menu = again.window.findChild(RecentMenu)
    assert isinstance(menu, RecentMenu)
    menu.aboutToShow.emit()
    offered = [action.toolTip() for action in menu.actions()]
    assert offered == [str(path) for path in reversed(paths[2:11])]
    assert menu.actions()[0].text() == f"&1 {tmp_path.name}/R&&D.dcm"
    menu.actions()[0].trigger()
    assert again.read.opened == [paths[10]]


def test_that_the_image_keeps_its_share_of_a_narrow_window(qtbot: QtBot) -> None:
    split = ImageSplitter(left := QWidget(), QWidget(), QWidget())
    qtbot.addWidget(split)
    split.setSizes((310, 880, 300))
    split.resize(1400, 400)
    split.show()
    wide = split.sizes()
    assert wide[1] > wide[0] + wide[2]
    split.resize(900, 400)
    assert split.sizes()[1] >= 0.44 * sum(split.sizes())
    left.hide()
    split.resize(500, 400)
    assert split.sizes()[1] >= 0.44 * sum(split.sizes())


def test_that_a_narrow_status_bar_leaves_out_what_matters_least(qtbot: QtBot) -> None:
    fields = StatusFields()
    window = QWidget()  # a window of its own could not be as narrow
    bar = StatusBar(fields, window)
    qtbot.addWidget(window)
    window.show()
    fields.show_tool("Cardiothoracic ratio")
    fields.show_window("W 30000  L 15000")
    fields.show_cursor("(1812, 1304) 1023 HU")
    fields.show_use("1,003 requests $12.40 · cache 212 MB")
    fields.show_held("61 MB")
    bar.resize(1200, bar.height())
    spare = (bar.held_text, bar.tool_text, bar.use_text)
    assert all(field.isVisible() for field in spare)
    assert bar.minimumSizeHint().width() < 400
    seen = []
    for width in range(1200, 300, -20):
        bar.resize(width, bar.height())
        seen.append(tuple(field.isVisible() for field in spare))
        assert bar.destinations.isVisible()
        assert bar.cursor_text.isVisible()
    assert list(dict.fromkeys(seen)) == [
        (True, True, True),
        (False, True, True),
        (False, False, True),
        (False, False, False),
    ]
    bar.show_image_fields(shown=False)
    assert not bar.cursor_text.isVisible()
