"""From the selected run to a table of its answers."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import a_spec, finish, planned
from viewer.services.measure import run_list
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.desk import Desk, WorkerBridge
from viewer.ui.notices import Notice
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.panels.run_export import ANSWERS, RunExport


def _made(settings: Settings, qtbot: QtBot) -> tuple[RunExport, RunList, list[str]]:
    desk, runs = Desk(settings, WorkerBridge(settings.store)), RunList()
    qtbot.addWidget(runs)
    said: list[str] = []

    def note(notice: Notice) -> None:
        said.append(notice.what)

    desk.notices.posted.connect(note)
    return RunExport(desk, runs, ANSWERS), runs, said


def _run(settings: Settings, images: Path, *, asked: bool) -> None:
    settings.store.parent.mkdir(parents=True, exist_ok=True)
    with open_store(settings.store) as opened:
        run = planned(opened, images, a_spec(), 2)
        if asked:
            finish(opened, run)


def test_that_the_selected_run_is_written_where_a_person_says(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images", asked=True)
    export, runs, said = _made(settings, qtbot)
    runs.show_runs(run_list(settings.store))
    runs.show()
    export.ask()
    dialog = runs.findChild(QFileDialog)
    assert dialog is not None
    assert Path(dialog.selectedFiles()[0]).name == "run-1-answers.csv"
    out = tmp_path / "answers.csv"
    dialog.fileSelected.emit(str(out))
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["answers.csv is written: 2 answers."]
    assert len(out.read_text().splitlines()) == 3
    dialog.close()


def test_that_pending_questions_are_counted(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images", asked=False)
    export, _, said = _made(settings, qtbot)
    export.export_to(1, tmp_path / "answers.csv")
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].endswith("0 answers; 2 questions are pending and left out.")


def test_that_what_cannot_be_done_is_told(
    settings: Settings, tmp_path: Path, qtbot: QtBot
) -> None:
    _run(settings, tmp_path / "images", asked=True)
    export, runs, said = _made(settings, qtbot)
    export.ask()
    assert said == ["Select a run first."]
    assert runs.findChild(QFileDialog) is None
    (tmp_path / "file").write_bytes(b"")
    export.export_to(1, tmp_path / "file" / "answers.csv")
    qtbot.waitUntil(lambda: len(said) == 2)
    assert "answers.csv cannot be written" in said[1]
